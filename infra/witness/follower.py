"""Follows the published logs of a server, for a witness that the server can't reach or does not know.

A client of witnesses: asks one for cosignatures of the checkpoints of this server's logs.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

import msgspec

from infra.log.merkle import consistency_proof
from infra.log.names import folder
from infra.log.published_log import LogDamagedError, PublishedLog
from infra.log.signed_note import (
    NoteError,
    VerifierKey,
    open_note,
    read_decimal,
    split_note,
)
from infra.objects.port import ObjectStore, ObjectStoreError
from infra.witness.witness import CosignRefusedError, CosignRequest, Witness
from infra.witness.witnesses import WitnessAddress

if TYPE_CHECKING:
    import httpx


class Followed(msgspec.Struct, frozen=True):
    """The result of a look at one log."""

    origin: str
    size: int = 0
    """Of the checkpoint that is cosigned now."""
    fault: str = ""
    """Why the newest one was not cosigned; empty if it was."""
    forked: bool = False
    """Whether the log contradicts what was cosigned before: an alarm."""


class LogFollower:
    """Reads the checkpoints of a server's logs, proves by its tiles that each continues, and cosigns."""

    def __init__(self, witness: Witness, objects: ObjectStore, keys: Sequence[VerifierKey]) -> None:
        self._witness = witness
        self._objects = objects
        self._keys = keys

    def look(self) -> list[Followed]:
        """Look at each log once."""
        return [self._look(origin) for origin in self._witness.origins]

    def _look(self, origin: str) -> Followed:
        before = self._witness.cosigned(origin)
        known = before.checkpoint.size if before else 0
        try:
            log = self._open(origin)
            size = log.refresh()
            if log.checkpoint is None or size < known:
                return Followed(
                    origin,
                    known,
                    f"{origin} shows {size} leaves, and {known} were cosigned: it was rolled back",
                    forked=known > 0,
                )
            proof = consistency_proof(known, size, log.node) if 0 < known < size else []
            self._witness.cosign(CosignRequest(known, tuple(proof), log.note.decode()))
        except CosignRefusedError as error:
            return Followed(origin, known, str(error), forked=True)
        except (NoteError, LogDamagedError, ObjectStoreError) as error:
            # also of a tile that was replaced while it was read: the next look reads the newer one
            return Followed(origin, known, str(error))
        return Followed(origin, size)

    def _open(self, origin: str) -> PublishedLog:
        keys = [key for key in self._keys if key.name == origin]
        shard = int(origin.rpartition("/s")[2])
        assert folder(shard) == origin.rpartition("/")[2]
        return PublishedLog(self._objects, shard, keys)


SIZE_TYPE: Final = "text/x.tlog.size"
ADD_CHECKPOINT: Final = "/add-checkpoint"

_SECONDS: Final = 5.0
_OK, _OTHER_SIZE, _NOT_CONSISTENT = 200, 409, 422
_MOST_ANSWER: Final = 16 * 1024


class WitnessError(Exception):
    """A witness can't be reached, or has answered something else; the message is a sentence."""


class WitnessForkError(WitnessError):
    """A witness has cosigned another history of this log."""


class WitnessClient:
    """Asks one witness; it remembers which size of each log the witness has cosigned last."""

    def __init__(self, address: WitnessAddress, http: "httpx.Client | None" = None) -> None:
        import httpx  # noqa: PLC0415 - large, and most servers have no witness

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
        import httpx  # noqa: PLC0415 - see above

        from infra.objects.http import read_answer  # noqa: PLC0415 - it is of httpx

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
