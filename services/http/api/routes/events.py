"""A match's whole history, and server-sent events of what happens now."""

import asyncio
from base64 import b64encode
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Iterator
from functools import partial
from typing import Annotated, Any, Final, NamedTuple, TypeAlias

import msgspec
from litestar import Response
from litestar.params import HeaderParameter, QueryParameter
from litestar.response import ServerSentEvent, ServerSentEventMessage, Stream

from domain.aggregates import AnySnapshot
from domain.errors import Code, Refusal
from domain.match.events import Appealed, Claimed, Ended, ResultChanged, Ruled
from domain.match.history import decode_event, leaf_hash
from domain.records import AccountId
from domain.tournament.events import PlacesConfirmed, TournamentCancelled
from infra.people.tokens import Scope
from infra.projections.notices import OF_TOURNAMENTS, NoticePosition, position_of
from services.app.damaged_match import UNREADABLE
from services.app.matches import phase_of
from services.app.tournaments import sees_club, visible_state
from services.http.api.auth import AnyRequest, Caller, Context, Own, token_still_valid, viewer_of
from services.http.api.declared import ANYBODY, ApiRoutes, refuses
from services.http.api.routes.commands import BoardNumber
from services.http.api.routes.tournaments import Number
from services.http.api.values import EventType
from services.http.context import ApiContext
from services.http.etag import ETag
from services.http.streams.notice_stream import NoticeGap

Messages: TypeAlias = AsyncGenerator[ServerSentEventMessage, None]

JSON: Final = "application/json"
NDJSON: Final = "application/x-ndjson"
SSE: Final = "text/event-stream"

MAX_EVENTS: Final = 1_000
"""The maximum number of events in one answer."""

Start: TypeAlias = Annotated[
    int, QueryParameter(name="from", ge=1, le=10**9, description="the seq of the first event")
]
Limit: TypeAlias = Annotated[
    int,
    QueryParameter(
        ge=1, le=MAX_EVENTS, description="the maximum number of events, unless they are streamed"
    ),
]
LastSeq: TypeAlias = Annotated[
    str | None,
    HeaderParameter(
        name="Last-Event-ID",
        pattern="^[0-9]{1,9}$",
        description="the id of the last server-sent event that you have",
    ),
]

api = ApiRoutes("events")

_MAY_BE_LAST: Final = (
    Ended | ResultChanged | Claimed | Ruled | Appealed | PlacesConfirmed | TournamentCancelled
)

HELLO: Final = "hello"
"""The kind of the event with which a player's stream begins; it has the fields of a notice, because a
client may read them from whatever comes."""

_HEARTBEAT: Final = ServerSentEventMessage(data=None, comment="still here")


class Event(msgspec.Struct, frozen=True):
    """An event of a match or a tournament, with its bytes as they are stored, hashed and chained."""

    seq: int
    """Number of the event in its match or tournament; the first is 1."""
    at: int
    """Time at which the command was received, in ms since 1970."""
    type: EventType
    """The kind of event, such as `moved`."""
    body: dict[str, Any]
    """The fields of the event; accounts and other bytes in hex."""
    command: str
    """The id of the command that caused it, in hex."""
    actor: str
    """The account that sent the command, in hex; zeros for the server itself."""
    prev: str
    """Leaf hash of the previous event, in hex."""
    hash: str
    """Leaf hash of this event, in hex."""
    data: str
    """The stored bytes, in base64."""


@api.get(
    "/api/matches/{board:int}/events",
    "The events of a match",
    ANYBODY,
    tagged=True,
    description="By `Accept`, a JSON list, one event a line (application/x-ndjson), or server-sent "
    "events as they come (text/event-stream). The id of a server-sent event is its seq, and "
    "Last-Event-ID continues after it. The stream ends with the match; 204 means that nothing more "
    "will come. A stream can't start later than with the next event: it is refused as `beyond-end`, "
    "because a client that has seen later events saw data that the server has lost since.",
)
@refuses(Code.UNKNOWN_BOARD, Code.NOT_ACCEPTABLE, Code.BEYOND_END, Code.BUSY)
async def show_events(
    request: AnyRequest,
    board: BoardNumber,
    context: Context,
    start: Start = 1,
    limit: Limit = MAX_EVENTS,
    last: LastSeq = None,
) -> Response[Any]:
    """Return a match's events."""
    snapshot = await context.match(board)
    valid = partial(token_still_valid, request, context)
    return await _events(
        request, context, _Events("match", board, snapshot, valid), start, limit, last
    )


