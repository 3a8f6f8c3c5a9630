"""Leagues: seasons of round robins in divisions, which begin by date, with promotion and relegation between them."""

from collections.abc import Mapping
from typing import ClassVar, Final

from msgspec.structs import replace

from domain.clocks.time_control import DAY
from domain.errors import Code, Refusal
from domain.records import AccountId
from domain.tournament.commands import PairRound
from domain.tournament.events import SectionPaired
from domain.tournament.form import FormRules, Sections
from domain.tournament.form_terms import LeagueTerms
from domain.tournament.league import LeagueNumbers, next_season
from domain.tournament.round_robin import check_section, is_round_robin, paired_section
from domain.tournament.sections import FEWEST_IN_SECTION
from domain.tournament.sentences import SAY
from domain.tournament.standings import SectionTable, places_of, rows_of, section_table
from domain.tournament.state import FinalPlace, PairedSection, Phase, TournamentState
from domain.tournament.terms import MOST_IN_LEAGUE, TournamentTerms

MOST_SEASONS: Final = 20

Divisions = list[list[int]]
"""The players of each division, from the top, each the best first."""


class League(FormRules):
    """Divisions of fixed size. A season begins on its day, whether or not the matches of the one before are over.

    Those that are not count there when they end, but no longer for promotion and relegation. At an equal place the
    player who was higher at the beginning of the season is the better.
    """

    late_entry: ClassVar[bool] = True

    def check(self, terms: TournamentTerms) -> None:
        """Refuse a league that can't be."""
        rules = terms.league
        assert rules is not None
        check_section(rules.size, terms.cycles)
        if min(rules.up, rules.down) < 0 or rules.up + rules.down > rules.size:
            raise Refusal(Code.BAD_OPTION, SAY("league-moves", size=rules.size))
        if not 1 <= rules.seasons <= MOST_SEASONS:
            raise Refusal(Code.BAD_OPTION, SAY("league-seasons", most=MOST_SEASONS))
        if not terms.days:
            raise Refusal(Code.BAD_OPTION, SAY("league-days"))
        if terms.capacity > MOST_IN_LEAGUE:
            raise Refusal(Code.BAD_OPTION, SAY("capacity", least=terms.least, most=MOST_IN_LEAGUE))

    def next_sections(self, state: TournamentState, terms: TournamentTerms) -> Sections | None:
        """Return the first season; afterwards nothing while a season is still to come, and None when none is.

        A league that has been left by all but two is over with its last match.
        """
        if not state.sections:
            return _season(coming_divisions(state, terms), state, terms)
        return () if self.pairs_at(state, terms) else None

    def paired(
        self,
        command: PairRound,  # noqa: ARG002 - of the base
        state: TournamentState,
        terms: TournamentTerms,
    ) -> Sections:
        """Return the next season by the standings as they are; `too-early` if too few players are left."""
        _check_season_follows(state, _rules(terms))
        divisions = coming_divisions(state, terms)
        if not _enough(divisions):
            count = sum(map(len, divisions))
            raise Refusal(Code.TOO_EARLY, SAY("too-few", least=FEWEST_IN_SECTION, count=count))
        return _season(divisions, state, terms)

    def check_recorded(
        self, recorded: Sections, state: TournamentState, terms: TournamentTerms
    ) -> None:
        """Refuse sections that are not the divisions of the rules, or no round robins."""
        wanted = [sorted(one) for one in coming_divisions(state, terms)]
        stage = state.stage + 1
        fits = [sorted(section.players) for section in recorded] == wanted
        if not fits or not all(is_round_robin(one, terms.cycles, stage) for one in recorded):
            raise Refusal(Code.BAD_REQUEST, SAY("pairing"))

    def pairs_at(self, state: TournamentState, terms: TournamentTerms) -> int:
        """Return when the next season begins, ms; 0 if none follows, or while too few players are left for one."""
        if not state.sections or state.stage >= _rules(terms).seasons:
            return 0
        going = len(state.entrants) - len(_gone(state))
        return state.sections[-1].at + terms.days * DAY if going >= FEWEST_IN_SECTION else 0

    def round_ends(
        self,
        state: TournamentState,  # noqa: ARG002 - of the base
        terms: TournamentTerms,  # noqa: ARG002 - of the base
    ) -> int:
        """Return 0: the matches of a season go on beside those of the next."""
        return 0

    def table(
        self, section: PairedSection, state: TournamentState, terms: TournamentTerms
    ) -> SectionTable:
        """Return the table of a division."""
        return section_table(section, _as_in(section, state), terms)

    def places(
        self, section: PairedSection, state: TournamentState, terms: TournamentTerms
    ) -> tuple[FinalPlace, ...]:
        """Return the places of a division."""
        return places_of(section, _as_in(section, state), terms)


