"""What costs much is counted for as much, answers have an end, and few commands are sent."""

import gc
import re
import sys
import threading
from collections.abc import Callable, Iterator
from functools import lru_cache
from types import FunctionType, ModuleType
from typing import Any

import httpx
import pytest
from redis.connection import AbstractConnection

from services.http.web.match import downloads
from services.http.web.replay.variations import MAX_LINKS
from tests.helpers.api import Api, until
from tests.helpers.web import Guest, visitors

ENDLESS = " ".join(("a5", "-a5") * 850)
"""A puzzle's stone set and taken off, as long as a line may be."""


def taken(http: httpx.Client, path: str, count: int) -> int:
    """How many of so many requests are answered; all others have to be refused as too many."""
    statuses = [http.get(path).status_code for _ in range(count)]
    assert set(statuses) <= {200, 429}
    return statuses.count(200)


def test_requests_are_counted_by_account_and_a_stream_by_the_number_of_its_matches(tmp_path):
    boards = ",".join(map(str, range(1, 201)))
    with Api(tmp_path, address_rate=62) as api, visitors(api) as come:
        one, other, third = (come(api.player()) for _ in range(3))
        board = api.begun(*api.players())
        # one a second comes back
        assert 62 <= taken(one.http, "/games", 90) < 90
        assert taken(one.http, "/games/pow2/try/moves", 3) < 3
        asset = re.search(r'href="(/static/[^"]+)"', other.page("/games"))
        assert 5 <= taken(other.http, f"/m/{board}/match.txt", 8) < 8
        assert asset
        assert one.get(asset[1]).status_code == 200
        statuses = []
        # one a second comes back, so a slow machine may have a third
        while 429 not in statuses and len(statuses) < 6:
            with third.http.stream("GET", f"/stream?boards={boards}") as answer:
                statuses.append(answer.status_code)
        assert statuses[:2] == [200, 200]
        assert statuses[-1] == 429


def test_a_long_line_has_links_to_its_last_moves_alone(api):
    answer = api.http.get("/games/one/try", params={"line": ENDLESS})
    assert answer.status_code == 200
    assert len(answer.content) < 400_000
    rows = re.findall(r"<li>(<a [^>]*>)?-?a5(?:</a>)?</li>", answer.text)
    linked = [row for row in rows if row]
    assert len(rows) == 1_700
    assert 0 < len(linked) <= MAX_LINKS
    assert all(rows[-len(linked) :])
    assert 'class="now"' in rows[-1]


ROWS = 24
LAYERS = ("domain.", "infra.", "services.")


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


def fewest(api, round_trips: list[str], load: Callable[[], object]) -> tuple[dict[str, int], int]:
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


def test_a_home_page_with_24_matches_takes_few_commands(api, round_trips):
    one, other = api.players()
    boards = [api.begun(one, other) for _ in range(ROWS)]
    other.post("/api/challenges", {"game": "pow2"})
    with Guest(api) as opponent, Guest(api) as guest:
        opponent.log_in(other.name)
        opponent.send(f"/m/{boards[0]}/chat", {"text": "hello"}, on=f"/m/{boards[0]}")
        guest.log_in(one.name)
        api.caught_up()
        assert all(f"/m/{board}" in guest.page("/") for board in boards)
        assert "1 new chat message: " in guest.page("/")
        made, trips = fewest(api, round_trips, lambda: guest.page("/"))
    assert sum(made.values()) <= 20, made
    assert trips <= 4, made


def test_a_match_page_takes_few_commands(api, round_trips):
    one, other = api.players()
    board = api.begun(one, other)
    with Guest(api) as opponent, Guest(api) as guest:
        opponent.log_in(other.name)
        opponent.send(f"/m/{board}/chat", {"text": "hello"}, on=f"/m/{board}")
        guest.log_in(one.name)
        assert "hello" in guest.page(f"/m/{board}")
        made, trips = fewest(api, round_trips, lambda: guest.page(f"/m/{board}"))
    assert sum(made.values()) < 15, made
    assert trips <= 2, made


def test_the_page_of_a_player_takes_few_round_trips(api, round_trips):
    one, other = api.players()
    board = api.begun(one, other)
    one.move(board, "m13-j7")
    other.move(board, "a13-d7")
    one.post(f"/api/matches/{board}/commands", {"do": "resign"})
    api.begun(one, other)
    api.caught_up()
    with Guest(api) as guest:
        path = f"/players/{one.name}"
        assert "/ratings/pow2" in guest.page(path)
        made, trips = fewest(api, round_trips, lambda: guest.page(path))
    assert trips <= 14, made


def test_nothing_that_pages_remember_names_a_player(api):
    one, other = api.player(name="zebedee"), api.player(name="florence")
    board = api.begun(one, other)
    with Guest(api) as guest:
        guest.log_in("zebedee")
        assert guest.send(f"/m/{board}/chat", {"text": "to Dougal"}, on=f"/m/{board}").is_redirect
        for path in (f"/m/{board}", f"/m/{board}/0", "/", "/players/zebedee", "/games/pow2"):
            assert "zebedee" in guest.page(path)
    ours = [module for name, module in sys.modules.items() if name.startswith(LAYERS)]
    remembered = [
        text
        for module in ours
        for one in vars(module).values()
        if isinstance(one, type(lru_cache(len))) and one.__module__ == module.__name__
        for text in texts_in(gc.get_referents(one))
    ]
    assert any("<svg" in text or "<g" in text for text in remembered), "drawings are remembered"
    assert not [text for text in remembered if re.search("zebedee|florence|Dougal", text)]


def texts_in(found: list[Any], depth: int = 4) -> Iterator[str]:
    """The texts in objects and in what these hold."""
    for one in found:
        if isinstance(one, str):
            yield one
        elif depth and not isinstance(one, FunctionType | ModuleType | type):
            yield from texts_in(gc.get_referents(one), depth - 1)


def test_the_notices_of_all_watched_accounts_are_read_in_one_round_trip(api, round_trips):
    players = api.players(6)
    for one, other in zip(players[::2], players[1::2], strict=True):
        api.begun(one, other)
    wanted = {player.account: (0, 0, 0, "") for player in players}

    def found() -> list[int]:
        round_trips.clear()
        return [len(one.notices) for one in api.parts.notices.since(wanted).values()]

    until(lambda: all(found()))
    assert len(round_trips) <= 2, round_trips  # and one for which tables are read


def test_the_text_of_a_long_match_has_its_first_boards_and_all_its_moves(api, monkeypatch):
    monkeypatch.setattr(downloads, "_MAX_DRAWN", 2)
    one, other = api.players()
    board = api.begun(one, other)
    moves = ["m13-j7", "a13-d7", "m1-i3"]
    for number, move in enumerate(moves):
        assert (one, other)[number % 2].move(board, move).is_success
    text = api.http.get(f"/m/{board}/match.txt").text
    assert "#2  a13-d7" in text
    assert "#3  " not in text
    assert text.endswith("Boards are drawn up to #2; the 1 moves after it are:\n\nm1-i3\n")
