"""Events: a match's whole history, and what happens now as server-sent events."""

import asyncio
from base64 import b64encode
from collections.abc import AsyncIterator, Sequence
from typing import Annotated, Any, Final

import msgspec
from litestar import Request, Response, get
from litestar.params import Parameter
from litestar.response import ServerSentEvent, ServerSentEventMessage, Stream

from domain.errors import Code, Refusal
from domain.match.events import Ended, decode, leaf_hash
from infra.projections.notices import Notice
from infra.tokens import Scope
from services.api.callers import Caller
from services.api.commands import BoardNumber
from services.api.hand import Hand
from services.language.boards import state_of

AnyRequest = Request[Any, Any, Any]

JSON: Final = "application/json"
NDJSON: Final = "application/x-ndjson"
SSE: Final = "text/event-stream"

_HEARTBEAT: Final = 15.0
"""Seconds of silence after which a comment is sent: a connection that is dead is noticed by it."""

_POLL_SECONDS: Final = 1.0


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
    summary="The events of a match",
    description="As a JSON list, or as its `Accept` asks: one a line (application/x-ndjson), or as "
    "they come (text/event-stream; the id of each is its seq, and Last-Event-ID goes on after it).",
)
async def show_events(
    request: AnyRequest,
    board: BoardNumber,
    hand: Hand,
    start: Annotated[
        int, Parameter(query="from", ge=1, le=10**9, description="the first event wanted")
    ] = 1,
    last: Annotated[str | None, Parameter(header="Last-Event-ID", pattern="^[0-9]{1,9}$")] = None,
) -> Response[Any]:
    """Give a match's events."""
    await asyncio.to_thread(state_of, hand.parts, board)
    kind = _wanted(request.headers.get("accept", ""))
    if kind == SSE:
        after = int(last) + 1 if last else start
        return ServerSentEvent(_live(hand, board, after))
    stored = await hand.store.events(board, start)
    shown = (show_event(start + i, data) for i, data in enumerate(stored))
    if kind == NDJSON:
        return Stream(_lines(shown), media_type=NDJSON)
    return Response(list(shown))


def _wanted(accept: str) -> str:
    """Choose the form that is asked for; JSON where nothing else is."""
    for kind in (SSE, NDJSON):
        if kind in accept:
            return kind
    if not accept or JSON in accept or "*/*" in accept or "application/*" in accept:
        return JSON
    raise Refusal(Code.NOT_ACCEPTABLE, f"events come as {JSON}, {NDJSON} or {SSE}")


async def _lines(shown: Any) -> AsyncIterator[bytes]:
    for event in shown:
        yield msgspec.json.encode(event) + b"\n"


async def _live(hand: Hand, board: int, start: int) -> AsyncIterator[ServerSentEventMessage]:
    """Send events as they come, until the match is over."""
    async for seq, data in hand.follower.events(board, start, _HEARTBEAT):
        if not seq:
            yield ServerSentEventMessage(comment="still here")
            continue
        event = show_event(seq, data)
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
    """Give a field's value as JSON has it."""
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, msgspec.Struct):
        return {name: _plain(getattr(value, name)) for name in value.__struct_fields__}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


@get(
    "/api/account/events",
    summary="What happens in the own matches",
    description="Server-sent events; the id of each is its time, board and seq, and Last-Event-ID "
    "goes on after it. Without one it begins with what happens from now on.",
)
async def follow_account(
    hand: Hand,
    caller: Caller,
    last: Annotated[
        str | None,
        Parameter(header="Last-Event-ID", pattern="^[0-9]{1,15}-[0-9]{1,15}-[0-9]{1,9}$"),
    ] = None,
) -> ServerSentEvent:
    """Send the caller's notices as they come."""
    account = caller.need(Scope.READ)
    if last:
        at, board, seq = map(int, last.split("-"))
    else:
        at, board, seq = await asyncio.to_thread(hand.parts.store.now), 0, 0
    return ServerSentEvent(_notices(hand, account, (at, board, seq)))


async def _notices(
    hand: Hand, account: bytes, mark: tuple[int, int, int]
) -> AsyncIterator[ServerSentEventMessage]:
    silent = 0.0
    while True:
        rows = await asyncio.to_thread(hand.parts.notices.since, account, mark[0])
        for place, notice in sorted(_places(rows), key=lambda found: found[0]):
            if place > mark:
                mark, silent = place, 0.0
                yield _notice_message(place, notice)
        await asyncio.sleep(_POLL_SECONDS)
        silent += _POLL_SECONDS
        if silent >= _HEARTBEAT:
            silent = 0.0
            yield ServerSentEventMessage(comment="still here")


def _places(rows: Sequence[Notice]) -> list[tuple[tuple[int, int, int], Notice]]:
    return [((row.at, row.board, row.seq), row) for row in rows]


def _notice_message(place: tuple[int, int, int], notice: Notice) -> ServerSentEventMessage:
    text = msgspec.json.encode(
        {"board": notice.board, "seq": notice.seq, "at": notice.at, "kind": notice.kind}
    ).decode()
    return ServerSentEventMessage(data=text, event=str(notice.kind), id="-".join(map(str, place)))
