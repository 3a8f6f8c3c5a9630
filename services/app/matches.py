"""Reading matches: as they stand or stood, drawn, and with the part that one player may see."""

from typing import Literal, TypeAlias

import msgspec

from domain.errors import Code, Refusal
from domain.match.conditional_moves import ConditionalMoves, unpack
from domain.match.events import AccountId
from domain.match.history import PackedSnapshot, Snapshot, unpack_snapshot
from domain.match.state import MatchState
from domain.rules import AnyRules, Seat
from services.app.context import App
from services.app.damaged_match import refuse_damaged
from services.app.drafts import draft_of
from services.app.sentences import SAY

MatchPhase: TypeAlias = Literal["waiting", "active", "over"]


def load_snapshot(app: App, board: int) -> Snapshot:
    """Return a match as it is stored; `unknown-board`, or `damaged` if it can't be read."""
    (data,) = app.store.snapshots([board])
    return check_exists(board, read_snapshot(app, board, data))


def read_snapshot(app: App, board: int, data: PackedSnapshot | None) -> Snapshot:
    """Return a stored snapshot, an empty one for None; `damaged` if it can't be read."""
    with refuse_damaged(app.damage, board):
        return unpack_snapshot(data)


def load_state(app: App, board: int) -> MatchState:
    """Return a match as it stands; refused as `load_snapshot` does."""
    return load_snapshot(app, board).state


def check_exists(board: int, snapshot: Snapshot) -> Snapshot:
    """Return the snapshot, unless it is that of a board without a match: `unknown-board`."""
    if not snapshot.state.started:
        raise Refusal(Code.UNKNOWN_BOARD, SAY("no-board", board=board))
    return snapshot


def phase_of(state: MatchState) -> MatchPhase:
    """Return whether a match waits for consent or its draw, is going on, or is over."""
    if state.over:
        return "over"
    return "waiting" if state.awaits_entropy or state.invitation else "active"


def seals_its_draw(state: MatchState) -> bool:
    """Return whether the draw of a match is still to come, from texts to which its players commit."""
    if state.gather is None or state.over:
        return False
    return state.invitation is None or not state.invitation.server_deals


def running_seat(state: MatchState) -> Seat | None:
    """Return the seat whose clock the match counts, unless it is paused; None before and after the play."""
    return None if state.over or state.invitation else state.next


def paused_since(state: MatchState) -> int | None:
    """Return when the pause of a match began, ms; None without a pause."""
    return None if state.clock is None or state.invitation else state.clock.paused or None


def check_ply(board: int, state: MatchState, ply: int) -> int:
    """Return the ply, unless the match has not come to it (`unknown-ply`) or has no position.

    A match has no position (`not-started`) before its draw.
    """
    if not 0 <= ply <= state.ply:
        raise Refusal(Code.UNKNOWN_PLY, SAY("no-ply-yet", board=board, now=state.ply, ply=ply))
    if state.has_no_position:
        if state.over:
            raise Refusal(Code.NOT_STARTED, SAY("ended-early", board=board))
        raise Refusal(Code.NOT_STARTED, SAY("no-position", board=board))
    return ply


def preferred_display(app: App, account: AccountId, rules: AnyRules) -> str:
    """Return the display that an account has chosen for a game, or the game's first."""
    profile = app.accounts.record_of(account)
    # an erased account is no failure, because the drawing may answer an accepted move
    chosen = dict(profile.displays).get(rules.key, "") if profile else ""
    return chosen if chosen in rules.displays else rules.displays[0]


class PrivatePart(msgspec.Struct, frozen=True):
    """The part of a match that only one player may see."""

    conditional_moves: ConditionalMoves
    draft: str
    """The move that the player submitted and has not confirmed; empty without one."""


def private_part(app: App, board: int, state: MatchState, account: AccountId) -> PrivatePart | None:
    """Return the part of a match that a player alone may see; None for an account that does not play."""
    if account not in state.seats:
        return None
    ((_, data),) = app.store.snapshots_with_conditional_moves([board])
    stored = unpack(data).get(state.seats.index(account), ConditionalMoves())
    draft = draft_of(app, account, board, state)
    return PrivatePart(stored, draft.text if draft else "")
