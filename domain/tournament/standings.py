"""The standings of a section, by the results that were counted."""

from fractions import Fraction

from domain.tournament.results import PairResult, PointScheme, ScheduledMatch, Tally
from domain.tournament.state import Place, Section, TournamentState
from domain.tournament.table import TableRow, table_of
from domain.tournament.terms import ONE_POINT, TournamentTerms


def point_scheme(terms: TournamentTerms) -> PointScheme:
    """Return the points of a tournament as tables count them, with 1 for one point."""
    win, draw, loss = (hundredths / ONE_POINT for hundredths in terms.points)
    return PointScheme(win=win, draw=draw, loss=loss)


def tally_of(section: Section, state: TournamentState, terms: TournamentTerms) -> Tally:
    """Return the matches of a section that count; its players are numbered from 0 in their order."""
    place = {player: number for number, player in enumerate(section.players)}
    matches = []
    for number, pairing in enumerate(section.pairings, section.first):
        result = state.result_of(number)
        known = PairResult(result) if result else None
        matches.append(ScheduledMatch(place[pairing.first], place[pairing.second], known))
    return Tally(len(section.players), point_scheme(terms), matches)


def table_of_section(
    section: Section, state: TournamentState, terms: TournamentTerms
) -> list[TableRow]:
    """Return the rows of a section by place; their players are those of the tournament."""
    rows = table_of(tally_of(section, state, terms), terms.tiebreaks)
    return [row._replace(player=section.players[row.player]) for row in rows]


def places_of(
    section: Section, state: TournamentState, terms: TournamentTerms
) -> tuple[Place, ...]:
    """Return the places of a section, the best first."""
    return tuple(
        Place(row.player, row.place, _hundredths(row.points))
        for row in table_of_section(section, state, terms)
    )


def _hundredths(points: Fraction) -> int:
    return int(points * ONE_POINT)
