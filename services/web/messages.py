"""The page of messages to the visitor, or to everybody."""

import msgspec
from litestar import Response, get

from infra.letters import Kind
from services.app.messages import inbox
from services.app.names import names_by_seat
from services.web.pages import page
from services.web.paging import SIZE, Part
from services.web.params import Start, TheContext, TheVisitor


class Message(msgspec.Struct, frozen=True):
    """A message on its page."""

    at: int
    name: str
    text: str
    to_all: bool
    new: bool
    """Whether it was not read before."""


@get("/messages", sync_to_thread=True)
def show_messages(context: TheContext, visitor: TheVisitor, start: Start = 0) -> Response[str]:
    """Show the messages, the newest first, and mark those that are shown as read."""
    account, letters = visitor.need(), context.app.letters
    kept = inbox(context.app, account)
    read = letters.messages_read(account)
    shown = kept[start : start + SIZE]
    names = names_by_seat(context.app, [one.sender for one in shown])
    messages = [
        Message(one.at, name, one.text, one.kind is Kind.BROADCAST, one.at > read.get(one.kind, 0))
        for one, name in zip(shown, names, strict=True)
    ]
    if not visitor.partial:
        letters.mark_read(account, shown)
    part = Part.of("Messages", start=start, shown=len(shown), total=len(kept), path="/messages")
    return page("messages.html", visitor, messages=messages, part=part)
