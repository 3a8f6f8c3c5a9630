"""`matchpost upgrade`: data of format 1 become data of format 2, or stay as they are."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
from redis import Redis

from domain.match.events import SCHEMA, decode_event
from domain.match.history import Snapshot, unpack_snapshot
from domain.match.state import MatchState
from infra.audit.stored_match import check
from infra.durability import Mode
from infra.heartbeats import Heartbeat, Role
from infra.people.accounts import Accounts
from infra.projections.match_lists import MatchFilter, MatchLists
from infra.redis import keys
from infra.store import upgrade as store_upgrade
from infra.store.format_one import FormatOneData, FormatOneOutcome
from infra.store.layout import Layout
from infra.store.outcomes import parse
from infra.store.redis_store import RedisStore
from infra.store.upgrade import Upgrade, UpgradeError
from infra.valkey.server import EmbeddedServer
from services.cli.upgrade import upgrade_server
from tests.helpers.format_one import BOARDS, restore
from tests.helpers.served import Served, until
from tests.helpers.side import catch_up

SHARDS = range(4)


@pytest.fixture
def old(redis_client: Redis) -> Redis:
    restore(redis_client)
    return redis_client


def store_of(client: Redis) -> RedisStore:
    return RedisStore(client, Mode.FSYNC)


def dump(client: Redis) -> dict[bytes, Any]:
    return {name: client.dump(name) for name in client.scan_iter(count=1_000)}


def leaves_of(client: Redis) -> list[list[tuple[int, bytes]]]:
    data = FormatOneData(client)
    return [[(one.index, one.data) for one in data.leaves(shard, 0, 1_000)] for shard in SHARDS]


def test_the_sample_has_leaves_of_all_kinds(old: Redis) -> None:
    leaves = [data for log in leaves_of(old) for _, data in log]
    assert {type(data[1:2]) for data in leaves} == {bytes}
    words = [
        word for word in (b"\xa7refused", b"\xa6anchor") if any(word in one[:9] for one in leaves)
    ]
    assert len(words) == 2
    assert any(one[1] == SCHEMA for one in leaves)


def test_every_match_and_every_log_is_carried_over(old: Redis) -> None:
    logs, data = leaves_of(old), FormatOneData(old)
    before = {
        one.board: one for s in SHARDS for one in data.matches(s, [b for b in BOARDS if b % 4 == s])
    }
    snapshots = {board: old.get(f"{{s{board % 4:02}}}:m:{board}") for board in BOARDS}
    due = [old.zrange(f"{{s{shard:02}}}:due", 0, -1, withscores=True) for shard in SHARDS]
    upgrade_server(old)
    store = store_of(old)
    assert store.layout() == Layout(4, 2)
    assert [store.leaves(shard, 0, 1_000) for shard in SHARDS] == logs
    indexes = [(one.board % 4, i) for one in before.values() for i in one.leaf_indexes()]
    anchors = {(shard, int(old.hget(keys.seed_chain(shard), "index:1"))) for shard in (2, 3)}
    assert {*indexes} | anchors == {(shard, i) for shard in SHARDS for i, _ in logs[shard]}
    assert len({*indexes}) == len(indexes)
    for board in BOARDS:
        assert store.events(board) == before[board].events
        outcomes = {id_: parse(stored) for id_, stored in store.outcomes(board).items()}
        assert {
            id_: FormatOneOutcome(one.digest, one.index, one.code, one.seq, one.sentence)
            for id_, one in outcomes.items()
        } == before[board].outcomes
        (snapshot,) = store.snapshots([board])
        found = snapshots[board]
        assert isinstance(found, bytes)
        state = msgspec.msgpack.decode(found[32:], type=MatchState)
        assert unpack_snapshot(snapshot) == Snapshot(found[:32], state)
        assert store.leaf_indexes(board) == before[board].leaf_indexes()
        assert f"match {board} holds" in check(store, board)
    assert [old.zrange(keys.due(shard), 0, -1, withscores=True) for shard in SHARDS] == due


def test_what_lies_beside_the_matches_is_carried_over(old: Redis) -> None:
    alike = {
        "{s01}:in": keys.inbox(1),
        "{s02}:draws": keys.seed_chain(2),
        "{s00}:m:8:draft": keys.drafts(0, 8),
        "{s00}:m:8:no": keys.refusals(0, 8),
        "{s01}:m:1:chat": keys.chat(1, 1),
        "{s02}:m:2:laid": keys.conditional_moves(2, 2),
    }
    before = {name: (old.dump(name), old.pttl(name) > 0) for name in alike}
    assert all(dumped for dumped, _ in before.values())
    upgrade_server(old)
    assert {name: (old.dump(new), old.pttl(new) > 0) for name, new in alike.items()} == before
    assert store_of(old).inbox_size(SHARDS) == 1
    assert store_of(old).allocate(b"a new command id") == 9


def test_only_keys_of_format_2_are_left(old: Redis, capsys: pytest.CaptureFixture[str]) -> None:
    upgrade_server(old)
    names = [name.decode() for name in old.scan_iter(count=1_000)]
    assert not [
        name for name in names if name.startswith(("{s00}", "{s01}", "{s02}", "{s03}", "{p:"))
    ]
    assert keys.UPGRADE not in names
    said = capsys.readouterr().out
    assert "copied and verified: matches 8, " in said
    assert "waiting commands 1\n" in said
    upgrade_server(old)
    assert capsys.readouterr().out == "0 keys of format 1 are deleted; the data has format 2\n"


def test_accounts_stay_and_lists_are_made_again(old: Redis) -> None:
    upgrade_server(old)
    catch_up(store_of(old), old)
    alice = Accounts(old).verify("alice", "mad-hatter")
    rows = MatchLists(old).of(alice, MatchFilter.ACTIVE)
    assert [row.board for row in rows] == [8, 7, 3, 2, 1]


class Killed(Exception):  # noqa: N818 - it is the end of a process
    """Stands for the end of the process."""


def calls(monkeypatch: pytest.MonkeyPatch, name: str, after: int) -> None:
    """Let the process be killed at a call of a function of the upgrade."""
    function, count = getattr(store_upgrade, name), 0

    def call(*args: Any) -> Any:
        nonlocal count
        count += 1
        if count > after:
            raise Killed
        return function(*args)

    monkeypatch.setattr(store_upgrade, name, call)


@pytest.mark.parametrize(
    ("name", "after"), [("write_match", 0), ("write_match", 5), ("write_leaf", 9), ("_batches", 3)]
)
def test_one_that_was_killed_is_run_again(
    old: Redis, monkeypatch: pytest.MonkeyPatch, name: str, after: int
) -> None:
    logs = leaves_of(old)
    with monkeypatch.context() as patched:
        calls(patched, name, after)
        with pytest.raises(Killed):
            upgrade_server(old)
    with pytest.raises(LookupError, match="run `matchpost upgrade` again"):
        store_of(old).layout()
    upgrade_server(old)
    assert [store_of(old).leaves(shard, 0, 1_000) for shard in SHARDS] == logs
    for board in BOARDS:
        check(store_of(old), board)


def test_one_that_was_killed_while_it_deleted_deletes_the_rest(
    old: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(_: Upgrade) -> int:
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(Upgrade, "delete_old", killed)
        with pytest.raises(Killed):
            upgrade_server(old)
    assert store_of(old).layout() == Layout(4, 2), "the server could run"
    check(store_of(old), 1)
    assert old.exists("{s01}:log")
    upgrade_server(old)
    assert not old.exists("{s01}:log", keys.UPGRADE)
    check(store_of(old), 1)


def damage_event(client: Redis) -> None:
    client.lset("{s01}:m:5:ev", 1, client.lindex("{s01}:m:5:ev", 1).replace(b"m13-m9", b"m13-m7"))


def damage_outcome(client: Redis) -> None:
    client.hdel("{s01}:m:5:out", next(iter(client.hgetall("{s01}:m:5:out"))))


@pytest.mark.parametrize("damage", [damage_event, damage_outcome])
def test_a_match_that_does_not_hold_is_named_and_nothing_is_changed(
    old: Redis, damage: Any
) -> None:
    damage(old)
    before = dump(old)
    with pytest.raises(UpgradeError, match=r"match 5 .*nothing was changed"):
        upgrade_server(old)
    assert dump(old) == before


def test_it_is_refused_while_a_process_runs(old: Redis) -> None:
    heartbeat = Heartbeat(Role.WORKER, "0.1.0")
    heartbeat.write(old)
    with pytest.raises(UpgradeError, match=r"runs \(worker\); stop the server and all workers"):
        upgrade_server(old)
    heartbeat.remove(old)
    upgrade_server(old)


def test_a_cluster_is_refused(cluster_client: Redis) -> None:
    with pytest.raises(UpgradeError, match="made on one server, and are upgraded there"):
        upgrade_server(cluster_client)


def test_data_of_no_and_of_a_later_format_are_refused(redis_client: Redis) -> None:
    with pytest.raises(UpgradeError, match="there is no data yet"):
        upgrade_server(redis_client)
    redis_client.hset(keys.LAYOUT, mapping={"format": "3", "shards": "4", "lanes": "1"})
    with pytest.raises(UpgradeError, match="format 3, which can't be upgraded"):
        upgrade_server(redis_client)


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    data = tmp_path / "data"
    with EmbeddedServer(data, durable=True) as server, server.client() as client:
        restore(client)
    return data


@pytest.mark.slow
def test_a_data_directory_is_upgraded_and_served(directory: Path) -> None:
    served = Served(directory)
    refused = served.run("serve")
    assert refused.returncode == 2
    assert "run `matchpost upgrade`" in refused.stderr
    done = served.run("upgrade")
    assert done.returncode == 0, done.stderr
    with served:
        while_it_runs = served.run("upgrade")
        assert while_it_runs.returncode != 0
        assert "is in use" in while_it_runs.stderr or "runs" in while_it_runs.stderr
        with served.client() as client:
            until(lambda: store_of(client).inbox_size(SHARDS) == 0)
            assert len(decode_event(store_of(client).events(1)[-1]).prev) == 32
        assert served.run("verify", "1").returncode == 0
        assert "it is Light's turn (alice)" in served.run("do", "pow2 show 2").stdout
