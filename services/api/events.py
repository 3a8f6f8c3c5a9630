"""Events: a match's whole history, and what happens now as server-sent events."""

import asyncio
from base64 import b64encode
from collections.abc import AsyncGenerator, Iterable, Iterator
from functools import partial
from typing import Annotated, Any, Final, TypeAlias

import msgspec
from litestar import Request, Response, get
from litestar.di import NamedDependency
from litestar.params import HeaderParameter, QueryParameter
from litestar.response import ServerSentEvent, ServerSentEventMessage, Stream

from domain.errors import Code, Refusal
from domain.match.events import AccountId, Ended, decode, leaf_hash
from domain.match.record import Snapshot
from infra.projections.notices import Notice, Place, place_of
from infra.tokens import Scope
from services.api.answers import refuses
from services.api.bulletins import Gap
from services.api.caching import Tag
from services.api.callers import READ, Caller, still_good
from services.api.commands import BoardNumber
from services.api.context import ApiContext
from services.app.damaged import UNREADABLE

AnyRequest = Request[Any, Any, Any]

Messages: TypeAlias = AsyncGenerator[ServerSentEventMessage, None]

JSON: Final = "application/json"
NDJSON: Final = "application/x-ndjson"
SSE: Final = "text/event-stream"

MOST: Final = 1_000
"""Events in one answer."""

_TAGS: Final = ["events"]

_STILL_HERE: Final = ServerSentEventMessage(data=None, comment="still here")


class Event(msgspec.Struct, frozen=True):
    """An event of a match, with the bytes it is stored, hashed and chained as."""

    seq: int
    at: int
    """When it was received, ms since 1970."""
    type: str
    """Such as `moved`."""
    body: dict[str, Any]
    """Its fields; accounts and other bytes in hex."""
    command: str
    """The id of the command that led to it, in hex."""
    actor: str
    """The account that gave the command, in hex; zeros for the server itself."""
    prev: str
    """Leaf hash of the event before it, in hex."""
    hash: str
    """Its own leaf hash, in hex."""
    data: str
    """Its bytes, in base64."""


@get(
    "/api/matches/{board:int}/events",
    tags=_TAGS,
    opt=refuses(Code.UNKNOWN_BOARD, Code.NOT_ACCEPTABLE, Code.BEYOND_END, Code.BUSY, tagged=True),
    summary="The events of a match",
    description="As a JSON list, or as `Accept` asks: one a line (application/x-ndjson), or as they "
    "come (text/event-stream). The id of a server-sent event is its seq; Last-Event-ID goes on "
    "after it, the stream ends with the match, and 204 says that nothing more will come. A stream that "
    "is to begin later than with the next event is refused as `beyond-end`: who heard of such events "
    "heard them of data that is there no more.",
)
async def show_events(
    request: AnyRequest,
    board: BoardNumber,
    context: NamedDependency[ApiContext],
    start: Annotated[
        int, QueryParameter(name="from", ge=1, le=10**9, description="the seq of the first wanted")
    ] = 1,
    limit: Annotated[
        int,
        QueryParameter(ge=1, le=MOST, description="how many at most, where they don't come live"),
    ] = MOST,
    last: Annotated[
        str | None,
        HeaderParameter(
            name="Last-Event-ID",
            pattern="^[0-9]{1,9}$",
            description="the id of the last server-sent event you have",
        ),
    ] = None,
) -> Response[Any]:
    """Return a match's events."""
    snapshot = await context.match(board)
    kind = request.accept.best_match([JSON, NDJSON, SSE])
    if kind == SSE:
        return await _stream(request, context, board, snapshot, int(last) + 1 if last else start)
    if kind is None:
        raise Refusal(Code.NOT_ACCEPTABLE, f"events come as {JSON}, {NDJSON} or {SSE}")
    tag = Tag("events", kind, start, limit, snapshot.head)
    if tag.is_known(request):
        return tag.unchanged()
    # what came since is of another tag
    end = min(snapshot.state.seq, start + limit - 1)
    stored = (await context.store.events(board, start))[: max(0, end - start + 1)]
    try:
        shown = [show_event(seq, data) for seq, data in enumerate(stored, start)]
    except UNREADABLE as error:
        raise await context.damaged(board, error) from error
    headers = {**tag.headers, "Vary": "Accept", **_next(board, end, snapshot, limit)}
    if kind == NDJSON:
        return Stream(_lines(shown), media_type=NDJSON, headers=headers)
    return Response(shown, headers=headers)


def _next(board: int, end: int, snapshot: Snapshot, limit: int) -> dict[str, str]:
    """Return the header that says where there are more."""
    if end >= snapshot.state.seq:
        return {}
    return {"Link": f'</api/matches/{board}/events?from={end + 1}&limit={limit}>; rel="next"'}


def _lines(shown: Iterable[Event]) -> Iterator[bytes]:
    for event in shown:
        yield msgspec.json.encode(event) + b"\n"


