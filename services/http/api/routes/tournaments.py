"""Tournaments: their lists and tables, entering and leaving, and what organisers do."""

from typing import Annotated, Literal, cast

import msgspec
from litestar import MediaType, Response
from litestar.params import JSONBody, PathParameter, QueryParameter

from domain.errors import Code
from domain.tournament.entry_terms import EntryTerms
from domain.tournament.form_terms import LadderTerms, LeagueTerms
from domain.tournament.terms import TournamentForm
from domain.tournament.withdrawals import WithdrawalKind
from infra.audit.tournament_document import TournamentDocument
from infra.people.tokens import Scope
from services.app import teams, tournament_directors, tournament_invitations, tournaments
from services.app.exports import DocumentReader, export_tournament
from services.app.names import userids_of
from services.app.receipts import Answered
from services.app.tournament_plans import NextStage, TournamentPlan
from services.http.api.auth import AnyRequest, Context, Own, viewer_of
from services.http.api.bodies import TEXT, RequestBody, Sender
from services.http.api.declared import ANYBODY, COMMAND_ERRORS, ApiRoutes, created, refuses
from services.http.api.ladders import LadderChallenge, LadderRules
from services.http.api.routes.new_match import OPENING_ERRORS, Opening, Words
from services.http.api.teams import NamedTeam
from services.http.api.tournament_json import (
    EntryConditions,
    FurtherStage,
    LeagueRules,
    ShownTournament,
    TournamentList,
    listed_tournament,
    shown_tournament,
)
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
    opening: Opening = ""
    """The moves with which each match begins, with blanks between them; empty for none."""
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
    """Rounds of a Swiss tournament, or of groups of three."""
    place_points: Annotated[
        tuple[Annotated[int, msgspec.Meta(ge=0, le=100_000)], ...], msgspec.Meta(max_length=3)
    ] = (2, 1, 0)
    """In groups of three, for the first, second and third place."""
    days: Annotated[int, msgspec.Meta(ge=0, le=100_000)] = 0
    """Days after which what is not over in a round or stage is drawn; 0 for no end but that of its matches."""
    team_size: Annotated[int, msgspec.Meta(ge=0, le=1_000)] = 4
    """How many players of a team play, in a tournament of teams."""
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
    least_finished: Annotated[int, msgspec.Meta(ge=0, le=100_000)] = 0
    """How many matches an entrant has to have finished before, at any game."""
    entry: EntryConditions = EntryConditions()
    by_code: bool = False
    """Whether an entry needs a code, which you make."""
    seed_by_lot: bool = False
    """Whether players of a round robin or a knockout are seeded by lot, and not by rating."""
    lot: bool = False
    """Whether a lot decides in a round robin or a Swiss between players who are equal in all else."""
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
    captain: Annotated[str, msgspec.Meta(max_length=24)] = ""
    """Userid of the captain in whose team you enter; may be empty where a single team names you."""
    code: Annotated[str, msgspec.Meta(max_length=100)] = ""
    """The code of the tournament, if it has one."""


class TournamentInvitations(RequestBody, frozen=True):
    """Players who may enter."""

    userids: Annotated[
        tuple[Annotated[str, msgspec.Meta(max_length=24)], ...], msgspec.Meta(max_length=200)
    ]


class TournamentCode(msgspec.Struct, frozen=True):
    """A code for entering a tournament."""

    code: str
    """It is shown only here."""


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


class TournamentDirectors(RequestBody, frozen=True):
    """Those who rule beside the organiser."""

    userids: Annotated[
        tuple[Annotated[str, msgspec.Meta(max_length=24)], ...], msgspec.Meta(max_length=20)
    ]
    """In place of those before."""


class MatchAdjudication(RequestBody, frozen=True):
    """A match that is not over, and the result that it gets."""

    board: Annotated[int, msgspec.Meta(ge=1, le=10**15)]
    result: Annotated[str, msgspec.Meta(max_length=8, examples=["1-0"])]
    """`1-0`, `0-1` or `1/2`, the player with the first move first; of a match for three the places, such as `1-2-2` or `1-1-3`."""
    text: Annotated[str, msgspec.Meta(max_length=4_000, examples=["Alice is far ahead."])]
    """The reasons, which the players of the match read."""


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
    return TournamentList(
        tuple(listed_tournament(one, userids) for one in found), after if more else None
    )


@api.get("/api/tournaments/{number:int}", "A tournament", ANYBODY, weight=2)
@refuses(Code.UNKNOWN_TOURNAMENT)
def show_tournament(number: Number, context: Context, request: AnyRequest) -> ShownTournament:
    """Return a tournament: its terms, its players, and the table and the matches of each section."""
    viewer = viewer_of(request)
    view = tournaments.view_of(context.app, viewer, number)
    return shown_tournament(context.app, view, viewer)


