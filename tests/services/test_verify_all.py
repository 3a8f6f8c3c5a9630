"""`verify --all` holds for a server's life by chance, and finds each change, whatever else was made to fit."""

import shutil
from collections.abc import Callable, Iterator, Mapping

import pytest

from domain.clocks.time_control import DAY
from domain.match.commands import StartMatch
from domain.match.history import decode_event
from domain.refusal_audit import NotDecidedAgain
from infra.durability.durability import Mode
from infra.redis import keys
from infra.store import locators
from infra.store.redis_store import RedisStore
from infra.valkey.server import EmbeddedServer
from services.app.context import App
from services.cli import verify_all
from tests.helpers import forging
from tests.helpers.audited_server import SHARDS, AuditedServer
from tests.helpers.given import ALICE
from tests.helpers.rollback import Copy, copy_of, put_back
from tests.helpers.side import catch_up
from workers import retire


@pytest.fixture(scope="module")
def made(
    valkey: EmbeddedServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[AuditedServer, Copy]]:
    """A server with matches by chance, most of them published, and a copy of its data."""
    with valkey.client(blocking_timeout=5) as client:
        client.flushall()
        server = AuditedServer(valkey, client, tmp_path_factory.mktemp("all"))
        server.play(300)
        server.publish()
        server.play(340)
        client.set(keys.BOARDS, 1_000)  # the corpus chooses its boards by itself
        yield server, copy_of(client)


@pytest.fixture
def server(made: tuple[AuditedServer, Copy]) -> Iterator[AuditedServer]:
    one, copy = made
    put_back(one.client, copy)
    kept = one.settings.data / "log"
    shutil.copytree(kept, one.settings.data / "kept")
    yield one
    shutil.rmtree(kept)
    (one.settings.data / "kept").rename(kept)


def some_board(server: AuditedServer, shard: int = 1) -> int:
    """A match of a shard with all its leaves published."""
    log = server.settings.data / "log" / f"s{shard:02}" / "checkpoint"
    size = int(log.read_bytes().split(b"\n")[1])
    for board in range(SHARDS + shard, 200, SHARDS):
        indexes = locators.decode(server.client.get(keys.locator(shard, board)) or b"")
        if len(indexes) > 8 and indexes[-1] < size:
            return board
    raise AssertionError("no match is published wholly")


@pytest.mark.long
def test_a_server_by_chance_holds(server):
    found = server.check()
    assert [*found.faults] == []
    assert [*found.not_compared] == []
    assert found.exit_code() == 0
    assert found.matches.matches == server.check().matches.matches > 50
    assert found.matches.refusals[None] > 20
    assert found.summary().startswith(f"all {found.matches.matches} matches hold: ")
    assert sum(one.end for one in found.shards.values()) > found.matches.events > 1_000
    assert all(0 < one.published < one.end for one in found.shards.values())


def test_trimmed_leaves_are_no_fault_while_the_published_log_can_not_be_read(server):
    server.publish()
    server.client.xtrim(keys.log(1), minid="200-0", approximate=False)
    (server.settings.data / "log" / "s01" / "checkpoint").write_bytes(b"no note")
    found = server.check()
    assert [*found.faults] == []
    assert found.exit_code() == 2
    board = min(found.matches.unread)
    assert board % SHARDS == 1
    said = "was trimmed, and can't be read from the published log: a note is a text"
    assert said in found.matches.unread[board]


def last_move(server: AuditedServer) -> str:
    forging.without_last_command(server.client, some_board(server))
    return "is missing in the data, and is published"


def a_refusal_wholly(server: AuditedServer) -> str:
    """Outcome, leaf and place in the locator are deleted."""
    board, command = a_refusal(server)
    index = int(server.client.hget(keys.outcomes(1, board), command)[8:].split(b":")[0])
    server.client.hdel(keys.outcomes(1, board), command)
    name = keys.locator(1, board)
    left = [at for at in locators.decode(server.client.get(name)) if at != index]
    server.client.set(name, locators.encode(left))
    server.client.xdel(keys.log(1), f"{index}-1")
    return f"leaf {index} is missing in the data, and is published"


def a_refusal(server: AuditedServer) -> tuple[int, bytes]:
    for board in range(5, 200, SHARDS):
        accepted = {decode_event(data).command for data in server.bench.store.events(board)}
        stored = server.client.hgetall(keys.outcomes(1, board))
        for command, outcome in stored.items():
            if command not in accepted and int(outcome[8:].split(b":")[0]) < 200:
                return board, command
    raise AssertionError("there is no refusal")


def a_leaf_that_is_not_published(server: AuditedServer) -> str:
    last = server.client.xrevrange(keys.log(1), count=2)[1][0].decode()
    server.client.xdel(keys.log(1), last)
    return f"the log of shard 1: leaf {last.partition('-')[0]} is missing"


def two_leaves(server: AuditedServer) -> str:
    def swap(at: int, leaf: bytes) -> bytes:
        return rows[{20: 21, 21: 20}.get(at, at)] if at in (20, 21) else leaf

    rows = {
        at: server.client.xrange(keys.log(1), f"{at}-1", count=1)[0][1][b"l"] for at in (20, 21)
    }
    forging.rewrite_log(server.client, 1, swap)
    return "leaf 20 is another one than the published leaf, which is signed"


