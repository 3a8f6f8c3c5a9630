"""Tournaments: their lists and tables, entering and leaving, and what organisers do."""

from collections.abc import Collection, Mapping
from typing import Annotated, Literal

import msgspec
from litestar import Response
from litestar.params import JSONBody, PathParameter, QueryParameter

from domain.clocks.time_control import write_time_control
from domain.errors import Code
from domain.records import AccountId
from domain.tournament.form_terms import LadderTerms, LeagueTerms
from domain.tournament.seasons import division_changes
from domain.tournament.standings import SectionTable, TableLine
from domain.tournament.state import PairedSection
from domain.tournament.terms import ONE_POINT, TournamentForm, TournamentTerms
from domain.tournament.withdrawals import WithdrawalKind
from infra.languages.wording import IN_ENGLISH
from infra.people.tokens import Scope
from services.app import tournaments
from services.app.context import App
from services.app.names import userids_of
from services.app.receipts import Answered
from services.app.tournaments import ListedTournament, NextStage, TournamentPlan, TournamentView
from services.http.api.auth import AnyRequest, Context, Own, viewer_of
from services.http.api.bodies import TEXT, RequestBody, Sender
from services.http.api.declared import ANYBODY, COMMAND_ERRORS, ApiRoutes, refuses
from services.http.api.ladders import LadderChallenge, LadderRules, TournamentLadder, shown_ladder
from services.http.api.routes.start import Words
from services.words.agreements import described
from services.words.trf import trf_of

api = ApiRoutes("tournaments")

Number = Annotated[int, PathParameter(ge=1, le=10**15, description="the tournament's number")]
ListName = Annotated[
    Literal["open", "running", "ended", "own"],
    QueryParameter(
        name="list",
        description="those `open` for entry, `running`, `ended`, or your `own`: those that you organise or have "
        "entered, which needs your token",
    ),
]
Start = Annotated[
    int,
    QueryParameter(ge=0, le=1_000_000, description="how many to skip: `next` of the page before"),
]
Rating = Annotated[int, msgspec.Meta(ge=0, le=9_999)]
Time = Annotated[int, msgspec.Meta(ge=0, le=10**14)]

_ACTING = (Code.UNKNOWN_TOURNAMENT, Code.NOT_AN_ORGANISER, Code.NOT_STARTED, Code.TOO_LATE)


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


class NewTournament(RequestBody, frozen=True):
    """A tournament to make."""

    name: Annotated[str, msgspec.Meta(max_length=120, examples=["Spring Cup"])]
    game: Annotated[str, msgspec.Meta(max_length=24, examples=["pow2"])]
    text: Annotated[str, msgspec.Meta(max_length=20_000)] = ""
    """About it, in Markdown."""
    options: Words = ()
    """The game's options, such as `-fast`."""
    terms: Words = ()
    """The time control, such as `--days=3`."""
    form: TournamentForm = TournamentForm.ROUND_ROBIN
    """The fields of other forms are without meaning."""
    section: Annotated[int, msgspec.Meta(ge=0, le=1_000)] = 7
    """Players of a section, in a round robin."""
    stages: Annotated[tuple[FurtherStage, ...], msgspec.Meta(max_length=10)] = ()
    """Further stages of a round robin."""
    by_rating: bool = False
    """Whether the sections of further stages are made by rating, and not by the places of the stage before."""
    matches: Annotated[int, msgspec.Meta(ge=0, le=1_000)] = 1
    """Matches of a tie, in a knockout."""
    extra: Annotated[int, msgspec.Meta(ge=0, le=1_000)] = 0
    """How many more matches a drawn tie gets; if it is still drawn, the higher rating at entry goes on."""
    third_place: bool = False
    """Whether those who lose the semifinals of a knockout play for third place."""
    rounds: Annotated[int, msgspec.Meta(ge=0, le=1_000)] = 5
    """Rounds of a Swiss tournament."""
    days: Annotated[int, msgspec.Meta(ge=0, le=100_000)] = 0
    """Days after which what is not over in a round or stage is drawn; 0 for no end but that of its matches."""
    ladder: LadderRules = LadderRules()
    league: LeagueRules = LeagueRules()
    players: Annotated[int, msgspec.Meta(ge=0, le=100_000)] = 0
    """The most players, those who come later wait; 0 for as many as enter."""
    double: bool = False
    """Whether each pair plays two matches, with sides exchanged."""
    when_full: bool = False
    """Whether it starts when so many have entered."""
    starts: Time = 0
    """Time at which it starts, in ms since 1970; 0 for when it is full, or when you start it."""
    least_rating: Rating = 0
    """The least rating of an entrant; 0 for any."""
    most_rating: Rating = 0
    """The highest rating of an entrant; 0 for any."""
    club: Annotated[str, msgspec.Meta(max_length=60)] = ""
    """The path of a club of yours whose members alone may enter; empty for all."""
    robots: bool = False
    """Whether you may enter robots."""