@api.get(
    "/api/tournaments/{number:int}/export",
    "A tournament as a tournament document, with proofs",
    ANYBODY,
    weight=20,
    description="All events and refusals of the tournament as they are in the log, with proofs that a signed "
    "checkpoint covers them: docs/formats.md. `matchpost verify FILE` checks it without a server. The outcome of a "
    "refused command is left out, unless the token is its sender's and may read; so are the reasons of rulings, "
    "unless it is the organiser's, a director's or an arbiter's.",
)
@refuses(Code.UNKNOWN_TOURNAMENT, Code.DAMAGED, Code.UNAVAILABLE, Code.TOO_LONG)
def export_tournament_document(
    number: Number, context: Context, request: AnyRequest
) -> Response[TournamentDocument]:
    """Return a tournament as a tournament document, one line of JSON."""
    line = export_tournament(context.app, number, DocumentReader(viewer_of(request)))
    return Response(cast("TournamentDocument", line), media_type=MediaType.JSON)


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
    *(Code.SANCTIONED, Code.UNKNOWN_GAME, Code.GAME_OFF, Code.UNKNOWN_OPTION),
    *(Code.BAD_OPTION, Code.BAD_NAME),
    *OPENING_ERRORS,
    *(Code.USAGE, Code.UNKNOWN_CLUB, Code.NOT_AN_ORGANISER, Code.TOO_MANY, *COMMAND_ERRORS),
)
async def make_tournament(data: JSONBody[NewTournament], sender: Sender) -> Response[Answered]:
    """Make a tournament; you are its organiser, and open it for entry. Its number is `board`."""
    stages = tuple(NextStage(one.first, one.total, one.section) for one in data.stages)
    ladder = LadderTerms(**msgspec.structs.asdict(data.ladder))
    league = LeagueTerms(**msgspec.structs.asdict(data.league))
    entry = EntryTerms(**msgspec.structs.asdict(data.entry))
    given = {"stages": stages, "ladder": ladder, "league": league, "entry": entry}
    plan = TournamentPlan(**{**msgspec.structs.asdict(data), **given})
    made = await sender.submit(tournaments.draft_tournament(sender.app, sender.actor, plan))
    return created(made, f"/api/tournaments/{made.board}")


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
    named = data.robot or data.captain
    return await sender.submit(
        tournaments.enter(sender.app, sender.actor, number, named, data.code)
    )


@api.post("/api/tournaments/{number:int}/invitations", "Invite players", Scope.PLAY, waits=True)
@refuses(
    *(*_ACTING, *COMMAND_ERRORS, Code.ALREADY_ENTERED, Code.AGAINST_TERMS, Code.SANCTIONED),
    *(Code.UNKNOWN_USER, Code.NOT_ALLOWED, Code.NOT_WANTED, Code.TOO_MANY),
)
async def invite_players(
    number: Number, data: JSONBody[TournamentInvitations], sender: Sender
) -> Answered:
    """Invite players to a tournament that is for invited players alone, as its organiser; each gets a notice.

    Deleting the `entry` of a player takes the invitation back.
    """
    return await sender.submit(
        tournament_invitations.invite(sender.app, sender.actor, number, data.userids)
    )


@api.post("/api/tournaments/{number:int}/code", "Make a code for entry", Scope.PLAY)
@refuses(Code.UNKNOWN_TOURNAMENT, Code.NOT_AN_ORGANISER, Code.NOT_ALLOWED, Code.TOO_LATE)
def make_tournament_code(number: Number, own: Own) -> TournamentCode:
    """Make a code for entering a tournament, as its organiser; it ends an earlier one."""
    return TournamentCode(tournament_invitations.make_code(own.app, own.account, number))


@api.put("/api/tournaments/{number:int}/team", "Name your team", Scope.PLAY, waits=True)
@refuses(
    *(*_ACTING, *COMMAND_ERRORS, Code.AGAINST_TERMS, Code.SANCTIONED, Code.UNKNOWN_USER),
    *(Code.NOT_ALLOWED, Code.TOO_MANY),
)
async def name_team(number: Number, data: JSONBody[NamedTeam], sender: Sender) -> Answered:
    """Choose the players of your team, who then enter by themselves; an empty list dissolves it before the start."""
    return await sender.submit(teams.name_team(sender.app, sender.actor, number, data.userids))


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
@refuses(*_ACTING, *COMMAND_ERRORS, Code.ALREADY_STARTED, Code.GAME_OFF)
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
@refuses(
    *(*_ACTING, *COMMAND_ERRORS, Code.ALREADY_ENTERED, Code.AGAINST_TERMS, Code.SANCTIONED),
    Code.NOT_ALLOWED,
)
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


@api.put("/api/tournaments/{number:int}/directors", "Appoint directors", Scope.PLAY, waits=True)
@refuses(*_ACTING, *COMMAND_ERRORS, Code.UNKNOWN_USER, Code.TOO_MANY)
async def appoint_directors(
    number: Number, data: JSONBody[TournamentDirectors], sender: Sender
) -> Answered:
    """Appoint those who rule beside you, in place of those before, as the organiser."""
    return await sender.submit(
        tournament_directors.appoint(sender.app, sender.actor, number, data.userids)
    )


@api.post("/api/tournaments/{number:int}/adjudications", "Decide a match", Scope.PLAY, waits=True)
@refuses(
    *(*_ACTING, *COMMAND_ERRORS, Code.AGAINST_TERMS, Code.UNKNOWN_BOARD, Code.BAD_REQUEST),
    *(Code.TOO_LONG, Code.TOO_MANY),
)
async def adjudicate_match(
    number: Number, data: JSONBody[MatchAdjudication], sender: Sender
) -> Answered:
    """Decide a match that is not over, as the organiser, a director or an arbiter; a ruling ends it soon after."""
    return await sender.submit(
        tournament_directors.adjudicate(
            sender.app, sender.actor, number, data.board, data.result, data.text
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
