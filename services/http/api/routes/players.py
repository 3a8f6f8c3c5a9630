"""Players and their matches, in pages."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Final

import msgspec
from litestar import Response
from litestar.params import PathParameter, QueryParameter

from domain.errors import Code, Refusal
from domain.match.state import is_bot, robot_level
from domain.records import AccountId
from infra.people.tokens import Scope
from infra.projections.match_lists import MatchFilter, MatchListRow
from infra.projections.ratings import Rating
from services.app.context import App
from services.app.games import read_game
from services.app.matches import MatchPhase
from services.app.names import userids_of
from services.app.queries import (
    NOT_RUNNING,
    RunningMatch,
    find_player,
    ratings_of,
    running_matches,
)
from services.http.api.auth import AnyRequest, Context, Own, viewer_of
from services.http.api.declared import ANYBODY, ApiRoutes, refuses, tagged
from services.http.api.match_json import OpenOffer
from services.http.api.values import EndReason, LevelName, NoticeName, PhaseName

MAX_ROWS: Final = 100
"""Rows of a page."""

api = ApiRoutes("players")

Limit = Annotated[int, QueryParameter(ge=1, le=MAX_ROWS, description="the maximum number of rows")]
Cursor = Annotated[
    int,
    QueryParameter(
        ge=0, le=10**9, description="the `next` of the previous page; 0 for the first page"
    ),
]
GameKey = Annotated[str, PathParameter(max_length=24, description="a game, such as `pow2`")]
GameFilter = Annotated[
    str | None, QueryParameter(max_length=24, description="a game, such as `pow2`")
]
Userid = Annotated[str, PathParameter(max_length=24, description="a userid, in any case")]
UseridFilter = Annotated[
    str | None, QueryParameter(max_length=24, description="a userid, in any case")
]


class Listed(msgspec.Struct, frozen=True):
    """A match in a list."""

    board: int
    """The number of the match."""
    game: str
    rules: str
    """The version of the rules, such as `pow2/1`."""
    options: tuple[str, ...]
    players: tuple[str | None, ...]
    """Userids by seat; null for a deleted account."""
    state: PhaseName
    """`waiting` for consent, `active` or `over`."""
    waits_for: tuple[int, ...]
    """Seats that have to act."""
    since: int
    """Time since which they have to act, in ms since 1970."""
    ply: int
    """The number of moves played."""
    updated: int
    """Time of the last event, in ms since 1970."""
    winners: tuple[int, ...] | None
    """Seats that have won: all tied seats for a draw, none if the match does not count. Null while
    the match is not over."""
    reason: EndReason
    """Why the match ended, such as `resignation`; empty while it is not over."""
    invited: tuple[int, ...] = ()
    """Seats that have yet to accept the match; such a match is in no list but that of its players."""
    tournament: int | None = None
    """The number of the tournament to which the match belongs; null without one."""
    deadline: int | None = None
    """Time at which the time of those who have to act is over, in ms since 1970; null for a match that is over or
    paused, or has no limit."""
    last_move: str | None = None
    """The last move in canonical form; null for a match that is over or has none."""
    offer: OpenOffer | None = None
    """Null if no offer is open."""


class Matches(msgspec.Struct, frozen=True):
    """A page of matches."""

    matches: tuple[Listed, ...]
    next: int | None
    """The `cursor` of the next page; null on the last."""


class Player(msgspec.Struct, frozen=True):
    """The public profile of a player."""

    userid: str
    robot: LevelName | None
    """Level of the robot, such as `easy`; null for a person."""
    bot: bool
    """True for a program of a player; such userids begin with `bot-`."""
    owner: str | None
    """Userid of a bot's owner; null for all others."""
    since: int
    """Time at which the account was created, in ms since 1970."""
    to_move: int
    """The number of matches that wait for the player."""
    active: int
    """The number of active matches."""
    finished: int
    """The number of finished matches."""
    ratings: dict[str, int]
    """Ratings by game, for games with a finished rated match."""
    ratings_with_bots: dict[str, int]
    """Ratings in matches in which a bot plays, which are rated apart, by game."""
    refused_draws: int
    """Matches that the player declined after the draw was known or could be known."""


class Notice(msgspec.Struct, frozen=True):
    """An event in one of your matches or tournaments, or a message to you."""

    board: int
    """The number of the match, or of the tournament for a notice of one; 0 for `message`."""
    seq: int
    """Number of the event; 0 for `chat` and `message`, which are no events."""
    at: int
    """Time of the event, in ms since 1970."""
    kind: NoticeName
    """The kind of notice, such as `your-turn`."""


class Unread(msgspec.Struct, frozen=True):
    """Counts of unread messages and lines of chat."""

    messages: int
    """The number of unread messages."""
    boards: dict[int, int]
    """Unread lines of chat, by the number of the match; matches without any are left out."""


class Notices(msgspec.Struct, frozen=True):
    """A page of notices."""

    notices: tuple[Notice, ...]
    next: int | None
    """The `cursor` of the next page; null on the last."""
    unread: Unread
    """Counts of unread messages and chat."""


Boards = Annotated[
    str | None,
    QueryParameter(
        pattern="^[1-9][0-9]{0,14}(,[1-9][0-9]{0,14}){0,99}$",
        description="the numbers of matches, with commas between them",
    ),
]