class TournamentWords(RequestBody, frozen=True):
    """The name and the text of a tournament."""

    name: Annotated[str, msgspec.Meta(max_length=120)]
    text: Annotated[str, msgspec.Meta(max_length=20_000)] = ""
    """About it, in Markdown."""


class TournamentEntry(RequestBody, frozen=True):
    """An entry to a tournament."""

    robot: Annotated[str, msgspec.Meta(max_length=24)] = ""
    """Userid of a robot that you enter as the organiser; empty to enter yourself."""


class PlayerWithdrawal(RequestBody, frozen=True):
    """A player who leaves a tournament that runs."""

    userid: Annotated[str, msgspec.Meta(max_length=24, examples=["bob"])]
    kind: WithdrawalKind
    """`accepted`: announced, and the remaining matches are annulled; `silent`: they are lost."""
    text: Annotated[str, msgspec.Meta(max_length=4_000, examples=["Bob is ill."])]
    """The reasons, which the players of these matches read."""


class PlayerSubstitution(RequestBody, frozen=True):
    """A player whose place a volunteer takes over."""

    userid: Annotated[str, msgspec.Meta(max_length=24, examples=["bob"])]
    substitute: Annotated[str, msgspec.Meta(max_length=24, examples=["anna"])]
    """Userid of one of the `volunteers`."""
    text: Annotated[str, msgspec.Meta(max_length=4_000, examples=["Bob is ill."])]
    """The reasons, which the players of these matches read."""


class TournamentInList(msgspec.Struct, frozen=True):
    """A tournament in a list."""

    number: int
    name: str
    phase: str
    """`draft`, `entry`, `running`, `finished` until the places are confirmed, `confirmed` or `cancelled`."""
    form: str
    """`round-robin`, `knockout`, `swiss`, `league` or `ladder`."""
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
    """`round-robin`, `knockout`, `swiss`, `league` or `ladder`."""
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
    """How many matches each pair plays; those of a tie in a knockout."""
    extra: int
    """How many more matches a drawn tie gets."""
    third_place: bool
    """Whether those who lose the semifinals play for third place."""
    rounds: int
    """Rounds of a Swiss tournament; 0 in other forms."""
    days: int
    """Days after which what is not over in a round or stage is drawn; 0 for no end but that of its matches."""
    ladder: LadderRules | None
    """The rules of a ladder; null in other forms."""
    league: LeagueRules | None
    """Null in other forms."""
    points: tuple[float, ...]
    """For a win, a draw and a loss."""
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
    """`1-0`, `0-1` or `1/2`, by forfeit `+-`, `-+` or `--`; empty while there is none that counts."""


class ByeInRound(msgspec.Struct, frozen=True):
    """A player without an opponent in a round."""

    round: int
    player: int
    """The number in `entrants`, from 0."""


