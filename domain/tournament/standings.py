"""The standings of a section, by the results that were counted."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Final

import msgspec

from domain.tournament.results import PairResult, PointScheme, ScheduledMatch, Tally, TieBreakFacts
from domain.tournament.state import FinalPlace, PairedSection, TournamentState
from domain.tournament.table import PossiblePlaces, TableRow, possible_places, table_of
from domain.tournament.terms import ONE_POINT, TournamentForm, TournamentTerms
from domain.tournament.withdrawals import Withdrawal, WithdrawalKind, after_withdrawals


class TableCell(msgspec.Struct, frozen=True):
    """One player's match against another, as the player's row shows it."""

    pairing: int
    other: int
    """The opponent's number in the tournament."""
    first: bool
    """Whether the player has the first move."""
    half: str
    """The player's part of the result: `1`, `½`, `0`, `+` or `-` by forfeit, `x` if the match counts for nobody.

    Empty while there is none.
    """

    def seats_with(self, player: int) -> tuple[int, ...]:
        """Return all players of the match in the order of their seats; `player` is that of the row."""
        return (player, self.other) if self.first else (self.other, player)


class TableLine(msgspec.Struct, frozen=True):
    """A player's row of a table."""

    player: int
    """The number in the tournament."""
    place: int
    points: Fraction
    tiebreaks: tuple[Fraction, ...]
    cells: tuple[TableCell, ...]
    """In the order of the opponents in the section, and of their rounds."""
    possible: PossiblePlaces

    @property
    def left(self) -> int:
        """How many matches have no result."""
        return sum(not cell.half for cell in self.cells)


class SectionTable(msgspec.Struct, frozen=True):
    """The cross table of a section, by place."""

    players: tuple[int, ...]
    """In the order of the columns."""
    lines: tuple[TableLine, ...]


CANCELLED: Final = "x"
"""Of a match that counts for nobody."""

HALVES: Final[Mapping[PairResult | None, tuple[str, str]]] = {
    None: ("", ""),
    PairResult.FIRST_WON: ("1", "0"),
    PairResult.SECOND_WON: ("0", "1"),
    PairResult.DRAWN: ("½", "½"),
    PairResult.FIRST_BY_FORFEIT: ("+", "-"),
    PairResult.SECOND_BY_FORFEIT: ("-", "+"),
    PairResult.BOTH_FORFEITED: ("-", "-"),
}
"""How the rows of both players show a result."""


def section_table(
    section: PairedSection,
    state: TournamentState,
    terms: TournamentTerms,
    to_come: Sequence[int] = (),
) -> SectionTable:
    """Return the table of a section; `to_come` is how many matches each player gets that are not paired yet."""
    tally = tally_of(section, state, terms)
    for place, count in enumerate(to_come):
        tally.open[place] += count
    return table_from(tally, cells_of(section, state), section, terms)


def table_from(
    tally: Tally,
    cells: Mapping[int, Sequence[TableCell]],
    section: PairedSection,
    terms: TournamentTerms,
) -> SectionTable:
    """Return a table from the matches of a section, and the cells of each of its players."""
    possible = possible_places(tally, terms.tiebreaks)
    lines = []
    for row in table_of(tally, terms.tiebreaks):
        player = section.players[row.player]
        lines.append(
            TableLine(
                player,
                row.place,
                row.points,
                row.tiebreaks,
                tuple(cells[player]),
                possible[row.player],
            )
        )
    return SectionTable(section.players, tuple(lines))


def places_of(
    section: PairedSection, state: TournamentState, terms: TournamentTerms
) -> tuple[FinalPlace, ...]:
    """Return the places of a section, the best first."""
    return tuple(
        FinalPlace(row.player, row.place, int(row.points * ONE_POINT))
        for row in rows_of(section, state, terms)
    )


def rows_of(
    section: PairedSection, state: TournamentState, terms: TournamentTerms
) -> list[TableRow]:
    """Return the rows of a section by place, with the numbers that its players have in the tournament."""
    rows = table_of(tally_of(section, state, terms), terms.tiebreaks)
    return [row._replace(player=section.players[row.player]) for row in rows]


def tally_of(section: PairedSection, state: TournamentState, terms: TournamentTerms) -> Tally:
    """Return the matches of a section; its players are numbered from 0 in their order."""
    place = {player: number for number, player in enumerate(section.players)}
    byes = [place[player] for player in section.byes] if terms.form == TournamentForm.SWISS else ()
    # the best lot is the highest number: that of the players
    lots = [state.lots[player] - len(state.lots) for player in section.players if state.lots]
    facts = TieBreakFacts(lots=lots)
    matches = counted_matches(section, state)
    return Tally(len(section.players), points_of(terms), matches, facts, byes)


def points_of(terms: TournamentTerms) -> PointScheme:
    """Return the points of a tournament."""
    win, draw, loss = (hundredths / ONE_POINT for hundredths in terms.points)
    return PointScheme(win=win, draw=draw, loss=loss)


def counted_matches(section: PairedSection, state: TournamentState) -> list[ScheduledMatch]:
    """Return the matches that count, with the forfeits of those who have left."""
    place = {player: number for number, player in enumerate(section.players)}
    matches = []
    for number, pairing in zip(section.numbers, section.pairings, strict=True):
        result = state.result_of(number)
        known = PairResult(result) if result else None
        one = ScheduledMatch(place[pairing.first], place[pairing.second], known, number)
        matches.append(one)
    left = [
        Withdrawal(place[one.player], WithdrawalKind(one.kind))
        for one in state.withdrawn
        if one.player in place
    ]
    return after_withdrawals(matches, left)


def cells_of(section: PairedSection, state: TournamentState) -> dict[int, list[TableCell]]:
    """Return the cells of each player, in the order of the opponents in the section, and of their pairings."""
    cells: dict[int, list[TableCell]] = {player: [] for player in section.players}
    counted = {match.number: match.result for match in counted_matches(section, state)}
    for number, one in zip(section.numbers, section.pairings, strict=True):
        mine = theirs = CANCELLED
        if number in counted:
            mine, theirs = HALVES[counted[number]]
        cells[one.first].append(TableCell(number, one.second, first=True, half=mine))
        cells[one.second].append(TableCell(number, one.first, first=False, half=theirs))
    column = {player: number for number, player in enumerate(section.players)}
    for some in cells.values():
        some.sort(key=lambda cell: (column[cell.other], cell.pairing))
    return cells
