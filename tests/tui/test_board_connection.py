"""A board whose connection breaks: it says so, connects again, and plays a move once."""

import asyncio
from collections.abc import Iterator
from contextlib import suppress

import pytest

from tests.helpers.api import Api
from tests.helpers.board import Seen, play
from tests.helpers.tcp_proxy import TcpProxy


class Wire(TcpProxy):
    """A connection to a server, which can be cut in the middle of anything."""

    swallows = False
    """Whether requests arrive while their answers are lost."""
    lost = 0
    """Commands whose answers were lost."""

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await reader.read(65_536):
                if self.swallows and b'"accepted":true' in data:
                    self.lost += 1
                    break
                writer.write(data)
                await writer.drain()
        writer.transport.abort()


@pytest.fixture
def wire(api: Api) -> Iterator[Wire]:
    host, port = api.url.removeprefix("http://").split(":")
    with Wire(host, int(port)) as wire:
        yield wire


def moves(api: Api, board: int) -> list[str]:
    events = api.http.get(f"/api/matches/{board}/events").json()
    return [one["body"]["move"] for one in events if one["type"] == "moved"]


def test_a_broken_connection_is_shown_and_repaired(wire, pair, tmp_path):
    one, other, board = pair

    async def steps(seen: Seen) -> None:
        wire.refuse()
        await seen.until(lambda: "No connection, trying again" in " ".join(seen.side.split()))
        assert one.move(board, "m13-j7").is_success
        wire.accept()
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
        assert moves(api, board) == ["m13-j7"]
        assert seen.app.sending
        await seen.pilot.press("enter")
        wire.swallows = False
        await seen.until(lambda: not seen.app.sending)
        await seen.idle()
        # both are said, and either may be the last
        assert seen.message.startswith(("Played m13-j7.", "The connection is back."))
        assert seen.app.view.moves == ("m13-j7",)

    play(wire.url, board, one, tmp_path, steps)
    assert moves(api, board) == ["m13-j7"]


@pytest.mark.long
def test_a_move_that_was_never_sent_is_sent_when_the_connection_is_back(api, wire, pair, tmp_path):
    one, _, board = pair

    async def steps(seen: Seen) -> None:
        await seen.press("m", *"m13-j7", "enter")
        wire.refuse()
        await seen.pilot.press("enter")
        await seen.until(lambda: "It is sent again, and carried out once." in seen.message)
        assert moves(api, board) == []
        wire.accept()
        await seen.until(lambda: seen.app.view.ply == 1)

    play(wire.url, board, one, tmp_path, steps)
    assert moves(api, board) == ["m13-j7"]


def test_a_server_that_does_not_answer_keeps_nobody_from_quitting(api, wire, pair, tmp_path):
    one, _, board = pair

    async def steps(seen: Seen) -> None:
        wire.refuse()
        await seen.pilot.press("m", *"m13-j7", "enter")
        await seen.until(lambda: seen.message.startswith("! The server can't be reached"))
        await seen.pilot.press("q")

    play(wire.url, board, one, tmp_path, steps)
    assert moves(api, board) == []
