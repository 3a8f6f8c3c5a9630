"""Forms of pages: what is checked before a handler sees one.

A handler says by the name of a parameter who may send its form:

- `own: Own`: a visitor with an account, in whose name it is carried out. It counts for the rate of the account.
- `form: FormDependency`: any visitor. One whose session has ended since the page was loaded has to log in first.
- `open_form: FormDependency`: any visitor, because the form is one for those who have not logged in.

All have the token of a page of this server; see `session`. Each request counts for the rate of the visitor; see
`session.visitor`. A handler that only shows something takes `asked: Asked`, or `own_page: OwnPage` where it needs an
account: a form without fields.
"""

import hmac
import re
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Final, TypeAlias
from urllib.parse import urlencode
from uuid import uuid4

import msgspec
from litestar.datastructures import UploadFile
from litestar.di import NamedDependency
from litestar.exceptions import PermissionDeniedException

from domain.records import AccountId
from services.app.context import Actor, App
from services.app.passwords import check_recent_password
from services.http.context import ApiContext
from services.http.web.session import (
    CSRF_FIELD,
    CSRF_HEADER,
    AnyRequest,
    LoginNeededError,
    Visitor,
    unmask_token,
)

WEB_FRONT_END: Final = "web"
"""The name is part of each command id, so that keys of different front ends are distinct."""

COMMANDS: Final = "commands"
"""The `opt` key of a route whose form may count as several commands; see `CommandCount`."""

_SAME_SITE: Final = ("", "same-origin", "none")
"""Values of Sec-Fetch-Site for a form of this server, or from a browser that does not send the header."""

_MATCH_OF_PATH: Final = re.compile("/m/[0-9]{1,15}(?=/)")


class Form(msgspec.Struct, frozen=True):
    """The fields of a form."""

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

    @property
    def key(self) -> str:
        """The key of the page that sent the form, which makes a form that is sent twice one command.

        A form without one has another key each time.
        """
        return self.get("key")[:64] or uuid4().hex


CommandCount: TypeAlias = Callable[[Form], int]
"""Returns how many commands are in a form."""


class VisitorForm(Form, frozen=True):
    """A form with its sender; one without fields asks for a page."""

    context: ApiContext
    visitor: Visitor

    @property
    def app(self) -> App:
        """The context of the use cases."""
        return self.context.app


class OwnForm(VisitorForm, frozen=True):
    """A form in the name of an account, which was counted for the rate of that account."""

    account: AccountId
    files: Mapping[str, bytes] = {}
    """The files that are sent with the form."""

    def confirm(self) -> None:
        """Check the password in the form, unless the visitor has logged in a moment ago; `password-needed`."""
        given_at = self.visitor.password_given_at
        check_recent_password(self.app, self.account, self.raw("password"), given_at)

    def maker(self, what: str) -> Actor:
        """Return who makes something with this form; the same form is the same command, and a changed one another."""
        fields = sorted(
            (name, values) for name, values in self.fields.items() if name != CSRF_FIELD
        )
        content = sha256(repr(fields).encode()).hexdigest()[:16]
        return self.actor(f"{self.key} {what} {content}")

    def actor(self, key: str = "") -> Actor:
        """Return who gives the command with this key; without one, each is another command."""
        return Actor(self.account, WEB_FRONT_END, key or uuid4().hex)


def asked(context: NamedDependency[ApiContext], visitor: NamedDependency[Visitor]) -> VisitorForm:
    """Return the request of any visitor for a page."""
    return VisitorForm({}, context, visitor)


def own_page(context: NamedDependency[ApiContext], visitor: NamedDependency[Visitor]) -> OwnForm:
    """Return the request of an account for a page; `LoginNeededError` without one."""
    return OwnForm({}, context, visitor, visitor.require_account())


async def open_form(
    request: AnyRequest, context: NamedDependency[ApiContext], visitor: NamedDependency[Visitor]
) -> VisitorForm:
    """Return a form from a page of this server; any other form is refused."""
    return VisitorForm(await _checked(request, visitor), context, visitor)


async def form(
    request: AnyRequest, context: NamedDependency[ApiContext], visitor: NamedDependency[Visitor]
) -> VisitorForm:
    """Return a form as `open_form` does; `LoginNeededError` if its session has ended."""
    return VisitorForm(await _checked(request, visitor, of_session=True), context, visitor)


async def own(
    request: AnyRequest,
    context: NamedDependency[ApiContext],
    visitor: NamedDependency[Visitor],
) -> OwnForm:
    """Return a form in the name of the visitor's account, and count it; see `form` and `own_form`."""
    count: CommandCount | None = request.route_handler.opt[COMMANDS]
    sent = await form(request, context, visitor)
    found = own_form(sent, count(sent) if count else 1)
    parts = (await request.form()).multi_items()
    files = {name: await one.read() for name, one in parts if isinstance(one, UploadFile)}
    return msgspec.structs.replace(found, files=files) if files else found


def own_form(sent: VisitorForm, commands: int = 1) -> OwnForm:
    """Return a form as one in the name of the visitor's account.

    Raises `LoginNeededError` without an account, and `too-fast` if the account has spent its rate.
    """
    account = sent.visitor.require_account()
    sent.app.pace.check(account, commands)
    return OwnForm(sent.fields, sent.context, sent.visitor, account)


async def _checked(
    request: AnyRequest, visitor: Visitor, *, of_session: bool = False
) -> Mapping[str, tuple[str, ...]]:
    if request.headers.get("sec-fetch-site", "") not in _SAME_SITE:
        raise PermissionDeniedException("the form was sent from another site")
    fields: dict[str, tuple[str, ...]] = {}
    for name, value in (await request.form()).multi_items():
        if isinstance(value, str):
            fields[name] = (*fields.get(name, ()), value)
    sent = Form(fields)
    proven = unmask_token(request.headers.get(CSRF_HEADER) or sent.raw(CSRF_FIELD))
    if not proven or not hmac.compare_digest(proven, unmask_token(visitor.proof)):
        if of_session and visitor.session is None:
            raise LoginNeededError(_back(request.url.path, sent))
        raise PermissionDeniedException(
            "the page was open too long, or its cookie is gone; load it again and repeat"
        )
    return fields


def _back(path: str, sent: Form) -> str:
    """Return the path of the match that a form was sent for, with the move in it; otherwise empty."""
    match = _MATCH_OF_PATH.match(path)
    if match is None:
        return ""
    move = sent.raw("move")
    return f"{match[0]}?{urlencode({'move': move})}" if move else match[0]
