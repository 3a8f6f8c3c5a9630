"""The event stream of a browser: one for all its pages.

It sends the current state of the watched matches and topics, and then each change. A page compares the
state with its own content, so a browser that reconnects misses nothing. A stream ends with its session.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import ExitStack
from functools import partial
from typing import Annotated, Any, Final

import msgspec
from litestar.params import QueryParameter
from litestar.response import ServerSentEvent, ServerSentEventMessage

from domain.errors import Refusal
from services.http.context import ApiContext
from services.http.streams.page_marks import (
    ChallengesTopic,
    ChatTopic,
    HomeTopic,
    MessagesTopic,
    Topic,
    WaitingTopic,
)
from services.http.web.declared import Pages
from services.http.web.params import Asked
from services.http.web.session import AnyRequest, session_text

pages = Pages()

MAX_MATCHES: Final = 200
"""Matches that one stream watches at most."""

MATCHES_A_REQUEST: Final = 10
"""Watched matches that count as one more request."""

_HEARTBEAT: Final = ServerSentEventMessage(data=None, comment="still here")

Boards = Annotated[
    str, QueryParameter(pattern=rf"^(\d{{1,15}}(,\d{{1,15}}){{0,{MAX_MATCHES - 1}}})?$")
]


class BrowserWatch(msgspec.Struct, frozen=True):
    """The matches and topics that a stream watches, and its user."""

    boards: tuple[int, ...]
    topics: tuple[Topic, ...]
    session: str
    """The text of the session; empty for a stream without one."""
    user: str


@pages.get("/stream")
async def follow(
    request: AnyRequest,
    asked: Asked,
    boards: Boards = "",
    home: Annotated[bool, QueryParameter()] = False,  # noqa: FBT002 - in an address it has a name
    messages: Annotated[bool, QueryParameter()] = False,  # noqa: FBT002 - the same
    challenges: Annotated[bool, QueryParameter()] = False,  # noqa: FBT002 - the same
) -> ServerSentEvent:
    """Stream the event counts of matches; for a session also marks, and how many matches wait."""
    visitor = asked.visitor
    numbers = dict.fromkeys(int(one) for one in boards.split(",") if one)
    asked.context.request_limits.count_more(
        request, visitor.account, len(numbers) // MATCHES_A_REQUEST
    )
    found = {board: await _snapshot(asked.context, board) for board in numbers}
    account = visitor.account
    chats = [
        ChatTopic(board)
        for board, snapshot in found.items()
        if snapshot and account in snapshot.state.seats
    ]
    own: list[Topic] = [] if account is None else [WaitingTopic(account)]
    if account is not None and home:
        own.append(HomeTopic(account))
    if account is not None and messages:
        own.append(MessagesTopic(account))
    offered = [ChallengesTopic()] if challenges else []
    watched = BrowserWatch(
        boards=tuple(board for board, snapshot in found.items() if snapshot),
        topics=(*own, *offered, *chats),
        session=session_text(request, visitor) if visitor.session else "",
        user=visitor.name,
    )
    network = asked.context.request_limits.network(request)
    asked.context.stream_limits.check(network, account)
    good = partial(_is_still_admitted, request, asked.context, watched.session)
    return ServerSentEvent(
        asked.context.stream_limits.while_allowed(
            network, account, _changes(asked.context, watched), good, asked.context.intervals.stream
        )
    )


async def _snapshot(context: ApiContext, board: int) -> Any:
    """Return a match's snapshot; None if it does not exist or can't be read."""
    try:
        return await context.match(board)
    except Refusal:
        return None


class _StaleFlag:
    """A flag of one match; setting it adds the match to `stale`."""

    def __init__(self, board: int, stale: set[int], news: asyncio.Event) -> None:
        self._board, self._stale, self._news = board, stale, news

    def set(self) -> None:
        self._stale.add(self._board)
        self._news.set()


async def _changes(
    context: ApiContext, watched: BrowserWatch
) -> AsyncGenerator[ServerSentEventMessage, None]:
    news, stale = asyncio.Event(), set(watched.boards)
    with ExitStack() as stack:
        for board in watched.boards:
            stack.enter_context(context.match_watch.notify(board, _StaleFlag(board, stale, news)))
        stack.enter_context(context.marks.notify(watched.topics, news))
        sent: dict[str, Any] = {}
        while True:
            news.clear()
            now = await _state(context, watched, stale, sent)
            changed = {name: value for name, value in now.items() if sent.get(name) != value}
            if changed:
                sent = now
                yield ServerSentEventMessage(
                    data=msgspec.json.encode(changed).decode(), event="state"
                )
            try:
                await asyncio.wait_for(news.wait(), context.intervals.heartbeat)
            except TimeoutError:
                yield _HEARTBEAT


async def _state(
    context: ApiContext, watched: BrowserWatch, stale: set[int], sent: dict[str, Any]
) -> dict[str, Any]:
    """Return the current state: the state that was sent before, with stale matches read again."""
    now = {**sent, "user": watched.user}
    while stale:
        board = stale.pop()
        count = context.match_watch.count(board)
        if not count:  # not known yet, as when a page has just been opened
            snapshot = await _snapshot(context, board)
            count = snapshot.state.seq if snapshot else 0
        if count:
            now[f"match {board}"] = count
    for topic in watched.topics:
        mark = context.marks.current(topic)
        if mark is not None:
            now[_name(topic)] = mark
    return now


def _name(topic: Topic) -> str:
    """Return the name of a topic in the state that is sent."""
    match topic:
        case HomeTopic():
            return "home"
        case MessagesTopic():
            return "messages"
        case WaitingTopic():
            return "waiting"
        case ChallengesTopic():
            return "challenges"
        case ChatTopic(board):
            return f"chat {board}"


async def _is_still_admitted(request: AnyRequest, context: ApiContext, session: str) -> bool:
    """Return whether the stream's session is still open, or a stream without one still for guests."""
    if not session:
        return not await context.needs_account(request)
    return await asyncio.to_thread(_is_session_open, context, session)


def _is_session_open(context: ApiContext, session: str) -> bool:
    return context.app.sessions.check(session) is not None