@api.get(
    "/api/tournaments/{number:int}/events",
    "The events of a tournament",
    ANYBODY,
    tagged=True,
    description="As those of a match: /api/matches/{board}/events. Matches of the tournament are mentioned where "
    "their results are counted; their moves are events of their own. A stream ends once the places are confirmed or "
    "the tournament is cancelled.",
)
@refuses(Code.UNKNOWN_TOURNAMENT, Code.NOT_ACCEPTABLE, Code.BEYOND_END, Code.BUSY)
async def show_tournament_events(
    request: AnyRequest,
    number: Number,
    context: Context,
    start: Start = 1,
    limit: Limit = MAX_EVENTS,
    last: LastSeq = None,
) -> Response[Any]:
    """Return a tournament's events, to all who see it."""
    app, viewer = context.app, viewer_of(request)
    terms = (await asyncio.to_thread(visible_state, app, viewer, number)).terms
    club = terms.club if terms else ""

    async def still_seen() -> bool:
        # a member may have left
        sees = not club or await asyncio.to_thread(sees_club, app, viewer, club)
        return sees and await token_still_valid(request, context)

    asked = _Events("tournament", number, await context.aggregate(number), still_seen)
    return await _events(request, context, asked, start, limit, last)


class _Events(NamedTuple):
    """The events that are asked for."""

    kind: str
    """`match` or `tournament`, as in the path."""
    board: int
    snapshot: AnySnapshot
    valid: Callable[[], Awaitable[bool]]
    """Whether the caller may still read them."""


async def _events(
    request: AnyRequest,
    context: ApiContext,
    asked: _Events,
    start: int,
    limit: int,
    last: str | None,
) -> Response[Any]:
    """Return events in the form that is accepted."""
    board, snapshot = asked.board, asked.snapshot
    kind = request.accept.best_match([JSON, NDJSON, SSE])
    if kind == SSE:
        return await _stream_events(request, context, asked, int(last) + 1 if last else start)
    if kind is None:
        raise Refusal(Code.NOT_ACCEPTABLE, f"events come as {JSON}, {NDJSON} or {SSE}")
    tag = ETag("events", kind, start, limit, snapshot.head)
    if tag.is_current(request):
        return tag.not_modified()
    # newer events belong to another tag
    end = min(snapshot.state.seq, start + limit - 1)
    stored = (await context.store.events(board, start))[: max(0, end - start + 1)]
    try:
        shown = [event_json(seq, data) for seq, data in enumerate(stored, start)]
    except UNREADABLE as error:
        raise await context.damaged(board, error) from error
    headers = {**tag.headers, "Vary": "Accept", **_next_link(asked, end, limit)}
    if kind == NDJSON:
        return Stream(_ndjson_lines(shown), media_type=NDJSON, headers=headers)
    return Response(shown, headers=headers)


def _next_link(asked: _Events, end: int, limit: int) -> dict[str, str]:
    """Return the header that links to the next events."""
    if end >= asked.snapshot.state.seq:
        return {}
    path = f"/api/{'matches' if asked.kind == 'match' else 'tournaments'}/{asked.board}/events"
    return {"Link": f'<{path}?from={end + 1}&limit={limit}>; rel="next"'}


def _ndjson_lines(shown: Iterable[Event]) -> Iterator[bytes]:
    for event in shown:
        yield msgspec.json.encode(event) + b"\n"


async def _stream_events(
    request: AnyRequest, context: ApiContext, asked: _Events, start: int
) -> Response[Any]:
    board, snapshot = asked.board, asked.snapshot
    after = start - 1
    if after > snapshot.state.seq:
        raise Refusal(
            Code.BEYOND_END,
            f"{asked.kind} {board} has {snapshot.state.seq} events, so nothing can follow number {after}; "
            f"if you have received that one, the server was restored from a backup: load the {asked.kind} "
            "again",
        )
    if snapshot.state.over and start > snapshot.state.seq:
        return Response(None, status_code=204)  # a client that receives this does not reconnect
    for data in (await context.store.events(board, start))[:1]:
        try:
            decode_event(data)
        except UNREADABLE as error:
            raise await context.damaged(board, error) from error
    messages = _event_messages(context, board, start)
    caller: Caller | None = request.auth
    account = caller.account if caller else None
    return _open_stream(request, context, account, messages, asked.valid)


def _open_stream(
    request: AnyRequest,
    context: ApiContext,
    account: AccountId | None,
    messages: Messages,
    good: Callable[[], Awaitable[bool]],
) -> ServerSentEvent:
    """Open a stream that ends once it is not `good`, as with the caller's token; refused if there are too many."""
    network = context.request_limits.network(request)
    context.stream_limits.check(network, account)
    return ServerSentEvent(
        context.stream_limits.while_allowed(
            network, account, messages, good, context.intervals.stream
        )
    )