def a_match(server: AuditedServer) -> str:
    board = some_board(server)
    for suffix in ("", ":moves", ":turns", ":ev", ":at", ":out"):
        server.client.delete(keys.snapshot(1, board) + suffix)
    return f"match {board} does not hold: event 1: the log of shard 1 has "


def the_end_of_the_log(server: AuditedServer) -> str:
    server.client.xtrim(keys.log(1), maxlen=0)
    return "the log of shard 1"


def the_counter_of_boards(server: AuditedServer) -> str:
    server.client.set(keys.BOARDS, 3)
    return "the counter of boards stands at "


def the_counter_of_seeds(server: AuditedServer) -> str:
    server.client.hset(keys.seed_chain(1), "k", 1)
    return "the counter of used seeds of shard 1 stands at 1, and seed "


def the_place_of_an_anchor(server: AuditedServer) -> str:
    server.client.hset(keys.seed_chain(1), "index:1", 7)
    return "chain 1 of seeds of shard 1 was anchored as leaf "


def a_match_of_another_shard(server: AuditedServer) -> str:
    leaf = server.client.xrevrange(keys.log(2), count=1)[0][1][b"l"]
    server.client.xadd(keys.log(1), {"l": leaf}, f"{server.bench.store.watermark().ends[1]}-1")
    return "which belongs to another shard"


def a_leaf_that_nobody_wrote(server: AuditedServer) -> str:
    server.client.xadd(keys.log(1), {"l": b"?"}, f"{server.bench.store.watermark().ends[1]}-1")
    return "can't be read"


def one_leaf_twice(server: AuditedServer) -> str:
    leaf = server.client.xrevrange(keys.log(1), count=1)[0][1][b"l"]
    server.client.xadd(keys.log(1), {"l": leaf}, f"{server.bench.store.watermark().ends[1]}-1")
    return "leaves of the match up to leaf" if leaf[1] > 0x80 else ", and comes after event "


def a_bundle(server: AuditedServer) -> str:
    bundle = server.settings.data / "log" / "s01" / "tile" / "entries" / "000"
    data = bytearray(bundle.read_bytes())
    data[40] ^= 1
    bundle.chmod(0o600)
    bundle.write_bytes(data)
    return "tile/0/000 does not have the hashes of the published leaves"


def a_tile(server: AuditedServer) -> str:
    tile = server.settings.data / "log" / "s01" / "tile" / "0" / "000"
    tile.chmod(0o600)
    tile.write_bytes(bytes(len(tile.read_bytes())))
    return "tile/0/000 does not have the hashes of the published leaves"


def a_missing_bundle(server: AuditedServer) -> str:
    (server.settings.data / "log" / "s01" / "tile" / "entries" / "000").unlink()
    return "its published leaves from 0 on can't be read"


CHANGES: Mapping[str, Callable[[AuditedServer], str]] = {
    change.__name__: change
    for change in (
        last_move, a_refusal_wholly, a_leaf_that_is_not_published, two_leaves, a_match, the_end_of_the_log,
        the_counter_of_boards, the_counter_of_seeds, the_place_of_an_anchor, a_match_of_another_shard,
        a_leaf_that_nobody_wrote, one_leaf_twice, a_bundle, a_tile, a_missing_bundle,
    )
}  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("change", CHANGES)
def test_each_change_is_found(server, change):
    sentence = CHANGES[change](server)
    found = server.check()
    assert found.exit_code() == 1
    assert sentence in "\n".join(found.faults)


@pytest.mark.long
def test_matches_that_go_on_meanwhile_do_no_harm(server, monkeypatch):
    scan = verify_all.scan_shard

    def busy(shard: int) -> verify_all.ScannedShard:
        scanned = scan(shard)
        for _ in range(3):
            server.corpus.step()
        start = StartMatch(rules="pow2/1", options=(), seats=(ALICE, b"bob....."))
        server.bench.submit(server.bench.order(ALICE, start, 1_000 + shard))
        server.bench.drain()
        return scanned

    monkeypatch.setattr(verify_all, "scan_shard", busy)
    assert server.faults() == []


@pytest.mark.long
def test_matches_of_the_archive_hold_and_are_compared_with_the_log(valkey, redis_client, tmp_path):
    server = AuditedServer(valkey, redis_client, tmp_path)
    now = server.bench.store.now
    server.bench.store = RedisStore(redis_client, Mode.FSYNC, clock=lambda: now() - 41 * DAY)
    server.play(120)
    redis_client.set(keys.BOARDS, 1_000)
    server.publish()
    catch_up(server.bench.store, redis_client)
    before = server.check()
    assert [*before.faults] == []
    with App(server.settings) as parts:
        retired = sum(
            retire.run(server.settings, parts.store, redis_client, redis_client, shard)
            for shard in range(SHARDS)
        )
    assert retired > 5
    after = server.check()
    assert [*after.faults] == []
    assert after.matches.events == before.matches.events
    assert after.matches.refusals.total() == before.matches.refusals[None], "all were kept"
    assert after.matches.refusals.keys() <= {None, NotDecidedAgain.NOT_KEPT}, "the archive has none"
    board = next(
        board
        for board in range(1, 1_000, SHARDS)
        if redis_client.getbit(keys.archived(1), board // SHARDS)
    )
    shutil.rmtree(tmp_path / "log" / "s01" / "boards")
    unread = server.check()
    assert unread.exit_code() == 2
    said = next(iter(unread.not_compared))
    assert f"match {board} can't be read right now: the archive can't be read right now" in said
