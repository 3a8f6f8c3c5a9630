"""How often a page asks the server of the matches, and with how many commands."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from redis.connection import AbstractConnection

from tests.helpers.api import Api
from tests.helpers.web import Guest

ROWS = 24


@pytest.fixture
def api(tmp_path: Path) -> Iterator[Api]:
    with Api(tmp_path) as api:
        yield api


@pytest.fixture
def round_trips(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A list that gets an entry for each round trip of this thread, and of those that make pages."""
    made: list[str] = []
    send = AbstractConnection.send_packed_command

    def counted(self: AbstractConnection, command: Any, *options: Any, **named: Any) -> None:
        thread = threading.current_thread()
        if thread is threading.main_thread() or thread.name.startswith("api"):
            made.append(str(command)[:200])
        send(self, command, *options, **named)

    monkeypatch.setattr(AbstractConnection, "send_packed_command", counted)
    return made


def fewest(
    api: Api, round_trips: list[str], load: Callable[[], object]
) -> tuple[dict[str, int], int]:
    """The commands of the data's server, by name, and the round trips that loading a page takes.

    The fewest of several times: what a process reads again each second or each ten seconds (which tables
    are live, the layout, the time) is in the first of them only. Commands inside scripts are counted.
    """

    def count() -> tuple[dict[str, int], int]:
        api.parts.data.config_resetstat()
        round_trips.clear()
        load()
        trips = len(round_trips)
        stats = api.parts.data.info("commandstats")
        names = {name.removeprefix("cmdstat_"): one["calls"] for name, one in stats.items()}
        return {name: n for name, n in names.items() if name != "config|resetstat"}, trips

    with api.asleep():
        return min((count() for _ in range(5)), key=lambda one: sum(one[0].values()))


def test_a_home_page_with_24_matches_takes_few_commands(
    api: Api, round_trips: list[str], wait_until: Callable[[Callable[[], object]], None]
) -> None:
    one, other = api.players()
    boards = [api.begun(one, other) for _ in range(ROWS)]
    other.post("/api/challenges", {"game": "pow2"})
    with Guest(api) as opponent, Guest(api) as guest:
        opponent.log_in(other.name)
        opponent.send(f"/m/{boards[0]}/chat", {"text": "hello"}, on=f"/m/{boards[0]}")
        guest.log_in(one.name)
        wait_until(lambda: all(f"/m/{board}" in guest.page("/") for board in boards))
        assert "1 new chat message: " in guest.page("/")
        made, trips = fewest(api, round_trips, lambda: guest.page("/"))
    assert sum(made.values()) < 20, made
    assert trips <= 5, made


def test_a_match_page_takes_few_commands(api: Api, round_trips: list[str]) -> None:
    one, other = api.players()
    board = api.begun(one, other)
    with Guest(api) as opponent, Guest(api) as guest:
        opponent.log_in(other.name)
        opponent.send(f"/m/{board}/chat", {"text": "hello"}, on=f"/m/{board}")
        guest.log_in(one.name)
        assert "hello" in guest.page(f"/m/{board}")
        made, trips = fewest(api, round_trips, lambda: guest.page(f"/m/{board}"))
    assert sum(made.values()) < 15, made
    assert trips <= 4, made


def test_the_notices_of_all_watched_accounts_are_read_in_one_round_trip(
    api: Api, round_trips: list[str], wait_until: Callable[[Callable[[], object]], None]
) -> None:
    players = api.players(6)
    for one, other in zip(players[::2], players[1::2], strict=True):
        api.begun(one, other)
    wanted = {player.account: (0, 0, 0, "") for player in players}

    def found() -> list[int]:
        round_trips.clear()
        return [len(one.notices) for one in api.parts.notices.since(wanted).values()]

    wait_until(lambda: all(found()))
    assert len(round_trips) <= 2, round_trips  # and one for which tables are read
