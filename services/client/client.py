"""The client: a method for each frequent task, and `get` and `post` for everything else.

A command runs once: each has a key, and if the connection breaks before the answer arrives the client
sends it again with the same key. If the outcome stays unknown, `httpx.TransportError` is raised.

For random draws the client commits to texts of its own, which `draw_texts` stores. After every call it
reveals the texts of matches in which all players have committed.
"""

import json
import logging
import time
from base64 import b64decode
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import Any, Final, Self
from uuid import uuid4

import httpx
import msgspec

from services.client.draw_texts import (
    CommittingLine,
    KeptText,
    Texts,
    board_of,
    read_committing_line,
)
from services.client.stream_messages import read_messages

logger = logging.getLogger(__name__)

CODE: Final = "Matchpost-Code"
"""The header with the stable code of a text answer."""

RECEIPT: Final = "Matchpost-Receipt"
"""The header with a receipt in base64."""

OUTCOME: Final = "Matchpost-Outcome"
"""The header with an outcome as JSON in base64."""

_ATTEMPTS: Final = 3

_AGAIN_SECONDS: Final = 1.0
"""Pause before a broken stream is opened again."""

_SILENT_SECONDS: Final = 60.0
"""A stream counts as broken after this silence: the server sends a comment every 15 seconds."""
_OPENING: Final = "/api/challenges"

_DONE: Final = frozenset({"match-over", "too-late", "wrong-text", "time-over", "unknown-board"})
"""Refusals of a reveal after which the text is useless."""

_SLACK_SECONDS: Final = 15.0
"""Time for an answer beyond the wait for the outcome."""


class ProblemError(Exception):
    """A problem document; `code` is stable, `detail` is a sentence for people.

    `retry_after` is the number of seconds after which to try again, 0 where the server names none.
    """

    def __init__(self, status: int, code: str, detail: str, retry_after: int = 0) -> None:
        super().__init__(f"{code}: {detail}")
        self.status = status
        self.code = code
        self.detail = detail
        self.retry_after = retry_after


class Text(msgspec.Struct, frozen=True):
    """The answer to a command line."""

    text: str
    code: str
    """Empty if the line was accepted or answered."""
    receipt: str = ""
    """The receipt, if the line was one command in a match and the server signs receipts."""
    outcome: dict[str, Any] | None = None
    """The fields of the outcome, if the line was one command in a match and its outcome is known."""


class Outcome(msgspec.Struct, frozen=True):
    """The outcome of a command in a match."""

    id: str
    board: int
    accepted: bool
    code: str
    message: str
    seq: int
    index: int
    receipt: str | None = None
    """A signed note, for a file; None if the server signs none."""


_OUTCOMES: Final = msgspec.json.Decoder(Outcome)