async def _stream(
    request: AnyRequest, context: ApiContext, board: int, snapshot: Snapshot, start: int
) -> Response[Any]:
    after = start - 1
    if after > snapshot.state.seq:
        raise Refusal(
            Code.BEYOND_END,
            f"match {board} has {snapshot.state.seq} events, and none that could follow number "
            f"{after}; if you have heard of that one, the server's data was put back: load the match "
            "again",
        )
    if snapshot.state.over and start > snapshot.state.seq:
        return Response(None, status_code=204)  # who hears this does not ask again
    for data in (await context.store.events(board, start))[:1]:
        try:
            decode(data)
        except UNREADABLE as error:
            raise await context.damaged(board, error) from error
    caller: Caller | None = request.auth
    return _opened(
        request, context, caller.account if caller else None, _live(context, board, start)
    )


def _opened(
    request: AnyRequest, context: ApiContext, account: AccountId | None, messages: Messages
) -> ServerSentEvent:
    """Open a stream, which ends with the token that was shown; refused where there are too many."""
    network = context.visitors.network(request)
    context.streams.check(network, account)
    good = partial(still_good, request, context)
    return ServerSentEvent(context.streams.lasting(network, account, messages, good))


async def _live(context: ApiContext, board: int, start: int) -> Messages:
    """Send events as they come, until the match is over, or up to one that can't be read."""
    async for seq, data in context.follower.events(board, start, context.rhythm.heartbeat):
        if not seq:
            yield _STILL_HERE
            continue
        try:
            event = show_event(seq, data)
        except UNREADABLE as error:
            # who asks for what comes after the event before is told why there is no more
            await context.damaged(board, error)
            return
        text = msgspec.json.encode(event).decode()
        yield ServerSentEventMessage(data=text, event=event.type, id=seq)
        if isinstance(decode(data).body, Ended):
            return


def show_event(seq: int, data: bytes) -> Event:
    """Show stored bytes as JSON has it."""
    envelope = decode(data)
    body = envelope.body
    fields = {name: _plain(getattr(body, name)) for name in body.__struct_fields__}
    return Event(
        seq=seq,
        at=envelope.at,
        type=str(body.__struct_config__.tag),
        body=fields,
        command=envelope.command.hex(),
        actor=envelope.actor.hex(),
        prev=envelope.prev.hex(),
        hash=leaf_hash(data).hex(),
        data=b64encode(data).decode(),
    )


def _plain(value: Any) -> Any:
    """Return a field's value as JSON has it."""
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, msgspec.Struct):
        return {name: _plain(getattr(value, name)) for name in value.__struct_fields__}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


@get(
    "/api/account/events",
    security=READ,
    tags=_TAGS,
    opt=refuses(Code.BUSY),
    summary="What happens in the own matches, and what is written to the caller",
    description="Server-sent events without end. The first bytes have an id, and no data. "
    "Last-Event-ID goes on after the event of that id, as far back as /api/notices goes, and an "
    "event `gap` says that more came than is kept; without an id it begins with what happens from "
    "now on.",
)
async def follow_account(
    request: AnyRequest,
    context: NamedDependency[ApiContext],
    caller: NamedDependency[Caller],
    last: Annotated[
        str | None,
        HeaderParameter(
            name="Last-Event-ID",
            pattern="^[0-9]{1,15}-[0-9]{1,15}-[0-9]{1,9}-[a-z-]{1,20}$",
            description="the id of the last event you have",
        ),
    ] = None,
) -> ServerSentEvent:
    """Send the caller's notices as they come."""
    account = caller.need(Scope.READ)
    after = _place(last) if last else (await asyncio.to_thread(context.app.store.now), 0, 0, "-")
    return _opened(request, context, account, _notices(context, account, after))


def _place(text: str) -> Place:
    at, board, seq, kind = text.split("-", 3)
    return int(at), int(board), int(seq), kind


async def _notices(context: ApiContext, account: bytes, after: Place) -> Messages:
    # an id without data is no event: it is where a client goes on that has heard nothing else
    yield ServerSentEventMessage(data=None, comment="still here", id=_id(after))
    async for notice in context.bulletins.notices(account, after, context.rhythm.heartbeat):
        match notice:
            case None:
                yield _STILL_HERE
            case Gap():
                yield _gap_message(notice)
            case _:
                yield _notice_message(notice)


def _id(place: Place) -> str:
    return "-".join(map(str, place))


def _gap_message(gap: Gap) -> ServerSentEventMessage:
    text = msgspec.json.encode({"since": gap.since}).decode()
    return ServerSentEventMessage(data=text, event="gap", id=_id(gap.after))


def _notice_message(notice: Notice) -> ServerSentEventMessage:
    shown = {"board": notice.board, "seq": notice.seq, "at": notice.at, "kind": notice.kind}
    text = msgspec.json.encode(shown).decode()
    return ServerSentEventMessage(data=text, event=str(notice.kind), id=_id(place_of(notice)))
