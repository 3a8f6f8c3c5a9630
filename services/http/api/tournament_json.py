"""Tournaments as programs read them: in lists, and with their terms, players, tables and pairings."""

from collections.abc import Collection, Mapping
from typing import Annotated

import msgspec

from domain.clocks.time_control import write_time_control
from domain.records import AccountId
from domain.tournament.entry_terms import EntryTerms
from domain.tournament.seasons import division_changes
from domain.tournament.standings import SectionTable, TableLine
from domain.tournament.state import PairedSection
from domain.tournament.terms import ONE_POINT, TournamentForm, TournamentTerms
from domain.tournament.three_form import byes_by_round, three_result
from infra.languages.wording import IN_ENGLISH
from services.app.context import App
from services.app.names import userids_of
from services.app.tournament_invitations import may_enter, waiting_invitations
from services.app.tournaments import ListedTournament, TournamentView
from services.http.api.bodies import RequestBody
from services.http.api.ladders import LadderRules, TournamentLadder, shown_ladder
from services.http.api.teams import TeamOfPlayers, shown_teams
from services.words.agreements import described


class FurtherStage(RequestBody, frozen=True):
    """A further stage of a round robin."""

    first: Annotated[int, msgspec.Meta(ge=0, le=1_000)]
    """How many go on to it from each section of the stage before."""
    total: Annotated[int, msgspec.Meta(ge=0, le=100_000)]
    """How many go on in all; the best next ones fill up."""
    section: Annotated[int, msgspec.Meta(ge=0, le=1_000)]
    """Players of a section."""


class LeagueRules(RequestBody, frozen=True):
    """The divisions and seasons of a league."""

    size: Annotated[int, msgspec.Meta(ge=0, le=1_000)] = 8
    """Players of a division."""
    up: Annotated[int, msgspec.Meta(ge=0, le=1_000)] = 2
    """How many are promoted from each division but the first."""
    down: Annotated[int, msgspec.Meta(ge=0, le=1_000)] = 2
    """How many are relegated from each division but the last."""
    seasons: Annotated[int, msgspec.Meta(ge=0, le=1_000)] = 4


class EntryConditions(EntryTerms, RequestBody, frozen=True, array_like=False):
    """Further conditions of an entry."""


class TournamentInList(msgspec.Struct, frozen=True):
    """A tournament in a list."""

    number: int
    name: str
    phase: str
    """`draft`, `entry`, `running`, `finished` until the places are confirmed, `confirmed` or `cancelled`."""
    form: str
    """`round-robin`, `knockout`, `swiss`, `league`, `ladder`, `teams` or `threes`."""
    game: str
    rules: str
    """The version of the rules, such as `pow2/1`."""
    options: tuple[str, ...]
    """The game's options, such as `-fast`."""
    organiser: str | None
    """Userid; null for a deleted account."""
    entered: int
    """How many have entered, those who wait for room included."""
    room: int
    """The most players."""
    starts: int | None
    """Time at which it starts, in ms since 1970; null without a date."""
    matches: int
    """The number of its matches; 0 before the start."""
    counted: int
    """How many of them have a result that counts."""


class TournamentList(msgspec.Struct, frozen=True):
    """A page of tournaments, the newest first."""

    tournaments: tuple[TournamentInList, ...]
    next: int | None
    """The `start` of the next page; null on the last."""


