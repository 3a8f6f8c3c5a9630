"""The published log over HTTP, as C2SP tlog-tiles asks: anybody can copy and verify it."""

import asyncio
import gzip
import re
from typing import Any, Final

from litestar import Request, Response, get
from litestar.di import NamedDependency
from litestar.params import FromPath

from domain.errors import Code, Refusal
from infra.log.key_files import (
    LOG_KEY,
    RECEIPTS_KEY,
    LogKeyError,
    keys_folder,
    read_public_keys,
)
from infra.log.names import CHECKPOINT, WITNESSED, shard_key
from infra.log.receipts import KEY_SUFFIX
from infra.objects.port import ObjectNotFoundError, ObjectStoreError
from services.app.receipts import NO_RECEIPTS
from services.http.context import ApiContext

AnyRequest = Request[Any, Any, Any]

_SHARD: Final = re.compile(r"s[0-9]{2}")
_TILE: Final = re.compile(
    r"tile/(?P<level>entries|[0-7])/(x[0-9]{3}/){0,6}[0-9]{3}(\.p/[1-9][0-9]{0,2})?"
)
_FOREVER: Final = "public, max-age=31536000, immutable"
_SECOND: Final = "public, max-age=1"

_TEXT: Final = "text/plain"
_BYTES: Final = "application/octet-stream"


@get("/log/keys", for_guests=True, sync_to_thread=True, include_in_schema=False)
def show_log_keys(context: NamedDependency[ApiContext]) -> Response[str]:
    """Return the public keys of all shards' logs, the newest first, as lines of text."""
    return _key_lines(context, LOG_KEY, "this server doesn't publish a log")


@get("/log/receipts-keys", for_guests=True, sync_to_thread=True, include_in_schema=False)
def show_receipts_keys(context: NamedDependency[ApiContext]) -> Response[str]:
    """Return the public keys of all shards' receipts, the newest first, as lines of text."""
    return _key_lines(context, RECEIPTS_KEY, NO_RECEIPTS, KEY_SUFFIX)


def _key_lines(context: ApiContext, name: str, otherwise: str, suffix: str = "") -> Response[str]:
    try:
        keys = read_public_keys(keys_folder(context.app.settings), name)
    except LogKeyError as error:
        raise Refusal(Code.NOT_FOUND, otherwise) from error
    shards = range(context.app.store.shards)
    lines = [f"{shard_key(key, shard, suffix)}\n" for key in keys for shard in shards]
    return Response("".join(lines), media_type=_TEXT, headers={"Cache-Control": _SECOND})


@get("/log/{shard:str}/{path:path}", include_in_schema=False)
async def show_log_object(
    request: AnyRequest,
    context: NamedDependency[ApiContext],
    shard: FromPath[str],
    path: FromPath[str],
) -> Response[bytes]:
    """Return a checkpoint, own or cosigned, a tile or a bundle; the last two never change."""
    name = path.removeprefix("/")
    tile = _TILE.fullmatch(name)
    if not _SHARD.fullmatch(shard) or (name not in (CHECKPOINT, WITNESSED) and tile is None):
        raise Refusal(Code.NOT_FOUND, "the published log has no such object")
    try:
        data = await asyncio.to_thread(context.app.objects.get, f"{shard}/{name}")
    except ObjectNotFoundError as error:
        raise Refusal(Code.NOT_FOUND, "the published log has no such object") from error
    except ObjectStoreError as error:
        raise Refusal(Code.UNAVAILABLE, "the published log can't be read right now") from error
    if tile is None:
        return Response(data, media_type=_TEXT, headers={"Cache-Control": _SECOND})
    headers = {"Cache-Control": _FOREVER}
    if tile["level"] == "entries":
        # hashes can't be compressed
        headers["Vary"] = "Accept-Encoding"
        if "gzip" in request.headers.get("accept-encoding", ""):
            headers["Content-Encoding"] = "gzip"
            data = await asyncio.to_thread(gzip.compress, data, 6, mtime=0)
    return Response(data, media_type=_BYTES, headers=headers)


LOG_ROUTES: Final = (show_log_keys, show_receipts_keys, show_log_object)
