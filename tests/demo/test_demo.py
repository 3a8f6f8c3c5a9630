"""`matchpost demo`: the recorded games, a server filled with them, and the command as an operator runs it."""

import json
import os
import re
import shutil
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace
from redis import Redis

from domain.clocks.time_control import DAY
from domain.game.engine import RobotLevel
from domain.match.commands import PlayMove
from domain.match.events import (
    Appealed,
    Claimed,
    Declined,
    Flagged,
    Nagged,
    OfferMade,
    Resigned,
    Ruled,
    SetBack,
    Undone,
)
from domain.match.history import (
    EventEnvelope,
    decode_event,
    is_tournament,
    unpack_snapshot,
)
from domain.match.state import MatchState, Reason, next_due, robot_level
from domain.rules import rules_by_id
from infra.audit.stored_match import check, check_match
from infra.durability.durability import Mode
from infra.health.heartbeats import Heartbeat, Role
from infra.people.account_macs import KEYS_FOLDER, AccountMacs, make_mac_key
from infra.people.accounts import Accounts, create_robot_accounts
from infra.projections.leaderboards import Leaderboards
from infra.projections.match_lists import MatchFilter, MatchLists
from infra.projections.ratings import RatingsQuery
from infra.projections.tournaments import Tournaments
from infra.settings.settings import Settings
from infra.store.board_numbers import BoardNumbers
from infra.store.layout import Layout
from infra.store.redis_store import RedisStore
from infra.valkey.server import EmbeddedServer
from services.cli.demo import NotEmptyError, fill_server, run
from services.demo.community import VISITOR
from services.demo.fill import fill
from services.demo.past_server import FillError, PastApp
from services.demo.record import MOST_PLIES, GameSeries, record
from services.demo.recorded_matches import (
    read_games,
    recorded_games,
    recorded_matches,
)
from tests.helpers.bench import Bench
from tests.helpers.forked import run_command
from tests.helpers.served import Served, until
from tests.helpers.side import catch_up, contents
from workers.projections import PROJECTIONS
from workers.projections.maintenance import rebuild

PASSWORD = "mad-hatter-7"


def test_each_game_is_legal_and_ends_as_recorded():
    for game in recorded_games():
        rules = rules_by_id(game.rules)
        position = rules.start(rules.read_options(game.options), game.players, None)
        for seat, text in zip(game.seats, game.moves, strict=True):
            assert rules.to_move(position) == seat
            move = rules.check(position, rules.read(text))
            assert rules.write(move) == text
            position = rules.play(position, move)
        outcome = rules.outcome(position)
        if game.offer:
            assert outcome is None
            rules.check_offer(position, game.offer)
            outcome = rules.outcome_by_offer(position, game.offer)
        assert game.winners == (outcome.winners if outcome else ())
        assert outcome is not None or len(game.moves) == MOST_PLIES


def test_recording_again_gives_the_same_bytes(tmp_path):
    series = [GameSeries("powerdrain", ("-o1", "-p"), 2, [(RobotLevel.EASY, RobotLevel.EASY)])]
    first, second = tmp_path / "first", tmp_path / "second"
    assert list(record(first, series)) == ["powerdrain -o1 -p: 2 games"]
    list(record(second, series))
    assert first.read_bytes() == second.read_bytes()
    one, other = read_games(first.read_text().splitlines())
    assert one.moves != other.moves


HOUR = DAY // 24

MONDAY = 1_795_392_000_000
"""Monday 2026-11-23 00:00 UTC, in ms."""

GAMES = {"pow2", "goliath", "line", "powerdrain", "halves", "torere", "jump", "one", "two", "duo"}


class Filled:
    """A server that is filled."""

    def __init__(self, client: Redis) -> None:
        self.client = client
        self.store = RedisStore(client, Mode.FSYNC)
        found = BoardNumbers(client, self.store.layout()).highest()
        packed = zip(range(1, found + 1), self.store.snapshots(range(1, found + 1)), strict=True)
        self.boards = [board for board, data in packed if data and not is_tournament(data)]
        self.events: dict[int, list[EventEnvelope]] = {
            board: list(map(decode_event, self.store.events(board))) for board in self.boards
        }

    def bodies(self, *kinds: type) -> list[EventEnvelope]:
        """All events of some kinds."""
        return [
            one for found in self.events.values() for one in found if isinstance(one.body, kinds)
        ]

    def states(self) -> dict[int, MatchState]:
        """All matches as they stand."""
        found = self.store.snapshots(self.boards)
        return {
            board: unpack_snapshot(data).state
            for board, data in zip(self.boards, found, strict=True)
        }


@pytest.fixture(scope="module")
def now() -> int:
    return time.time_ns() // 1_000_000


