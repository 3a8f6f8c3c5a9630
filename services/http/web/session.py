"""Visitors of pages: the session cookie, and the token against cross-site request forgery (CSRF).

Over TLS the session cookie is called `__Host-session`: browsers accept such a cookie only over TLS,
and only for this host. Without TLS they refuse that name, so over plain HTTP, which is meant for the
same machine only, the cookie is called `session`.

Each form has a token that is the HMAC of the cookie. Another site can neither read the cookie nor
compute the token, so a form with both comes from a page of this server. A visitor who has not
logged in has a random cookie instead, which belongs to no account.
"""

import hmac
import re
import secrets
from collections.abc import Mapping
from typing import Any, Final, NamedTuple
from urllib.parse import urlencode

import msgspec
from litestar import Request
from litestar.datastructures import Cookie
from litestar.di import NamedDependency
from litestar.exceptions import PermissionDeniedException

from domain.match.events import AccountId
from domain.match.history import Snapshot, unpack_snapshot
from infra.people.accounts import Profile
from infra.people.accounts.record import decode_profile
from infra.people.sessions import LASTS_SECONDS, Session, SessionCheck
from infra.redis.reads import read_all
from infra.store.snapshots import read_locator, read_with_conditional_moves
from services.app.damaged_match import UNREADABLE
from services.http.context import ApiContext

AnyRequest = Request[Any, Any, Any]

SESSION_COOKIE: Final = "session"
GUEST_COOKIE: Final = "guest"
_TLS_ONLY: Final = "__Host-"

CSRF_FIELD: Final = "csrf"
CSRF_HEADER: Final = "x-csrf-token"

_SAME_SITE: Final = ("", "same-origin", "none")
"""Values of Sec-Fetch-Site for a form of this server, or from a browser that does not send the header."""


_FOR_ANYBODY: Final = ("/login", "/signup")
"""Forms that need no session."""

_OF_A_MATCH: Final = re.compile("/m/[0-9]{1,15}(?=/)")


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


class Visitor(msgspec.Struct, frozen=True):
    """The visitor who requests a page."""

    proof: str
    """The token that forms must send; see `csrf_token`."""
    secure: bool
    """Whether the request came by TLS."""
    path: str
    """The page, with its query."""
    partial: bool
    """Whether htmx sent the request, and will show only a part of the page."""
    guest: str = ""
    """A cookie to set, for a visitor who has not logged in and has none yet."""
    session: Session | None = None
    profile: Profile | None = None
    now: int = 0
    """The server's time, ms, for a visitor who has logged in."""
    match: MatchOfPage | None = None
    """The match of the page's address, if it was read together with the session."""

    @property
    def name(self) -> str:
        """The userid; empty for a visitor who has not logged in."""
        return self.profile.name if self.profile else ""

    @property
    def language(self) -> str:
        """The language that the visitor chose for help; empty for English."""
        return self.profile.language if self.profile else ""

    @property
    def account(self) -> AccountId | None:
        """The account; None for a visitor who has not logged in."""
        return self.session.account if self.session else None

    def require_account(self) -> AccountId:
        """Return the account; `LoginNeededError` without one."""
        if self.session is None:
            raise LoginNeededError
        return self.session.account


class Form(msgspec.Struct, frozen=True):
    """The fields of a form whose token was checked."""

    fields: Mapping[str, tuple[str, ...]]

    def get(self, name: str) -> str:
        """Return a field without blanks around it; empty when it is missing."""
        return self.raw(name).strip()

    def raw(self, name: str) -> str:
        """Return a field as it was typed, with its blanks, because a password may have them."""
        return self.fields.get(name, ("",))[0]

    def all(self, name: str) -> tuple[str, ...]:
        """Return a field's values that are not empty."""
        return tuple(value.strip() for value in self.fields.get(name, ()) if value.strip())


def visitor(request: AnyRequest, context: NamedDependency[ApiContext]) -> Visitor:
    """Return the visitor.

    Each request is counted: by account after a log-in, otherwise by network as in the API. Raises
    `too-fast` if there were too many.
    """
    secure = _came_by_tls(request, context)
    text = request.cookies.get(_cookie_name(SESSION_COOKIE, secure=secure), "")
    found, match = _session_and_match(request, context, text) if text else (None, None)
    unknown = Visitor(
        proof="",
        secure=secure,
        path=request.url.path + (f"?{request.url.query}" if request.url.query else ""),
        partial=request.headers.get("hx-request") == "true",
    )
    if found is not None:
        profile = decode_profile(found.record)
        context.request_limits.count_account_request(request, found.session.account)
        request.state.language = profile.language  # for a refusal, whose page knows no visitor
        return msgspec.structs.replace(
            unknown,
            proof=csrf_token(text),
            session=found.session,
            profile=profile,
            now=found.now,
            match=match,
        )
    context.request_limits.check(request)
    known = request.cookies.get(_cookie_name(GUEST_COOKIE, secure=secure), "")
    guest = known or secrets.token_urlsafe(32)
    return msgspec.structs.replace(unknown, proof=csrf_token(guest), guest="" if known else guest)


