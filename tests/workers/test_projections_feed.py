"""The feed, its buckets and their check: everything exactly once, whoever is killed, doubled, or fails."""

import os
import random
import signal
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from redis import Redis

from infra.projections import compare
from infra.projections.buckets import (
    LISTS,
    SPECS,
    Bucket,
    ProjectionFailure,
    RedisWrite,
    Spec,
    bucket_of,
)
from infra.projections.generations import Generations
from infra.projections.lag import lag
from infra.projections.match_list_fold import MatchListsProjection
from infra.projections.match_lists import MatchLists
from infra.projections.memory import MemoryBucket
from infra.projections.projection import Fact, Projection
from infra.projections.ratings import RatingsProjection
from infra.projections.standings import StandingsProjection
from infra.redis import keys
from infra.valkey.server import EmbeddedServer
from tests.fakes.logs import ANCHOR, REFUSAL, Logs
from tests.helpers.given import ALICE, BOB, CAROL, ended, moved, offered, resigned, started, three
from tests.helpers.served import Served, until
from tests.helpers.side import catch_up, contents, settle
from tests.helpers.steps import Steps, stepped_client
from tests.workers.random_matches import PLAYERS, Chance
from workers.projections import PROJECTIONS, feed, log_reader
from workers.projections.rebuild import Rebuild
from workers.projections.verify import ProjectionVerifier
from workers.projections.worker import BucketGroup, ProjectionWorker


@pytest.fixture
def logs() -> Logs:
    """Some matches in all shards, of which most have ended."""
    return logs_of(30)


@pytest.fixture
def few() -> Logs:
    """As few as end in each way, for what is tried at every command."""
    return logs_of(7)


def logs_of(boards: int) -> Logs:
    made = Logs()
    chance = random.Random(3)
    made.add_leaf(2, ANCHOR)
    for board in range(1, boards + 1):
        at = chance.randrange(1_000)
        seats = chance.sample((ALICE, BOB, CAROL), 2)
        count = 2 if board % 5 else 3
        made.add(board, at, seats[0], started(*seats) if count == 2 else three())
        for seat in range(count):
            made.add(board, at, seats[0], moved(seat + 1, seat, (seat + 1) % count))
        made.add_leaf(board % 4, REFUSAL)
        if board % 3:
            made.add(board, at + 10, seats[1], offered(1), resigned(1), ended(0))
    return made


def test_every_projection_that_is_read_is_fed():
    assert [projection.spec for projection in PROJECTIONS] == list(SPECS)
    assert len({spec.name for spec in SPECS}) == len(SPECS)


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedServer]:
    """A server that syncs nothing: what is tried here is tried at every command."""
    with EmbeddedServer(tmp_path_factory.mktemp("quick"), durable=False) as server:
        yield server


class Gone(BaseException):
    """The process is no more; nothing catches that."""


def die() -> None:
    raise Gone


def at_each_command(
    quick: EmbeddedServer, prepare: Callable[[Redis], Callable[[], object]]
) -> Iterator[Redis]:
    """Clients of an empty server: in each another command is followed by what `prepare` gives."""
    step, happened = 1, True
    with quick.client() as plain:
        while happened:
            plain.flushall()
            action = prepare(plain)
            client, begin = stepped_client(quick.url)
            steps = Steps(step, action, after=True)
            begin(steps)
            yield client
            client.close()
            step, happened = step + 1, steps.happened
    assert step > 10


SOME = (MatchListsProjection(), StandingsProjection(), RatingsProjection())


def expected(logs: Logs, server: EmbeddedServer, buckets: int = 1) -> dict[str, object]:
    """What one worker makes of the logs that nobody disturbs."""
    with server.client() as client:
        client.flushall()
        catch_up(logs.store, client, SOME, buckets=buckets)
        return contents(client)


@pytest.mark.parametrize("buckets", [pytest.param(1, marks=pytest.mark.long), 3])
def test_killed_between_any_two_commands_it_is_as_if_never_killed(few, quick, buckets):
    wanted = expected(few, quick, buckets)
    with quick.client() as plain:
        for client in at_each_command(quick, lambda _: die):
            with suppress(Gone):
                catch_up(few.store, client, SOME, buckets=buckets)
            # who builds has to be silent for a while before another may
            for key in plain.scan_iter("{p:*}:building"):
                plain.delete(key)
            catch_up(few.store, plain, SOME, buckets=buckets)
            assert contents(plain) == wanted


