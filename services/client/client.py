"""The client: one method for what programs do most, and `get` and `post` for all else.

A command is carried out once: each has a key, and where the connection breaks before the answer
has come it is sent again with that key. What can't be told then is raised as `httpx.TransportError`.

Where chance draws, the client commits to texts of its own, which `texts` keeps, and reveals them
by itself after any call once all players have committed.
"""

import json
import logging
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from types import TracebackType
from typing import Any, Final, Self
from uuid import uuid4

import httpx
import msgspec

from services.client.commitment_lines import CommittingLine, board_of, read_committing_line
from services.client.draw_texts import KeptText, Texts

logger = logging.getLogger(__name__)

CODE: Final = "Matchpost-Code"
"""The header that has the stable code of a text answer."""

_ATTEMPTS: Final = 3

_AGAIN_SECONDS: Final = 1.0
"""After which a stream that broke is asked for again."""

_SILENT_SECONDS: Final = 60.0
"""How long a stream may be silent that has a comment every 15 seconds."""
_OPENING: Final = "/api/challenges"

_DONE: Final = frozenset({"match-over", "too-late", "wrong-text", "time-over", "unknown-board"})
"""Answers to a reveal after which the text is of no use."""

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
        key = key or uuid4().hex
        said = read_committing_line(line)
        if said is None or not self._is_committed_to(said):
            answer = self._do(line, key, wait)
        else:
            answer = self._do_committing(said, key, wait)
        self.reveal_all()
        return answer

    def _do(self, line: str, key: str, wait: float | None) -> Text:
        response = self._once(
            "/api/do", key, wait, content=line.encode(), headers={"Content-Type": "text/plain"}
        )
        if response.headers.get("content-type", "").startswith("application/problem"):
            raise _problem(response)
        return Text(response.text.rstrip("\n"), response.headers.get(CODE, ""))

    def _is_committed_to(self, said: CommittingLine) -> bool:
        """Return whether a line leads to a match whose players commit."""
        return said.board is None or self._waits_for(said.board, "commit")

    def _do_committing(self, said: CommittingLine, key: str, wait: float | None) -> Text:
        commitment = self._texts.new(self._url, said.word, key, said.board)
        answer = self._do(said.with_commitment(commitment), key, wait)
        if answer.code not in ("", "pending", "unavailable"):
            self._texts.drop(commitment)
        elif said.board is None and (board := board_of(answer.text)):
            self._texts.place(commitment, board)
        return answer

    # matches that gather

    def start(self, body: Mapping[str, Any], word: str = "", key: str | None = None) -> Outcome:
        """Start a match with `--gather` among its terms, and commit; `body` as for the API."""
        key = key or uuid4().hex
        commitment = self._texts.new(self._url, word, key)
        sent = {**body, "commitment": commitment}
        found = _OUTCOMES.decode(self._committed("/api/matches", key, commitment, json=sent))
        self._texts.place(commitment, found.board)
        self.reveal_all()
        return found

    def accept(self, board: int, word: str = "", key: str | None = None) -> Outcome:
        """Accept a match that gathers, and commit."""
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
        """Open a challenge to a match that gathers, and commit; `body` as for the API."""
        key = key or uuid4().hex
        commitment = self._texts.new(self._url, key=key)
        sent = {**body, "commitment": commitment}
        made = json.loads(self._committed(_OPENING, key, commitment, json=sent))
        self._texts.place(commitment, challenge=made["id"])
        return dict(made)

    def take(self, challenge: str) -> dict[str, Any]:
        """Take a challenge, and commit if its match gathers."""
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
        """Reveal the texts that matches on this server wait for; forget those that none will."""
        for commitment, kept in self._texts.of(self._url).items():
            try:
                if self._reveal(kept) or self._texts.is_old(kept):
                    self._texts.drop(commitment)
            except httpx.TransportError as error:
                logger.warning("a text for a draw is not revealed yet (%s); trying again", error)
                return

    def _reveal(self, kept: KeptText) -> bool:
        """Reveal a text if its match waits for it; tell whether nobody will ask for it any more."""
        board = kept.board or self._board_of(kept.challenge)
        if board is None:
            return False
        try:
            _good(self._once(f"/api/matches/{board}/reveal", None, None, json={"text": kept.text}))
        except ProblemError as problem:
            return problem.code in _DONE
        return True

    def _board_of(self, challenge: str) -> int | None:
        """Return the board of the match of an open challenge, once it has one."""
        if not challenge:
            return None
        try:
            board: int | None = self.get(f"/api/challenges/{challenge}")["board"]
        except ProblemError:
            return None
        return board

    def _waits_for(self, board: int, phase: str) -> bool:
        """Return whether a match is in that phase before a draw."""
        try:
            found = self.match(board)["draw"]
        except ProblemError:
            return False
        return found is not None and found["phase"] == phase

    def _committed(self, path: str, key: str | None, commitment: str, **request: Any) -> bytes:
        """Post what commits to a text; where it is refused the text is forgotten."""
        try:
            return bytes(_good(self._once(path, key, None, **request)).content)
        except ProblemError as problem:
            if problem.status not in (httpx.codes.ACCEPTED, httpx.codes.SERVICE_UNAVAILABLE):
                self._texts.drop(commitment)
            raise

    def move(
        self, board: int, move: str, ply: int | None = None, key: str | None = None
    ) -> Outcome:
        """Play a move; `ProblemError` when it is refused."""
        return self.command(board, {"do": "move", "move": move, "ply": ply}, key)

    def command(self, board: int, body: Mapping[str, Any], key: str | None = None) -> Outcome:
        """Return a command in a match, such as `{"do": "resign"}`."""
        response = self._once(f"/api/matches/{board}/commands", key, None, json=dict(body))
        found = _OUTCOMES.decode(_good(response).content)
        self.reveal_all()
        return found

    def match(self, board: int) -> dict[str, Any]:
        """Return a match as it stands."""
        found: dict[str, Any] = self.get(f"/api/matches/{board}")
        return found

    def events(self, board: int, start: int = 1) -> Iterator[dict[str, Any]]:
        """Return a match's events from `start` on as they come, until it is over."""
        headers = {"Accept": "text/event-stream"}
        path = f"/api/matches/{board}/events"
        with self._http.stream("GET", path, params={"from": start}, headers=headers) as response:
            if response.is_error:
                response.read()
            for line in _good(response).iter_lines():
                if line.startswith("data:"):
                    yield json.loads(line.removeprefix("data:"))

    def notices(self, last: str = "") -> Iterator[dict[str, Any]]:
        """Return what the account is told as it comes, for ever, after the notice with the id `last`.

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
        """Return what is at a path of the API."""
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
        # what waits for no outcome takes no word about that
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
    return response


def _problem(response: httpx.Response) -> ProblemError:
    try:
        body = response.json()
        return ProblemError(response.status_code, body["code"], body["detail"])
    except (ValueError, KeyError):
        said = response.text[:200] or response.reason_phrase
        return ProblemError(response.status_code, "unavailable", f"the server answered: {said}")
