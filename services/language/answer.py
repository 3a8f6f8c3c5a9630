"""The answer to a command line."""

import msgspec

from domain.errors import Code, Refusal
from domain.records import AccountId
from domain.sentences import ENGLISH, Translation
from services.app.receipts import Answered


class Answer(msgspec.Struct, frozen=True):
    """An answer: a sentence, a page of text, or both.

    `code` is empty when the command was accepted or answered. The sentence of a refusal is the
    reason for it.
    """

    sentence: str = ""
    page: str = ""
    """Several lines without a line end: a board, a help page."""
    code: str = ""
    account: AccountId | None = None
    """The account that the password in the line has proven."""
    decided: tuple[Answered, ...] = ()
    """The commands in matches to which the line led, accepted or refused, by which receipts are made."""
    retry_after: int = 0
    """Seconds after which to try again, as in a `Refusal`."""

    @property
    def text(self) -> str:
        """The whole answer, without a line end."""
        return "\n\n".join(part for part in (self.sentence, self.page) if part)

    @property
    def text_with_code(self) -> str:
        """The whole answer, after its code if it has one, for a list of answers."""
        return f"{self.code}: {self.text}" if self.code else self.text

    @property
    def pending(self) -> bool:
        """Whether the command was submitted and nothing is promised about it yet."""
        return self.code == Code.PENDING

    @property
    def refused(self) -> bool:
        """Whether the command was not accepted; `sentence` says why."""
        return bool(self.code) and not self.pending


def refusal(reason: Refusal, language: Translation = ENGLISH) -> Answer:
    """Return a refusal as an answer in a language."""
    sentence = reason.in_language(language)
    return Answer(sentence=sentence, code=reason.code, retry_after=reason.retry_after)