def test_another_worker_between_any_two_commands_does_no_harm(few, quick):
    wanted = expected(few, quick)
    others: list[ProjectionWorker] = []

    def another(server: Redis) -> Callable[[], object]:
        few.shown, few.mark = 10, 0
        others[:] = [ProjectionWorker(few.store, server, SOME)]
        while others[0].round():
            pass
        few.shown, few.mark = 1_000, 1 << 50
        return others[0].round

    with quick.client() as plain:
        for client in at_each_command(quick, another):
            side = catch_up(few.store, client, SOME)
            settle(others[0])
            settle(side)
            assert contents(plain) == wanted


class Failing(Projection):
    """Keeps the boards it has seen, and fails at those that are broken."""

    spec = Spec("failing", 1)

    def __init__(self, *broken: int) -> None:
        self.broken = set(broken)

    def owners(self, fact: Fact) -> Sequence[int]:
        return (fact.event.match,)

    def fold(self, facts: Sequence[Fact], found: Sequence[Any], bucket: Bucket) -> list[RedisWrite]:
        del found, bucket
        boards = [fact.event.match for fact in facts]
        if self.broken & set(boards):
            raise ZeroDivisionError("as it was told to")
        return [("SADD", "boards", *boards)] if boards else []


def seen(client: Redis) -> set[int]:
    live = Generations(client, Failing.spec).live()
    return {int(board) for board in client.smembers(live[1].bucket(0).key("boards"))}


def test_what_one_projection_fails_at_stops_it_in_that_shard_and_no_other(
    logs, redis_client, caplog
):
    failing = Failing()
    side = ProjectionWorker(logs.store, redis_client, (*PROJECTIONS, failing))
    settle(side)
    failing.broken = {42}
    for board in (38, 42, 46, 43):
        logs.add(board, 3_000, ALICE, started())
    for _ in range(3):  # by workers one after the other
        while side.round():
            pass
        side = ProjectionWorker(logs.store, redis_client, (*PROJECTIONS, failing))
    assert {38, 43} <= seen(redis_client)
    assert not {42, 46} & seen(redis_client)
    assert MatchLists(redis_client).rows([46])[0] is not None
    generations = Generations(redis_client, failing.spec)
    live = generations.live()
    (stuck,) = generations.failures(live[1].bucket(0)).values()
    index = next(i for i, leaf in logs.leaves(2, 0, 1_000) if leaf == logs.events(42)[0])
    assert stuck.what == f"leaf {index} of shard 2"
    assert stuck.error == "ZeroDivisionError: as it was told to"
    assert caplog.text.count("ALARM") == 1
    assert "is tried again every 10 s" in caplog.text
    # with the mistake mended and the worker started again
    catch_up(logs.store, redis_client, (*PROJECTIONS, Failing()))
    assert {42, 46} <= seen(redis_client)
    assert generations.failures(live[1].bucket(0)) == {}


@pytest.mark.parametrize("garbage", [b"\x98\x01", b"\x98", b"", None])
def test_an_unreadable_leaf_stops_its_shard_and_no_other(logs, redis_client, garbage):
    side = catch_up(logs.store, redis_client)
    logs.add(42, 3_000, ALICE, started())
    good = logs.replace(2, -1, garbage)
    logs.add(46, 3_000, ALICE, started())
    logs.add(43, 3_000, ALICE, started())
    while side.round():
        pass
    lists = MatchLists(redis_client)
    assert [row and row.board for row in lists.rows([42, 46, 43])] == [None, None, 43]
    assert side.has_work
    logs.replace(2, -2, good)
    catch_up(logs.store, redis_client)
    assert [row and row.board for row in lists.rows([42, 46, 43])] == [42, 46, 43]


def test_a_key_of_another_type_stops_its_projection_and_no_other(logs, redis_client):
    side = catch_up(logs.store, redis_client)
    live = Generations(redis_client, LISTS).live()
    redis_client.set(live[1].bucket(0).key("rows"), "what an operator's hand has left")
    logs.add(42, 3_000, ALICE, started(), ended(0))
    while side.round():
        pass
    side.save()
    assert list(Generations(redis_client, LISTS).failures(live[1].bucket(0))) == ["2"]
    others = {key: value for key, value in contents(redis_client).items() if "lists:" not in key}
    redis_client.flushall()
    catch_up(logs.store, redis_client)
    whole = contents(redis_client)
    assert others == {key: value for key, value in whole.items() if "lists:" not in key}


