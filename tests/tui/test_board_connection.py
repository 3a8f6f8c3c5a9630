"""A board whose connection breaks: it says so, connects again, and plays a move once."""

import socket
from collections.abc import Callable, Iterator
from contextlib import suppress
from threading import Lock, Thread
from typing import Any

import pytest

from services.http.context import TaskIntervals
from tests.helpers.api import Api, Player
from tests.helpers.board import Seen, play


class Wire:
    """A TCP connection to a server, which can be cut in the middle of anything."""

    def __init__(self, url: str) -> None:
        host, port = url.removeprefix("http://").split(":")
        self._server = (host, int(port))
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listening.getsockname()[1]}"
        self._open: set[socket.socket] = set()
        self._lock = Lock()
        self.works = True
        self.swallows = False
        """Whether requests arrive while their answers are lost."""
        self.lost = 0
        """Commands whose answers were lost."""
        self._threads: list[Thread] = []
        self._start(self._accept)

    def _start(self, target: Callable[..., None], *args: Any) -> None:
        self._threads.append(Thread(target=target, args=args))
        self._threads[-1].start()

    def cut(self) -> None:
        """Cut all connections, and refuse new ones."""
        self.works = False
        self._drop()

    def mend(self) -> None:
        self.works = True

    def close(self) -> None:
        self._listening.shutdown(socket.SHUT_RDWR)
        self._drop()
        for thread in self._threads:
            thread.join()
        self._listening.close()

    def _drop(self) -> None:
        with self._lock:
            for one in self._open:
                with suppress(OSError):
                    one.shutdown(socket.SHUT_RDWR)
            self._open.clear()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listening.accept()
            except OSError:
                return
            if not self.works:
                client.close()
                continue
            server = socket.create_connection(self._server)
            with self._lock:
                self._open |= {client, server}
            for source, target, is_answer in ((client, server, False), (server, client, True)):
                self._start(self._copy, source, target, is_answer)

    def _copy(self, source: socket.socket, target: socket.socket, is_answer: bool) -> None:  # noqa: FBT001
        with suppress(OSError):
            while data := source.recv(65_536):
                if is_answer and self.swallows and b'"accepted":true' in data:
                    self.lost += 1
                    self._drop()
                    break
                target.sendall(data)
        for one in (source, target):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
        with self._lock:
            self._open.discard(source)
        source.close()


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with Api(tmp_path_factory.mktemp("cut"), intervals=TaskIntervals(heartbeat=0.3)) as api:
        yield api


@pytest.fixture
def wire(api: Api) -> Iterator[Wire]:
    wire = Wire(api.url)
    yield wire
    wire.close()


@pytest.fixture
def pair(api: Api) -> tuple[Player, Player, int]:
    one, other = api.players()
    return one, other, api.match(one, other)


def events(api: Api, board: int) -> list[str]:
    return [one["type"] for one in api.http.get(f"/api/matches/{board}/events").json()]


def test_a_broken_connection_is_shown_and_repaired(wire, pair, tmp_path):
    one, other, board = pair

    async def steps(seen: Seen) -> None:
        wire.cut()
        await seen.until(lambda: "No connection, trying again" in " ".join(seen.side.split()))
        assert one.move(board, "m13-j7").is_success
        wire.mend()
        await seen.until(lambda: seen.app.view.ply == 1)
        await seen.idle()
        assert "No connection" not in seen.side
        assert seen.message.startswith("The connection is back.")
        assert other.move(board, "a13-d7").is_success
        await seen.until(lambda: seen.app.view.ply == 2)

    play(wire.url, board, other, tmp_path, steps)


def test_a_move_whose_answer_is_lost_is_sent_again_and_played_once(api, wire, pair, tmp_path):
    one, _, board = pair

    async def steps(seen: Seen) -> None:
        await seen.press("m", *"m13-j7", "enter")
        wire.swallows = True
        await seen.pilot.press("enter")
        # the client sends it three times by itself, and the board then goes on
        await seen.until(lambda: wire.lost >= 3 and "sent again" in seen.message)
        assert events(api, board) == ["match-proposed", "moved"]
        assert seen.app.sending
        await seen.pilot.press("enter")
        wire.swallows = False
        await seen.until(lambda: not seen.app.sending)
        await seen.idle()
        # both are said, and either may be the last
        assert seen.message.startswith(("Played m13-j7.", "The connection is back."))
        assert seen.app.view.moves == ("m13-j7",)

    play(wire.url, board, one, tmp_path, steps)
    assert events(api, board) == ["match-proposed", "moved"]


def test_a_move_that_was_never_sent_is_sent_when_the_connection_is_back(api, wire, pair, tmp_path):
    one, _, board = pair

    async def steps(seen: Seen) -> None:
        await seen.press("m", *"m13-j7", "enter")
        wire.cut()
        await seen.pilot.press("enter")
        await seen.until(lambda: "It is sent again, and carried out once." in seen.message)
        assert events(api, board) == ["match-proposed"]
        wire.mend()
        await seen.until(lambda: seen.app.view.ply == 1)

    play(wire.url, board, one, tmp_path, steps)
    assert events(api, board) == ["match-proposed", "moved"]


def test_a_server_that_does_not_answer_keeps_nobody_from_quitting(api, wire, pair, tmp_path):
    one, _, board = pair

    async def steps(seen: Seen) -> None:
        wire.cut()
        await seen.pilot.press("m", *"m13-j7", "enter")
        await seen.until(lambda: seen.message.startswith("! The server can't be reached"))
        await seen.pilot.press("q")

    play(wire.url, board, one, tmp_path, steps)
    assert events(api, board) == ["match-proposed"]
