"""`matchpost demo`: the recorded games, a server filled with them, and the command as an operator runs it."""

import json
import os
import re
import socket
import time
from pathlib import Path
from unittest.mock import Mock

import pytest
from msgspec.structs import replace
from redis import Redis

from domain.clocks.time_control import DAY
from domain.game.engine import RobotLevel
from domain.match import events
from domain.match.commands import PlayMove
from domain.match.history import decode_event, is_tournament, unpack_snapshot
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
from services.demo.recorded_matches import read_games, recorded_games, recorded_matches
from tests.helpers.bench import Bench
from tests.helpers.forked import run_command
from tests.helpers.served import Served, until
from tests.helpers.side import catch_up, contents
from workers.projections import PROJECTIONS
from workers.projections.maintenance import rebuild

PASSWORD = "mad-hatter-7"
HOUR = DAY // 24
MONDAY = 1_795_392_000_000
"""Monday 2026-11-23 00:00 UTC, in ms."""
GAMES = {"pow2", "goliath", "line", "powerdrain", "halves", "torere", "jump", "one", "two", "duo"}


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


# a server that is filled


class Filled:
    """The matches of a server."""

    def __init__(self, client: Redis) -> None:
        self.client = client
        self.store = RedisStore(client, Mode.FSYNC)
        found = range(1, BoardNumbers(client, self.store.layout()).highest() + 1)
        packed = dict(zip(found, self.store.snapshots(found), strict=True))
        self.states: dict[int, MatchState] = {
            board: unpack_snapshot(data).state
            for board, data in packed.items()
            if data and not is_tournament(data)
        }


def past_app(valkey: EmbeddedServer, client: Redis, folder: Path, at: int) -> PastApp:
    """An empty server as of a time."""
    settings = Settings(data=folder, redis_url=valkey.url, queue_url=valkey.url, workers=2)
    make_mac_key(folder / KEYS_FOLDER)
    RedisStore(client, Mode.FSYNC).create(Layout(shards=8, lanes=2))
    return PastApp(settings, client, client, at)


@pytest.fixture(scope="module")
def server(own_valkey: EmbeddedServer, tmp_path_factory: pytest.TempPathFactory):
    """A server that is filled now, on which no process works, for tests that read it."""
    now = time.time_ns() // 1_000_000
    with own_valkey.client() as client:
        with past_app(own_valkey, client, tmp_path_factory.mktemp("filled"), now) as app:
            fill(app, PASSWORD)
        yield Filled(client)


@pytest.mark.slow
def test_there_is_a_history_of_months_in_which_everything_has_happened(server):
    now = time.time_ns() // 1_000_000
    over = [state for state in server.states.values() if state.over]
    running = [state for state in server.states.values() if not state.over]
    assert len(over) > 140
    assert 25 < len(running) < 70
    assert {state.rules.partition("/")[0] for state in over} == GAMES
    found = [list(map(decode_event, server.store.events(board))) for board in server.states]
    for times in [[one.at for one in match] for match in found]:
        assert times == sorted(times)
        assert times[-1] <= now, "nothing is of the future"
    assert now - min(match[0].at for match in found) > 180 * DAY
    kinds = {type(one.body) for match in found for one in match}
    assert kinds >= {
        events.Flagged, events.Nagged, events.Resigned, events.Undone, events.Declined, events.Claimed,
        events.Ruled, events.Appealed, events.SetBack,
    }  # fmt: skip
    assert any(getattr(one.body, "kind", "") == "draw" for match in found for one in match)
    reasons = {state.result.reason for state in server.states.values() if state.result}
    assert {Reason.TIME, Reason.RESIGNATION, Reason.AGREEMENT, Reason.DECLINED} <= reasons
    # no reminder and no flag falls in the first hour, of which this test may have had some
    due = [at for state in running if (at := next_due(state))]
    assert due
    assert min(due) > now + HOUR * 3 // 4


@pytest.mark.slow
def test_the_visitor_can_log_in_and_has_moves_to_make(server):
    visitor = Accounts(server.client).verify(VISITOR, PASSWORD)
    to_move = [
        state
        for state in server.states.values()
        if state.next is not None and state.seats[state.next] == visitor
    ]
    assert len(to_move) >= 4
    assert any(map(robot_level, (seat for state in to_move for seat in state.seats)))


@pytest.mark.slow
def test_projections_follow_from_the_logs_and_a_rebuild_makes_them_again(server):
    client, accounts = server.client, Accounts(server.client)
    catch_up(server.store, client).save()
    live = contents(client)
    rebuild(server.store, client, PROJECTIONS, Mock())
    assert contents(client) == live
    ratings = RatingsQuery(client)
    stronger, weaker = (
        ratings.player("pow2", accounts.id_of(name)).display_value for name in ("emre", "quinn")
    )
    assert stronger >= weaker
    for puzzle in ("jump", "one", "two", "duo"):
        assert len(Leaderboards(client).best(puzzle)) >= 3, puzzle
    assert len(MatchLists(client).of(accounts.id_of(VISITOR), MatchFilter.ACTIVE)) >= 6


