"""Texts for random draws, stored on this machine until they are revealed.

A text is written to a file of its own before its commitment is sent, so that it can be revealed even
if the connection breaks. Only its user may read the file, which is named after the commitment.

Command lines that commit to a text: the client creates, stores and names the text.
"""

import os
import re
import secrets
import time
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Final

import msgspec

from services.client.login_file import state_folder

_OLD_SECONDS: Final = 90 * 24 * 3600
"""A text that no match has needed by then is deleted."""


class KeptText(msgspec.Struct, frozen=True, omit_defaults=True):
    """A stored text, and the match it belongs to, as far as known."""

    url: str
    """URL of the server."""
    text: str
    """Hex digits."""
    made: float
    """Creation time in seconds since 1970."""
    board: int | None = None
    challenge: str = ""
    """Id of an open challenge whose match has no board yet."""
    key: str = ""
    """Key of the command that commits to it."""


_DECODER: Final = msgspec.json.Decoder(KeptText)


class Texts:
    """The texts of this user; several programs may use them at once."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder or state_folder()

    def new(self, url: str, word: str = "", key: str = "", board: int | None = None) -> str:
        """Create a text from random bytes and the word, if any; return its commitment.

        A repeated command gets the text that was created for it before.
        """
        for commitment, kept in self.of(url).items():
            if key and kept.key == key:
                return commitment
        text = secrets.token_bytes(32) + (sha256(word.encode()).digest() if word else b"")
        commitment = sha256(text).hexdigest()
        self._write(commitment, KeptText(url, text.hex(), time.time(), board, key=key))
        return commitment

    def place(self, commitment: str, board: int | None = None, challenge: str = "") -> None:
        """Record the match or challenge of a text."""
        kept = self._read(self._file(commitment))
        if kept is not None:
            changed = msgspec.structs.replace(kept, board=board, challenge=challenge)
            self._write(commitment, changed)

    def of(self, url: str) -> Mapping[str, KeptText]:
        """Return the texts for a server, by their commitments."""
        files = sorted(self._folder.glob("*.json"))
        found = {file.stem: kept for file in files if (kept := self._read(file))}
        return {commitment: kept for commitment, kept in found.items() if kept.url == url}

    def drop(self, commitment: str) -> None:
        """Delete a text that is revealed, or that no match will need."""
        self._file(commitment).unlink(missing_ok=True)

    def is_old(self, kept: KeptText) -> bool:
        """Return whether the text is too old for any match to need it."""
        return time.time() - kept.made > _OLD_SECONDS

    def _file(self, commitment: str) -> Path:
        return self._folder / f"{commitment}.json"

    def _read(self, file: Path) -> KeptText | None:
        try:
            return _DECODER.decode(file.read_bytes())
        except FileNotFoundError:
            return None  # another program has revealed it in the meantime

    def _write(self, commitment: str, kept: KeptText) -> None:
        """Write a file atomically, and sync it."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = self._file(commitment)
        new = file.with_suffix(f".{os.getpid()}.new")
        descriptor = os.open(new, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600)
        with os.fdopen(descriptor, "wb") as opened:
            opened.write(msgspec.json.encode(kept))
            opened.flush()
            os.fsync(opened.fileno())
        new.replace(file)


_ACCEPT: Final = re.compile(
    r"\s*\S+\s+move\s+(?P<board>[1-9]\d{0,14})\s+\S+\s+\S+\s+accept(?=\s|$)", re.IGNORECASE
)
_SIGNED_ACCEPT: Final = re.compile(
    r"\s*\S+\s+move\s+(?P<board>[1-9]\d{0,14})\s+accept(?=\s|$)", re.IGNORECASE
)
"""The same without userid and password."""
_CHALLENGE: Final = re.compile(r"\s*\S+\s+challenge\s.*--gather(?=\s|$)", re.IGNORECASE | re.DOTALL)
_WORD: Final = re.compile(r"\s--entropy=(?P<word>\S+)")
_MADE: Final = re.compile(r"match (?P<board>[1-9]\d*)\b")


class CommittingLine(msgspec.Struct, frozen=True):
    """A line that can commit to a text."""

    line: str
    """The line without the player's word, which goes into the text."""
    word: str
    board: int | None
    """Board of the match to accept; None for a challenge."""

    def with_commitment(self, commitment: str) -> str:
        """Return the line with the commitment, ready to send."""
        return f"{self.line.rstrip()} --commitment={commitment}"


def read_committing_line(line: str, *, signs: bool = False) -> CommittingLine | None:
    """Return the parts of a line that can commit; None if it can't, or commits by itself.

    If the token `signs`, the line may leave out userid and password.
    """
    accept = _ACCEPT.match(line) or (_SIGNED_ACCEPT.match(line) if signs else None)
    if (accept is None and not _CHALLENGE.match(line)) or "--commitment=" in line:
        return None
    if "\n" in line.strip():
        return None
    word = _WORD.search(line)
    rest = _WORD.sub("", line, count=1)
    return CommittingLine(
        rest, word["word"] if word else "", int(accept["board"]) if accept else None
    )


def board_of(answer: str) -> int | None:
    """Return the board that an answer names, or None."""
    made = _MADE.match(answer)
    return int(made["board"]) if made else None