@pytest.fixture(scope="module")
def output(now: int, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A directory that was filled after `now`, and what was printed."""
    del now
    data = tmp_path_factory.mktemp("filled") / "data"
    done = run_command(["demo", "--fill-only", "--data", str(data)], os.environ, seconds=120)
    assert done.returncode == 0, done.stderr
    return data, done.stdout


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, output: tuple[Path, str]) -> Iterator[Filled]:
    """A copy of the directory, on which no process works, for tests that read it."""
    copy = shutil.copytree(output[0], tmp_path_factory.mktemp("copy") / "data")
    with EmbeddedServer(copy) as valkey, valkey.client() as client:
        yield Filled(client)


@pytest.fixture(scope="module")
def served(server: Filled, output: tuple[Path, str]) -> Iterator[Served]:
    """The server that was filled, as it runs."""
    del server  # the copy was made before
    with Served(output[0], {"MATCHPOST_HTTP": "127.0.0.1:0"}) as served:
        yield served


def password_in(said: str) -> str:
    """The visitor's password, as it is printed."""
    return re.search(r"Log in as demo, password (\S+)", said)[1]


@pytest.mark.slow
@pytest.mark.long
def test_every_match_holds(server):
    for board in server.boards:
        assert "decided again" in check(server.store, board)
    assert server.store.inbox_size(range(server.store.layout().shards)) == 0


@pytest.mark.slow
def test_there_is_a_history_of_months(server, now):
    states = server.states()
    over = [state for state in states.values() if state.over]
    running = [state for state in states.values() if not state.over]
    assert len(over) > 140
    assert 25 < len(running) < 70
    assert {state.rules.partition("/")[0] for state in over} == GAMES
    begun = min(found[0].at for found in server.events.values())
    assert now - begun > 180 * DAY


@pytest.mark.slow
def test_nothing_is_of_the_future_and_each_match_is_in_order(server):
    now = time.time_ns() // 1_000_000
    for found in server.events.values():
        times = [one.at for one in found]
        assert times == sorted(times)
        assert times[-1] <= now


@pytest.mark.slow
def test_no_reminder_and_no_flag_falls_in_the_first_hour(server, now):
    due = [at for state in server.states().values() if (at := next_due(state))]
    assert due
    assert min(due) > now + HOUR


@pytest.mark.slow
def test_everything_that_can_happen_has_happened(server):
    for kind in (Flagged, Nagged, Resigned, Undone, Declined, Claimed, Ruled, Appealed, SetBack):
        assert server.bodies(kind), kind
    assert any(one.body.kind == "draw" for one in server.bodies(OfferMade))
    reasons = {state.result.reason for state in server.states().values() if state.result}
    assert {Reason.TIME, Reason.RESIGNATION, Reason.AGREEMENT, Reason.DECLINED} <= reasons


@pytest.mark.slow
def test_the_visitor_can_log_in_and_has_moves_to_make(server, output):
    accounts = Accounts(server.client)
    visitor = accounts.verify(VISITOR, password_in(output[1]))
    to_move = [
        state
        for state in server.states().values()
        if state.next is not None and state.seats[state.next] == visitor
    ]
    assert len(to_move) >= 4
    assert any(map(robot_level, (seat for state in to_move for seat in state.seats)))


@pytest.mark.slow
def test_projections_follow_from_the_logs_and_a_rebuild_makes_them_again(server):
    client = server.client
    side = catch_up(server.store, client)
    side.save()
    live = contents(client)
    rebuild(server.store, client, PROJECTIONS, _Silent())
    assert contents(client) == live
    stronger, weaker = (Accounts(server.client).id_of(name) for name in ("emre", "quinn"))
    ratings = RatingsQuery(client)
    rated = [ratings.player("pow2", one).display_value for one in (stronger, weaker)]
    assert rated == sorted(rated, reverse=True)
    for puzzle in ("jump", "one", "two", "duo"):
        assert len(Leaderboards(client).best(puzzle)) >= 3, puzzle
    visitor = Accounts(server.client).id_of(VISITOR)
    assert len(MatchLists(client).of(visitor, MatchFilter.ACTIVE)) >= 6


class _Silent:
    """Reports of a rebuild that nobody reads."""

    def progress(self, about: str, done: int, total: int) -> None:
        """Do nothing."""

    def line(self, text: str) -> None:
        """Do nothing."""


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("hours", [37, 5 * 24 + 23])
def test_a_server_can_be_filled_on_any_day_and_at_any_hour(valkey, redis_client, tmp_path, hours):
    at = MONDAY + hours * HOUR
    settings = Settings(data=tmp_path, redis_url=valkey.url, queue_url=valkey.url, workers=2)
    make_mac_key(tmp_path / KEYS_FOLDER)
    with PastApp(settings, redis_client, redis_client, at) as app:
        app.store.create(Layout(shards=8, lanes=2))
        assert fill(app, "mad-hatter-7").matches > 150
    states = Filled(redis_client).states().values()
    assert min(due for state in states if (due := next_due(state))) > at + HOUR


@pytest.mark.slow
def test_it_says_how_to_log_in(output, served):
    password = password_in(output[1])
    done = served.run("do", f"message demo {password} anneke thanks for the welcome")
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
@pytest.mark.long
def test_the_audit_finds_nothing(served):
    def published() -> bool:
        return served.run("verify", "--all").returncode == 0

    until(published)
    done = served.run("verify", "--all")
    assert done.stdout.startswith("all ")


@pytest.mark.slow
def test_the_doctor_has_no_complaint(served):
    def settled() -> bool:
        return served.run("doctor").returncode == 0

    until(settled)
    report = json.loads(served.run("doctor", "--json").stdout)
    assert {one["level"] for one in report["findings"]} <= {"ok", "note"}


# refusals


@pytest.mark.slow
def test_a_server_that_runs_is_not_filled(valkey, redis_client, tmp_path):
    Heartbeat(Role.WORKER, "1").write(redis_client, redis_client)
    assert _is_refused(valkey, redis_client, tmp_path, "runs \\(worker\\)")


def _is_refused(valkey: EmbeddedServer, client: Redis, folder: Path, why: str) -> bool:
    before = sorted(client.scan_iter(count=1_000))
    settings = Settings(data=folder, redis_url=valkey.url, queue_url=valkey.url)
    with pytest.raises(NotEmptyError, match=why):
        fill_server(settings, "mad-hatter-7")
    return sorted(client.scan_iter(count=1_000)) == before


@pytest.mark.slow
def test_one_tournament_of_each_form_is_in_full_swing_and_one_is_open_for_entry(server):
    catch_up(server.store, server.client)
    lists = Tournaments(server.client)
    found, (entry,) = lists.listed("running", 0, 9), lists.listed("open", 0, 9)
    forms = {row.form: row for row in found}
    assert sorted(forms) == [
        *("knockout", "ladder", "league", "round-robin", "swiss", "teams", "threes"),
    ]
    running, league = forms["round-robin"], forms["league"]
    # both seasons have begun, and some matches of each are over
    assert (league.started, league.pairings, league.entered) == (18, 18, 9)
    played = lists.matches(league.number)
    assert any(played[pairing].result for pairing in range(9))
    assert any(played[pairing].result for pairing in range(9, 18))
    assert not all(one.result for one in played.values())
    assert (running.started, running.pairings, running.entered) == (10, 10, 5)
    over = [bool(one.result) for one in lists.matches(running.number).values()]
    assert any(over)
    assert not all(over)
    of_three = [bool(one.result) for one in lists.matches(forms["threes"].number).values()]
    assert (len(of_three), any(of_three), all(of_three)) == (12, True, False)
    assert 0 < entry.entered < entry.room
    assert {check_match(server.store, one.number).kind for one in (*found, entry)} == {"tournament"}


@pytest.mark.slow
def test_a_server_with_a_match_is_not_filled(valkey, redis_client, tmp_path):
    Bench(redis_client, tmp_path / "seeds").start(1)
    assert _is_refused(valkey, redis_client, tmp_path, "accounts or matches")


@pytest.mark.slow
def test_nothing_is_filled_where_the_port_is_in_use(tmp_path, capsys):
    with socket.create_server(("127.0.0.1", 0)) as other:
        http = f"127.0.0.1:{other.getsockname()[1]}"
        settings = Settings(data=tmp_path / "data", http=http)
        assert run(settings, None, fill_only=False) == 2
    assert "another program listens there" in capsys.readouterr().err
    assert not (tmp_path / "data").exists()


def filled(valkey: EmbeddedServer, client: Redis, folder: Path, now: int) -> Filled:
    """Fill an empty server as of a time."""
    settings = Settings(data=folder, redis_url=valkey.url, queue_url=valkey.url, workers=2)
    make_mac_key(folder / KEYS_FOLDER)
    with PastApp(settings, client, client, now) as app:
        app.store.create(Layout(shards=8, lanes=2))
        return Filled(client, app, fill(app, PASSWORD))


@pytest.mark.slow
def test_a_refused_command_ends_the_filling(valkey, redis_client, tmp_path, monkeypatch):
    first = replace(recorded_matches()[0], steps=((60, VISITOR, PlayMove(text="z99", ply=0)),))
    monkeypatch.setattr("services.demo.fill.recorded_matches", lambda: (first,))
    with pytest.raises(FillError, match="refused"):
        filled(valkey, redis_client, tmp_path, MONDAY)


@pytest.mark.slow
@pytest.mark.long
def test_the_accounts_of_robots_do_not_count(valkey, redis_client, tmp_path):
    create_robot_accounts(redis_client, AccountMacs())
    settings = Settings(data=tmp_path, redis_url=valkey.url, queue_url=valkey.url)
    assert fill_server(settings, "mad-hatter-7").matches > 150
