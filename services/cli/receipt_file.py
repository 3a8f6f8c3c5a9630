"""The file of `matchpost do --receipt FILE`: what can fail fails before the command is sent."""

import os
import sys
from pathlib import Path
from types import TracebackType
from typing import Self

from domain.errors import Code, Refusal
from infra.process.synced_files import sync_folder, write_synced


class ReceiptFile:
    """A new file for the receipt of one command; nothing is ever overwritten.

    `with` makes sure that it can be written, or refuses as `usage`, and removes what it has left there.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._temporary = file.with_name(f".{file.name}.{os.getpid()}")

    def __enter__(self) -> Self:
        try:
            if self._file.exists():
                raise self._unusable("it already exists; name a new file")
            if not self._file.parent.is_dir():
                raise self._unusable(f"there is no folder {self._file.parent}")
            write_synced(self._temporary, b"")
        except OSError as error:
            raise self._unusable(f"it can't be written: {error.strerror}") from None
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._temporary.unlink(missing_ok=True)

    def _unusable(self, why: str) -> Refusal:
        return Refusal(Code.USAGE, f"no receipt for {self._file}: {why}; nothing was sent")

    def write(self, receipt: str) -> None:
        """Write the receipt to the disk; report on standard error if it is empty, or if that fails."""
        if not receipt:
            print(f"no receipt was given, and {self._file} was not written", file=sys.stderr)
            return
        try:
            write_synced(self._temporary, receipt.encode())
            # unlike a rename this never replaces a file that came meanwhile
            os.link(self._temporary, self._file)
            sync_folder(self._file.parent)
        except OSError as error:
            print(
                f"the receipt can't be written to {self._file} ({error.strerror}); here it is:\n{receipt}",
                file=sys.stderr,
            )
