"""Output of `matchpost do`: text on standard output and refusals on standard error, or one JSON object.

The object is the same for local data and for a server elsewhere. It has `text` and `code`; for a line that
is one command in a match also the fields of its outcome, as the API shows it.
"""

import sys
from collections.abc import Mapping
from typing import Any

import msgspec

from domain.errors import Code, Refusal
from services.app.error_codes import CODE_INFO, EXIT_OK


class LineResult(msgspec.Struct, frozen=True):
    """The result of a command line."""

    sentence: str = ""
    page: str = ""
    """A board or another text of several lines."""
    code: str = ""
    """Empty if the line was accepted or answered."""
    outcome: Mapping[str, Any] | None = None
    """The fields of the outcome, if the line was one command in a match and its outcome is known."""
    receipt: str = ""
    """The receipts of the commands in matches, as they stand in a file."""

    @property
    def exit_code(self) -> int:
        """The exit code that says whether the line was accepted."""
        return CODE_INFO[known_code(self.code)].exit if self.code else EXIT_OK

    def print(self) -> None:
        """Print the answer on standard output; the code and its sentence go to standard error."""
        if not self.code:
            print("\n\n".join(filter(None, (self.sentence, self.page))))
            return
        if self.page:
            print(self.page)
        print(f"{self.code}: {self.sentence}", file=sys.stderr)

    def print_json(self) -> None:
        """Print one JSON object on standard output."""
        text = "\n\n".join(filter(None, (self.sentence, self.page)))
        print(
            msgspec.json.encode({"text": text, "code": self.code, **(self.outcome or {})}).decode()
        )


def refused(reason: Refusal) -> LineResult:
    """Return the result of a line that was refused before it was carried out."""
    return LineResult(reason.sentence, code=str(reason.code))


def known_code(code: str) -> Code:
    """Return the code; `unavailable` for one of a newer server that this version does not know."""
    try:
        return Code(code)
    except ValueError:
        return Code.UNAVAILABLE
