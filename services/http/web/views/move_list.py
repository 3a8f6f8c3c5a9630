"""The list of a match's moves: a column for each player, and the engine's marks."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, Self

import msgspec

from domain.engine.turning_points import AnalysedPosition, turning_points
from domain.match.state import positions
from domain.sentences import text_in
from infra.languages.wording import Wording
from services.app.analyses import stored_analysis
from services.http.context import ApiContext
from services.http.web.views.match_view import MatchView
from services.http.web.views.recorded import RecordedMark
from services.words.endings import said_result

_NO_MARKS: Final[Mapping[int, str]] = {}


class NumberedMove(msgspec.Struct, frozen=True):
    """A move in the list."""

    number: int
    text: str
    column: int
    kept: bool
    """Whether the published log has it."""
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
