"""Plans of tournaments, as organisers ask for them in any front end, and the terms that they lead to."""

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec
from msgspec import UNSET, UnsetType

from domain.clocks.time_control import read_time_control
from domain.errors import Code, Refusal
from domain.records import AccountId
from domain.rules import read_opening, rules_by_id, rules_id
from domain.tournament.entry_terms import EntryTerms
from domain.tournament.form_terms import (
    KnockoutTerms,
    LadderTerms,
    LeagueTerms,
    StageTerms,
    SwissTerms,
    TeamTerms,
)
from domain.tournament.forms import check_terms
from domain.tournament.terms import (
    LOT,
    ONE_POINT,
    SWISS_TIEBREAKS,
    THREES_TIEBREAKS,
    USUAL_PLACE_POINTS,
    USUAL_TIEBREAKS,
    TournamentForm,
    TournamentTerms,
)
from domain.tournament.three_results import SEATS
from services.app import clubs
from services.app.context import App
from services.app.games import read_multiplayer_game
from services.app.games_off import check_on
from services.app.sentences import SAY

USUAL_SECTION: Final = 7
"""Players of a section, where nobody says."""

USUAL_LEAGUE: Final = LeagueTerms(size=8, up=2, down=2, seasons=4)

USUAL_ROUNDS: Final = 5
"""Rounds of a Swiss tournament, where nobody says."""