SEVERAL = 5


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few leaves are read at a time, and few are kept to oneself."""
    monkeypatch.setattr(log_reader, "BATCH", 9)
    monkeypatch.setattr(feed, "BATCH", 9)


def test_an_owner_has_the_same_bucket_in_every_process_and_version():
    owners = (1, 77, b"77", "pow2", "line --size=6")
    assert [bucket_of(owner, 1) for owner in owners] == [0] * 5
    assert [bucket_of(owner, 64) for owner in owners] == [55, 4, 4, 44, 11]


def work_for_a_while(
    chance: random.Random, logs: Logs, client: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Have a worker feed one group of buckets for some rounds, and be killed, saved or not."""
    count = chance.randrange(1, 4)
    group = BucketGroup(chance.randrange(count), count)
    monkeypatch.setattr("workers.projections.feed.SAVE_LEAVES", chance.choice((1, 20, 256)))
    side = ProjectionWorker(logs.store, client, group=group)
    for _ in range(chance.randrange(1, 4)):
        side.round()
    if chance.random() < 0.3:
        side.save()


def unknown_keys(client: Redis) -> set[str]:
    """Keys of data that are in no bucket's set of keys."""
    found = set()
    for spec in SPECS:
        generations = Generations(client, spec)
        live = generations.live()
        for bucket in live[1].all:
            known = {name for page in generations.keys_of(bucket) for name in page}
            own = {"at", "keys", "stuck", "hold"}
            names = {key.decode() for key in client.scan_iter(bucket.key("*"))}
            found |= {
                name for name in names if name.removeprefix(bucket.key("")) not in known | own
            }
    return found


def settle_all(logs: Logs, client: Redis) -> None:
    """Two workers share the buckets until all are done."""
    for number in range(2):
        settle(ProjectionWorker(logs.store, client, group=BucketGroup(number, 2)))


def test_a_move_is_written_in_the_buckets_that_it_changes_and_in_no_other(redis_client):
    logs = Logs()
    logs.add(1, 100, ALICE, started(), moved(1, 0, 1))
    side = catch_up(logs.store, redis_client, buckets=SEVERAL)
    before = evalshas(redis_client)
    logs.add(1, 200, BOB, moved(2, 1, 0))
    while side.round():
        pass
    # with the notice of alice
    assert evalshas(redis_client) - before == 1
    generations = Generations(redis_client, LISTS)
    counts = [sum(one.counts) for one in generations.checkpoints(generations.live()[1]) if one]
    concerned = {bucket_of(owner, SEVERAL) for owner in (1, ALICE, BOB)}
    assert {number for number in range(SEVERAL) if counts[number] == 3} == concerned
    assert bucket_of(ALICE, SEVERAL) in concerned


def evalshas(client: Redis) -> int:
    return int(client.info("commandstats")["cmdstat_evalsha"]["calls"])


def test_the_lag_is_that_of_the_last_bucket(client):
    logs = Logs()
    for board in range(1, 41):
        logs.add(board, board, ALICE, started(PLAYERS[board % 9], PLAYERS[board % 7]))
    catch_up(logs.store, client, buckets=SEVERAL)
    assert lag(logs.store, client, LISTS).events == 0
    logs.add(1, 900, ALICE, moved(1, 0, 1))
    logs.add(2, 950, ALICE, moved(1, 0, 1))
    settle(ProjectionWorker(logs.store, client, group=BucketGroup(0, 2)))
    half = lag(logs.store, client, LISTS)
    assert (half.events, half.oldest) == (2, 900)
    settle(ProjectionWorker(logs.store, client, group=BucketGroup(1, 2)))
    assert lag(logs.store, client, LISTS).events == 0
    generations = Generations(client, LISTS)
    live = generations.live()
    generations.note_failure(live[1].bucket(3), "2", ProjectionFailure("leaf 7", 1, "x"))
    generations.note_failure(live[1].bucket(4), "2", ProjectionFailure("leaf 7", 1, "x"))
    assert [one.what for one in lag(logs.store, client, LISTS).failures] == ["leaf 7"]