@pytest.mark.slow
def test_one_tournament_of_each_form_is_in_full_swing_and_one_is_open_for_entry(server):
    catch_up(server.store, server.client)
    lists = Tournaments(server.client)
    found, (entry,) = lists.listed("running", 0, 9), lists.listed("open", 0, 9)
    forms = {row.form: row for row in found}
    assert set(forms) == {"knockout", "ladder", "league", "round-robin", "swiss", "teams", "threes"}
    running, league = forms["round-robin"], forms["league"]
    # both seasons have begun, and some matches of each are over
    assert (league.started, league.pairings, league.entered) == (18, 18, 9)
    assert (running.started, running.pairings, running.entered) == (10, 10, 5)

    def over(form: str) -> list[bool]:
        return [bool(one.result) for one in lists.matches(forms[form].number).values()]

    for season in (range(9), range(9, 18)):
        assert any(lists.matches(league.number)[pairing].result for pairing in season)
    for form in ("league", "round-robin", "threes"):
        assert (any(over(form)), all(over(form))) == (True, False)
    assert len(over("threes")) == 12
    assert 0 < entry.entered < entry.room
    assert {check_match(server.store, one.number).kind for one in (*found, entry)} == {"tournament"}


@pytest.mark.slow
@pytest.mark.long
def test_every_match_holds(server):
    for board in server.states:
        assert "decided again" in check(server.store, board)
    assert server.store.inbox_size(range(server.store.layout().shards)) == 0


@pytest.mark.slow
@pytest.mark.long
def test_the_command_fills_a_directory_that_is_served(tmp_path):
    data = tmp_path / "data"
    done = run_command(["demo", "--fill-only", "--data", str(data)], os.environ, seconds=120)
    assert done.returncode == 0, done.stderr
    (password,) = re.findall(r"Log in as demo, password (\S+)", done.stdout)
    with Served(data, {"MATCHPOST_HTTP": "127.0.0.1:0"}) as served:
        served.do(f"message demo {password} anneke thanks for the welcome")
        until(lambda: served.run("doctor").returncode == 0)
        report = json.loads(served.run("doctor", "--json").stdout)
        assert {one["level"] for one in report["findings"]} <= {"ok", "note"}
        until(lambda: served.run("verify", "--all").returncode == 0)


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("hours", [37, 5 * 24 + 23])
def test_a_server_can_be_filled_on_any_day_and_at_any_hour(valkey, redis_client, tmp_path, hours):
    at = MONDAY + hours * HOUR
    with past_app(valkey, redis_client, tmp_path, at) as app:
        assert fill(app, PASSWORD).matches > 150
    states = Filled(redis_client).states.values()
    assert min(due for state in states if (due := next_due(state))) > at + HOUR


@pytest.mark.slow
@pytest.mark.long
def test_a_refused_command_ends_the_filling(valkey, redis_client, tmp_path, monkeypatch):
    first = replace(recorded_matches()[0], steps=((60, VISITOR, PlayMove(text="z99", ply=0)),))
    monkeypatch.setattr("services.demo.fill.recorded_matches", lambda: (first,))
    with (
        past_app(valkey, redis_client, tmp_path, MONDAY) as app,
        pytest.raises(FillError, match="refused"),
    ):
        fill(app, PASSWORD)


# what is not filled


@pytest.fixture
def settings(valkey: EmbeddedServer, tmp_path: Path) -> Settings:
    return Settings(data=tmp_path, redis_url=valkey.url, queue_url=valkey.url)


@pytest.mark.parametrize("used", ["it runs", "it has a match"])
def test_a_server_that_is_used_is_not_filled(redis_client, settings, tmp_path, used):
    if used == "it runs":
        Heartbeat(Role.WORKER, "1").write(redis_client, redis_client)
    else:
        Bench(redis_client, tmp_path / "seeds").start(1)
    before = sorted(redis_client.scan_iter(count=1_000))
    with pytest.raises(NotEmptyError, match=r"runs \(worker\)|accounts or matches"):
        fill_server(settings, PASSWORD)
    assert sorted(redis_client.scan_iter(count=1_000)) == before


def test_nothing_is_filled_where_the_port_is_in_use(tmp_path, capsys):
    with socket.create_server(("127.0.0.1", 0)) as other:
        http = f"127.0.0.1:{other.getsockname()[1]}"
        settings = Settings(data=tmp_path / "data", http=http)
        assert run(settings, None, fill_only=False) == 2
    assert "another program listens there" in capsys.readouterr().err
    assert not (tmp_path / "data").exists()


@pytest.mark.slow
@pytest.mark.long
def test_the_accounts_of_robots_do_not_count(redis_client, settings):
    create_robot_accounts(redis_client, AccountMacs())
    assert fill_server(settings, PASSWORD).matches > 150
