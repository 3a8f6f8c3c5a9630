"""Visitors of pages: the session cookie, and the token against cross-site request forgery (CSRF).

Over TLS the session cookie is called `__Host-session`: browsers accept such a cookie only over TLS,
and only for this host. Without TLS they refuse that name, so over plain HTTP, which is meant for the
same machine only, the cookie is called `session`.

Each form has a token that is the HMAC of the cookie. Another site can neither read the cookie nor
compute the token, so a form with both comes from a page of this server. A visitor who has not
logged in has a random cookie instead, which belongs to no account.

Pages are compressed, so the length of a page tells something about the text in it. Therefore each answer has
the token masked by a pad of its own, and no two answers show the same text.

How a browser shows the pages: theme, language, boards, sound. One cookie has it, for guests too.
"""

import asyncio
import hmac
import re
import secrets
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any, Final, Literal, NamedTuple, Protocol

import msgspec
from litestar import Request
from litestar.datastructures import Cookie
from litestar.di import NamedDependency

from domain.errors import Code, Refusal
from domain.match.history import PackedSnapshot, Snapshot, unpack_snapshot
from domain.match.state import MatchState
from domain.records import AccountId
from domain.sentences import ENGLISH
from infra.languages.wording import Wording, wording
from infra.people.accounts import Profile
from infra.people.accounts.record import decode_profile
from infra.people.admission import Admission
from infra.people.masthead import Masthead
from infra.people.sessions import LASTS_SECONDS, Session, SessionCheck
from infra.redis.reads import Read, read_all
from infra.store.snapshots import read_locators, read_with_conditional_moves
from services.app.admission import recent_admission
from services.app.context import App
from services.app.damaged_match import UNREADABLE
from services.app.passwords import FRESH_MS, is_fresh
from services.app.sentences import SAY
from services.app.site import in_some_language
from services.app.waiting import LOOKED_AT, new_count
from services.http.context import ApiContext
from services.http.requests import SESSION_COOKIE, cookie_name, wanted_language

COOKIE: Final = "display"
BANNER_COOKIE: Final = "banner"
"""Of a visit: the digest of the announcement that its visitor has closed."""
_YEAR: Final = 365 * 86_400

Theme = Literal["system", "light", "dark"]
BoardTheme = Literal["paper", "wood", "slate"]
Side = Literal["mine", "first"]


class DisplaySettings(msgspec.Struct, frozen=True):
    """The settings of a browser."""

    theme: Theme = "system"
    language: str = ""
    """Empty: the account's, or what the browser asks for."""
    board: BoardTheme = "paper"
    coordinates: bool = True
    below: Side = "mine"
    """Whose side of a board is below."""
    confirm: bool = True
    """Whether a whole move is played only when it is confirmed."""
    sound: bool = False


USUAL: Final = DisplaySettings()


def read_display(cookies: Mapping[str, str]) -> DisplaySettings:
    """Return the settings in a browser's cookies; the usual ones where they can't be read."""
    fields = dict(part.split("-", 1) for part in cookies.get(COOKIE, "").split(".") if "-" in part)
    try:
        return msgspec.convert(fields, DisplaySettings, strict=False)
    except msgspec.ValidationError:
        return USUAL


def change_display(settings: DisplaySettings, changes: Mapping[str, str]) -> DisplaySettings:
    """Return settings with changes, by field; `bad-option` for a value that there is not."""
    known = {name: value for name, value in changes.items() if name in settings.__struct_fields__}
    try:
        return msgspec.convert(msgspec.to_builtins(settings) | known, DisplaySettings, strict=False)
    except msgspec.ValidationError as error:
        raise Refusal(Code.BAD_OPTION, SAY("no-display-setting")) from error