USUAL_POINTS: Final = tuple(points // ONE_POINT for points in USUAL_PLACE_POINTS)
"""For the places in groups of three, where nobody says."""

USUAL_TEAM: Final = 4
"""How many players of a team play, where nobody says."""


class NextStage(msgspec.Struct, frozen=True):
    """A further stage of a round robin, as an organiser asks for it."""

    first: int
    """How many go on from each section of the stage before."""
    total: int
    """How many go on in all; the best next ones fill up."""
    section: int
    """Players of a section."""


class TournamentPlan(msgspec.Struct, frozen=True, kw_only=True):
    """A tournament as an organiser asks for it, in any front end."""

    name: str
    text: str = ""
    """About it, in Markdown."""
    game: str
    options: Sequence[str] = ()
    """The game's options, such as `--size=7`."""
    terms: Sequence[str] = ()
    """The time control, such as `--days=3`."""
    opening: str = ""
    """The moves with which each match begins, with blanks between them; empty for none."""
    form: str = TournamentForm.ROUND_ROBIN
    """A `TournamentForm`; the fields of other forms are without meaning."""
    section: int = USUAL_SECTION
    """Players of a section, in a round robin."""
    stages: Sequence[NextStage] = ()
    """Further stages of a round robin."""
    by_rating: bool = False
    """Whether the sections of further stages are made by rating, and not by the places of the stage before."""
    days: int = 0
    """Days of a round, a stage or a season, after which it ends; 0 for no end but that of its matches."""
    players: int = 0
    """The most players; 0 for as many as enter."""
    double: bool = False
    """Whether each pair plays two matches, with sides exchanged."""
    matches: int = 1
    """Matches of a tie, in a knockout."""
    extra: int = 0
    """How many more matches a drawn tie gets."""
    third_place: bool = False
    """Whether those who lose the semifinals play for the third place."""
    rounds: int = USUAL_ROUNDS
    """Rounds of a Swiss tournament, or of groups of three."""
    place_points: tuple[int, ...] = USUAL_POINTS
    """For the first, second and third place, in groups of three."""
    team_size: int = USUAL_TEAM
    """How many players of a team play, in a tournament of teams."""
    ladder: LadderTerms = LadderTerms()
    league: LeagueTerms = USUAL_LEAGUE
    """Of a league, whose seasons last `days`."""
    when_full: bool = False
    """Whether it starts when so many have entered."""
    starts: int = 0
    """When it starts, ms since 1970; 0 for when it is full, or when its organiser starts it."""
    least_rating: int = 0
    most_rating: int = 0
    least_finished: int = 0
    """How many matches an entrant has to have finished before."""
    entry: EntryTerms = EntryTerms()
    by_code: bool = False
    """Whether an entry needs a code, which its organiser makes."""
    club: str = ""
    """The path of the club whose members alone may enter; empty for all."""
    robots: bool = False
    seed_by_lot: bool = False
    """Whether players are seeded by lot, and not by rating."""
    lot: bool = False
    """Whether a lot decides between players who are equal in all else."""


OWN_CYCLES: Final = (TournamentForm.KNOCKOUT, TournamentForm.THREES)
"""The forms whose cycles are not how often each pair meets."""

_TIEBREAKS: Final[Mapping[str, tuple[str, ...]]] = {
    TournamentForm.KNOCKOUT: (),
    TournamentForm.LADDER: (),
    TournamentForm.SWISS: SWISS_TIEBREAKS,
    TournamentForm.TEAMS: (),
    TournamentForm.THREES: THREES_TIEBREAKS,
}
"""The tie-breaks of the forms that have others than the usual ones."""


def terms_of(app: App, account: AccountId, plan: TournamentPlan) -> TournamentTerms:
    """Return the terms of a plan; refused as `check_terms` does, and `not-an-organiser` for a club of others."""
    rules = read_multiplayer_game(plan.game)
    check_on(app, rules)
    club = clubs.organised(app, account, plan.club).id if plan.club else ""
    in_sections = plan.form == TournamentForm.ROUND_ROBIN
    ties = plan.form == TournamentForm.KNOCKOUT
    is_league = plan.form == TournamentForm.LEAGUE
    of_teams = plan.form == TournamentForm.TEAMS
    cycles = 2 if plan.double and (in_sections or is_league or of_teams) else 1
    found = TournamentTerms(
        form=plan.form,
        rules=rules_id(rules),
        options=rules.write_options(rules.read_options(plan.options)),
        clock=read_time_control(plan.terms),
        section=plan.section if in_sections else 0,
        cycles=plan.matches if ties else cycles,
        tiebreaks=(*_TIEBREAKS.get(plan.form, USUAL_TIEBREAKS), *((LOT,) if plan.lot else ())),
        capacity=plan.players,
        when_full=plan.when_full,
        starts=plan.starts,
        least_rating=plan.least_rating,
        most_rating=plan.most_rating,
        least_finished=plan.least_finished,
        entry=plan.entry,
        by_code=plan.by_code,
        seed_by_lot=plan.seed_by_lot,
        club=club,
        robots=plan.robots,
        days=plan.days,
        stages=tuple(
            StageTerms(one.first, one.total, one.section, cycles, plan.by_rating)
            for one in plan.stages
        )
        if in_sections
        else (),
        knockout=KnockoutTerms(plan.extra, plan.third_place) if ties else None,
        swiss=SwissTerms(plan.rounds) if plan.form == TournamentForm.SWISS else None,
        ladder=plan.ladder if plan.form == TournamentForm.LADDER else None,
        league=plan.league if is_league else None,
        teams=TeamTerms(plan.team_size) if of_teams else None,
    )
    if plan.form == TournamentForm.THREES:
        found = msgspec.structs.replace(found, cycles=plan.rounds, points=_place_points(plan))
    check_terms(found)
    return found


def opening_of(plan: TournamentPlan, terms: TournamentTerms) -> str | UnsetType:
    """Return the opening of a plan as events record it; refused as `read_opening`."""
    if not plan.opening.strip():
        return UNSET
    rules = rules_by_id(terms.rules)
    return read_opening(rules, rules.read_options(terms.options), terms.seats, plan.opening).moves


def _place_points(plan: TournamentPlan) -> tuple[int, int, int]:
    """Return the points of the three places in hundredths; `bad-option` for another number of them."""
    if len(plan.place_points) != SEATS:
        raise Refusal(Code.BAD_OPTION, SAY("three-places"))
    first, second, third = (points * ONE_POINT for points in plan.place_points)
    return first, second, third


def whole_points(terms: TournamentTerms) -> tuple[int, ...]:
    """Return the points of the places of groups of three as a plan has them; the usual ones for other forms."""
    if terms.form != TournamentForm.THREES:
        return USUAL_POINTS
    return tuple(points // ONE_POINT for points in terms.points)
