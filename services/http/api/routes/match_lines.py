"""Many matches at once: a player's as a stream of lines, and the list of the files that have all."""

from asyncio import sleep, to_thread
from collections.abc import AsyncIterator, Iterator
from typing import Annotated, Any, Final, Literal

import msgspec
from litestar import Response
from litestar.params import QueryParameter
from litestar.response import Stream

from domain.errors import Code, Refusal
from services.app.dump import DumpIndex, read_dump
from services.app.match_lines import AnyLine, finished_lines, running_lines
from services.app.queries import find_player
from services.app.sentences import SAY
from services.http.api.auth import AnyRequest, Caller, Context
from services.http.api.declared import ANYBODY, ApiRoutes, refuses
from services.http.api.routes.events import NDJSON
from services.http.api.routes.players import Userid
from services.http.context import ApiContext

BYTES_A_REQUEST: Final = 16_384
"""How much of a stream counts as one more request."""

api = ApiRoutes("players")

Lines = list[AnyLine]

Since = Annotated[
    str,
    QueryParameter(
        max_length=36, description="the `cursor` of the last line that you have; empty for all"
    ),
]
Which = Annotated[
    Literal["inactive", "active"],
    QueryParameter(
        name="state",
        description="`inactive` for matches that have ended, `active` for running ones",
    ),
]


@api.get(
    "/api/players/{userid:str}/matches.ndjson",
    "All matches of a player, one a line",
    ANYBODY,
    description="Finished matches in the order of their ends, each with its moves and its result, or running ones. `since` "
    "goes on after a line: with the `cursor` of the last one, a later request has what came since. Each 16 KiB count as one "
    "request, and the stream slows down to that rate. A match that can't be read is a line with its `board` and a `code`. "
    "A stream that breaks off before its end is to be resumed.",
    media_type=NDJSON,
)
@refuses(Code.UNKNOWN_USER)
async def stream_matches(
    request: AnyRequest,
    userid: Userid,
    context: Context,
    since: Since = "",
    which: Which = "inactive",
) -> Response[Any]:
    """Return a player's matches as lines of JSON, while they are read."""
    if since and which == "active":
        raise Refusal(Code.BAD_REQUEST, SAY("since-running"))
    account, _ = await to_thread(find_player, context.app, userid)
    app = context.app
    found: Iterator[Lines] = (
        running_lines(app, account) if which == "active" else finished_lines(app, account, since)
    )
    # the first lines are read now, because after the head there can be no refusal any more
    first = await to_thread(next, found, None)
    return Stream(_charged(request, context, first, found), media_type=NDJSON)


@api.get(
    "/api/dump",
    "Files with all finished matches",
    ANYBODY,
    tag="matches",
    description="One for each month, game and format, written once a day where the operator has set an hour for it: "
    "docs/dump.md. A file is at the path `/dump/` and its `name`.",
)
def list_dump(context: Context) -> DumpIndex:
    """Return the files of the last dump; none if there is none."""
    return read_dump(context.app.objects)


async def _charged(
    request: AnyRequest, context: ApiContext, first: Lines | None, found: Iterator[Lines]
) -> AsyncIterator[bytes]:
    """Yield lines as fast as the caller's rate allows."""
    lines, sent = first, 0
    while lines:
        data = b"".join(msgspec.json.encode(line) + b"\n" for line in lines)
        yield data
        sent += len(data)
        weight, sent = divmod(sent, BYTES_A_REQUEST)
        await _charge(request, context, weight)
        lines = await to_thread(next, found, None)


async def _charge(request: AnyRequest, context: ApiContext, weight: int) -> None:
    """Count requests, and wait as long as the caller has none left."""
    caller: Caller | None = request.auth
    account = caller.account if caller else None
    while weight:
        try:
            context.request_limits.count_more(request, account, weight)
            weight = 0
        except Refusal as refusal:
            await sleep(refusal.retry_after)