def display_cookie(settings: DisplaySettings, *, secure: bool) -> Cookie:
    """Return the cookie of settings."""
    fields = msgspec.to_builtins(settings).items()
    text = ".".join(f"{name}-{str(value).lower()}" for name, value in fields if value != "")
    # scripts read it too
    return Cookie(key=COOKIE, value=text, path="/", max_age=_YEAR, secure=secure, samesite="lax")


def banner_digest(masthead: Masthead) -> str:
    """Return a text that is another one for each announcement."""
    said = repr(sorted(masthead.banner.items())).encode()
    return sha256(said).hexdigest()[:16]


def banner_cookie(masthead: Masthead, *, secure: bool) -> Cookie:
    """Return the cookie of a visitor who closes the announcement, until the browser is closed."""
    digest = banner_digest(masthead)
    return Cookie(
        key=BANNER_COOKIE, value=digest, path="/", secure=secure, httponly=True, samesite="lax"
    )


def page_address(request: Request[Any, Any, Any]) -> str:
    """Return the address of the requested page, with its query.

    A form that is answered with a page of its own has the address of a form, which no browser can ask
    for: then it is the nearest page above that address, such as `/account` for `/account/password`.
    """
    if request.method == "GET":
        return request.url.path + (f"?{request.url.query}" if request.url.query else "")
    pages = {route.path_format for route in request.app.routes if "GET" in route.methods}
    path, template = request.url.path, request.scope["path_template"]
    while path and template not in pages:
        path, template = path.rpartition("/")[0], template.rpartition("/")[0]
    return path or "/"


AnyRequest = Request[Any, Any, Any]

GUEST_COOKIE: Final = "guest"

CSRF_FIELD: Final = "csrf"
CSRF_HEADER: Final = "x-csrf-token"

_MASKED: Final = re.compile("[0-9a-f]{128}")
"""A masked token of 256 bits."""

_OF_A_VISIT: Final = ("move", "next", "over", "saved")
"""Parts of a query that name no other page."""

_LOCAL_SITE: Final = re.compile(r"https://|http://(localhost|127\.[0-9.]+|\[::1\])(:|$)")

_PATH_OF_MATCH: Final = re.compile("/m/([0-9]{1,15})(?![0-9])")


class LoginNeededError(Exception):
    """The page needs a log-in; `back` is the page to go to afterwards, if it is another."""

    def __init__(self, back: str = "") -> None:
        super().__init__(back)
        self.back = back


class MatchOfPage(NamedTuple):
    """The match that a page's address names, as it was read together with the session."""

    snapshot: Snapshot
    moves: bytes
    """The conditional moves."""
    userids: list[str | None]
    """Those of the players; None for a deleted account."""
    locator: bytes
    """Where its leaves are in the log of its shard."""


NEEDS_ACCOUNT: Final = "needs_account"
"""The `opt` key of a page that itself answers nobody without an account."""

READS: Final = "reads"
"""The `opt` key of a page's `PageReads`."""


class PageReads(Protocol):
    """The reads of a page, of an account and of the match of its address, which are made together with the account's."""

    def __call__(
        self, app: App, asked: "AskedPage", board: int, state: MatchState | None, /
    ) -> Sequence[Read[Any]]:
        """Return the reads; none if the page is to read by itself, as it does for any other visitor.

        `state` is None if the address names no match, or one that was not read together with the session.
        """
        ...


class AskedPage(NamedTuple):
    """A request for a page: its visitor, and its time."""

    account: AccountId | None
    """None for a visitor who has not logged in."""
    now: int
    """The server's time, ms."""
    partial: bool
    """Whether htmx sent the request, and will show only a part of the page."""


class FoundVisit(NamedTuple):
    """The session, the match and the reads to which a cookie and an address lead."""

    session: SessionCheck | None = None
    match: MatchOfPage | None = None
    gathered: Sequence[Any] = ()
    counts: tuple[int, int] = (0, 0)
    """Those of the header: matches that wait, and rows of news."""


