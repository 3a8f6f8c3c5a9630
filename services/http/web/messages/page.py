"""The page of messages: those to the visitor or to everybody, and a form to write to players."""

from typing import Annotated
from urllib.parse import urlencode
from uuid import uuid4

import msgspec
from litestar import Response
from litestar.params import PathParameter, QueryParameter
from litestar.response import Redirect

from domain.errors import Code, Refusal
from infra.people.messages import MessageKind, mark_of
from infra.redis.reads import read_one
from services.app import messages
from services.app.names import names_by_seat, robot_userids
from services.http.web.declared import Pages
from services.http.web.forms import Form, OwnForm
from services.http.web.lists.match_rows import PAGE_SIZE, ListPart, first_row
from services.http.web.params import Own, OwnPage, PageNumber
from services.http.web.render import redirect_to, render

pages = Pages()

Recipients = Annotated[str, QueryParameter(name="to", max_length=500)]
SentTo = Annotated[str, QueryParameter(name="sent", max_length=500)]
MessageTime = Annotated[int, PathParameter(ge=0, le=10**15)]

_ABOUT_RECIPIENTS = (Code.UNKNOWN_USER, Code.NOT_WANTED, Code.BAD_NAME, Code.TOO_MANY)


class MessageRow(msgspec.Struct, frozen=True):
    """A message on its page."""

    at: int
    name: str
    text: str
    to_all: bool
    new: bool
    """Whether it was not read before."""
    answerable: bool
    """Whether its sender is another player who can be written to."""


@pages.get("/messages")
def show_messages(
    own_page: OwnPage, page: PageNumber = 1, to: Recipients = "", sent: SentTo = ""
) -> Response[str]:
    """Show the messages, the newest first, and mark the shown ones as read."""
    return _page(own_page, page, Form({"to": (to,)}), sent=sent)


def _page(
    own: OwnForm, page: int, form: Form, *, sent: str = "", reason: Refusal | None = None
) -> Response[str]:
    """Return the page with the form as it was filled in, and with a sentence if it was refused."""
    app, visitor, account, start = own.app, own.visitor, own.account, first_row(page)
    all_messages = messages.inbox(app, account)
    read = app.messages.messages_read_until(account)
    shown = all_messages[start : start + PAGE_SIZE]
    names, mute = (
        names_by_seat(app, [one.sender for one in shown], visitor.wording),
        robot_userids(app),
    )
    rows = [
        MessageRow(
            one.at,
            name,
            one.text,
            one.kind is MessageKind.BROADCAST,
            one.at > read.get(one.kind, 0),
            " " not in name and name != visitor.name and name not in mute,
        )
        for one, name in zip(shown, names, strict=True)
    ]
    if not visitor.partial:
        app.messages.mark_read(account, shown)
    # after that, because reading changes the mark
    (mark,) = read_one(app.data, app.unread.change_marks([account]))
    part = ListPart.of(
        visitor.wording.gettext("Messages"),
        start=start,
        shown=len(shown),
        total=len(all_messages),
        path="/messages",
    )
    at = "" if reason is None else "to" if reason.code in _ABOUT_RECIPIENTS else "text"
    return render(
        "messages.html",
        visitor,
        messages=rows,
        mark=mark_of(mark),
        part=part,
        form=form,
        at=at,
        reason=reason,
        sent=sent,
        key=uuid4().hex,
    )


@pages.post("/messages")
def write_message(own: Own) -> Response[str] | Redirect:
    """Write to players; a form with a mistake comes back with a sentence."""
    app, visitor = own.app, own.visitor
    names = own.get("to").replace(",", " ").split()
    actor = own.actor(f"{own.key} message {' '.join(names)[:500]}")
    try:
        to = messages.find_recipients(app, names)
        messages.send_message(app, own.account, to, own.get("text"), actor.command_id())
    except Refusal as reason:
        return _page(own, 1, own, reason=reason)
    said = visitor.wording.names(names_by_seat(app, to, visitor.wording))
    return redirect_to(f"/messages?{urlencode({'sent': said})}")


@pages.post("/messages/{at:int}/unread")
def mark_unread(at: MessageTime, own: Own) -> Redirect:
    """Mark a message as unread, with those that are newer, and go home, because the list marks them as read."""
    messages.mark_unread_from(own.app, own.account, at)
    return redirect_to("/")