@api.get("/api/matches", "List matches", ANYBODY, tag="matches", tagged=True)
@refuses(Code.UNKNOWN_GAME, Code.UNKNOWN_USER)
def list_matches(  # noqa: PLR0913, PLR0917 - one for each parameter of the query
    request: AnyRequest,
    context: Context,
    player: UseridFilter = None,
    game: GameFilter = None,
    which: Annotated[
        MatchFilter, QueryParameter(name="state", description="which of the player's matches")
    ] = MatchFilter.ACTIVE,
    cursor: Cursor = 0,
    limit: Limit = 50,
    board: Boards = None,
) -> Response[Matches]:
    """Return the matches of a player, the active matches of a game, or up to 100 matches by their numbers.

    Those by number come in the order in which they are asked for and in one page, without those that are in the archive. One
    that not all players have accepted is for its players alone, whose token may read.
    """
    if board is not None:
        if player is not None or game is not None:
            raise Refusal(Code.BAD_REQUEST, "name boards, or a player or a game, not both")
        wanted = list(dict.fromkeys(map(int, board.split(","))))
        viewer = viewer_of(request)
        found = [
            row
            for row in context.app.lists.rows(wanted)
            if row is not None and (not row.invited or viewer in row.seats)
        ]
        return tagged(request, Matches(_rows_json(context.app, found), None))
    if game is not None:
        game = read_game(game).key
    if player is not None:
        account = context.app.accounts.id_of(player)
        rows = context.app.lists.of(account, which, game, cursor, limit + 1)
    elif game is None or which is not MatchFilter.ACTIVE:
        raise Refusal(Code.BAD_REQUEST, "name a player, or a game whose active matches are wanted")
    else:
        rows = context.app.lists.playing(game, cursor, limit + 1)
    return tagged(
        request,
        Matches(_rows_json(context.app, rows[:limit]), next_cursor(cursor, limit, len(rows))),
    )


@api.get(
    "/api/account/invitations",
    "Matches that not all players have accepted",
    Scope.READ,
    tag="matches",
)
def list_invitations(own: Own, cursor: Cursor = 0, limit: Limit = 50) -> Matches:
    """Return the matches to which you are invited, and those to which you have invited others.

    Only their players have them in a list. The newest come first.
    """
    rows = own.app.lists.proposed(own.account)[cursor:]
    return Matches(_rows_json(own.app, rows[:limit]), next_cursor(cursor, limit, len(rows)))


@api.get("/api/players/{userid:str}", "A player", ANYBODY, tagged=True)
@refuses(Code.UNKNOWN_USER)
def show_player(request: AnyRequest, userid: Userid, context: Context) -> Response[Player]:
    """Return the public profile of a player."""
    account, profile = find_player(context.app, userid)
    counts = context.app.lists.counts(account)
    return tagged(
        request,
        Player(
            userid=profile.name,
            robot=robot_level(account),
            bot=is_bot(account),
            owner=context.app.accounts.name_of([profile.owner])[0] if profile.owner else None,
            since=profile.created,
            to_move=counts.next,
            active=counts.active,
            finished=counts.inactive,
            refused_draws=context.app.standings.refused(account),
            ratings=_shown(ratings_of(context.app, account)),
            ratings_with_bots=_shown(ratings_of(context.app, account, bots=True)),
        ),
    )


def _shown(ratings: Mapping[str, Rating]) -> dict[str, int]:
    return {game: rating.display_value for game, rating in ratings.items()}


@api.get("/api/notices", "Your notices", Scope.READ, tag="events")
def list_notices(own: Own, cursor: Cursor = 0, limit: Limit = 50) -> Notices:
    """Return notices of your matches and messages, the newest first.

    The server keeps the newest 200 of matches, and the newest 200 of chat and messages for 90 days.
    """
    account = own.account
    rows = own.app.notices.of(account, cursor, limit + 1)
    shown = tuple(Notice(row.board, row.seq, row.at, row.kind) for row in rows[:limit])
    unread = own.app.unread.counts(account)
    return Notices(
        shown, next_cursor(cursor, limit, len(rows)), Unread(unread.messages, unread.boards)
    )


def next_cursor(cursor: int, limit: int, found: int) -> int | None:
    """Return the cursor of the next page, if a row beyond the limit was found."""
    return cursor + limit if found > limit else None


def _rows_json(app: App, rows: Sequence[MatchListRow]) -> tuple[Listed, ...]:
    names = userids_of(app, (account for row in rows for account in row.seats))
    running = running_matches(app, rows)
    return tuple(_match_row_json(row, names, running.get(row.board, NOT_RUNNING)) for row in rows)


def _match_row_json(
    row: MatchListRow, names: Mapping[AccountId, str | None], running: RunningMatch
) -> Listed:
    return Listed(
        board=row.board,
        game=row.game,
        rules=row.rules,
        options=row.options,
        players=tuple(names[account] for account in row.seats),
        state=_state_name(row),
        waits_for=row.waits,
        since=row.since,
        ply=row.ply,
        updated=row.at,
        winners=row.winners,
        reason=row.reason,
        invited=row.invited,
        tournament=row.tournament or None,
        deadline=running.deadline,
        last_move=running.last_move,
        offer=OpenOffer(row.offer.kind, row.offer.seat, row.offer.accepted) if row.offer else None,
    )


def _state_name(row: MatchListRow) -> MatchPhase:
    if row.over:
        return "over"
    return "active" if row.started and not row.invited else "waiting"
