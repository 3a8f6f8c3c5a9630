"""Conditional moves: the server plays them for a player as soon as their turn comes."""

from collections.abc import Callable, Sequence
from typing import Final

from domain.errors import Code, Refusal
from domain.match.conditional_moves import (
    CONDITIONAL_MOVES_LIMIT,
    ConditionalMove,
    ConditionalMoves,
    merge,
    pack,
    unpack,
)
from domain.match.decision import seat_of
from domain.match.history import Snapshot
from domain.match.state import MatchState, position_of
from domain.records import AccountId
from domain.rules import AnyRules, Seat, rules_by_id
from services.app.context import Actor, App
from services.app.matches import check_exists, read_snapshot
from services.app.move_text import as_move, read_move, split_ply
from services.app.sentences import SAY

MOST_IN_LINES: Final = 2 * CONDITIONAL_MOVES_LIMIT
"""Moves in all lines of one request, at most, because each is checked."""

_ATTEMPTS: Final = 5
"""Attempts to store, because the match may move on meanwhile."""


def conditional_moves_of(app: App, account: AccountId, board: int) -> ConditionalMoves:
    """Return the conditional moves of a player; nobody else may see them."""
    snapshot, data = _read(app, board)
    return unpack(data).get(seat_of(account, snapshot.state), ConditionalMoves())


def set_conditional_moves(
    app: App,
    actor: Actor,
    board: int,
    lines: Sequence[Sequence[str]],
    *,
    add: bool = False,
    next_turn: bool = False,
) -> ConditionalMoves:
    """Store the conditional moves of these lines; with `add`, keep the earlier ones too.

    A line has moves from the present position on, the others' and the player's own in turn, or
    moves that each name a later ply. With `next_turn` a line of one move without a ply is the player's
    own for the next turn, if another player is to move. No lines drop everything. Notes count as read
    after this.
    Refused as moves are, as `match-over`, `not-started`, `stale-ply`, `not-your-turn`, `usage`,
    `too-long`, and as `busy` when the match keeps moving on meanwhile.
    """
    if sum(map(len, lines)) > MOST_IN_LINES:
        raise Refusal(Code.TOO_LONG, SAY("lines-long", most=MOST_IN_LINES))

    def changed(state: MatchState, seat: Seat, own: ConditionalMoves) -> ConditionalMoves:
        kept = ConditionalMoves(own.moves if add else ())
        return _merged_lines(state, seat, kept, lines, next_turn=next_turn)

    return _store(app, actor, board, changed)


def drop_conditional_moves(
    app: App, actor: Actor, board: int, line: Sequence[str]
) -> ConditionalMoves:
    """Drop the conditional moves that begin with a line, and return the others.

    The line has moves from the present position on. A move that names a later ply drops the one for that
    ply that depends on no other move. Nothing is refused if there is no such move. Notes count as read
    after this.
    """
    if len(line) > MOST_IN_LINES:
        raise Refusal(Code.TOO_LONG, SAY("line-long", most=MOST_IN_LINES))

    def changed(state: MatchState, seat: Seat, own: ConditionalMoves) -> ConditionalMoves:
        del seat
        rules = rules_by_id(state.rules)
        steps = [split_ply(as_move(word)) for word in line]
        begins = tuple(rules.write(read_move(rules, text)) for text, _ in steps)
        later = steps[0][1] if steps and _is_later(state, steps) else None
        return ConditionalMoves(
            tuple(one for one in own.moves if not _begins(one, state.ply, begins, later))
        )

    return _store(app, actor, board, changed)


def _begins(one: ConditionalMove, now: int, begins: Sequence[str], later: int | None) -> bool:
    """Return whether a conditional move comes with a line, or is the one for a later ply."""
    if one.path is None or later is not None:
        return one.path is None and one.ply == later and (one.move,) == tuple(begins)
    line = (*one.path[now - one.first_ply :], one.move)
    return line[: len(begins)] == tuple(begins)


