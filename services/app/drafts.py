"""Drafts: moves that a player submits to look at, and plays by confirming them."""

from hashlib import sha256
from typing import Any

import msgspec

from domain.errors import Code, Refusal
from domain.match.commands import CommandEnvelope, PlayMove
from domain.match.decision import seat_of
from domain.match.state import MatchState, position_of
from domain.records import AccountId
from domain.rules import rules_by_id
from domain.sentences import Sentence
from infra.people.drafts import Draft
from services.app.context import Actor, App
from services.app.move_text import read_move, split_ply
from services.app.names import shown_name
from services.app.play import Steps, course, decided
from services.app.receipts import Answered
from services.app.sentences import SAY


class DraftPreview(msgspec.Struct, frozen=True):
    """A draft, and the position to which it would lead."""

    text: str
    """The move as the game writes it."""
    ply: int
    position: Any


def submit(app: App, actor: Actor, board: int, state: MatchState, text: str) -> DraftPreview:
    """Store a draft in place of the one before; refused as the move itself would be."""
    _check_turn(app, state, seat_of(actor.account, state))
    text, ply = split_ply(text)
    if ply not in (None, state.ply):
        raise Refusal(Code.STALE_PLY, SAY("draft-ply", now=state.ply, ply=ply))
    rules, position = rules_by_id(state.rules), position_of(state)
    move = rules.check(position, read_move(rules, text))
    written = rules.write(move)
    line = _line_of(state)
    app.drafts.put(board, actor.account, written, state.ply, actor.command_id(), line)
    return DraftPreview(written, state.ply, rules.play(position, move))


def draft_of(app: App, account: AccountId, board: int, state: MatchState) -> Draft | None:
    """Return the draft of a player; None without one, or where other moves were played since."""
    draft = app.drafts.get(board, account)
    stands = draft is not None and draft.line == _line_of(state) and not state.over
    return draft if stands else None


@course
def confirm(app: App, actor: Actor, board: int, state: MatchState) -> Steps[Answered]:
    """Play the draft.

    The draft stays, because a repetition with the same key means the same move. Where the match
    has moved on, the ply in the command says so.
    """
    seat_of(actor.account, state)
    draft = app.drafts.get(board, actor.account)
    if draft is None:
        raise no_draft(board)
    if draft.ply == state.ply and draft.line != _line_of(state):
        raise Refusal(
            Code.STALE_PLY,
            SAY("draft-line", ply=state.ply),
        )
    command = PlayMove(text=draft.text, ply=draft.ply)
    sent = CommandEnvelope(board, actor.command_id(), actor.account, command)
    return (yield from decided(app, sent, state.ply))


def drop(app: App, actor: Actor, board: int, state: MatchState) -> None:
    """Remove the draft of a player, if there is one."""
    seat_of(actor.account, state)
    app.drafts.drop(board, actor.account)


def no_draft(board: int) -> Refusal:
    """Return the refusal of a player who has no draft in a match."""
    return Refusal(Code.NO_DRAFT, SAY("no-draft", board=board))


def _check_turn(app: App, state: MatchState, seat: int) -> None:
    if state.over:
        raise Refusal(Code.MATCH_OVER, SAY("match-over"))
    if state.awaits_entropy:
        raise Refusal(Code.NOT_STARTED, SAY("not-begun"))
    if state.next != seat:
        raise Refusal(Code.NOT_YOUR_TURN, _others_turn(app, state))


def _others_turn(app: App, state: MatchState) -> Sentence:
    seat = state.next
    if seat is None:
        return SAY("nobodys-draft")
    (name,) = app.accounts.name_of([state.seats[seat]])
    side = rules_by_id(state.rules).sides[seat]
    return SAY("others-draft", side=side, player=shown_name(name))


def _line_of(state: MatchState) -> bytes:
    """Return a hash of the moves that were played."""
    return sha256(state.moves.encode()).digest()[:8]
