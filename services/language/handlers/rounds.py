"""Tables of tournaments with a column for each round, in lines."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from domain.tournament.standings import SectionTable, TableCell
from domain.tournament.swiss_rounds import cells_by_round
from domain.tournament.terms import TournamentForm
from infra.languages.wording import Wording
from services.app.tournaments import TournamentView
from services.words.tournaments import points_text, side_and_number

NO_RESULT: Final = "."
"""A match without a result."""


def _swiss_lines(
    view: TournamentView, table: SectionTable, names: Sequence[str], words: Wording
) -> Iterator[str]:
    """Yield the players by place: place, number, player and points, then a cell for each round.

    A cell has the opponent's number, after the side, and the result; a round without the player is a dash.
    """
    rounds = range(1, view.state.stage + 1)
    rows = []
    for line in table.lines:
        cells = {
            number: words.gettext("bye") if cell is None else _round_cell(cell)
            for number, cell in cells_by_round(line, view.state).items()
        }
        rows.append([cells.get(number, "-") for number in rounds])
    name = max(len(names[line.player]) for line in table.lines)
    wide = max(len(cell) for row in rows for cell in row)
    yield " " * (name + 15) + " ".join(f"{number:<{wide}}" for number in rounds).rstrip()
    for line, row in zip(table.lines, rows, strict=True):
        player = f"{line.place:>3} {line.player + 1:>3}  {names[line.player]:{name}}"
        made = points_text(line.points, words)
        yield f"{player} {made:>4} {' '.join(f'{cell:<{wide}}' for cell in row)}".rstrip()


def _round_cell(cell: TableCell) -> str:
    return f"{side_and_number(cell)}:{cell.half or NO_RESULT}"


def _three_lines(
    view: TournamentView, table: SectionTable, names: Sequence[str], words: Wording
) -> Iterator[str]:
    """Yield the players by place with their points, and for each round the place in the match; a dash is a bye."""
    rounds = {number: one.round for number, one in view.state.pairings}
    most = range(1, view.terms.rounds + 1)
    width = max(len(names[line.player]) for line in table.lines)
    yield " " * (width + 12) + " ".join(f"{number:<2}" for number in most).rstrip()
    for line in table.lines:
        made = {rounds[cell.pairing]: cell.half or NO_RESULT for cell in line.cells}
        row = " ".join(f"{made.get(number, '-'):<2}" for number in most)
        points = points_text(line.points, words)
        yield f"{line.place:>3}  {names[line.player]:{width}} {points:>5} {row}".rstrip()


LINES_BY_ROUND: Final[
    Mapping[str, Callable[[TournamentView, SectionTable, Sequence[str], Wording], Iterator[str]]]
] = {TournamentForm.SWISS: _swiss_lines, TournamentForm.THREES: _three_lines}
"""How the forms with such a table show it; the last arguments are the names of all players by number, and the words."""