def season_sections(state: TournamentState, season: int) -> tuple[PairedSection, ...]:
    """Return the divisions of a season, from the top."""
    return tuple(section for section in state.sections if section.stage == season)


def coming_divisions(state: TournamentState, terms: TournamentTerms) -> Divisions:
    """Return the divisions of the next season, if it began now: by the standings, without those who have left."""
    rules = _rules(terms)
    gone = _gone(state)
    divisions = [
        [row.player for row in rows_of(section, _as_in(section, state), terms)]
        for section in season_sections(state, state.stage)
    ]
    known = {player for division in divisions for player in division} | gone
    newcomers = [player for player in range(len(state.entrants)) if player not in known]
    numbers = LeagueNumbers(rules.size, rules.up, rules.down)
    return next_season(divisions, numbers, gone, newcomers)


def division_changes(
    section: PairedSection, state: TournamentState, terms: TournamentTerms
) -> Mapping[int, int | None]:
    """Return by how many divisions each player of a section goes up, below 0 down, in the season after it.

    None for those who are in no division then. After the last season that began it is what the present standings
    would lead to; nothing at all after the last season of the league.
    """
    is_last = section.stage == state.stage and state.phase is not Phase.RUNNING
    if is_last or section.stage >= _rules(terms).seasons:
        return {}
    if section.stage < state.stage:
        after = [list(one.players) for one in season_sections(state, section.stage + 1)]
    else:
        after = coming_divisions(state, terms)
    division = {player: number for number, one in enumerate(after) for player in one}
    own = season_sections(state, section.stage).index(section)
    return {
        player: own - division[player] if player in division else None for player in section.players
    }


def check_late_entry(account: AccountId, state: TournamentState, terms: TournamentTerms) -> None:
    """Refuse an entry while a league runs: of one who is in, or was taken out; without room, or a further season."""
    player = state.number_of(account)
    if player is not None and state.has_withdrawn(player):
        raise Refusal(Code.TOO_LATE, SAY("withdrawn"))
    if player is not None and player not in state.leaving:
        raise Refusal(Code.ALREADY_ENTERED, SAY("entered"))
    _check_season_follows(state, _rules(terms))
    playing = len(state.entrants) - len(_gone(state))
    if playing >= terms.room or (player is None and len(state.entrants) >= MOST_IN_LEAGUE):
        raise Refusal(Code.TOO_MANY, SAY("league-full"))


def check_leaving(player: int | None, state: TournamentState, terms: TournamentTerms) -> int:
    """Return the number of a player who may leave a league that runs, before its next season."""
    if player is None or player in state.leaving:
        raise Refusal(Code.NOT_ENTERED, SAY("not-entered"))
    if state.has_withdrawn(player):
        raise Refusal(Code.TOO_LATE, SAY("withdrawn"))
    _check_season_follows(state, _rules(terms))
    return player


def is_league_that_runs(state: TournamentState) -> bool:
    """Return whether players enter and leave a league between its seasons."""
    return (
        state.phase is Phase.RUNNING and state.terms is not None and state.terms.league is not None
    )


def _rules(terms: TournamentTerms) -> LeagueTerms:
    assert terms.league is not None
    return terms.league


def _check_season_follows(state: TournamentState, rules: LeagueTerms) -> None:
    if state.stage >= rules.seasons:
        raise Refusal(Code.TOO_LATE, SAY("last-season"))


def _gone(state: TournamentState) -> frozenset[int]:
    """Return the players who are in no further season."""
    return frozenset(state.leaving) | {one.player for one in state.withdrawn}


def _enough(divisions: Divisions) -> bool:
    return bool(divisions) and len(divisions[0]) >= FEWEST_IN_SECTION


def _season(divisions: Divisions, state: TournamentState, terms: TournamentTerms) -> Sections:
    season = state.stage + 1
    found: list[SectionPaired] = [paired_section(one, terms.cycles, season) for one in divisions]
    return tuple(found)


def _as_in(section: PairedSection, state: TournamentState) -> TournamentState:
    """Return the state with those withdrawals alone that left matches of a section unfinished.

    A season that a player had finished stands as it was, whatever became of them in a later one.
    """
    unfinished = [
        section.pairings[number - section.first]
        for number in state.unfinished
        if number in section.numbers
    ]
    cut = {player for one in unfinished for player in (one.first, one.second)}
    left = tuple(one for one in state.withdrawn if one.player in cut)
    return replace(state, withdrawn=left)
