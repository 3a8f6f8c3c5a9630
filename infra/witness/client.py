"""A client of witnesses: asks one for cosignatures of the checkpoints of this server's logs."""

from collections.abc import Callable
from pathlib import Path
from typing import Final, Self

import httpx
import msgspec

from infra.log.note_lines import read_decimal
from infra.log.signed_note import NoteError, SignatureType, VerifierKey, open_note, split_note
from infra.objects.bounded_http import read_answer
from infra.witness.cosign_request import CosignRequest

WITNESSES_FILE: Final = "witnesses"
"""The file beside the log's keys: a line for each witness, its key and its URL."""

SIZE_TYPE: Final = "text/x.tlog.size"
ADD_CHECKPOINT: Final = "/add-checkpoint"

_SECONDS: Final = 5.0
_OK, _OTHER_SIZE, _NOT_CONSISTENT = 200, 409, 422
_MOST_ANSWER: Final = 16 * 1024


class WitnessError(Exception):
    """A witness can't be reached, or has answered something else; the message is a sentence."""


class WitnessForkError(WitnessError):
    """A witness has cosigned another history of this log."""


class WitnessAddress(msgspec.Struct, frozen=True):
    """A witness: its key, and the prefix of its addresses."""

    key: VerifierKey
    url: str

    @classmethod
    def parse(cls, line: str) -> Self:
        """Read `KEY URL`; `NoteError`, with a sentence, if it is something else."""
        key, _, url = line.strip().partition(" ")
        found = VerifierKey.parse(key)
        if found.type is not SignatureType.COSIGNATURE:
            raise NoteError(f"{found.name} isn't the key of a witness, whose type is 4")
        if not url.strip().startswith(("http://", "https://")):
            raise NoteError(f"behind the key of {found.name} its address is missing: http(s)://...")
        return cls(found, url.strip().rstrip("/"))


def read_witnesses(folder: Path) -> list[WitnessAddress]:
    """Return the witnesses of a folder of keys, none without a file; `NoteError` for a malformed line."""
    try:
        lines = (folder / WITNESSES_FILE).read_text("utf-8").splitlines()
    except FileNotFoundError:
        return []
    return [WitnessAddress.parse(line) for line in lines if line.strip() and line[0] != "#"]


class WitnessClient:
    """Asks one witness; it remembers which size of each log the witness has cosigned last."""

    def __init__(self, address: WitnessAddress, http: httpx.Client | None = None) -> None:
        self.address = address
        self._http = http or httpx.Client(timeout=_SECONDS)
        self._sizes: dict[str, int] = {}

    def close(self) -> None:
        """Close its connections."""
        self._http.close()

    def cosign(self, origin: str, size: int, note: str, prove: Callable[[int], list[bytes]]) -> str:
        """Return the cosignature line of a checkpoint with that many leaves.

        `prove` returns the consistency proof from an older size. `WitnessError` if the witness does not
        cosign; `WitnessForkError` if that is because it knows another history.
        """
        status, text = self._ask(note, self._sizes.get(origin, 0), prove)
        if status == _OTHER_SIZE:
            known = self._other_size(text)
            if known == size:
                raise WitnessForkError(
                    f"{self._name} has cosigned another root of {origin} with {size} leaves"
                )
            if known > size:
                raise WitnessForkError(
                    f"{self._name} has cosigned {origin} with {known} leaves, and here it has {size}"
                )
            self._sizes[origin] = known
            status, text = self._ask(note, known, prove)
        if status == _NOT_CONSISTENT:
            raise WitnessForkError(
                f"{self._name} has cosigned a history of {origin} that this one does not continue"
            )
        if status != _OK:
            raise WitnessError(f"{self._name} does not cosign {origin}: it answers {status}")
        line = self._checked_line(note, text)
        self._sizes[origin] = size
        return line

    @property
    def _name(self) -> str:
        return f"the witness {self.address.key.name}"

    def _ask(self, note: str, old: int, prove: Callable[[int], list[bytes]]) -> tuple[int, str]:
        request = CosignRequest(old, tuple(prove(old)) if old else (), note)
        address = f"{self.address.url}{ADD_CHECKPOINT}"
        try:
            status, body = read_answer(
                self._http, address, _MOST_ANSWER, posted=str(request).encode()
            )
        except httpx.HTTPError as error:
            raise WitnessError(
                f"{self._name} can't be reached: {str(error) or type(error).__name__}"
            ) from error
        return status, body.decode(errors="replace")

    def _other_size(self, text: str) -> int:
        try:
            return read_decimal(text.removesuffix("\n"), "size")
        except NoteError:
            raise WitnessError(f"{self._name} answers 409 without a size") from None

    def _checked_line(self, note: str, lines: str) -> str:
        """Return the line of the witness's key among its answer, after verifying it."""
        try:
            cosigned = note + lines
            open_note(cosigned, [self.address.key])
            _, before = split_note(note)
            _, after = split_note(cosigned)
        except NoteError as error:
            raise WitnessError(f"{self._name} answers something else: {error}") from None
        wanted = (self.address.key.name, self.address.key.id)
        for (name, data), line in zip(
            after[len(before) :], lines.splitlines(keepends=True), strict=True
        ):
            if (name, data[:4]) == wanted:
                return line
        raise WitnessError(f"{self._name} answers without its own signature")