class TournamentSection(msgspec.Struct, frozen=True):
    """A section of a tournament; a knockout and a Swiss tournament have one of all rounds."""

    stage: int
    """From 1; of a league the season, whose divisions are in order from the top."""

    table: tuple[StandingsLine, ...]
    """By place."""
    pairings: tuple[PairingInSection, ...]
    byes: tuple[ByeInRound, ...] = ()
    """Of a Swiss tournament; each gave the points of a win."""


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


@api.get("/api/tournaments", "Tournaments", ANYBODY)
def list_tournaments(
    context: Context, request: AnyRequest, which: ListName = "open", start: Start = 0
) -> TournamentList:
    """Return a page of tournaments; those of clubs whose members alone see them need your token."""
    found = tournaments.tournaments_for(context.app, viewer_of(request), which, start)
    userids = userids_of(context.app, [one.row.organiser for one in found])
    # asked for by itself, because a page leaves out those of clubs that the caller does not see
    after = start + tournaments.PAGE
    more = which != "own" and bool(context.app.tournaments.listed(which, after, 1))
    return TournamentList(tuple(_listed(one, userids) for one in found), after if more else None)


def _listed(one: ListedTournament, userids: Mapping[AccountId, str | None]) -> TournamentInList:
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


@api.get("/api/tournaments/{number:int}", "A tournament", ANYBODY, weight=2)
@refuses(Code.UNKNOWN_TOURNAMENT)
def show_tournament(number: Number, context: Context, request: AnyRequest) -> ShownTournament:
    """Return a tournament: its terms, its players, and the table and the matches of each section."""
    viewer = viewer_of(request)
    view = tournaments.view_of(context.app, viewer, number)
    return _shown(context.app, view, viewer)


def _shown(app: App, view: TournamentView, viewer: AccountId | None) -> ShownTournament:
    state, room = view.state, view.terms.room
    before, ready = view.before, [one.account for one in state.volunteers]
    others = [state.organiser, *before.values(), *ready]
    userids = userids_of(app, [*view.players, *others])
    return ShownTournament(
        number=view.number,
        name=view.said.name,
        text=view.said.text,
        phase=state.phase,
        organiser=userids[state.organiser],
        terms=_conditions(view.terms, view.club),
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
    )


def _conditions(terms: TournamentTerms, club: str) -> TournamentConditions:
    win, draw, loss = (hundredths / ONE_POINT for hundredths in terms.points)
    return TournamentConditions(
        form=terms.form,
        game=terms.rules.partition("/")[0],
        rules=terms.rules,
        options=terms.options,
        terms=write_time_control(terms.clock),
        text=described(terms.clock, IN_ENGLISH),
        rated=terms.clock.rated,
        section=terms.section,
        stages=tuple(FurtherStage(one.first, one.total, one.section) for one in terms.stages),
        by_rating=any(one.by_rating for one in terms.stages),
        extra=terms.knockout.extra if terms.knockout else 0,
        third_place=bool(terms.knockout and terms.knockout.third_place),
        rounds=terms.swiss.rounds if terms.swiss else 0,
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
            result=view.state.result_of(number),
        )
        for number, one in zip(section.numbers, section.pairings, strict=True)
    )


def _byes(view: TournamentView) -> tuple[ByeInRound, ...]:
    if view.terms.form != TournamentForm.SWISS:
        return ()
    return tuple(
        ByeInRound(one.stage, player) for one in view.state.sections for player in one.byes
    )


@api.get(
    "/api/tournaments/{number:int}/trf",
    "A Swiss tournament for chess programs",
    ANYBODY,
    weight=2,
    media_type=TEXT,
)
@refuses(Code.UNKNOWN_TOURNAMENT, Code.AGAINST_TERMS)
def show_trf(number: Number, context: Context, request: AnyRequest) -> str:
    """Return the players and the rounds that are over of a Swiss tournament, in the format TRF16.

    `against-terms` for a tournament of another form, and before the first round.
    """
    return trf_of(context.app, tournaments.view_of(context.app, viewer_of(request), number))


