"""Parts of players in a draw: commitments, and the texts behind them.

Every front end reads, commits and reveals by these functions. A player whose program keeps a text
commits to it; for all others the server keeps one, and they trust its operator for their part.

A match's deal beyond its kind: whether it was sealed, and whether staff of the server took part in it.
"""

import re
from collections.abc import Iterable
from typing import Final

import msgspec

from domain.errors import Code, Refusal
from domain.fairness import ENTROPY_TEXT_LIMIT, Commitment, entropy_text
from domain.match.commands import AnswerOffer, CommandEnvelope, RevealText
from domain.match.deals import deal_kind
from domain.match.events import Called, Committed, Event, Gathered, MatchStarted
from domain.match.history import EventEnvelope, decode_event
from domain.match.state import MatchState
from domain.records import AccountId, CommandId, command_id
from infra.audit.draws import DEALS
from infra.store.draw_texts import DrawTexts
from services.app.context import App
from services.app.sentences import SAY

REVEAL_FRONT_END: Final = "reveal"
"""The front end in the ids of commands that reveal a text, which is its own proof."""

_HEX: Final = re.compile(r"(?:[0-9A-Fa-f]{2})+")
_DIGITS: Final = 64


class DrawPart(msgspec.Struct, frozen=True):
    """A player's part in a draw, as the player wrote it: one of the two fields, or neither."""

    word: str = ""
    """A word of the player's own, mixed into the text that the server keeps."""
    commitment: str = ""
    """SHA-256 of a text that the player keeps, 64 hex digits."""


NO_DRAW_PART: Final = DrawPart()


def describe_draw(events: Iterable[Event]) -> str:
    """Return how players took part in a draw, by the events of a match; empty without a draw."""
    kind = deal_kind(events)
    return "" if kind is None else DEALS[kind]


def read_commitment(text: str) -> bytes:
    """Read 64 hex digits; `bad-option` for anything else."""
    if len(text) != _DIGITS or not _HEX.fullmatch(text):
        raise Refusal(Code.BAD_OPTION, SAY("commitment-form"))
    return bytes.fromhex(text)


def read_text(text: str) -> bytes:
    """Read the hex digits of a text; `wrong-text` for anything else."""
    if len(text) > 2 * ENTROPY_TEXT_LIMIT or not _HEX.fullmatch(text):
        raise Refusal(
            Code.WRONG_TEXT,
            f"a text for a draw is revealed in hex digits, two for each of its 1 to {ENTROPY_TEXT_LIMIT} bytes",
        )
    return bytes.fromhex(text)


def commitment_of(words: DrawTexts, board: int, account: AccountId, part: DrawPart) -> Commitment:
    """Return a player's own commitment, or one to the text that the server keeps for the player."""
    if not part.commitment:
        return words.commitment(board, account, part.word)
    if part.word:
        raise Refusal(
            Code.BAD_OPTION,
            "give --entropy or --commitment and not both: mix your word into your own text",
        )
    return Commitment(read_commitment(part.commitment))


def accept_command(
    app: App, board: int, account: AccountId, state: MatchState, id_: CommandId, part: DrawPart
) -> AnswerOffer:
    """Return the command by which a player accepts: an offer, or a match that waits for it.

    A repetition returns the same command, though the match has gone on.
    """
    invitation = state.invitation if state.invited else None
    if invitation is not None and invitation.server_deals and part.commitment:
        raise Refusal(Code.BAD_OPTION, SAY("server-deals"))
    if state.gather is not None and state.awaits_entropy:
        if (again := _earlier_accept(app, board, id_)) or state.sealed:
            return again or AnswerOffer(accept=True)
        own = commitment_of(app.words, board, account, part)
        return AnswerOffer(accept=True, commitment=own)
    if state.awaits_entropy and state.imported is None and not part.commitment:
        text = entropy_text(id_, part.word) if part.word else b""
        return AnswerOffer(accept=True, text=text)
    # after the draw only a repetition of an earlier acceptance can have a part in it
    again = (
        _earlier_accept(app, board, id_)
        if state.setup is not None or state.has_no_position
        else None
    )
    if again is None and (part.word or part.commitment):
        raise Refusal(Code.BAD_OPTION, SAY("draws-nothing"))
    return again or AnswerOffer(accept=True)


def _earlier_accept(app: App, board: int, id_: CommandId) -> AnswerOffer | None:
    """Return the command of this id by which a match was accepted before its draw."""
    for data in app.store.events(board):
        envelope = decode_event(data)
        match envelope.body:
            case MatchStarted():
                return None
            case Committed() as body if envelope.command == id_:
                return AnswerOffer(accept=True, commitment=body.commitment)
            case Gathered() as body if envelope.command == id_:
                return AnswerOffer(accept=True, text=body.text)
    return None


def server_keeps_text(words: DrawTexts, event: EventEnvelope) -> bool:
    """Return whether the server keeps the text that a player commits to with an event."""
    body, own = event.body, Commitment()
    if isinstance(body, Called):
        own = dict(zip(body.seats, body.commitments, strict=True)).get(event.actor, own)
    if isinstance(body, Committed):
        own = body.commitment
    return own.matches(words.text(event.match, event.actor) + own.word_digest)


def reveal_command(board: int, state: MatchState, text: bytes) -> CommandEnvelope:
    """Return the command that reveals a text for its player; the text itself is the proof."""
    if state.over:
        raise Refusal(Code.MATCH_OVER, SAY("draw-over"))
    if not state.awaits_entropy or state.gather is None:
        raise Refusal(Code.TOO_LATE, SAY("draw-late"))
    fitting = [seat for seat, one in enumerate(state.gather.commitments) if one.matches(text)]
    if not fitting:
        raise Refusal(Code.WRONG_TEXT, SAY("draw-wrong"))
    if not state.sealed:
        raise Refusal(Code.TOO_EARLY, SAY("draw-early"))
    waiting = [seat for seat in fitting if seat in state.waits]
    if not waiting:
        raise Refusal(Code.TOO_LATE, SAY("draw-revealed"))
    account = state.seats[waiting[0]]
    id_ = command_id(REVEAL_FRONT_END, account, f"{board} {text.hex()}")
    return CommandEnvelope(board, id_, account, RevealText(text=text))