def _session_and_match(
    request: AnyRequest, context: ApiContext, text: str
) -> tuple[SessionCheck | None, MatchOfPage | None]:
    """Return the session of a cookie, and the match of the address: together they are two round trips.

    Without a session, or if the match is not in Redis or can't be read, there is no match: its page reads it
    by itself, from the archive, too.
    """
    app, board = context.app, request.path_params.get("board")
    if request.method != "GET" or not isinstance(board, int):
        # a command changes the match, and is followed by another read
        return app.sessions.check(text), None
    shard_of = app.store.layout().shard_of
    session, ((stored, moves),), locator = read_all(
        app.data,
        app.sessions.read(text),
        read_with_conditional_moves(shard_of, [board]),
        read_locator(shard_of, board),
    )
    if session is None:
        return None, None
    try:
        snapshot = unpack_snapshot(stored) if stored else None
    except UNREADABLE:
        snapshot = None
    seats = snapshot.state.seats if snapshot else ()
    found, userids = read_all(
        app.data, app.sessions.read_account(session), app.accounts.read_names(seats)
    )
    app.sessions.note_use(text, found)
    match = MatchOfPage(snapshot, moves, userids, locator) if snapshot else None
    return found, match


def session_text(request: AnyRequest, visitor: Visitor) -> str:
    """Return the text of the browser's session cookie; empty without one."""
    return request.cookies.get(_cookie_name(SESSION_COOKIE, secure=visitor.secure), "")


def _came_by_tls(request: AnyRequest, context: ApiContext) -> bool:
    """Return whether the browser used TLS, to this server or to the trusted proxy."""
    if request.url.scheme == "https":
        return True
    forwarded = request.headers.get("x-forwarded-proto", "").rpartition(",")[2].strip()
    return context.app.settings.trusted_proxy == "on" and forwarded == "https"


def csrf_token(cookie: str) -> str:
    """Return the token that a form must send with this cookie."""
    return hmac.digest(cookie.encode(), b"matchpost form", "sha256").hex()


async def form(request: AnyRequest, visitor: NamedDependency[Visitor]) -> Form:
    """Return the fields of a form from a page of this server; any other form is refused."""
    if request.headers.get("sec-fetch-site", "") not in _SAME_SITE:
        raise PermissionDeniedException("the form was sent from another site")
    data = await request.form()
    fields: dict[str, tuple[str, ...]] = {}
    for name, value in data.multi_items():
        if isinstance(value, str):
            fields[name] = (*fields.get(name, ()), value)
    token = request.headers.get(CSRF_HEADER) or fields.get(CSRF_FIELD, ("",))[0]
    if not hmac.compare_digest(token.encode(), visitor.proof.encode()):
        if visitor.session is None and request.url.path not in _FOR_ANYBODY:
            # the session has ended since the page was loaded
            raise LoginNeededError(_back(request.url.path, fields))
        raise PermissionDeniedException(
            "the page was open too long, or its cookie is gone; load it again and repeat"
        )
    return Form(fields)


def _back(path: str, fields: Mapping[str, tuple[str, ...]]) -> str:
    """Return the path of the match that a form was sent for, with the move in it; otherwise empty."""
    match = _OF_A_MATCH.match(path)
    move = fields.get("move", ("",))[0]
    if match is None:
        return ""
    return f"{match[0]}?{urlencode({'move': move})}" if move else match[0]


def _cookie_name(name: str, *, secure: bool) -> str:
    return f"{_TLS_ONLY}{name}" if secure else name


def session_cookie(visitor: Visitor, text: str) -> Cookie:
    """Return the cookie of a session; an empty text removes it."""
    return _cookie(visitor, SESSION_COOKIE, text, LASTS_SECONDS if text else 0)


def guest_cookie(visitor: Visitor) -> Cookie:
    """Return the cookie of a visitor who has not logged in, until the browser is closed."""
    return _cookie(visitor, GUEST_COOKIE, visitor.guest, None)


def _cookie(visitor: Visitor, name: str, value: str, seconds: int | None) -> Cookie:
    return Cookie(
        key=_cookie_name(name, secure=visitor.secure),
        value=value,
        path="/",
        max_age=seconds,
        secure=visitor.secure,
        httponly=True,
        samesite="lax",
    )