class Visitor(msgspec.Struct, frozen=True):
    """The visitor who requests a page."""

    proof: str
    """The token that forms must send; see `csrf_token` and `mask_token`."""
    secure: bool
    """Whether the request came by TLS."""
    path: str
    """The page, with its query; see `page_address`."""
    partial: bool
    """Whether htmx sent the request, and will show only a part of the page."""
    guest: str = ""
    """A cookie to set, for a visitor who has not logged in and has none yet."""
    session: Session | None = None
    profile: Profile | None = None
    waiting: int = 0
    """The number of matches that wait for the visitor, on a page that is shown whole."""
    news: int = 0
    """The number of new rows of news, on such a page."""
    now: int = 0
    """The server's time, ms, for a visitor who has logged in."""
    match: MatchOfPage | None = None
    """The match of the page's address, if it was read together with the session."""
    gathered: Sequence[Any] = ()
    """The results of the page's `PageReads`; empty if it is to read by itself."""
    wanted_language: str = ""
    """The language that the browser asks for."""
    display: DisplaySettings = USUAL
    known: bool = True
    """Whether it was looked up who this is; where not, the page names nobody and has no forms."""
    site: str = ""
    """The address of the server, without a slash at its end; empty if the request names none."""
    admission: Admission = Admission()
    """The admission, for a visitor who has not logged in."""
    masthead: Masthead = Masthead()
    """The site's own name, contact, texts and banner."""
    closed_banner: str = ""
    """The digest of the announcement that the visitor has closed."""

    @property
    def name(self) -> str:
        """The userid; empty for a visitor who has not logged in."""
        return self.profile.name if self.profile else ""

    @property
    def sees_admin(self) -> bool:
        """Whether the visitor has a role for which there is an admin page."""
        return self.profile is not None and (self.profile.operator or self.profile.moderator)

    @property
    def site_name(self) -> str:
        """The name of the site."""
        return self.masthead.name

    @property
    def banner(self) -> tuple[str, str]:
        """The announcement with its language; two empty texts for none, and for one that the visitor has closed."""
        is_closed = self.closed_banner == banner_digest(self.masthead)
        return ("", "") if is_closed else in_some_language(self.masthead.banner, self.language)

    @property
    def language(self) -> str:
        """The language of the pages: this browser's setting, the account's, or what the browser asks for."""
        chosen = self.display.language or (self.profile.language if self.profile else "")
        return chosen or self.wanted_language or ENGLISH.code

    @property
    def wording(self) -> Wording:
        """The words of that language."""
        return wording(self.language)

    @property
    def is_outside(self) -> bool:
        """Whether the pages of matches and players are not for this visitor, who has not logged in."""
        return self.session is None and self.admission.for_members_only

    @property
    def is_exposed(self) -> bool:
        """Whether a password may be read on its way: without TLS, and not from this machine to itself."""
        return not self.secure and _LOCAL_SITE.match(self.site) is None

    @property
    def lasting_path(self) -> str:
        """The page, without what only this visit has in its address."""
        path, _, query = self.path.partition("?")
        kept = [one for one in query.split("&") if one and one.partition("=")[0] not in _OF_A_VISIT]
        return f"{path}?{'&'.join(kept)}" if kept else path

    @property
    def account(self) -> AccountId | None:
        """The account; None for a visitor who has not logged in."""
        return self.session.account if self.session else None

    @property
    def board(self) -> int | None:
        """The match that the page is about; None for any other page."""
        found = _PATH_OF_MATCH.match(self.path)
        return int(found[1]) if found else None

    @property
    def password_given_at(self) -> int:
        """When the password was given last, ms; 0 for a visitor who has not logged in."""
        return self.session.created if self.session else 0

    @property
    def needs_password(self) -> bool:
        """Whether a form for which a password has to be recent asks for it."""
        # half the time early, because the visitor reads the page before sending its form
        return not is_fresh(self.now + FRESH_MS // 2, self.password_given_at)

    def require_account(self) -> AccountId:
        """Return the account; `LoginNeededError` without one."""
        if self.session is None:
            raise LoginNeededError
        return self.session.account


def visitor(request: AnyRequest, context: NamedDependency[ApiContext]) -> Visitor:
    """Return the visitor.

    Each request is counted: by account after a log-in, otherwise by network as in the API. Raises
    `too-fast` if there were too many.
    """
    secure = context.came_by_tls(request)
    text = request.cookies.get(cookie_name(SESSION_COOKIE, secure=secure), "")
    visit = _visit(request, context, text) if text else FoundVisit()
    found = visit.session
    unknown = Visitor(
        proof="",
        secure=secure,
        path=page_address(request),
        partial=_is_partial(request),
        wanted_language=wanted_language(request.headers.get("accept-language", "")),
        display=read_display(request.cookies),
        known=False,
        site=context.site_of(request),
        masthead=context.app.mastheads.recent(),
        closed_banner=request.cookies.get(BANNER_COOKIE, ""),
    )
    request.state.visitor = unknown  # for an error page
    if found is not None:
        profile = decode_profile(found.record).as_of(found.now)
        known = msgspec.structs.replace(
            unknown,
            known=True,
            proof=mask_token(csrf_token(text)),
            session=found.session,
            profile=profile,
            now=found.now,
            match=visit.match,
            gathered=visit.gathered,
            waiting=visit.counts[0],
            news=visit.counts[1],
        )
        request.state.visitor = known  # first, because the page of a refusal has the same header
        context.request_limits.count_account_request(request, found.session.account)
        return known
    context.request_limits.check(request)
    before = request.cookies.get(cookie_name(GUEST_COOKIE, secure=secure), "")
    guest = before or secrets.token_urlsafe(32)
    stranger = msgspec.structs.replace(
        unknown,
        known=True,
        proof=mask_token(csrf_token(guest)),
        guest="" if before else guest,
        admission=recent_admission(context.app),
    )
    request.state.visitor = stranger
    return stranger


def _is_partial(request: AnyRequest) -> bool:
    return request.headers.get("hx-request") == "true"


def _visit(request: AnyRequest, context: ApiContext, text: str) -> FoundVisit:
    """Return the visit of a cookie and an address, in two round trips.

    Without a session, or if the match is not in Redis or can't be read, there is no match: its page reads it
    by itself, from the archive, too.
    """
    app, board = context.app, request.path_params.get("board")
    if request.method != "GET":
        # a command changes the match, and is followed by another read
        return FoundVisit(app.sessions.check(text))
    shard_of = app.store.shard_of
    boards = [board] if isinstance(board, int) else []
    now, session, stored, locators = read_all(
        app.data,
        app.time.read(),
        app.sessions.read(text),
        read_with_conditional_moves(shard_of, boards),
        read_locators(shard_of, boards),
    )
    if session is None:
        return FoundVisit()
    snapshot = _unpacked(stored[0][0]) if stored else None
    state = snapshot.state if snapshot else None
    header = _reads_of_header(request, context, session.account)
    found, userids, *more = read_all(
        app.data,
        app.sessions.read_account(session),
        app.accounts.read_names(state.seats if state else ()),
        *header,
        *_reads_of_page(
            request, context, AskedPage(session.account, now, _is_partial(request)), state
        ),
    )
    app.sessions.note_use(text, found)
    counts, gathered = more[: len(header)], more[len(header) :]
    waiting, news = sum(counts[0]) if counts else 0, counts[1:]
    shown = waiting, new_count(news[0], news[1], found.now) if news and found else 0
    match = None
    if snapshot is not None:
        match = MatchOfPage(snapshot, stored[0][1], userids, locators[0])
    return FoundVisit(found, match, gathered, shown)


def _reads_of_page(
    request: AnyRequest, context: ApiContext, asked: AskedPage, state: MatchState | None
) -> Sequence[Read[Any]]:
    handler: Any = request.scope.get("route_handler")  # an address that is no page has none
    reads: PageReads | None = handler.opt.get(READS) if handler else None
    if reads is None:
        return ()
    try:
        return reads(context.app, asked, request.path_params.get("board", 0), state)
    except LookupError:  # tables are being rebuilt; the page says so
        return ()


def _unpacked(stored: PackedSnapshot | None) -> Snapshot | None:
    try:
        found = unpack_snapshot(stored) if stored else None
    except UNREADABLE:
        return None
    # the number of a tournament has a snapshot, and no match
    return found if found and found.state.started else None


def _reads_of_header(
    request: AnyRequest, context: ApiContext, account: AccountId
) -> tuple[Read[Any], ...]:
    """Return the reads of how many matches wait for an account, and of its news; none without a header."""
    app, shown = context.app, request.headers.get("sec-fetch-dest", "document") == "document"
    if not shown or "hx-request" in request.headers:
        return ()
    try:
        waiting = app.lists.read_waiting_counts([account])
        if request.url.path == "/":  # home reads its news itself
            return (waiting,)
        return (
            waiting,
            app.notices.matches.read_of(account, 0, LOOKED_AT),
            app.unread.read(account, 0),
        )
    except LookupError:  # the lists are being rebuilt
        return ()


def session_text(request: AnyRequest, visitor: Visitor) -> str:
    """Return the text of the browser's session cookie; empty without one."""
    return request.cookies.get(cookie_name(SESSION_COOKIE, secure=visitor.secure), "")


def csrf_token(cookie: str) -> bytes:
    """Return the token that a form must send with this cookie."""
    return hmac.digest(cookie.encode(), b"matchpost form", "sha256")


def mask_token(token: bytes) -> str:
    """Return a token as an answer shows it: a random pad, and the token in exclusive or with it."""
    pad = secrets.token_bytes(len(token))
    return (pad + _exclusive_or(token, pad)).hex()


def unmask_token(text: str) -> bytes:
    """Return the token in a text of `mask_token`; empty for any other text."""
    if not _MASKED.fullmatch(text):
        return b""
    both = bytes.fromhex(text)
    half = len(both) // 2
    return _exclusive_or(both[half:], both[:half])


def browser_proof(visitor: Visitor) -> bytes:
    """Return what is the same for all pages of this browser until it logs in or out, and for no other."""
    return sha256(unmask_token(visitor.proof)).digest()


def _exclusive_or(one: bytes, other: bytes) -> bytes:
    return (int.from_bytes(one) ^ int.from_bytes(other)).to_bytes(len(one))


def session_cookie(visitor: Visitor, text: str) -> Cookie:
    """Return the cookie of a session; an empty text removes it."""
    return _cookie(visitor, SESSION_COOKIE, text, LASTS_SECONDS if text else 0)


def guest_cookie(visitor: Visitor) -> Cookie:
    """Return the cookie of a visitor who has not logged in, until the browser is closed."""
    return _cookie(visitor, GUEST_COOKIE, visitor.guest, None)


def _cookie(visitor: Visitor, name: str, value: str, seconds: int | None) -> Cookie:
    return Cookie(
        key=cookie_name(name, secure=visitor.secure),
        value=value,
        path="/",
        max_age=seconds,
        secure=visitor.secure,
        httponly=True,
        samesite="lax",
    )


async def check_admission(request: AnyRequest) -> None:
    """Raise `LoginNeededError` for a visitor without an account, where a page is for members alone.

    It takes the place of the API's authentication. A handler that needs an account in any case asks for it itself.
    """
    context: ApiContext = request.app.state.context
    if not await context.needs_account(request):
        return
    if not request.route_handler.opt[NEEDS_ACCOUNT] and not (
        await asyncio.to_thread(context.has_session, request)
    ):
        raise LoginNeededError
