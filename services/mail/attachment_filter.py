"""Drops the attachments of a mail while it is received, line by line, so that a large mail needs little memory.

What is left is what `services.mail.parse` reads: headers, the text, and reports of mail servers. HTML below a plain
text is dropped, too.
"""

from collections.abc import Sequence
from typing import Final

from services.mail.parse.mime import UnfitError, boundary_of, is_attached, kind_of, read_fields

_READ: Final = frozenset({"text/plain", "text/html", "message/delivery-status"})


class AttachmentFilter:
    """Decides for each line of a mail, as it comes, whether it is kept."""

    def __init__(self) -> None:
        self._boundaries: list[bytes] = []
        self._header: list[bytes] | None = []
        self._keeps = True
        self._has_text = False

    def keeps(self, line: bytes) -> bool:
        """Return whether a line, without its line end, is kept."""
        if self._ends_part(line):
            return True
        if self._header is None:
            return self._keeps
        if line:
            self._header.append(line)
            return True
        self._begin_body(self._header)
        return True

    def _ends_part(self, line: bytes) -> bool:
        """Return whether a line is a boundary, and begin the next part."""
        bare = line.rstrip()
        if not line.startswith(b"--") or not self._boundaries:
            return False
        for depth, mark in enumerate(self._boundaries):
            if bare in (mark, mark + b"--"):
                del self._boundaries[depth + 1 :]
                if bare != mark:
                    self._boundaries.pop()
                self._header, self._keeps = ([], True) if bare == mark else (None, False)
                return True
        return False

    def _begin_body(self, header: Sequence[bytes]) -> None:
        self._header = None
        try:
            fields = read_fields(header)
        except UnfitError:
            self._keeps = True  # it is refused when it is read
            return
        if mark := boundary_of(fields):
            self._boundaries.append(b"--" + mark.encode())
            self._keeps = False  # lines before the first part are not read
        else:
            kind = kind_of(fields)
            self._keeps = kind in _READ and not is_attached(fields)
            self._keeps &= not (self._has_text and kind == "text/html")
            self._has_text |= self._keeps and kind == "text/plain"
