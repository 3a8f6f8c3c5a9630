"""A rematch: the same players, game, options and time control, with the sides exchanged.

The id of its command comes from the board of the match alone, so a match has one rematch: a player who
asks after another has asked gets the match that the other one started.
"""

from typing import Final

from domain.clocks.time_control import TimeControl
from domain.errors import Code, Refusal
from domain.match.commands import CommandEnvelope
from domain.match.decision import seat_of
from domain.match.history import decode_event
from domain.match.start import StartOptions, start_command
from domain.match.state import MatchState
from domain.records import SERVER_ACCOUNT, AccountId, CommandId, command_id
from domain.rules import latest_rules, rules_by_id
from services.app.context import Actor, App
from services.app.draws import DrawPart
from services.app.matches import load_state, read_snapshot, was_sealed
from services.app.play import Steps, course, decided
from services.app.receipts import Answered
from services.app.sentences import SAY
from services.app.start import invite, numbered_start, unrated_with_robots

_REMATCH: Final = "rematch"
"""In place of a front end's name in the ids of commands that start rematches."""


@course
def rematch(app: App, actor: Actor, board: int, commitment: str = "") -> Steps[Answered]:
    """Start the rematch of a match, or return the start by another player; refused as `rematch_command`."""
    try:
        return (yield from decided(app, rematch_command(app, actor, board, commitment)))
    except Refusal as reason:
        if reason.code is not Code.ID_REUSED:
            raise
    # another player has asked at the same moment, and was first
    return (yield from decided(app, rematch_command(app, actor, board, commitment)))


def rematch_command(app: App, actor: Actor, board: int, commitment: str = "") -> CommandEnvelope:
    """Return the command that starts the rematch of a match that is over.

    `commitment` is as in `start_by_name`, for a match that gathers. Refused as `not-a-player`,
    `too-early` while the match goes on, `bad-players` for a puzzle, `unknown-user` if a player's account
    was deleted, and as `start_by_name` refuses. Two players who ask at the same moment send different
    commands: the second is refused as `id-reused`, and this function returns the first one's then.
    """
    state = load_state(app, board)
    seat_of(actor.account, state)
    _check_repeatable(board, state)
    app.ready()
    id_ = rematch_id(board)
    challenger = _challenger_of(app, id_)
    if challenger is None:
        _check_players(app, state)
    rules = latest_rules(rules_by_id(state.rules).key)
    # the player of the first seat gets the last one
    seats = (*state.seats[1:], state.seats[0])
    terms = state.clock.terms if state.clock else TimeControl()
    sealed = was_sealed(app, board, state)
    opening = " ".join(state.first_moves(state.opening))
    chosen = StartOptions(gather=sealed, terms=terms, opening=opening)
    agreed = unrated_with_robots(app, chosen, seats)
    start = start_command(rules, state.options, agreed, seats, id_)
    start = invite(start, challenger or actor.account, sealed=sealed)
    part = DrawPart(commitment=commitment if sealed else "")
    return numbered_start(app, challenger or actor.account, id_, start, part, counted=True)


def rematch_id(board: int) -> CommandId:
    """Return the id of the command that starts the rematch of a match."""
    return command_id(_REMATCH, SERVER_ACCOUNT, str(board))


def rematch_board(app: App, board: int) -> int | None:
    """Return the board of a match's rematch; None if nobody has asked for one."""
    (again,) = app.store.board_numbers([rematch_id(board)])
    if again is None:
        return None
    (data,) = app.store.snapshots([again])
    # its number is there before the match is
    return again if read_snapshot(app, again, data).state.started else None


def _check_repeatable(board: int, state: MatchState) -> None:
    if len(state.seats) == 1:
        key = rules_by_id(state.rules).key
        raise Refusal(Code.BAD_PLAYERS, SAY("rematch-puzzle", board=board, game=key))
    if not state.over:
        raise Refusal(Code.TOO_EARLY, SAY("rematch-early", board=board))


def _challenger_of(app: App, id_: CommandId) -> AccountId | None:
    """Return the player who has started the rematch; None if there is none yet."""
    (board,) = app.store.board_numbers([id_])
    first = app.store.events(board)[:1] if board is not None else []
    return decode_event(first[0]).actor if first else None


def _check_players(app: App, state: MatchState) -> None:
    if None in app.accounts.name_of(state.seats):
        raise Refusal(Code.UNKNOWN_USER, SAY("rematch-gone"))