class TournamentConditions(msgspec.Struct, frozen=True):
    """The terms of a tournament, which never change."""

    form: str
    """`round-robin`, `knockout`, `swiss`, `league`, `ladder`, `teams` or `threes`."""
    game: str
    rules: str
    """The version of the rules, such as `pow2/1`."""
    options: tuple[str, ...]
    """The game's options, such as `-fast`."""
    terms: tuple[str, ...]
    """The options of the time control that differ from the defaults, as in a challenge."""
    text: str
    """The time control in words."""
    rated: bool
    section: int
    """Players of a whole section; 0 in other forms."""
    stages: tuple[FurtherStage, ...]
    """The further stages of a round robin."""
    by_rating: bool
    """Whether the sections of further stages are made by rating."""
    cycles: int
    """How many matches each pair plays; those of a tie in a knockout, and the rounds of groups of three."""
    extra: int
    """How many more matches a drawn tie gets."""
    third_place: bool
    """Whether those who lose the semifinals play for third place."""
    rounds: int
    """Rounds of a Swiss tournament, or of groups of three; 0 in other forms."""
    days: int
    """Days after which what is not over in a round or stage is drawn; 0 for no end but that of its matches."""
    ladder: LadderRules | None
    """The rules of a ladder; null in other forms."""
    league: LeagueRules | None
    """Null in other forms."""
    points: tuple[float, ...]
    """For a win, a draw and a loss; in groups of three for the first, second and third place."""
    tiebreaks: tuple[str, ...]
    """In their order."""
    players: int
    """The most players; 0 for as many as enter."""
    when_full: bool
    """Whether it starts when so many have entered."""
    starts: int | None
    """Time at which it starts, in ms since 1970; null without a date."""
    least_rating: int
    """0 for any."""
    most_rating: int
    """0 for any."""
    club: str | None
    """The path of the club whose members alone may enter; null for all."""
    robots: bool
    """Whether the organiser may enter robots."""
    least_finished: int = 0
    """How many matches an entrant has to have finished before, at any game."""
    team_size: int = 0
    """How many players of a team play; 0 in other forms."""
    entry: EntryConditions = EntryConditions()
    by_code: bool = False
    """Whether an entry needs its code."""
    seed_by_lot: bool = False
    """Whether players are seeded by lot, and not by rating."""
    opening: str = ""
    """The moves with which each match begins, with blanks between them; empty for none."""


class TournamentEntrant(msgspec.Struct, frozen=True):
    """A player who has entered."""

    userid: str | None
    """Null for a deleted account."""
    rating: int
    """At entry."""
    waits: bool
    """Whether the player waits for room."""
    substitute_for: str | None = None
    """Userid of the player whose place this one has taken over; null for others, and for a deleted account."""


class StandingsLine(msgspec.Struct, frozen=True):
    """A player's row of a table."""

    place: int
    """Shared by players who are equal to the end."""
    player: int
    """The number in `entrants`, from 0."""
    points: float
    tiebreaks: tuple[float, ...]
    """In the order of the terms."""
    left: int
    """How many matches have no result that counts."""
    withdrawn: bool
    """Whether the player has left."""
    best: int
    """The best place that is still possible."""
    worst: int
    """The worst place that is still possible."""
    change: int | None
    """In a league, by how many divisions the player goes up after the season, below 0 down, by the table as it is while
    the season runs; null if the player is in no division then."""


class PairingInSection(msgspec.Struct, frozen=True):
    """A match of a section."""

    pairing: int
    """Its number in the tournament, from 0."""
    round: int
    first: int
    """The number in `entrants` of the player with the first move."""
    second: int
    board: int | None
    """The number of its match; null until that has begun."""
    result: str
    """`1-0`, `0-1` or `1/2`, by forfeit `+-`, `-+` or `--`; empty while there is none that counts.

    In groups of three the places of the three players, such as `1-2-2`, or `0-0-0` if it was annulled.
    """
    third: int | None = None
    """In groups of three the number in `entrants` of the player with the third seat; null in other forms."""


class ByeInRound(msgspec.Struct, frozen=True):
    """A player without an opponent in a round."""

    round: int
    player: int
    """The number in `entrants`, from 0."""


class TournamentSection(msgspec.Struct, frozen=True):
    """A section of a tournament; a knockout, a Swiss tournament and groups of three have one of all rounds."""

    stage: int
    """From 1; of a league the season, whose divisions are in order from the top."""

    table: tuple[StandingsLine, ...]
    """By place."""
    pairings: tuple[PairingInSection, ...]
    byes: tuple[ByeInRound, ...] = ()
    """Of a Swiss tournament, where each gives the points of a win, or of groups of three, where it gives those of second place."""


