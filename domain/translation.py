"""The words of one language in place of the English ones, as gettext has them.

English stands in the code. A translation is given to what puts a text into words; which languages
there are is nothing that the domain knows.
"""

from typing import Final, Protocol


class Translation(Protocol):
    """The words of a language. What it has no words for is English."""

    def __hash__(self) -> int: ...

    @property
    def code(self) -> str:
        """The code of the language, such as `de`."""
        ...

    def pgettext(self, context: str, message: str, /) -> str:
        """Return the words for an English message in a context, such as the key of a sentence."""
        ...

    def npgettext(self, context: str, one: str, many: str, count: int, /) -> str:
        """Return the words for a message that depends on a count."""
        ...


class _English:
    """English: each message as it stands in the code."""

    code: Final = "en"

    def pgettext(self, context: str, message: str, /) -> str:
        """Return the message."""
        del context
        return message

    def npgettext(self, context: str, one: str, many: str, count: int, /) -> str:
        """Return the message for the count."""
        del context
        return one if count == 1 else many


ENGLISH: Final[Translation] = _English()
"""The language of the code, and of programs that ask for none."""
