"""The moves of a match on its pages, and a player's conditional moves.

Moves stand in columns, with the engine's marks, and with what the published log has of them. Conditional moves stand
as lines, each with the beginning that no other has.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, Self
from urllib.parse import urlencode

import msgspec

from domain.engine.turning_points import AnalysedPosition, turning_points
from domain.match.conditional_moves import ConditionalMoves
from domain.match.state import positions
from domain.sentences import text_in
from infra.languages.wording import Wording
from infra.store import locators
from services.app.matches import stored_analysis
from services.http.context import ApiContext
from services.http.web.match.view import MatchView
from services.words.endings import said_result

_NO_MARKS: Final[Mapping[int, str]] = {}
_ANY: Final = "#"


class RecordedMark(msgspec.Struct, frozen=True):
    """How much of a match is published, as of a second ago."""

    receipts: bool
    """Whether the server signs receipts."""
    published: bool
    """Whether all of the match is published."""
    start: bool
    """Whether its first event is."""
    plies: int
    """So many of its moves at least are published: more may be, among the last ones."""
    elsewhere: int
    """So many of its moves are no leaves: those of its opening, and those that were brought from another server."""

    def has(self, ply: int) -> bool:
        """Return whether the published log has a move of this server that led to a ply."""
        return self.elsewhere < ply <= self.plies

    @classmethod
    def of(cls, context: ApiContext, table: MatchView) -> Self | None:
        """Return the mark of a match; None on a server that neither publishes nor signs receipts."""
        app, board = context.app, table.board
        size = context.published_sizes.of(app.store.shard_of(board))
        receipts = app.gives_receipts
        if not size and not receipts:
            return None
        indexes = _indexes(context, table)
        # each move is a leaf of its own, so at most so many moves wait
        waiting = sum(index >= size for index in indexes)
        return cls(
            receipts=receipts,
            published=not waiting,
            start=bool(indexes) and indexes[0] < size,
            plies=max(0, table.state.ply - waiting),
            elsewhere=table.state.imported.ply if table.state.imported else table.state.opening,
        )


def _indexes(context: ApiContext, table: MatchView) -> Sequence[int]:
    """Return where the leaves of a match are in the log of its shard."""
    if table.locator is None:
        return context.app.store.leaf_indexes(table.board)
    return locators.decode(table.locator)


class NumberedMove(msgspec.Struct, frozen=True):
    """A move in the list."""

    number: int
    text: str
    column: int
    kept: bool
    """Whether the published log has it."""
    given: bool
    """Whether it is one of the match's opening, and no player's."""
    mark: str
    """How the engine sees it: `?` if another move was clearly better, `??` at a turning point."""


class MoveList(msgspec.Struct, frozen=True):
    """All moves of a match."""

    board: int
    heads: tuple[str, ...]
    """The side of each column; empty for a puzzle, whose moves follow each other."""
    moves: tuple[NumberedMove, ...]

    @classmethod
    def of(cls, context: ApiContext, table: MatchView, recorded: RecordedMark | None) -> Self:
        """Return the list of a match; one that is over has marks if the engine has looked at it."""
        state = table.state
        if not state.ply:
            return cls(table.board, _heads(table), ())
        found = stored_analysis(context.app, table.board, state) if table.analysable else None
        marks = _marks(found.positions) if found else _NO_MARKS
        movers = [table.rules.to_move(position) for position in positions(state)]
        moves = tuple(
            NumberedMove(
                number,
                text,
                movers[number - 1] or 0,
                recorded is not None and recorded.has(number),
                number <= state.opening,
                marks.get(number, ""),
            )
            for number, text in enumerate(state.first_moves(state.ply), 1)
        )
        return cls(table.board, _heads(table), moves)


def _heads(table: MatchView) -> tuple[str, ...]:
    """Return the sides of the players, or their names where two have the same side, or may swap theirs."""
    seats, rules = range(len(table.state.seats)), table.rules
    sides = tuple(text_in(rules.sides[seat], table.language) for seat in seats)
    if len(sides) == 1:
        return ()
    fixed = all(rules.colour_text(seat) == rules.sides[seat] for seat in seats)
    return sides if fixed and len(set(sides)) == len(sides) else table.names


def _marks(analysed: Sequence[AnalysedPosition]) -> dict[int, str]:
    """Return the marks of moves by their numbers."""
    found = {number: "?" for number, one in enumerate(analysed, 1) if one.better}
    return found | {point.number: "??" for point in turning_points(analysed)}


def position_words(table: MatchView, wording: Wording, ply: int, position: Any) -> str:
    """Return a sentence on a position of a match: the moves before it, and whose turn it is or how it ended."""
    state = table.state
    moves = state.first_moves(ply)
    where = (
        wording.gettext(
            "After move %(ply)s of %(last)s: %(move)s.", ply=ply, last=state.ply, move=moves[-1]
        )
        if moves
        else wording.gettext("The start.")
    )
    if ply == state.ply and state.result:
        return f"{where} {said_result(table.state, table.seat, table.names, wording).text}"
    mover = table.rules.to_move(position)
    if mover is None or table.puzzle:
        return str(where)
    return f"{where} {wording.gettext('%(name)s is to move.', name=table.names[mover])}"


class LineStep(msgspec.Struct, frozen=True):
    """A move of a line."""

    move: str
    own: bool
    """Whether it is the player's own, which the server plays."""
    shared: bool
    """Whether another line has it too."""


class ConditionalLine(msgspec.Struct, frozen=True):
    """Moves from the present position on, of which the player's own are conditional moves."""

    steps: tuple[LineStep, ...]
    begins: str
    """The beginning that no other line has, by which this one is dropped."""
    address: str
    """The page that shows where it leads; empty for a move at a later ply."""
    number: int = 0
    """The number of a move that is played whatever comes before it; otherwise 0."""


def conditional_lines(board: int, ply: int, stored: ConditionalMoves) -> list[ConditionalLine]:
    """Return the lines of a player's conditional moves in a match after so many moves."""
    own = {(*one.path[ply - one.first_ply :], one.move) for one in stored.moves if one.path}
    leaves = sorted(
        one for one in own if not any(other[: len(one)] == one != other for other in own)
    )
    later = sorted((one.ply, one.move) for one in stored.moves if one.path is None)
    next_turn = [one.move for one in stored.moves if one.next_turn]
    return [
        *(
            _line(board, ply, leaf, own, [other for other in leaves if other != leaf])
            for leaf in leaves
        ),
        *(
            ConditionalLine(
                (LineStep(move, own=True, shared=False),), f"{move}{_ANY}{at}", "", at + 1
            )
            for at, move in later
        ),
        *(
            ConditionalLine((LineStep(move, own=True, shared=False),), move, "")
            for move in next_turn
        ),
    ]


def _line(
    board: int,
    ply: int,
    leaf: tuple[str, ...],
    own: set[tuple[str, ...]],
    others: list[tuple[str, ...]],
) -> ConditionalLine:
    shared = max((_common(leaf, other) for other in others), default=0)
    steps = tuple(
        LineStep(move, own=leaf[: at + 1] in own, shared=at < shared)
        for at, move in enumerate(leaf)
    )
    query = urlencode({"line": " ".join(leaf)})
    return ConditionalLine(steps, " ".join(leaf[: shared + 1]), f"/m/{board}/{ply}/if?{query}")


def _common(one: tuple[str, ...], other: tuple[str, ...]) -> int:
    """Return how many moves two lines have in common at their beginning."""
    same = 0
    for mine, theirs in zip(one, other, strict=False):
        if mine != theirs:
            break
        same += 1
    return same