class ComingSeason(msgspec.Struct, frozen=True):
    """The next season of a league."""

    number: int
    begins: int | None
    """In ms since 1970; null while too few players are left for it."""
    stays: bool
    """Whether you are in it, and may leave; otherwise you may enter."""


class ShownTournament(msgspec.Struct, frozen=True):
    """A tournament with its players and tables."""

    number: int
    name: str
    text: str
    """About it, in Markdown."""
    phase: str
    """`draft`, `entry`, `running`, `finished` until the places are confirmed, `confirmed` or `cancelled`."""
    organiser: str | None
    """Userid; null for a deleted account."""
    directors: tuple[str | None, ...]
    """Userids of those who rule beside the organiser; null for a deleted account."""
    terms: TournamentConditions
    entrants: tuple[TournamentEntrant, ...]
    """In the order of entry; from the start on, by rating."""
    sections: tuple[TournamentSection, ...]
    """Empty before the start."""
    ladder: TournamentLadder | None
    """Null in other forms, and before the start."""
    left: int
    """How many matches have no result that counts."""
    organises: bool
    """Whether you may act as the organiser."""
    entered: bool
    """Whether you have entered."""
    waits: bool
    """Whether you wait for room."""
    season: ComingSeason | None
    """The next season of a league; null if there is none, or you were taken out."""
    seq: int
    """Number of the last event."""
    updated: int
    """Time of the last event, in ms since 1970."""
    volunteers: tuple[str, ...] = ()
    """Userids of those who would take over the place of a player who leaves."""
    volunteered: bool = False
    """Whether you are one of them."""
    teams: tuple[TeamOfPlayers, ...] = ()
    """By place once it has started; empty in other forms."""
    invited: tuple[str, ...] = ()
    """For its organiser: userids of those who are invited and have not entered."""
    may_enter: bool = False
    """Whether you have an account that needs no invitation, or has one."""


def listed_tournament(
    one: ListedTournament, userids: Mapping[AccountId, str | None]
) -> TournamentInList:
    """Return a tournament in a list; `userids` has that of its organiser."""
    row = one.row
    return TournamentInList(
        number=row.number,
        name=one.name,
        phase=row.phase,
        form=row.form,
        game=row.rules.partition("/")[0],
        rules=row.rules,
        options=row.options,
        organiser=userids[row.organiser],
        entered=row.entered,
        room=row.room,
        starts=row.starts or None,
        matches=row.pairings,
        counted=row.counted,
    )


def shown_tournament(app: App, view: TournamentView, viewer: AccountId | None) -> ShownTournament:
    """Return a tournament with all that an account sees of it."""
    state, room = view.state, view.terms.room
    before, ready = view.before, [one.account for one in state.volunteers]
    invited = waiting_invitations(view)
    others = [state.organiser, *state.directors, *before.values(), *ready, *invited]
    userids = userids_of(app, [*view.players, *others])
    return ShownTournament(
        number=view.number,
        name=view.said.name,
        text=view.said.text,
        phase=state.phase,
        organiser=userids[state.organiser],
        directors=tuple(userids[one] for one in state.directors),
        terms=_conditions(view.terms, view.club, state.opening),
        entrants=tuple(
            TournamentEntrant(
                userids[one.account],
                one.rating,
                waits=place >= room,
                substitute_for=userids[before[place]] if place in before else None,
            )
            for place, one in enumerate(state.entrants)
        ),
        sections=tuple(
            TournamentSection(
                section.stage,
                _lines(section, table, view),
                _pairings(section, view),
                _byes(view),
            )
            for section, table in zip(view.sections, view.tables, strict=True)
        ),
        ladder=shown_ladder(app, view, viewer),
        left=view.left,
        organises=view.organises,
        entered=view.entered,
        waits=view.waits,
        season=ComingSeason(view.season.number, view.season.begins or None, view.season.stays)
        if view.season
        else None,
        seq=state.seq,
        updated=state.at,
        volunteers=tuple(filter(None, (userids[one] for one in ready))),
        volunteered=view.volunteers,
        teams=shown_teams(app, view),
        invited=tuple(filter(None, (userids[one] for one in invited))),
        may_enter=viewer is not None and may_enter(state, viewer),
    )


