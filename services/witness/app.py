"""A witness over HTTP (C2SP tlog-witness): `add-checkpoint`, and what it has cosigned, to read."""

import asyncio
import logging
from contextlib import suppress
from typing import Any, Final

from litestar import Litestar, Request, Response, get, post
from litestar.params import FromPath

from domain.errors import Refusal
from infra.log.signed_note import NoteError
from infra.people.rate_limits import NetworkRateLimit
from infra.witness.follower import ADD_CHECKPOINT, SIZE_TYPE
from infra.witness.witness import (
    MOST_BYTES,
    CosignRefusedError,
    CosignRequest,
    Refused,
    Witness,
    log_id,
)
from services.http.requests import network_of_request

logger = logging.getLogger(__name__)

AnyRequest = Request[Any, Any, Any]

_TEXT: Final = "text/plain"

REQUESTS_A_MINUTE: Final = 1_200
"""Of one network; a server with 200 shards sends so many."""

_REFUSED_WEIGHT: Final = 10
"""How many requests a refused one counts for, because a log that is in order has few of them."""


def make_witness_app(witness: Witness) -> Litestar:
    """Return the application of a witness."""
    limit = NetworkRateLimit(REQUESTS_A_MINUTE, setting="witness")

    @post(ADD_CHECKPOINT, request_max_body_size=MOST_BYTES, status_code=200)
    async def add_checkpoint(request: AnyRequest) -> Response[str]:
        """Cosign a checkpoint, or say why not."""
        network = network_of_request(request.scope, behind_proxy=False)
        try:
            limit.check(network)
        except Refusal:
            text = "this network asks too often; try again in a minute\n"
            return Response(text, status_code=429, media_type=_TEXT)
        answer = await asyncio.to_thread(_cosign, witness, await request.body())
        if answer.status_code not in (200, Refused.OTHER_SIZE):
            with suppress(Refusal):  # the next one is refused
                limit.check(network, _REFUSED_WEIGHT - 1)
        return answer

    @get("/", sync_to_thread=True)
    def show_witness() -> Response[str]:
        """Return the key of the witness, and the logs that it knows with their last cosigned sizes."""
        return Response(_summary(witness), media_type=_TEXT)

    @get("/logs/{log:str}", sync_to_thread=True)
    def show_checkpoint(log: FromPath[str]) -> Response[str]:
        """Return the last cosigned checkpoint of a log, by SHA-256 of its origin in hex digits."""
        origin = {log_id(one): one for one in witness.origins}.get(log)
        found = None if origin is None else witness.cosigned(origin)
        if found is None:
            return Response("nothing was cosigned of it\n", status_code=404, media_type=_TEXT)
        return Response(found.note, media_type=_TEXT)

    return Litestar(
        [add_checkpoint, show_witness, show_checkpoint],
        openapi_config=None,
        logging_config=None,
    )


def _cosign(witness: Witness, body: bytes) -> Response[str]:
    try:
        return Response(witness.cosign(CosignRequest.parse(body)), media_type=_TEXT)
    except NoteError as error:
        return Response(f"{error}\n", status_code=Refused.MALFORMED, media_type=_TEXT)
    except CosignRefusedError as refused:
        if refused.forked:
            logger.error("ALARM: %s", refused)  # noqa: TRY400 - the sentence says it all
        if refused.why is Refused.OTHER_SIZE:
            return Response(f"{refused.size}\n", status_code=refused.why, media_type=SIZE_TYPE)
        return Response(f"{refused}\n", status_code=refused.why, media_type=_TEXT)


def _summary(witness: Witness) -> str:
    lines = [f"witness {witness.key}"]
    for origin in witness.origins:
        found = witness.cosigned(origin)
        size = found.checkpoint.size if found else 0
        lines.append(f"{origin} {size} /logs/{log_id(origin)}")
    return "\n".join(lines) + "\n"