def _store(
    app: App,
    actor: Actor,
    board: int,
    changed: Callable[[MatchState, Seat, ConditionalMoves], ConditionalMoves],
) -> ConditionalMoves:
    """Store changed conditional moves of a player; `busy` if the match moves on again and again."""
    for _ in range(_ATTEMPTS):
        snapshot, data = _read(app, board)
        seat = seat_of(actor.account, snapshot.state)
        before = unpack(data)
        after = changed(snapshot.state, seat, before.get(seat, ConditionalMoves()))
        if app.store.set_conditional_moves(
            board, snapshot.head, data, pack({**before, seat: after})
        ):
            return after
    raise Refusal(Code.BUSY, SAY("moved-on"))


def _read(app: App, board: int) -> tuple[Snapshot, bytes]:
    """Return a match and the conditional moves in it; `unknown-board` or `damaged`."""
    ((stored, data),) = app.store.snapshots_with_conditional_moves([board])
    return check_exists(board, read_snapshot(app, board, stored)), data


def _merged_lines(
    state: MatchState,
    seat: Seat,
    merged: ConditionalMoves,
    lines: Sequence[Sequence[str]],
    *,
    next_turn: bool,
) -> ConditionalMoves:
    """Return conditional moves of a seat with those of these lines added."""
    if not lines:
        return merged
    if state.over:
        raise Refusal(Code.MATCH_OVER, SAY("match-over"))
    if state.awaits_entropy:
        raise Refusal(Code.NOT_STARTED, SAY("not-begun"))
    for line in lines:
        steps = [split_ply(as_move(word)) for word in line]
        if next_turn and len(steps) == 1 and steps[0][1] is None and state.next != seat:
            rules = rules_by_id(state.rules)
            move = rules.write(read_move(rules, steps[0][0]))
            more = [ConditionalMove(state.ply + 1, (), move)]
        elif _is_later(state, steps):
            more = _later(state, steps)
        else:
            more = _line(state, seat, steps)
        merged = merge(merged, more)
    if len(merged.moves) > CONDITIONAL_MOVES_LIMIT:
        raise Refusal(
            Code.TOO_LONG,
            SAY("conditional-most", most=CONDITIONAL_MOVES_LIMIT),
        )
    return merged


Step = tuple[str, int | None]
"""A move's text, and the ply it is meant for if one is given."""


def _is_later(state: MatchState, steps: Sequence[Step]) -> bool:
    """Return whether the first move is for a later ply; then it does not depend on earlier moves."""
    ply = steps[0][1]
    return ply is not None and ply > state.ply


def _later(state: MatchState, steps: Sequence[Step]) -> list[ConditionalMove]:
    """Read moves for later plies, each to be played there if it is legal then."""
    rules = rules_by_id(state.rules)
    replies = []
    for text, ply in steps:
        if ply is None or ply <= state.ply:
            raise Refusal(Code.USAGE, SAY("later-ply"))
        replies.append(ConditionalMove(ply, None, rules.write(read_move(rules, text))))
    return replies


def _line(state: MatchState, seat: Seat, steps: Sequence[Step]) -> list[ConditionalMove]:
    """Return the seat's own moves in a line of moves from the present position on."""
    rules, position = rules_by_id(state.rules), position_of(state)
    path: list[str] = []
    replies = []
    for text, ply in steps:
        at = state.ply + len(path)
        if ply not in (None, at):
            raise Refusal(Code.STALE_PLY, SAY("other-ply", move=text, at=at, ply=ply))
        mover = rules.to_move(position)
        move = _checked(rules, position, text, len(path) + 1)
        if mover == seat:
            replies.append(ConditionalMove(at, tuple(path), rules.write(move)))
        path.append(rules.write(move))
        position = rules.play(position, move)
    if not replies:
        raise Refusal(Code.USAGE, SAY("no-reply"))
    if not replies[0].path:
        raise Refusal(Code.NOT_YOUR_TURN, SAY("conditional-turn"))
    return replies


def _checked(rules: AnyRules, position: object, text: str, number: int) -> object:
    """Read a move of the line; a refusal has its number."""
    if rules.outcome(position) is not None:
        raise Refusal(Code.MATCH_OVER, SAY("over-before-it", number=number))
    try:
        return rules.check(position, read_move(rules, text))
    except Refusal as reason:
        raise Refusal(
            reason.code, SAY("bad-move", number=number, problem=reason.sentence)
        ) from None