@api.post(
    "/api/tournaments", "New tournament", Scope.PLAY, waits=True, located=True, status_code=201
)
@refuses(
    *(Code.SANCTIONED, Code.UNKNOWN_GAME, Code.UNKNOWN_OPTION, Code.BAD_OPTION, Code.BAD_NAME),
    *(Code.USAGE, Code.UNKNOWN_CLUB, Code.NOT_AN_ORGANISER, Code.TOO_MANY, *COMMAND_ERRORS),
)
async def make_tournament(data: JSONBody[NewTournament], sender: Sender) -> Response[Answered]:
    """Make a tournament; you are its organiser, and open it for entry. Its number is `board`."""
    stages = tuple(NextStage(one.first, one.total, one.section) for one in data.stages)
    ladder = LadderTerms(**msgspec.structs.asdict(data.ladder))
    league = LeagueTerms(**msgspec.structs.asdict(data.league))
    given = {"stages": stages, "ladder": ladder, "league": league}
    plan = TournamentPlan(**{**msgspec.structs.asdict(data), **given})
    made = await sender.submit(tournaments.draft_tournament(sender.app, sender.actor, plan))
    return Response(made, headers={"Location": f"/api/tournaments/{made.board}"})


@api.put("/api/tournaments/{number:int}/text", "Change a tournament's name and text", Scope.PLAY)
@refuses(Code.UNKNOWN_TOURNAMENT, Code.NOT_AN_ORGANISER, Code.BAD_NAME, Code.TOO_LONG)
def change_tournament(number: Number, data: JSONBody[TournamentWords], own: Own) -> None:
    """Change what a tournament is called and says, as its organiser."""
    tournaments.change_text(own.app, own.account, number, data.name, data.text)


@api.post("/api/tournaments/{number:int}/entry", "Enter a tournament", Scope.PLAY, waits=True)
@refuses(
    *(*_ACTING, *COMMAND_ERRORS, Code.ALREADY_ENTERED, Code.AGAINST_TERMS, Code.SANCTIONED),
    Code.UNKNOWN_USER,
)
async def enter_tournament(
    number: Number, data: JSONBody[TournamentEntry], sender: Sender
) -> Answered:
    """Enter a tournament, which is the consent to be paired; as its organiser you may enter robots."""
    return await sender.submit(tournaments.enter(sender.app, sender.actor, number, data.robot))


@api.delete("/api/tournaments/{number:int}/entry", "Take an entry back", Scope.PLAY, waits=True)
@refuses(*_ACTING, *COMMAND_ERRORS, Code.NOT_ENTERED, Code.UNKNOWN_USER)
async def leave_tournament(
    number: Number,
    sender: Sender,
    userid: Annotated[
        str,
        QueryParameter(
            max_length=24, description="as the organiser: whose entry; by default yours"
        ),
    ] = "",
) -> Answered:
    """Take your entry back before the start, or as the organiser another's; or leave a ladder, or a league after its season."""
    return await sender.submit(tournaments.leave(sender.app, sender.actor, number, userid))


@api.post("/api/tournaments/{number:int}/open", "Open entry", Scope.PLAY, waits=True)
@refuses(*_ACTING, *COMMAND_ERRORS, Code.ALREADY_STARTED)
async def open_tournament(number: Number, sender: Sender) -> Answered:
    """Open a tournament for entry, as its organiser."""
    return await sender.submit(tournaments.open_entry(sender.app, sender.actor, number))


@api.post("/api/tournaments/{number:int}/start", "Start a tournament", Scope.PLAY, waits=True)
@refuses(*_ACTING, *COMMAND_ERRORS, Code.TOO_EARLY)
async def start_tournament(number: Number, sender: Sender) -> Answered:
    """Close the entry and pair the players, as the organiser; the matches begin within seconds."""
    return await sender.submit(tournaments.start(sender.app, sender.actor, number))


