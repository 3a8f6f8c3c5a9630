"""The client: one method for what programs do most, and `get` and `post` for all else.

A command is carried out once: each has a key, and where the connection breaks before the answer
has come it is sent again with that key. What can't be told then is raised as `httpx.TransportError`.
"""

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from types import TracebackType
from typing import Any, Final, Self
from uuid import uuid4

import httpx
import msgspec

CODE: Final = "Matchpost-Code"
"""The header that has the stable code of a text answer."""

_ATTEMPTS: Final = 3

_AGAIN_SECONDS: Final = 1.0
"""After which a stream that broke is asked for again."""

_SILENT_SECONDS: Final = 60.0
"""How long a stream may be silent that has a comment every 15 seconds."""

_SLACK_SECONDS: Final = 15.0
"""How much longer than an outcome is waited for an answer may take."""


class ProblemError(Exception):
    """A problem document; `code` is stable, `detail` a sentence for people."""

    def __init__(self, status: int, code: str, detail: str) -> None:
        super().__init__(f"{code}: {detail}")
        self.status = status
        self.code = code
        self.detail = detail


class Text(msgspec.Struct, frozen=True):
    """What a command line was answered with."""

    text: str
    code: str
    """Empty when it was accepted or answered."""


class Outcome(msgspec.Struct, frozen=True):
    """What became of a command in a match."""

    id: str
    board: int
    accepted: bool
    code: str
    message: str
    seq: int
    index: int


_OUTCOMES: Final = msgspec.json.Decoder(Outcome)


class Client:
    """Talks to one server; close it when done. For one thread."""

    def __init__(self, url: str, token: str | None = None, wait: float = 10.0) -> None:
        """`url` is the server's, such as `http://127.0.0.1:8080`; `wait` in seconds."""
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._http = httpx.Client(
            base_url=url.rstrip("/"), headers=headers, timeout=wait + _SLACK_SECONDS
        )
        self._wait = wait

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def do(self, line: str, key: str | None = None, wait: float | None = None) -> Text:
        """Carry out a command line."""
        response = self._once(
            "/api/do", key, wait, content=line.encode(), headers={"Content-Type": "text/plain"}
        )
        if response.headers.get("content-type", "").startswith("application/problem"):
            raise _problem(response)
        return Text(response.text.rstrip("\n"), response.headers.get(CODE, ""))

    def move(
        self, board: int, move: str, ply: int | None = None, key: str | None = None
    ) -> Outcome:
        """Play a move; `ProblemError` when it is refused."""
        return self.command(board, {"do": "move", "move": move, "ply": ply}, key)

    def command(self, board: int, body: Mapping[str, Any], key: str | None = None) -> Outcome:
        """Give a command in a match, such as `{"do": "resign"}`."""
        response = self._once(f"/api/matches/{board}/commands", key, None, json=dict(body))
        return _OUTCOMES.decode(_good(response).content)

    def match(self, board: int) -> dict[str, Any]:
        """Give a match as it stands."""
        found: dict[str, Any] = self.get(f"/api/matches/{board}")
        return found

    def events(self, board: int, start: int = 1) -> Iterator[dict[str, Any]]:
        """Give a match's events from `start` on as they come, until it is over."""
        headers = {"Accept": "text/event-stream"}
        path = f"/api/matches/{board}/events"
        with self._http.stream("GET", path, params={"from": start}, headers=headers) as response:
            if response.is_error:
                response.read()
            for line in _good(response).iter_lines():
                if line.startswith("data:"):
                    yield json.loads(line.removeprefix("data:"))

    def notices(self, last: str = "") -> Iterator[dict[str, Any]]:
        """Give what the account is told as it comes, for ever, after the notice with the id `last`.

        Each has its `id` and its `kind`; that of kind `gap` says that more came than the server
        keeps. A connection that breaks is made again, and goes on after what came last.
        """
        at = last
        while True:
            with suppress(httpx.TransportError):
                for id_, notice in self._notices(at):
                    at = id_
                    if notice is not None:
                        yield {"id": id_, **notice}
            time.sleep(_AGAIN_SECONDS)

    def _notices(self, last: str) -> Iterator[tuple[str, dict[str, Any] | None]]:
        """Follow one connection; gives each id, with what it is the id of if that is a notice."""
        headers = {"Last-Event-ID": last} if last else {}
        path, timeout = "/api/account/events", httpx.Timeout(_SLACK_SECONDS, read=_SILENT_SECONDS)
        with self._http.stream("GET", path, headers=headers, timeout=timeout) as response:
            if response.is_error:
                response.read()
            fields: dict[str, str] = {}
            for line in _good(response).iter_lines():
                if line:
                    name, _, value = line.partition(":")
                    fields[name] = value.removeprefix(" ")
                elif "id" in fields:
                    told = {"kind": fields.get("event"), **json.loads(fields.get("data", "{}"))}
                    yield fields["id"], told if "data" in fields else None
                    fields = {}
                else:
                    fields = {}

    def get(self, path: str, **query: Any) -> Any:
        """Give what is at a path of the API."""
        return _good(self._http.get(path, params=query)).json()

    def post(self, path: str, body: Any) -> Any:
        """Post to a path of the API; a repetition is not recognised."""
        response = _good(self._http.post(path, json=body))
        return response.json() if response.content else None

    def _once(
        self, path: str, key: str | None, wait: float | None, **request: Any
    ) -> httpx.Response:
        """Post what is carried out once, however often it has to be sent."""
        headers = {**request.pop("headers", {}), "Idempotency-Key": key or uuid4().hex}
        wait = self._wait if wait is None else wait
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                return self._http.post(
                    path,
                    params={"wait": wait},
                    headers=headers,
                    timeout=wait + _SLACK_SECONDS,
                    **request,
                )
            except httpx.ConnectError:
                raise  # nothing was sent
            except httpx.TransportError:
                if attempt == _ATTEMPTS:
                    raise
        raise AssertionError("unreachable")  # pragma: no cover


def _good(response: httpx.Response) -> httpx.Response:
    if response.is_error or response.status_code == httpx.codes.ACCEPTED:
        raise _problem(response)
    return response


def _problem(response: httpx.Response) -> ProblemError:
    try:
        body = response.json()
        return ProblemError(response.status_code, body["code"], body["detail"])
    except (ValueError, KeyError):
        said = response.text[:200] or response.reason_phrase
        return ProblemError(response.status_code, "unavailable", f"the server answered: {said}")
