"""A Swiss tournament in TRF16, the format in which chess programs exchange tournaments.

Columns are those of FIDE's "Tournament Report File"; `XXR` (how many rounds) and `XXZ` (players who are not paired any
more) are JaVaFo's, and known to all. It has the rounds of which all matches are over, as a program wants
them that pairs the next one. Lines end with a line feed; the text is UTF-8.
"""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Final

from domain.errors import Code, Refusal
from domain.tournament.standings import TableCell
from domain.tournament.state import TournamentState
from domain.tournament.swiss_rounds import cells_by_round
from infra.languages.wording import IN_ENGLISH
from services.app.context import App
from services.app.names import names_of
from services.app.sentences import SAY
from services.app.tournaments import TournamentView
from services.words.agreements import described

_RESULTS: Final[Mapping[str, str]] = {
    "1": "1",
    "½": "=",
    "0": "0",
    "+": "+",
    "-": "-",
    "x": "-",
}
_BYE: Final = "0000 - U"
_ABSENT: Final = "0000 - Z"
_LONGEST_NAME: Final = 33


def trf_of(app: App, view: TournamentView) -> str:
    """Return the report of a tournament; `against-terms` for one of another form, and before its first round."""
    state = view.state
    if view.terms.swiss is None or not view.tables:
        raise Refusal(Code.AGAINST_TERMS, SAY("no-trf"))
    names = names_of(app, [state.organiser, *view.players])
    over = _rounds_over(state)
    rounds = {line.player: cells_by_round(line, state) for line in view.tables[0].lines}
    points = {player: _points(cells, over) for player, cells in rounds.items()}
    # a sort keeps the order of the table among equals
    order = sorted(rounds, key=lambda player: -points[player])
    rows = []
    for player, one in enumerate(state.entrants):
        name, rank = names[one.account][:_LONGEST_NAME], order.index(player) + 1
        played = "".join(f"  {_round(rounds[player], number)}" for number in range(1, over + 1))
        start = f"001 {player + 1:4}      {name:33} {one.rating:4}"
        rows.append(f"{start} {'':26} {points[player]:4.1f} {rank:4}{played}")
    said = [*_headings(view, names[state.organiser]), f"XXR {view.terms.swiss.rounds}"]
    if view.withdrawn:
        said.append("XXZ " + " ".join(str(player + 1) for player in sorted(view.withdrawn)))
    return "\n".join([*said, *rows]) + "\n"


def _rounds_over(state: TournamentState) -> int:
    """Return how many rounds from the first on have no match that goes on."""
    for number, section in enumerate(state.sections):
        if any(state.is_open(one) for one in section.numbers):
            return number
    return len(state.sections)


def _headings(view: TournamentView, organiser: str) -> Iterator[str]:
    state = view.state
    begins, ends = (_day(at) for at in (state.sections[0].at, state.at))
    yield f"012 {' '.join(view.said.name.split())}"
    yield f"042 {begins}"
    yield f"052 {ends}"
    yield f"062 {len(state.entrants)}"
    yield f"072 {len(state.entrants)}"
    yield "082 0"
    yield "092 Individual: Swiss-System"
    yield f"102 {organiser}"
    yield f"122 {described(view.terms.clock, IN_ENGLISH)}"


def _points(cells: Mapping[int, TableCell | None], over: int) -> float:
    """Return the points of the rounds that are over, which chess programs add up: 1 for a win or a bye, ½ for a draw."""
    worth = {"1": 1.0, "+": 1.0, "½": 0.5}
    counted = [cell for number, cell in cells.items() if number <= over]
    return sum(1.0 if cell is None else worth.get(cell.half, 0.0) for cell in counted)


def _round(cells: Mapping[int, TableCell | None], number: int) -> str:
    """Return a round of a player: opponent, colour and result."""
    if number not in cells:
        return _ABSENT
    cell = cells[number]
    if cell is None:
        return _BYE
    return f"{cell.other + 1:4} {'w' if cell.first else 'b'} {_RESULTS[cell.half]}"


def _day(at: int) -> str:
    return datetime.fromtimestamp(at / 1000, UTC).strftime("%Y/%m/%d")
