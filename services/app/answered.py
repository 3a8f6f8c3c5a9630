"""The outcome of a command in a match as a document, the same over the API and at the terminal."""

import msgspec

from domain.sentences import text_in
from domain.translation import ENGLISH, Translation
from services.app.receipts import DecidedCommand


class Answered(msgspec.Struct, frozen=True):
    """The outcome of a command."""

    id: str
    """The id of the command, in hex; the same for every repetition with its key."""
    board: int
    """The number of the match."""
    accepted: bool
    code: str
    """The error code; empty if the command was accepted."""
    message: str
    """The reason for a refusal, in a sentence; empty if the command was accepted."""
    seq: int
    """Sequence number of its first event; after a refusal, of the last event before it."""
    index: int
    """Index of its first leaf in the log of its shard."""
    receipt: str | None = None
    """The server's signed promise that this leaf is in the published log, or will be within a minute;
    null if there is none. The same leaf always gets the same receipt."""


def answered(
    decided: DecidedCommand, receipt: str | None, language: Translation = ENGLISH
) -> Answered:
    """Return an outcome as it is shown, with a message in a language."""
    outcome = decided.outcome
    return Answered(
        id=decided.id.hex(),
        board=decided.board,
        accepted=outcome.accepted,
        code=outcome.code,
        message=text_in(outcome.text, language),
        seq=outcome.seq,
        index=outcome.index,
        receipt=receipt,
    )