@pytest.fixture(params=[1, 100], ids=["parts", "whole values"])
def life(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Chance:
    """Matches by chance, and reads of one element or of many."""
    monkeypatch.setattr(compare, "_KEYS", request.param)
    monkeypatch.setattr(compare, "_PAGE", request.param)
    return Chance(1)


def play(life: Chance) -> None:
    while life.go_on():
        pass


def test_a_check_writes_nothing_and_a_rebuild_may_begin_meanwhile(life, redis_client):
    play(life)
    catch_up(life.logs.store, redis_client, buckets=2)
    before = contents(redis_client)
    changed = redis_client.info("persistence")["rdb_changes_since_last_save"]
    for projection in PROJECTIONS:
        result = ProjectionVerifier(life.logs.store, redis_client, projection).run()
        assert result.difference == ""
    assert redis_client.info("persistence")["rdb_changes_since_last_save"] == changed
    assert contents(redis_client) == before
    rebuilds: list[Rebuild] = []

    def begin(*_: int) -> None:
        if not rebuilds:
            rebuilds.append(Rebuild(life.logs.store, redis_client, PROJECTIONS[0]))

    found = ProjectionVerifier(life.logs.store, redis_client, PROJECTIONS[0], begin).run()
    assert found.difference == ""
    rebuilds[0].drop()


def test_what_is_fed_during_a_check_is_no_difference(life, redis_client):
    for _ in range(60):
        life.go_on()
    side = catch_up(life.logs.store, redis_client, buckets=2)

    def feed(*_: int) -> None:
        life.go_on()
        side.round()
        side.save()

    for projection in PROJECTIONS:
        result = ProjectionVerifier(life.logs.store, redis_client, projection, feed).run()
        assert result.difference == "", projection.spec.name


def changes(client: Redis, key: str) -> Iterator[Callable[[], Any]]:
    """Changes of a value, each of which leaves its type."""
    kind = client.type(key)
    if kind == b"hash":
        field = next(iter(client.hgetall(key)))
        yield lambda: client.hset(key, "another", "1")
        yield lambda: client.hset(key, field, "x")
        yield lambda: client.hdel(key, field)
    elif kind == b"zset":
        (member,) = client.zrange(key, -1, -1)
        yield lambda: client.zadd(key, {"0:0": 1.0})
        yield lambda: client.zincrby(key, 1.0, member)
        yield lambda: client.zrem(key, member)
    elif kind == b"list":
        yield lambda: client.rpush(key, "1")
        yield lambda: client.lset(key, 0, "x")
        yield lambda: client.lpop(key)
    yield lambda: client.delete(key)


def test_data_in_memory_are_those_of_a_server_after_the_same_writes(redis_client):
    chance, memory = random.Random(7), MemoryBucket()
    one: Callable[[], str] = lambda: f"m{chance.randrange(6)}"  # noqa: E731
    number = lambda: chance.randrange(-5, 6)  # noqa: E731
    makers: list[Callable[[], RedisWrite]] = [
        lambda: ("HSET", "h", one(), number(), one(), b"x"),
        lambda: ("HDEL", "h", one(), one()),
        lambda: ("HINCRBY", "n", one(), number()),
        lambda: ("ZADD", "z", number(), one(), number(), one()),
        lambda: ("ZREM", "z", one()),
        lambda: ("ZINCRBY", "z", number(), one()),
        lambda: ("ZREMRANGEBYRANK", "z", 0, -5),
        lambda: ("RPUSH", "l", one()),
    ]
    for _ in range(500):
        write = chance.choice(makers)()
        redis_client.execute_command(*write)
        memory.write([write])
        if chance.random() < 0.5:
            least = number()
            reads = [("ZRANGE", "z", 0, 2), ("ZRANGEBYSCORE", "z", f"({least}", "+inf")]
            reads += [("HMGET", "h", "m1", "m2"), ("LRANGE", "l", 0, -1)]
            for read in reads:
                assert memory.read(read) == redis_client.execute_command(*read)
        assert memory.members("h") == redis_client.hgetall("h")
        assert memory.members("n") == redis_client.hgetall("n")
        assert memory.members("z") == dict(redis_client.zrange("z", 0, -1, withscores=True))


@pytest.fixture
def client(quick: EmbeddedServer) -> Iterator[Redis]:
    with quick.client() as found:
        found.flushall()
        yield found


@pytest.mark.long
@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("buckets", [1, SEVERAL])
@pytest.mark.parametrize("seed", range(6))
def test_buckets_that_are_fed_in_pieces_hold_what_one_reading_gives(
    client, seed, buckets, monkeypatch
):
    life = Chance(seed)
    play(life)
    catch_up(life.logs.store, client, buckets=buckets)
    wanted = contents(client)
    client.flushall()
    life, chance = Chance(seed), random.Random(seed)
    catch_up(life.logs.store, client, buckets=buckets)
    while life.go_on():
        if chance.random() < 0.3:
            work_for_a_while(chance, life.logs, client, monkeypatch)
    settle_all(life.logs, client)
    assert contents(client) == wanted
    assert unknown_keys(client) == set()


def test_each_change_of_a_value_is_a_difference_in_whatever_bucket(life, redis_client):
    play(life)
    catch_up(life.logs.store, redis_client, buckets=2)
    kinds: dict[bytes, list[int]] = defaultdict(list)
    for projection in PROJECTIONS:
        generations = Generations(redis_client, projection.spec)
        for bucket in generations.live()[1].all:
            names = {one for page in generations.keys_of(bucket) for one in page}
            there = sorted(name for name in names if redis_client.exists(bucket.key(name)))
            for kind in (b"hash", b"zset", b"list"):
                found = (one for one in there if redis_client.type(bucket.key(one)) == kind)
                if (name := next(found, None)) is None:
                    continue
                key = bucket.key(name)
                data = redis_client.dump(key)
                # of each kind of value another change each time, and of the one list all
                every = [*changes(redis_client, key)]
                number = len(kinds[kind]) % len(every)
                kinds[kind].append(bucket.number)
                for change in every if kind == b"list" else [every[number]]:
                    change()
                    result = ProjectionVerifier(life.logs.store, redis_client, projection).run()
                    assert result.difference == name
                    redis_client.restore(key, 0, data, replace=True)
    assert {*kinds} == {b"hash", b"zset", b"list"}
    assert {number for found in kinds.values() for number in found} == {0, 1}


# what is missing, old or out of order is made again


class Newer(MatchListsProjection):
    """What a later program keeps."""

    spec = Spec("lists", LISTS.version + 1)


def live_lists(client: Redis) -> tuple[int, int]:
    """Version and number of what is read."""
    found = Generations(client, LISTS).live()
    return found[0], found[1].number


def test_what_an_older_program_kept_is_made_again(logs, redis_client, caplog):
    caplog.set_level("INFO")
    catch_up(logs.store, redis_client, [MatchListsProjection()])
    before = contents(redis_client)
    catch_up(logs.store, redis_client, [Newer()])
    assert live_lists(redis_client) == (LISTS.version + 1, 2)
    assert contents(redis_client).keys() == before.keys()
    old, new = LISTS.version, LISTS.version + 1
    assert f"it has version {old}, and this program's is {new}" in caplog.text


def test_what_a_newer_program_keeps_is_left_alone(logs, redis_client):
    catch_up(logs.store, redis_client, [Newer()])
    logs.add(49, 9, ALICE, started())
    side = ProjectionWorker(logs.store, redis_client, [MatchListsProjection()])
    assert [side.round() for _ in range(3)] == [0, 0, 0]
    assert live_lists(redis_client) == (LISTS.version + 1, 1)


def test_when_the_logs_have_lost_leaves_everything_is_made_again(logs, redis_client):
    logs.add(41, 100, ALICE, started(), ended(0))
    catch_up(logs.store, redis_client)
    logs.replace(1, -1, REFUSAL)
    logs.shown = len(logs.leaves(1, 0, 1_000)) - 1
    catch_up(logs.store, redis_client)
    (row,) = MatchLists(redis_client).rows([41])
    assert (row.over, row.seq) == (False, 1)


def test_while_another_builds_it_waits_and_takes_over_what_comes_of_it(
    logs, redis_client, wait_until
):
    generations = Generations(redis_client, LISTS)
    generations.begin("another", 4)
    side = ProjectionWorker(logs.store, redis_client, [MatchListsProjection()])
    for _ in range(3):
        assert side.round() == 0
    redis_client.delete(keys.projection("lists", "building"))
    other = catch_up(logs.store, redis_client, [MatchListsProjection()])
    logs.add(49, 9, ALICE, started())

    def taken_over() -> bool:
        side.round()
        return MatchLists(redis_client).rows([49]) != [None]

    wait_until(taken_over)
    settle(other)


def cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@pytest.mark.long
def test_an_idle_side_worker_sleeps_and_ends_when_it_is_asked(tmp_path):
    with Served(tmp_path / "data", {"MATCHPOST_GATHER": "off"}) as served:
        until(lambda: served.run("doctor").returncode == 0)
        (pid,) = served.children("matchpost side")
        before = cpu_seconds(pid)
        time.sleep(2)
        assert cpu_seconds(pid) - before < 0.07
        os.kill(pid, signal.SIGTERM)
        until(lambda: pid not in served.children("matchpost side"))
        assert served.run("do", "signup alice mad-hatter").returncode == 0
