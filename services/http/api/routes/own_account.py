"""Further things of a player's own account: vacation, watched and pinned matches, followed and blocked players, push."""

from typing import Annotated

import msgspec
from litestar.params import JSONBody, PathParameter

from domain.errors import Code
from infra.people.push_subscriptions import PushSubscription
from infra.people.tokens import Scope
from infra.settings.push_services import LONGEST_ENDPOINT
from services.app import calendar, follows, vacations
from services.app import follows as blocks
from services.app.passwords import check_recent_password
from services.app.preferences import MOST_LABEL, BrowserKeys, subscribe, unsubscribe, vapid_key
from services.app.vacations import VacationStatus
from services.http.api.auth import Own
from services.http.api.bodies import RequestBody
from services.http.api.declared import ApiRoutes, refuses
from services.http.api.routes.accounts import RECENT_PASSWORD, Password
from services.http.api.routes.commands import BoardNumber

api = ApiRoutes("accounts")

OtherUserid = Annotated[
    str, PathParameter(max_length=24, description="the userid of the other player")
]
BrowserId = Annotated[
    str, PathParameter(max_length=32, description="the id of the browser in the list")
]


# vacation


class VacationDays(RequestBody, frozen=True):
    """A vacation to take."""

    days: Annotated[int, msgspec.Meta(ge=1, le=60, examples=[14])]
    """Whole days of 24 hours, from now on, or from the end of your present vacation."""


class OwnVacation(msgspec.Struct, frozen=True):
    """Your vacation."""

    until: int | None
    """End of the vacation, in ms since 1970; null if you are not on vacation."""
    days_left: int
    """Days that you can still take in `year`."""
    year: int
    """The calendar year."""
    matches: int | None
    """The number of matches that get the change; null if nothing was changed."""


@api.get("/api/account/vacation", "Your vacation", Scope.READ)
def show_vacation(own: Own) -> OwnVacation:
    """Return whether you are on vacation, and how many days you have left."""
    return _shown(vacations.status(own.app, own.account))


@api.post("/api/account/vacation", "Take a vacation", Scope.ACCOUNT)
@refuses(Code.BAD_OPTION, Code.BUSY)
def take_vacation(data: JSONBody[VacationDays], own: Own) -> OwnVacation:
    """Stop your clocks in all matches for whole days; a repeated request takes the days again."""
    return _shown(vacations.take(own.app, own.actor(), data.days))


@api.delete("/api/account/vacation", "End the vacation", Scope.ACCOUNT)
@refuses(Code.TOO_LATE, Code.BUSY)
def end_vacation(own: Own) -> OwnVacation:
    """End the vacation after its current day; you can take the days that have not begun again."""
    return _shown(vacations.end(own.app, own.actor()))


def _shown(status: VacationStatus) -> OwnVacation:
    return OwnVacation(status.until, status.left, status.year, status.matches)


# calendar


class OwnCalendar(msgspec.Struct, frozen=True):
    """The calendar of your account."""

    since: int | None
    """When its address was made, in ms since 1970; null without one."""


class NewCalendar(msgspec.Struct, frozen=True):
    """A new address of your calendar, which is shown only now."""

    path: str
    """The path below the address of the server."""


@api.get("/api/account/calendar", "Whether your calendar has an address", Scope.READ)
def show_calendar(own: Own) -> OwnCalendar:
    """Return when the secret address of your calendar was made; the address itself is stored nowhere."""
    return OwnCalendar(own.app.calendar_links.since(own.account))


@api.post("/api/account/calendar", "Make an address for your calendar", Scope.ACCOUNT)
@refuses(Code.SUSPENDED)
def make_calendar(own: Own) -> NewCalendar:
    """Make a secret address at which calendar programs read your deadlines, vacations and tournaments (iCalendar).

    The address before it ends. It also ends with all tokens of the account.
    """
    return NewCalendar(calendar.make_calendar(own.app, own.account))


@api.delete("/api/account/calendar", "Revoke the address of your calendar", Scope.ACCOUNT)
def end_calendar(own: Own) -> None:
    """End the address of your calendar; having none is no error."""
    calendar.end_calendar(own.app, own.account)


# matches that you watch, and players that you follow


class Following(msgspec.Struct, frozen=True):
    """The matches that an account watches, and the players that it follows."""

    matches: tuple[int, ...]
    """The watched matches, the newest first."""
    players: tuple[str, ...]
    """The userids of the followed players, in alphabetical order."""


@api.get(
    "/api/account/following", "Matches that you watch, and players that you follow", Scope.READ
)
def list_following(own: Own) -> Following:
    """Return the matches and players; only the caller can see them."""
    account = own.account
    found = own.app.follows.of(account)
    return Following(found.boards, tuple(follows.followed_userids(own.app, account, found)))


@api.put("/api/account/following/matches/{board:int}", "Watch a match", Scope.PLAY)
@refuses(Code.UNKNOWN_BOARD, Code.NOT_WANTED, Code.TOO_MANY)
def watch_board(board: BoardNumber, own: Own) -> None:
    """Put a match on the list of those that you watch, up to 200."""
    follows.watch_match(own.app, own.account, board)


@api.delete("/api/account/following/matches/{board:int}", "Take a match off the list", Scope.PLAY)
def unwatch_board(board: BoardNumber, own: Own) -> None:
    """Stop watching a match; one that is not watched is no error."""
    follows.unwatch_match(own.app, own.account, board)


