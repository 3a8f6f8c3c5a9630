"""A server is moved to another one, a pair or a cluster: nothing is lost, play goes on, and one of them at most is used."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from bench.workload import games, starts
from infra.durability.durability import Mode
from infra.process.failpoints import VARIABLE
from infra.redis import keys
from infra.redis.clients import make_client
from infra.store.gateway import submission_of
from infra.store.layout import Numbering, read_layout
from infra.store.redis_store import RedisStore
from infra.valkey.server import EmbeddedServer
from tests.helpers.forked import run_command
from tests.helpers.own_servers import (
    ENV,
    KINDS,
    SHARDS,
    Played,
    is_published,
    one_server,
    own_servers,
)
from tests.helpers.served import Served, until

pytestmark = [pytest.mark.long, pytest.mark.slow]


@pytest.fixture(params=KINDS)
def target(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[dict[str, str]]:
    with own_servers(request.param, tmp_path / "target") as found:
        yield found


def move(served: Served, target: Mapping[str, str], *more: str, fault: str = "") -> Any:
    """Run `matchpost move-to` with the settings of the server as it will be, but for its URL."""
    others = {name: value for name, value in target.items() if name != "MATCHPOST_REDIS_URL"}
    words = ("move-to", target["MATCHPOST_REDIS_URL"], *more)
    return run_command(words, served.env | others | ({VARIABLE: fault} if fault else {}))


def refused_start(served: Served) -> str:
    with pytest.raises(AssertionError, match="ended with 2: "):
        served.start()
    return (served.data.parent / "serve.log").read_text()


def test_a_server_goes_on_where_it_was_moved_to(tmp_path, target):
    with Served(tmp_path / "data", ENV) as served:
        played = Played(served, served.client())
        played.play(5)
        other = played.start_once(served)
        busy = move(served, target)
        assert busy.returncode == 2
        assert "is in use by process" in busy.stderr
    (waiting,) = starts(games(1, first_board=100))
    with EmbeddedServer(served.data) as server, server.client() as client:
        RedisStore(client, Mode.FSYNC).submit([submission_of(waiting, 0, "")])
    done = move(served, target)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "compared all keys, byte by byte" in done.stdout
    assert "verified there: all 2 matches hold: 8 events" in done.stdout
    assert "next: set MATCHPOST_REDIS_URL to that URL" in done.stdout
    noted = (tmp_path / "data" / "moves").read_text().splitlines()
    assert [line.partition(" UTC: ")[2] for line in noted] == done.stdout.splitlines()
    assert "the data were moved to redis" in refused_start(served)
    assert "were moved to redis" in move(served, target).stderr

    there = Served(tmp_path / "data", ENV | target)
    with there, make_client(target["MATCHPOST_REDIS_URL"]) as client:
        is_cluster = "cluster" in target["MATCHPOST_REDIS_URL"]
        assert read_layout(client).numbering is Numbering("shard" if is_cluster else "server")
        begun = keys.snapshot(waiting.match % SHARDS, waiting.match)
        until(lambda: client.exists(begun))  # it waited in the inbox
        played.go_to(there)
        assert "ann" in played.page(there)
        assert "see you there" in str(played.players[1].send("GET", "/api/messages"))
        played.play()
        assert played.players[0].match(played.board)["state"] == "over"
        second = played.players[0].start("torere", "ann", "bob")
        assert second > other > played.board
        assert played.start_once(there) == other
        until(lambda: is_published(client))
        verified = there.run("verify", "--all")
        assert "all 4 matches hold" in verified.stdout, verified.stdout + verified.stderr
        assert there.run("doctor").returncode in {0, 1}
    assert "ALARM" not in (tmp_path / "serve.log").read_text()
    played.close()


@pytest.mark.parametrize("fault", ["move.written:2", "move.copied:1", "move.marked:1"])
def test_a_move_that_was_killed_is_run_again(tmp_path, fault):
    with Served(tmp_path / "data", ENV) as served:
        played = Played(served, served.client())
        played.play(3)
    with one_server(tmp_path / "target") as node:
        target = {"MATCHPOST_REDIS_URL": node.url}
        assert move(served, target, fault=fault).returncode == -9
        there = Served(tmp_path / "data", ENV | target)
        assert "run `matchpost move-to` again" in refused_start(there)
        if fault.startswith("move.marked"):
            assert "the data were moved to redis" in refused_start(served)
        done = move(served, target)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "moved; the data here are marked" in done.stdout
        with there:
            played.go_to(there)
            played.play()
            assert played.players[0].match(played.board)["state"] == "over"
    played.close()


def test_a_move_is_taken_back_until_somebody_has_used_the_data_there(tmp_path):
    with Served(tmp_path / "data", ENV) as served:
        played = Played(served, served.client())
    with one_server(tmp_path / "target") as node:
        target = {"MATCHPOST_REDIS_URL": node.url}
        assert "the data here were not moved" in move(served, target, "--back").stderr
        assert move(served, target).returncode == 0
        back = move(served, target, "--back")
        assert "is taken back: the data here are used again" in back.stdout, back.stderr
        with served:
            played.go_to(served)
            played.play(2)
        there = Served(tmp_path / "data", ENV | target)
        assert "the data are being copied here from" in refused_start(there)
        assert move(served, target).returncode == 0
        with there:
            played.go_to(there)
            played.play(2)
        refused = move(served, target, "--back")
        assert refused.returncode == 1
        assert "the server there has been used since" in refused.stderr
    played.close()


def test_targets_that_can_not_be_used_are_refused(tmp_path):
    served = Served(tmp_path / "data", ENV)
    with one_server(tmp_path / "target") as node, node.client() as client:
        target = {"MATCHPOST_REDIS_URL": node.url}
        assert "there are no data of an embedded server in" in move(served, target).stderr
        with served:
            pass
        cluster = {"MATCHPOST_REDIS_URL": f"redis+cluster://127.0.0.1:{node.port}"}
        assert "set MATCHPOST_QUEUE_URL for this command" in move(served, cluster).stderr
        assert "a server's URL starts with" in move(served, {"MATCHPOST_REDIS_URL": "x"}).stderr
        client.set("theirs", 1)
        refused = move(served, target)
        assert refused.returncode == 1
        assert "is not empty, it has 1 key, such as theirs" in refused.stderr
        client.flushall()
        client.config_set("appendfsync", "everysec")
        weak = move(served, target)
        assert weak.returncode == 2
        assert "'appendfsync' is 'everysec', durability fsync needs 'always'" in weak.stderr
        client.config_set("appendfsync", "always")
        assert client.dbsize() == 0
        # a server of one's own is a source, too, and nothing may work on it
        there = Served(tmp_path / "data", ENV | target)
        assert move(served, target).returncode == 0
        assert "that is the server which has the data" in move(there, target).stderr
        with one_server(tmp_path / "third") as third:
            further = {"MATCHPOST_REDIS_URL": third.url}
            with there:
                busy = move(there, further)
                assert "stop all processes of the server first: " in busy.stderr, busy.stdout
            done = move(there, further)
            assert done.returncode == 0, done.stderr
            assert "the data were moved to" in refused_start(there)
            with Served(tmp_path / "data", ENV | further) as last:
                assert last.run("verify", "--all").returncode == 0


def test_data_that_do_not_hold_are_not_switched(tmp_path):
    with Served(tmp_path / "data", ENV) as served:
        played = Played(served, served.client())
        played.play(3)
        with served.client() as client:
            shard = played.board % SHARDS
            until(lambda: is_published(client))
            client.lset(keys.events(shard, played.board), 1, b"forged")
    with one_server(tmp_path / "target") as node:
        target = {"MATCHPOST_REDIS_URL": node.url}
        refused = move(served, target)
        assert refused.returncode == 1
        assert "the data do not hold, at both servers: " in refused.stderr
        assert "not verified: run" in refused_start(Served(tmp_path / "data", ENV | target))
        with served, served.client() as client:
            assert read_layout(client).shards == SHARDS
    played.close()