class Client:
    """A connection to one server, for one thread; close it when done."""

    def __init__(
        self,
        url: str,
        token: str | None = None,
        wait: float = 10.0,
        texts: Texts | None = None,
    ) -> None:
        """`url` is the server's, such as `http://127.0.0.1:8080`; `wait` in seconds."""
        self._url = url.rstrip("/")
        self._texts = Texts() if texts is None else texts
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._http = httpx.Client(
            base_url=url.rstrip("/"), headers=headers, timeout=wait + _SLACK_SECONDS
        )
        self._wait = wait

    def speak(self, language: str) -> None:
        """Have the sentences of answers in a language from now on; they are English otherwise."""
        self._http.headers["Accept-Language"] = language

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

    def do(
        self, line: str, key: str | None = None, wait: float | None = None, *, signs: bool = False
    ) -> Text:
        """Run a command line; if the token `signs`, the line leaves out userid and password."""
        key = key or uuid4().hex
        said = read_committing_line(line, signs=signs)
        if said is None or not self._is_committed_to(said):
            answer = self._do(line, key, wait, signs=signs)
        else:
            answer = self._do_committing(said, key, wait, signs=signs)
        self.reveal_all()
        return answer

    def _do(self, line: str, key: str, wait: float | None, *, signs: bool) -> Text:
        response = self._once(
            "/api/do",
            key,
            wait,
            content=line.encode(),
            headers={"Content-Type": "text/plain"},
            params={"signer": "token"} if signs else {},
        )
        if response.headers.get("content-type", "").startswith("application/problem"):
            raise _problem(response)
        receipt = b64decode(response.headers.get(RECEIPT, "")).decode()
        outcome = response.headers.get(OUTCOME)
        return Text(
            response.text.rstrip("\n"),
            response.headers.get(CODE, ""),
            receipt,
            outcome and {**json.loads(b64decode(outcome)), "receipt": receipt or None},
        )

    def _is_committed_to(self, said: CommittingLine) -> bool:
        """Return whether a line leads to a match whose players commit."""
        return said.board is None or self._waits_for(said.board, "commit")

    def _do_committing(
        self, said: CommittingLine, key: str, wait: float | None, *, signs: bool
    ) -> Text:
        commitment = self._texts.new(self._url, said.word, key, said.board)
        answer = self._do(said.with_commitment(commitment), key, wait, signs=signs)
        if answer.code not in ("", "pending", "unavailable"):
            self._texts.drop(commitment)
        elif said.board is None and (board := board_of(answer.text)):
            self._texts.place(commitment, board)
        return answer

    # matches that gather

    def start(self, body: Mapping[str, Any], word: str = "", key: str | None = None) -> Outcome:
        """Start a match with `--gather` among its terms, and commit; `body` is that of the API."""
        key = key or uuid4().hex
        commitment = self._texts.new(self._url, word, key)
        sent = {**body, "commitment": commitment}
        found = _OUTCOMES.decode(self._committed("/api/matches", key, commitment, json=sent))
        self._texts.place(commitment, found.board)
        self.reveal_all()
        return found

    def accept(self, board: int, word: str = "", key: str | None = None) -> Outcome:
        """Accept a match, and commit to a text if it gathers them."""
        key = key or uuid4().hex
        if not self._waits_for(board, "commit"):
            return self.command(board, {"do": "accept"}, key)
        commitment = self._texts.new(self._url, word, key, board)
        sent = {"do": "accept", "commitment": commitment}
        path = f"/api/matches/{board}/commands"
        found = _OUTCOMES.decode(self._committed(path, key, commitment, json=sent))
        self.reveal_all()
        return found

    def open(self, body: Mapping[str, Any], key: str | None = None) -> dict[str, Any]:
        """Open a challenge to a match that gathers texts, and commit; `body` is that of the API."""
        key = key or uuid4().hex
        commitment = self._texts.new(self._url, key=key)
        sent = {**body, "commitment": commitment}
        made = json.loads(self._committed(_OPENING, key, commitment, json=sent))
        self._texts.place(commitment, challenge=made["id"])
        return dict(made)

    def decline_all(self, userid: str) -> int:
        """Decline all matches to which a player invites the account; return how many."""
        found = self.post("/api/account/challenges/decline", {"userid": userid})
        return int(found["declined"])

    def take(self, challenge: str) -> dict[str, Any]:
        """Accept a challenge, and commit if its match gathers texts."""
        path = f"/api/challenges/{challenge}"
        gathers = "--gather" in self.get(path)["terms"]
        if not gathers:
            return dict(_good(self._once(f"{path}/accept", None, None)).json())
        commitment = self._texts.new(self._url, key=f"take {challenge}")
        self._texts.place(commitment, challenge=challenge)
        query = {"commitment": commitment}
        taken = json.loads(self._committed(f"{path}/accept", None, commitment, params=query))
        self.reveal_all()
        return dict(taken)

    def reveal_all(self) -> None:
        """Reveal the texts that matches on this server wait for; delete those that none will need."""
        for commitment, kept in self._texts.of(self._url).items():
            try:
                if self._reveal(kept) or self._texts.is_old(kept):
                    self._texts.drop(commitment)
            except httpx.TransportError as error:
                logger.warning("a text for a draw is not revealed yet (%s); trying again", error)
                return

    def _reveal(self, kept: KeptText) -> bool:
        """Reveal a text if its match waits for it; return whether the text can be deleted."""
        board = kept.board or self._board_of(kept.challenge)
        if board is None:
            return False
        try:
            _good(self._once(f"/api/matches/{board}/reveal", None, None, json={"text": kept.text}))
        except ProblemError as problem:
            return problem.code in _DONE
        return True

    def _board_of(self, challenge: str) -> int | None:
        """Return the board of an open challenge's match; None while it has none."""
        if not challenge:
            return None
        try:
            board: int | None = self.get(f"/api/challenges/{challenge}")["board"]
        except ProblemError:
            return None
        return board

    def _waits_for(self, board: int, phase: str) -> bool:
        """Return whether a match is in that phase of its draw."""
        try:
            found = self.match(board)["draw"]
        except ProblemError:
            return False
        return found is not None and found["phase"] == phase

    def _committed(self, path: str, key: str | None, commitment: str, **request: Any) -> bytes:
        """Post a request that commits to a text; delete the text if the request is refused."""
        try:
            return bytes(_good(self._once(path, key, None, **request)).content)
        except ProblemError as problem:
            if problem.status not in (httpx.codes.ACCEPTED, httpx.codes.SERVICE_UNAVAILABLE):
                self._texts.drop(commitment)
            raise

    def move(
        self, board: int, move: str, ply: int | None = None, key: str | None = None
    ) -> Outcome:
        """Play a move; raise `ProblemError` if it is refused."""
        return self.command(board, {"do": "move", "move": move, "ply": ply}, key)

    def command(self, board: int, body: Mapping[str, Any], key: str | None = None) -> Outcome:
        """Send a command in a match, such as `{"do": "resign"}`, and return its outcome."""
        response = self._once(f"/api/matches/{board}/commands", key, None, json=dict(body))
        found = _OUTCOMES.decode(_good(response).content)
        self.reveal_all()
        return found

    def match(self, board: int) -> dict[str, Any]:
        """Return a match's current state."""
        found: dict[str, Any] = self.get(f"/api/matches/{board}")
        return found

    def events(self, board: int, start: int = 1) -> Iterator[dict[str, Any]]:
        """Yield a match's events from `start` on as they happen, until it is over."""
        headers = {"Accept": "text/event-stream"}
        path = f"/api/matches/{board}/events"
        with self._http.stream("GET", path, params={"from": start}, headers=headers) as response:
            if response.is_error:
                response.read()
            for line in _good(response).iter_lines():
                if line.startswith("data:"):
                    yield json.loads(line.removeprefix("data:"))

    def notices(self, last: str = "") -> Iterator[dict[str, Any]]:
        """Yield the account's notices after that with the id `last` as they arrive, without end.

        Each has an `id` and a `kind`; the kind `gap` means that the server has dropped some notices.
        If the connection breaks the client connects again, and continues after the last notice.
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
        """Yield each id of one connection with its notice; None for an event that is no notice."""
        with self.open_stream("/api/account/events", last) as response:
            for id_, message in read_messages(response.iter_lines()):
                yield id_, message and {"kind": message.kind, **message.data}

    @contextmanager
    def open_stream(self, path: str, last: str = "") -> Iterator[httpx.Response]:
        """Open a stream of server-sent events after the event with the id `last`; see `following`."""
        headers = {"Accept": "text/event-stream"} | ({"Last-Event-ID": last} if last else {})
        timeout = httpx.Timeout(_SLACK_SECONDS, read=_SILENT_SECONDS)
        with self._http.stream("GET", path, headers=headers, timeout=timeout) as response:
            if response.is_error:
                response.read()
            yield _good(response)

    def get(self, path: str, **query: Any) -> Any:
        """Return the document at a path of the API."""
        return _good(self._http.get(path, params=query)).json()

    def post(self, path: str, body: Any) -> Any:
        """Post to a path of the API; unlike a command, a repetition runs again."""
        response = _good(self._http.post(path, json=body))
        return response.json() if response.content else None

    def send_form(self, path: str, **fields: str) -> Any:
        """Send a form of OAuth, and return its answer; the code of a `ProblemError` may be one of that protocol."""
        return _good(self._http.post(path, data=fields)).json()

    def delete(self, path: str) -> None:
        """Delete what is at a path of the API."""
        _good(self._http.delete(path))

    def _once(
        self, path: str, key: str | None, wait: float | None, **request: Any
    ) -> httpx.Response:
        """Post a request that runs once, however often it has to be sent."""
        headers = {**request.pop("headers", {}), "Idempotency-Key": key or uuid4().hex}
        wait = self._wait if wait is None else wait
        # opening a challenge has no outcome to wait for, and takes no `wait`
        query = {"wait": wait, **request.pop("params", {})} if path != _OPENING else {}
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                return self._http.post(
                    path,
                    params=query,
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
    if response.has_redirect_location:
        # it is not followed, because the token is for the server that was named
        there = response.headers["location"]
        raise ProblemError(
            response.status_code, "unavailable", f"the server refers to {there}; use that URL"
        )
    return response


def _problem(response: httpx.Response) -> ProblemError:
    try:
        body = response.json()
        after = response.headers.get("Retry-After", "")
        again = int(after) if after.isdecimal() else 0
        if "error" in body:  # one of OAuth
            body = {"code": body["error"], "detail": body.get("error_description", ""), **body}
        return ProblemError(response.status_code, body["code"], body["detail"], again)
    except (ValueError, KeyError):
        said = response.text[:200] or response.reason_phrase
        return ProblemError(response.status_code, "unavailable", f"the server answered: {said}")