def _conditions(terms: TournamentTerms, club: str, opening: str) -> TournamentConditions:
    win, draw, loss = (hundredths / ONE_POINT for hundredths in terms.points)
    return TournamentConditions(
        form=terms.form,
        game=terms.rules.partition("/")[0],
        rules=terms.rules,
        options=terms.options,
        terms=write_time_control(terms.clock),
        text=described(terms.clock, IN_ENGLISH),
        rated=bool(terms.clock.rated),
        section=terms.section,
        stages=tuple(FurtherStage(one.first, one.total, one.section) for one in terms.stages),
        by_rating=any(one.by_rating for one in terms.stages),
        extra=terms.knockout.extra if terms.knockout else 0,
        third_place=bool(terms.knockout and terms.knockout.third_place),
        rounds=terms.rounds,
        days=terms.days,
        ladder=LadderRules(**msgspec.structs.asdict(terms.ladder)) if terms.ladder else None,
        league=LeagueRules(**msgspec.structs.asdict(terms.league)) if terms.league else None,
        cycles=terms.cycles,
        points=(win, draw, loss),
        tiebreaks=terms.tiebreaks,
        players=terms.capacity,
        when_full=terms.when_full,
        starts=terms.starts or None,
        least_rating=terms.least_rating,
        most_rating=terms.most_rating,
        club=club or None,
        robots=terms.robots,
        least_finished=terms.least_finished,
        team_size=terms.teams.size if terms.teams else 0,
        entry=EntryConditions(**msgspec.structs.asdict(terms.entry)),
        by_code=terms.by_code,
        seed_by_lot=terms.seed_by_lot,
        opening=opening,
    )


def _lines(
    section: PairedSection, table: SectionTable, view: TournamentView
) -> tuple[StandingsLine, ...]:
    of_league = view.terms.league is not None
    changes = division_changes(section, view.state, view.terms) if of_league else {}
    return tuple(_line(line, view.withdrawn, changes.get(line.player, 0)) for line in table.lines)


def _line(line: TableLine, withdrawn: Collection[int], change: int | None) -> StandingsLine:
    return StandingsLine(
        place=line.place,
        player=line.player,
        points=float(line.points),
        tiebreaks=tuple(map(float, line.tiebreaks)),
        left=line.left,
        withdrawn=line.player in withdrawn,
        best=line.possible.best,
        worst=line.possible.worst,
        change=change,
    )


def _pairings(section: PairedSection, view: TournamentView) -> tuple[PairingInSection, ...]:
    return tuple(
        PairingInSection(
            pairing=number,
            round=one.round,
            first=one.first,
            second=one.second,
            board=view.matches[number].board or None if number in view.matches else None,
            result=three_result(number, seats, view.state)
            if section.thirds
            else view.state.result_of(number),
            third=seats[2] if section.thirds else None,
        )
        for number, one, seats in zip(section.numbers, section.pairings, section.seats, strict=True)
    )


def _byes(view: TournamentView) -> tuple[ByeInRound, ...]:
    if view.terms.form == TournamentForm.THREES:
        (section,) = view.sections
        rounds = enumerate(byes_by_round(section), 1)
        return tuple(ByeInRound(number, player) for number, some in rounds for player in some)
    if view.terms.form != TournamentForm.SWISS:
        return ()
    return tuple(
        ByeInRound(one.stage, player) for one in view.state.sections for player in one.byes
    )