@api.post(
    "/api/tournaments/{number:int}/challenges", "Challenge on a ladder", Scope.PLAY, waits=True
)
@refuses(
    *(*_ACTING, *COMMAND_ERRORS, Code.AGAINST_TERMS, Code.SANCTIONED, Code.UNKNOWN_USER),
    Code.NOT_ALLOWED,
)
async def challenge_on_ladder(
    number: Number, data: JSONBody[LadderChallenge], sender: Sender
) -> Answered:
    """Challenge a player of a ladder on which you are; the match begins within seconds, without asking."""
    return await sender.submit(tournaments.challenge(sender.app, sender.actor, number, data.userid))


@api.post("/api/tournaments/{number:int}/end", "End a ladder", Scope.PLAY, waits=True)
@refuses(*_ACTING, *COMMAND_ERRORS, Code.NOT_ALLOWED)
async def end_ladder(number: Number, sender: Sender) -> Answered:
    """End a ladder, as its organiser: nobody can challenge any more, and it is over with its last match."""
    return await sender.submit(tournaments.end_ladder(sender.app, sender.actor, number))


@api.post("/api/tournaments/{number:int}/withdrawals", "Take out a player", Scope.PLAY, waits=True)
@refuses(
    *(*_ACTING, *COMMAND_ERRORS, Code.NOT_ENTERED, Code.AGAINST_TERMS, Code.UNKNOWN_USER),
    *(Code.TOO_LONG, Code.TOO_MANY),
)
async def withdraw_player(
    number: Number, data: JSONBody[PlayerWithdrawal], sender: Sender
) -> Answered:
    """Take a player out of a tournament that runs, as its organiser or as an arbiter."""
    return await sender.submit(
        tournaments.withdraw(sender.app, sender.actor, number, data.userid, data.kind, data.text)
    )


@api.post(
    "/api/tournaments/{number:int}/volunteers",
    "Volunteer as a substitute",
    Scope.PLAY,
    waits=True,
)
@refuses(*_ACTING, *COMMAND_ERRORS, Code.ALREADY_ENTERED, Code.AGAINST_TERMS, Code.SANCTIONED)
async def volunteer_as_substitute(number: Number, sender: Sender) -> Answered:
    """Agree to take over the place of a player who leaves a tournament that runs; its `entry` takes that back."""
    return await sender.submit(tournaments.volunteer(sender.app, sender.actor, number))


@api.post(
    "/api/tournaments/{number:int}/substitutions",
    "Substitute a player",
    Scope.PLAY,
    waits=True,
)
@refuses(
    *(*_ACTING, *COMMAND_ERRORS, Code.NOT_ENTERED, Code.AGAINST_TERMS, Code.UNKNOWN_USER),
    *(Code.TOO_LONG, Code.TOO_MANY),
)
async def substitute_player(
    number: Number, data: JSONBody[PlayerSubstitution], sender: Sender
) -> Answered:
    """Let a volunteer take over a player's place and matches as they stand, as the organiser or as an arbiter."""
    return await sender.submit(
        tournaments.substitute(
            sender.app, sender.actor, number, data.userid, data.substitute, data.text
        )
    )


@api.post("/api/tournaments/{number:int}/confirm", "Confirm the places", Scope.PLAY, waits=True)
@refuses(*_ACTING, *COMMAND_ERRORS, Code.TOO_EARLY)
async def confirm_places(number: Number, sender: Sender) -> Answered:
    """Confirm the places once all matches are over, as the organiser."""
    return await sender.submit(tournaments.confirm(sender.app, sender.actor, number))


@api.post("/api/tournaments/{number:int}/cancel", "Cancel a tournament", Scope.PLAY, waits=True)
@refuses(*_ACTING, *COMMAND_ERRORS)
async def cancel_tournament(number: Number, sender: Sender) -> Answered:
    """Cancel a tournament before it starts, as its organiser."""
    return await sender.submit(tournaments.cancel(sender.app, sender.actor, number))
