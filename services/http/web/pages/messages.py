"""The page of messages to the visitor or to everybody."""

import msgspec
from litestar import Response, get

from infra.people.messages import MessageKind
from services.app.messages import inbox
from services.app.names import names_by_seat
from services.http.web.params import ContextDependency, PageNumber, VisitorDependency
from services.http.web.render import render
from services.http.web.views.pagination import PAGE_SIZE, ListPart, first_row


class MessageRow(msgspec.Struct, frozen=True):
    """A message on its page."""

    at: int
    name: str
    text: str
    to_all: bool
    new: bool
    """Whether it was not read before."""


@get("/messages", sync_to_thread=True)
def show_messages(
    context: ContextDependency, visitor: VisitorDependency, page: PageNumber = 1
) -> Response[str]:
    """Show the messages, the newest first, and mark the shown ones as read."""
    account, store = visitor.require_account(), context.app.messages
    start = first_row(page)
    all_messages = inbox(context.app, account)
    read = store.messages_read_until(account)
    shown = all_messages[start : start + PAGE_SIZE]
    names = names_by_seat(context.app, [one.sender for one in shown])
    rows = [
        MessageRow(
            one.at,
            name,
            one.text,
            one.kind is MessageKind.BROADCAST,
            one.at > read.get(one.kind, 0),
        )
        for one, name in zip(shown, names, strict=True)
    ]
    if not visitor.partial:
        store.mark_read(account, shown)
    part = ListPart.of(
        visitor.wording.gettext("Messages"),
        start=start,
        shown=len(shown),
        total=len(all_messages),
        path="/messages",
    )
    return render("messages.html", visitor, messages=rows, part=part)
