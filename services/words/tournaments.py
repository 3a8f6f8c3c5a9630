"""Tournaments in words: their phases, their terms, and their tables as text."""

from collections.abc import Mapping, Sequence
from typing import Final

from domain.records import AccountId
from domain.rules import rules_by_id
from domain.tournament.standings import SectionTable, TableLine
from domain.tournament.state import Phase, TournamentState
from domain.tournament.terms import TournamentTerms
from infra.languages.wording import N_, Wording
from services.words.named_match import terms_line

_PHASES: Final[Mapping[str, str]] = {
    Phase.DRAFT: N_("not open for entry yet"),
    Phase.ENTRY: N_("open for entry"),
    Phase.RUNNING: N_("being played"),
    Phase.FINISHED: N_("all matches are over; the places are yet to be confirmed"),
    Phase.CONFIRMED: N_("over; the places are final"),
    Phase.CANCELLED: N_("cancelled"),
}

NO_RESULT: Final = "."
"""The cell of a match without a result."""

_SELF: Final = "*"
"""The cell of a player against themselves."""


def phase_name(phase: str, words: Wording) -> str:
    """Return how far a tournament is, such as `open for entry`."""
    return words.gettext(_PHASES[phase])


def terms_lines(terms: TournamentTerms, words: Wording) -> list[str]:
    """Return a line for each of the terms: form, game, time control, and who may enter."""
    _, rules = words.gettext, rules_by_id(terms.rules)
    form = (
        _("round robin in sections of up to %(size)s, each pair plays twice", size=terms.section)
        if terms.cycles > 1
        else _("round robin in sections of up to %(size)s", size=terms.section)
    )
    lines = [form, " ".join((rules.title, *terms.options)), terms_line(terms.clock, words)]
    if terms.capacity:
        lines.append(_("for up to %(count)s players", count=terms.capacity))
    if terms.least_rating and terms.most_rating:
        lines.append(
            _(
                "for ratings from %(least)s to %(most)s",
                least=terms.least_rating,
                most=terms.most_rating,
            )
        )
    elif terms.least_rating:
        lines.append(_("for ratings from %(least)s on", least=terms.least_rating))
    elif terms.most_rating:
        lines.append(_("for ratings up to %(most)s", most=terms.most_rating))
    if terms.robots:
        lines.append(_("the organiser may enter robots"))
    return lines


def start_sentence(terms: TournamentTerms, words: Wording) -> str:
    """Return when a tournament starts, without a full stop."""
    if terms.when_full and terms.starts:
        return words.gettext(
            "it starts when %(count)s players have entered, at the latest on %(moment)s",
            count=terms.capacity,
            moment=words.moment(terms.starts),
        )
    if terms.when_full:
        return words.gettext(
            "it starts when %(count)s players have entered", count=terms.capacity
        )
    if terms.starts:
        return words.gettext("it starts on %(moment)s", moment=words.moment(terms.starts))
    return words.gettext("its organiser starts it")


def entrant_lines(
    state: TournamentState, names: Mapping[AccountId, str], words: Wording
) -> list[str]:
    """Return a line for each entrant before the start, in the order of entry; those without room say so."""
    room = state.terms.room if state.terms else 0
    waits = words.gettext("waits for room")
    return [
        f"{number:>3}  {names[one.account]} ({one.rating})" + (f", {waits}" if number > room else "")
        for number, one in enumerate(state.entrants, 1)
    ]


def table_lines(table: SectionTable, names: Sequence[str]) -> list[str]:
    """Return a section's table: place, number, player, points, and a cell for each opponent.

    `names` are those of all players by their numbers in the tournament. A match without a result is a dot; where a
    pair plays twice, a cell has both.
    """
    shown = {player: names[player] for player in table.players}
    rows = [_cells(line, table.players) for line in table.lines]
    wide = max(len(cell) for row in rows for cell in row)
    wide, name = max(wide, len(str(len(rows)))), max(map(len, shown.values()))
    points = [f"{float(line.points):g}" for line in table.lines]
    most = max(map(len, points))
    numbers = {player: number for number, player in enumerate(table.players, 1)}
    head = " ".join(f"{number:>{wide}}" for number in numbers.values())
    lines = [f"{'':{11 + name + most}}{head}"]
    for line, made, row in zip(table.lines, points, rows, strict=True):
        cells = " ".join(f"{cell:>{wide}}" for cell in row)
        player = f"{line.place:>2} {numbers[line.player]:>3}  {shown[line.player]:{name}}"
        lines.append(f"{player}{made:>{most + 1}}  {cells}".rstrip())
    return lines


def _cells(line: TableLine, players: Sequence[int]) -> list[str]:
    """Return the cells of a player in the order of the columns."""
    halves = {player: "" for player in players}
    for cell in line.cells:
        halves[cell.other] += cell.half or NO_RESULT
    return [halves[player] or _SELF for player in players]
