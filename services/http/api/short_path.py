"""The short path of commands: requests of the usual form, answered before the framework.

`POST /api/matches/{board}/commands` is most of the requests of programs, and the framework takes longer for
one than all else. A request of the usual form (a token, a JSON body, no query) is therefore read
here, before the middleware, too. Any other request, and any that is refused, gets its answer from the
route in the framework, so that there is one place for refusals.
"""

import re
import time
from collections.abc import Mapping
from typing import Any, Final

import msgspec
from litestar import Litestar
from litestar.types import Receive, Send

from infra.people.tokens import Scope as TokenScope
from infra.process.log_context import LoggedWith
from services.app.commands import Action, act
from services.http.api.auth import BEARER, FAILED, Caller
from services.http.api.bodies import MAX_BODY_BYTES
from services.http.connections import ANSWER_AT_ONCE, header_lines
from services.http.context import ApiContext
from services.http.middleware import BEGAN, HttpMiddleware, count_request
from services.http.request_limits import RATE_HEADERS, note_budget
from services.http.requests import REQUEST_ID_HEADER, request_id_of

PATH_TEMPLATE: Final = "/api/matches/{board}/commands"
"""The path of the route, as metrics name it."""

_PATH: Final = re.compile(r"/api/matches/([1-9][0-9]{0,14})/commands")

_HEADERS: Final = frozenset({b"authorization", b"content-type", b"host", b"idempotency-key"})
"""The headers that are read; a request that repeats one is not usual."""

_HOST: Final = re.compile(rb"[0-9A-Za-z.:-]+")

_JSON: Final = (b"content-type", b"application/json")
_VARY: Final = (b"vary", b"Accept-Encoding")
"""As every answer has it that may be compressed; those of this path are too short for it."""

_KEY_LENGTHS: Final = range(1, 201)

_decoder: Final[msgspec.json.Decoder[Action]] = msgspec.json.Decoder(Action)
_encode: Final = msgspec.json.Encoder().encode


class _UsualRequest(msgspec.Struct):
    """A request of the usual form, without its body."""

    board: int
    token: str
    key: str | None


class ShortPath:
    """Answers commands of the usual form for `app`, and passes all other requests to `others`."""

    def __init__(self, app: Litestar, others: HttpMiddleware) -> None:
        self._app = app
        self._others = others
        self._usual_lines = header_lines((*others.usual_headers, _VARY))

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        """Answer a request, here or in the framework."""
        began = time.perf_counter()
        usual = _usual(scope)
        if usual is None:
            await self._others(scope, receive, send)
            return
        with LoggedWith(request_id=request_id_of(scope)):
            await self._answer_usual(usual, scope, receive, send, began)

    async def _answer_usual(
        self, usual: _UsualRequest, scope: Any, receive: Receive, send: Send, began: float
    ) -> None:
        message = await receive()
        action = _body_of(message)
        body = None
        try:
            if action is not None:
                body = await _carry_out(self._app.state.context, usual, action, scope)
        except Exception as error:  # noqa: BLE001 - the route answers it
            scope[FAILED] = error
        if body is None:
            scope[BEGAN] = began
            await self._others(scope, _again(message, receive), send)
            return
        await self._answer(scope, send, body)
        count_request("POST", PATH_TEMPLATE, "200", began)

    async def _answer(self, scope: Any, send: Send, body: bytes) -> None:
        """Answer in one write if the connection can, otherwise as ASGI has it."""
        length = (b"content-length", b"%d" % len(body))
        own = [(REQUEST_ID_HEADER, request_id_of(scope).encode()), *scope.get(RATE_HEADERS, ())]
        lines = header_lines((_JSON, length)) + self._usual_lines + header_lines(own)
        if scope["extensions"][ANSWER_AT_ONCE](lines, body):
            return
        headers = [_JSON, length, *self._others.usual_headers, _VARY, *own]
        start: Any = {"type": "http.response.start", "status": 200, "headers": headers}
        await send(start)
        await send({"type": "http.response.body", "body": body, "more_body": False})


async def _carry_out(
    context: ApiContext, usual: _UsualRequest, action: Action, scope: Any
) -> bytes | None:
    """Carry out a command, and return the body of the answer; None for an unknown token."""
    token, replies = await context.token_and_snapshot(usual.token, usual.board)
    if token is None:
        return None
    note_budget(scope, "commands", context.app.pace.check(token.account))
    caller = Caller(context, token.account, token)
    caller.require(TokenScope.PLAY)
    actor = caller.actor(usual.key)
    state = (await context.read_snapshot(usual.board, replies)).state
    asked = act(context.app, actor, usual.board, state, action)
    return _encode(await context.play.submit(asked, receipt=True))


def _usual(scope: Mapping[str, Any]) -> _UsualRequest | None:
    """Return a request of the usual form; None for any other."""
    if scope["type"] != "http" or scope["method"] != "POST" or scope["query_string"]:
        return None
    path = _PATH.fullmatch(scope["path"])
    if path is None or scope["root_path"]:
        return None
    found: dict[bytes, bytes] = {}
    for name, value in scope["headers"]:
        if name in _HEADERS:
            if name in found:
                return None
            found[name] = value
    token = found.get(b"authorization", b"").decode("latin-1")
    key = found[b"idempotency-key"].decode("latin-1") if b"idempotency-key" in found else None
    if (
        not token.lower().startswith(BEARER)
        or found.get(b"content-type") != b"application/json"
        or _HOST.fullmatch(found.get(b"host", b"")) is None
        or (key is not None and len(key) not in _KEY_LENGTHS)
    ):
        return None
    return _UsualRequest(int(path[1]), token[len(BEARER) :].strip(), key)


def _body_of(message: Any) -> Action | None:
    """Return the command in a body that arrived at once; None if it is none, or not usual."""
    body = message.get("body", b"")
    if message["type"] != "http.request" or message["more_body"] or len(body) > MAX_BODY_BYTES:
        return None
    try:
        return _decoder.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _again(message: Any, receive: Receive) -> Receive:
    """Return a channel on which a message that was received comes first."""
    first: list[Any] = [message]

    async def receive_again() -> Any:
        return first.pop() if first else await receive()

    return receive_again