async def _event_messages(context: ApiContext, board: int, start: int) -> Messages:
    """Send events as they come, until the match or the tournament is over or an event can't be read."""
    async for seq, data in context.match_watch.events(board, start, context.intervals.heartbeat):
        if not seq:
            yield _HEARTBEAT
            continue
        try:
            event = event_json(seq, data)
        except UNREADABLE as error:
            # a client that reconnects after the previous event gets the reason as a refusal
            await context.damaged(board, error)
            return
        text = msgspec.json.encode(event).decode()
        yield ServerSentEventMessage(data=text, event=event.type, id=seq)
        if isinstance(decode_event(data).body, _MAY_BE_LAST):
            # a match that a ruling has set back goes on after its end
            state = (await context.aggregate(board)).state
            if state.over and state.seq <= seq:
                return


def event_json(seq: int, data: bytes) -> Event:
    """Return a stored event as it is shown."""
    envelope = decode_event(data)
    body = envelope.body
    fields = {name: _json_value(getattr(body, name)) for name in body.__struct_fields__}
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


def _json_value(value: Any) -> Any:
    """Return a field's value as plain JSON."""
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, msgspec.Struct):
        return {name: _json_value(getattr(value, name)) for name in value.__struct_fields__}
    if isinstance(value, list | tuple):
        return [_json_value(item) for item in value]
    return value


@api.get(
    "/api/account/events",
    "Notices of your matches and messages, as they come",
    Scope.READ,
    description="Server-sent events without end. The stream begins with an event `hello`, "
    "which is no notice and only has an id. In `match` a notice has `state`, `ply` and `waits_for` of its match as "
    "they are when it is sent; null without a match. "
    "Last-Event-ID continues after the event with that id, as far back as /api/notices goes; an "
    "event `gap` says that older notices are no longer kept. Without Last-Event-ID the stream begins "
    "with what happens from now on.",
)
@refuses(Code.BUSY)
async def follow_account(
    request: AnyRequest,
    own: Own,
    last: Annotated[
        str | None,
        HeaderParameter(
            name="Last-Event-ID",
            pattern="^[0-9]{1,15}-[0-9]{1,15}-[0-9]{1,9}-[a-z-]{1,20}$",
            description="the id of the last event that you have",
        ),
    ] = None,
) -> ServerSentEvent:
    """Send the caller's notices as they come."""
    account = own.account
    after = _parse_id(last) if last else (await asyncio.to_thread(own.app.store.now), 0, 0, "-")
    return _open_stream(
        request,
        own.context,
        account,
        _notice_messages(own.context, account, after),
        partial(token_still_valid, request, own.context),
    )


def _parse_id(text: str) -> NoticePosition:
    at, board, seq, kind = text.split("-", 3)
    return int(at), int(board), int(seq), kind


async def _notice_messages(context: ApiContext, account: bytes, after: NoticePosition) -> Messages:
    # a client that receives nothing else continues after this id
    yield _notice_message(0, 0, after[0], HELLO, id_=_event_id(after), comment="still here")
    async for notice in context.notice_stream.notices(account, after, context.intervals.heartbeat):
        match notice:
            case None:
                yield _HEARTBEAT
            case NoticeGap():
                yield _gap_message(notice)
            case _:
                place = _event_id(position_of(notice))
                now = (
                    None
                    if notice.kind in OF_TOURNAMENTS
                    else await _match_now(context, notice.board)
                )
                yield _notice_message(
                    *(notice.board, notice.seq, notice.at, str(notice.kind)), id_=place, now=now
                )


async def _match_now(context: ApiContext, board: int) -> dict[str, Any] | None:
    """Return how a match stands when its notice is sent; None for none, and for one that can't be read."""
    if not board:
        return None
    try:
        state = (await context.match(board)).state
    except Refusal:
        return None
    return {"state": phase_of(state), "ply": state.ply, "waits_for": state.waits}


def _event_id(place: NoticePosition) -> str:
    return "-".join(map(str, place))


def _gap_message(gap: NoticeGap) -> ServerSentEventMessage:
    text = msgspec.json.encode({"since": gap.since}).decode()
    return ServerSentEventMessage(data=text, event="gap", id=_event_id(gap.after))


def _notice_message(
    board: int,
    seq: int,
    at: int,
    kind: str,
    *,
    id_: str,
    comment: str | None = None,
    now: dict[str, Any] | None = None,
) -> ServerSentEventMessage:
    shown = {"board": board, "seq": seq, "at": at, "kind": kind, "match": now}
    text = msgspec.json.encode(shown).decode()
    return ServerSentEventMessage(data=text, event=kind, id=id_, comment=comment)