@api.put("/api/account/following/players/{userid:str}", "Follow a player", Scope.PLAY)
@refuses(Code.UNKNOWN_USER, Code.BAD_OPTION, Code.NOT_WANTED, Code.TOO_MANY)
def follow_player(userid: OtherUserid, own: Own) -> None:
    """Put a player on the list of those that you follow, up to 100; the player does not learn of it."""
    follows.follow_player(own.app, own.account, userid)


@api.delete("/api/account/following/players/{userid:str}", "Take a player off the list", Scope.PLAY)
@refuses(Code.UNKNOWN_USER)
def unfollow_player(userid: OtherUserid, own: Own) -> None:
    """Stop following a player; one who is not followed is no error."""
    follows.unfollow_player(own.app, own.account, userid)


# pinned matches


class Pins(msgspec.Struct, frozen=True):
    """The matches that an account has pinned."""

    matches: tuple[int, ...]
    """The newest first."""


@api.get("/api/account/pins", "Matches that you pinned", Scope.READ)
def list_pins(own: Own) -> Pins:
    """Return the matches that come first in your lists; only the caller can see them."""
    return Pins(own.app.follows.of(own.account).pinned)


@api.put("/api/account/pins/{board:int}", "Pin a match", Scope.PLAY)
@refuses(Code.UNKNOWN_BOARD, Code.NOT_A_PLAYER, Code.TOO_MANY)
def pin_match(board: BoardNumber, own: Own) -> None:
    """Put a match that you play in first in your lists on pages, up to 20."""
    follows.pin_match(own.app, own.account, board)


@api.delete("/api/account/pins/{board:int}", "Unpin a match", Scope.PLAY)
def unpin_match(board: BoardNumber, own: Own) -> None:
    """Put a match back in its usual place in your lists; one that is not pinned is no error."""
    follows.unpin_match(own.app, own.account, board)


# blocked players


class Blocks(msgspec.Struct, frozen=True):
    """The players that an account blocks."""

    userids: tuple[str, ...]
    """In alphabetical order."""


@api.get("/api/account/blocks", "Players that you block", Scope.READ)
def list_blocks(own: Own) -> Blocks:
    """Return the players that the account blocks; only the caller can see them."""
    return Blocks(tuple(blocks.blocked_userids(own.app, own.account)))


@api.put("/api/account/blocks/{userid:str}", "Block a player", Scope.ACCOUNT)
@refuses(Code.UNKNOWN_USER, Code.BAD_OPTION, Code.TOO_MANY)
def block_player(userid: OtherUserid, own: Own) -> None:
    """Refuse challenges, messages and chat from a player, and decline the matches in which you have not moved.

    Those in which you have moved go on.
    """
    blocks.add_block(own.app, own.account, userid)


@api.delete("/api/account/blocks/{userid:str}", "End a block", Scope.ACCOUNT)
@refuses(Code.UNKNOWN_USER)
def unblock_player(userid: OtherUserid, own: Own) -> None:
    """Accept challenges, messages and chat from a player again.

    A player who is not blocked is no error.
    """
    blocks.remove_block(own.app, own.account, userid)


# notifications in browsers


class NewBrowser(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A subscription, as `PushSubscription.toJSON()` of a browser gives it."""

    endpoint: Annotated[str, msgspec.Meta(max_length=LONGEST_ENDPOINT)]
    keys: BrowserKeys
    label: Annotated[str, msgspec.Meta(max_length=MOST_LABEL)] = ""
    expiration_time: int | None = msgspec.field(default=None, name="expirationTime")
    """Browsers give it, and it is not used."""
    password: Password = ""
    """Required if your token is older than ten minutes."""


class PushBrowser(msgspec.Struct, frozen=True):
    """A browser that shows notifications."""

    id: str
    label: str
    since: int
    """Milliseconds since 1970."""


class Push(msgspec.Struct, frozen=True):
    """The notifications of an account."""

    key: str
    """The server's public key, to which browsers subscribe; empty where it sends no notifications."""
    browsers: tuple[PushBrowser, ...]
    """The newest first."""


@api.get("/api/account/push", "Browsers that show your notifications", Scope.READ)
def list_push(own: Own) -> Push:
    """Return the browsers, and the key that a further one subscribes to."""
    account = own.account
    app = own.app
    key = vapid_key(app).public if app.settings.sends_push else ""
    return Push(key, tuple(map(_browser, app.push_subscriptions.lasting(account))))


@api.post("/api/account/push", "Let a browser show notifications", Scope.ACCOUNT, status_code=201)
@refuses(Code.BAD_OPTION, Code.TOO_MANY, *RECENT_PASSWORD)
def add_push(data: JSONBody[NewBrowser], own: Own) -> PushBrowser:
    """Add a browser. The endpoint must belong to a push service that this server knows.

    The browser shows notifications while the token lasts. A token alone is enough for ten minutes after
    it was made; later the password is required, too.
    """
    account, app = own.account, own.app
    check_recent_password(app, account, data.password, own.token.created)
    login = own.token.id
    made = subscribe(app, account, data.endpoint, data.keys, label=data.label, login=login)
    return _browser(made)


@api.delete("/api/account/push/{browser:str}", "End the notifications of a browser", Scope.ACCOUNT)
def remove_push(browser: BrowserId, own: Own) -> None:
    """Remove a browser; one that is not there is no error."""
    unsubscribe(own.app, own.account, browser)


def _browser(one: PushSubscription) -> PushBrowser:
    return PushBrowser(one.id, one.label, one.since)
