"""Tournaments of teams: each team meets every other, and each of its players the one at the same place."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Final

import msgspec

from domain.errors import Code, Refusal
from domain.tournament.events import SectionPaired
from domain.tournament.form import FormRules, Sections
from domain.tournament.results import PairResult, PointScheme, ScheduledMatch, Tally
from domain.tournament.schedule import round_robin
from domain.tournament.sentences import SAY
from domain.tournament.standings import counted_matches, points_of, tally_of
from domain.tournament.state import (
    Entrant,
    FinalPlace,
    PairedSection,
    Pairing,
    TournamentState,
)
from domain.tournament.teams import team_number
from domain.tournament.terms import (
    MOST_CYCLES,
    ONE_POINT,
    TEAM_SIZES,
    TournamentTerms,
)

MATCH_POINTS: Final = (0, 1, 2)
"""Of a team for a match that it loses, draws and wins."""


class TeamMatch(msgspec.Struct, frozen=True):
    """Two teams that meet."""

    round: int
    teams: tuple[int, int]
    """Their numbers, from 0."""
    pairings: tuple[int, ...]
    """In the order of their players."""
    points: tuple[Fraction, Fraction]
    """Of the players of each against the other so far."""
    left: int
    """How many of the pairings have no result."""


class TeamLine(msgspec.Struct, frozen=True):
    """A team's row of the table."""

    team: int
    """Its number, from 0."""
    place: int
    """Shared by teams that are equal."""
    match_points: int
    """For matches that are over: two for a win, one for a draw."""
    points: Fraction
    """Of all its players. They decide between teams of equal match points."""
    left: int
    """How many matches of its players have no result."""


class Teams(FormRules):
    """Teams of a fixed size, of which each meets every other once, or twice."""

    def check(self, terms: TournamentTerms) -> None:
        """Refuse teams that can't be."""
        assert terms.teams is not None
        if terms.teams.size not in TEAM_SIZES:
            said = SAY("team-size", least=min(TEAM_SIZES), most=max(TEAM_SIZES))
            raise Refusal(Code.BAD_OPTION, said)
        if terms.cycles not in range(1, MOST_CYCLES + 1):
            raise Refusal(Code.BAD_OPTION, SAY("cycles", most=MOST_CYCLES))
        if terms.capacity or terms.when_full or terms.robots:
            raise Refusal(Code.BAD_OPTION, SAY("terms-of-form"))

    def starters(self, state: TournamentState, terms: TournamentTerms) -> tuple[Entrant, ...]:
        """Return the players of all teams that are complete, team by team; that with the highest ratings is the first."""
        assert terms.teams is not None
        entered = {one.account: one for one in state.entrants}
        teams = [
            [entered[account] for account in team.ready[: terms.teams.size]]
            for team in state.teams
            if len(team.ready) >= terms.teams.size
        ]
        teams.sort(key=lambda players: -sum(one.rating for one in players))
        return tuple(one for players in teams for one in players) if len(teams) > 1 else ()

    def next_sections(self, state: TournamentState, terms: TournamentTerms) -> Sections | None:
        """Return all matches at the start; None afterwards."""
        return None if state.sections else (_all_matches(state, terms),)

    def places(
        self, section: PairedSection, state: TournamentState, terms: TournamentTerms
    ) -> tuple[FinalPlace, ...]:
        """Return the players by the places of their teams, each with the own points."""
        tally = tally_of(section, state, terms)
        places = {line.team: line.place for line in team_table(state, terms)}
        return tuple(
            FinalPlace(player, place, int(tally.in_points(player) * ONE_POINT))
            for team, place in places.items()
            for player in section.players
            if team_number(state, player) == team
        )


def _all_matches(state: TournamentState, terms: TournamentTerms) -> SectionPaired:
    """Return the pairings of all teams. In each match of two teams the first moves go to them in turn."""
    assert terms.teams is not None
    size = terms.teams.size
    pairings = []
    for number, matches in enumerate(round_robin(len(state.teams), double=terms.cycles > 1), 1):
        for one, other in matches:
            for place in range(size):
                pair = one * size + place, other * size + place
                first, second = pair if place % 2 == 0 else reversed(pair)
                pairings.append(Pairing(number, first, second))
    return SectionPaired(players=tuple(range(len(state.entrants))), pairings=tuple(pairings))


def team_matches(state: TournamentState, terms: TournamentTerms) -> list[TeamMatch]:
    """Return the matches of all teams in their order; none before the start."""
    if not state.sections or terms.teams is None:
        return []
    (section,) = state.sections
    size, points = terms.teams.size, points_of(terms)
    results = {one.number: one.result for one in counted_matches(section, state)}
    numbers = list(zip(section.numbers, section.pairings, strict=True))
    return [
        _team_match(numbers[at : at + size], results, state, points)
        for at in range(0, len(numbers), size)
    ]


def _team_match(
    pairings: list[tuple[int, Pairing]],
    results: Mapping[int, PairResult | None],
    state: TournamentState,
    points: PointScheme,
) -> TeamMatch:
    """Return a match of two teams; pairings that count for nobody are not among the `results`."""
    (_, first) = pairings[0]
    teams = team_number(state, first.first), team_number(state, first.second)
    sides = (
        ScheduledMatch(
            teams.index(team_number(state, one.first)),
            teams.index(team_number(state, one.second)),
            results[number],
        )
        for number, one in pairings
        if number in results
    )
    tally = Tally(2, points, sides)
    return TeamMatch(
        first.round,
        teams,
        tuple(number for number, _ in pairings),
        (tally.in_points(0), tally.in_points(1)),
        tally.open[0],
    )


def team_table(state: TournamentState, terms: TournamentTerms) -> tuple[TeamLine, ...]:
    """Return the teams by place; those of equal match points and equal points share one."""
    match_points = [0] * len(state.teams)
    points = [Fraction(0)] * len(state.teams)
    left = [0] * len(state.teams)
    for match in team_matches(state, terms):
        one, other = match.points
        for team, own, others in ((match.teams[0], one, other), (match.teams[1], other, one)):
            points[team] += own
            left[team] += match.left
            if not match.left:
                match_points[team] += MATCH_POINTS[1 + (own > others) - (own < others)]
    values = list(zip(match_points, points, strict=True))
    order = sorted(range(len(values)), key=lambda team: values[team], reverse=True)
    return tuple(
        TeamLine(team, 1 + sum(one > values[team] for one in values), *values[team], left[team])
        for team in order
    )
