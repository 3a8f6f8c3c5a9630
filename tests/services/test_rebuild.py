"""`matchpost rebuild`: made anew, or proven equal, while people play."""

import re
from pathlib import Path
from threading import Event, Thread

import pytest
from redis import Redis

from domain.match.commands import DeclineMatch, MakeOffer, PlayMove, ResignMatch
from infra.people.messages import MessageStore
from infra.projections.buckets import LISTS, RATINGS, SPECS, Bucket
from infra.projections.generations import EXPIRE_SECONDS, Generations
from infra.projections.match_lists import MatchLists
from infra.redis import keys
from infra.settings.settings import Settings
from infra.valkey.server import EmbeddedServer
from services.cli.rebuild import run
from services.cli.subcommands import PROJECTIONS
from tests.helpers.bench import Bench
from tests.helpers.given import ALICE, BOB
from tests.helpers.leaves import replace_leaf
from tests.helpers.messages import unread_chat
from tests.helpers.served import Served, all_play, matches, state_of, until
from tests.helpers.side import catch_up, contents, settle


@pytest.fixture
def settings(valkey: EmbeddedServer, tmp_path: Path) -> Settings:
    return Settings(data=tmp_path, redis_url=valkey.url)


@pytest.fixture
def bench(redis_client: Redis, tmp_path: Path) -> Bench:
    """Some matches, of which some have ended."""
    made = Bench(redis_client, tmp_path / "seeds")
    made.start(*range(1, 13))
    for board in (6, 9):  # without a move of each it would not be rated
        made.send(ALICE, PlayMove(text="m13-j7"), board)
        made.send(BOB, PlayMove(text="a13-c11"), board)
    for board in range(1, 13):
        order = [ResignMatch(), DeclineMatch(), MakeOffer(kind="draw")][board % 3]
        made.send((ALICE, BOB)[board % 2], order, board)
    made.drain()
    return made


def live(client: Redis) -> Bucket:
    found = Generations(client, LISTS).live()
    assert found is not None
    return found[1].bucket(0)


def test_the_names_on_the_command_line_are_those_of_the_projections() -> None:
    assert tuple(spec.name for spec in SPECS) == PROJECTIONS


def test_what_is_rebuilt_is_what_the_side_worker_makes(
    bench: Bench, settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    catch_up(bench.store, bench.client)
    before = contents(bench.client)
    assert run([], check=False, settings=settings) == 0
    assert contents(bench.client) == before
    said = capsys.readouterr()
    assert said.err == (
        "matchpost: no worker takes jobs from the queue matchpost-maintenance, so it runs here\n"
    )
    for name in PROJECTIONS:
        assert re.search(rf"^{name}: rebuilt from 36 leaves in \d+[.]\d s$", said.out, re.MULTILINE)


def test_a_rebuild_may_change_the_number_of_buckets(
    bench: Bench, settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    side = catch_up(bench.store, bench.client)
    rows = MatchLists(bench.client).rows(range(1, 13))
    assert run(["lists", "history"], check=False, settings=settings, buckets=4) == 0
    assert buckets_of(bench.client) == {"lists": 4, "history": 4}
    assert MatchLists(bench.client).rows(range(1, 13)) == rows
    bench.start(20)
    settle(side)
    assert run([], check=True, settings=settings) == 0
    # it stays as it is until another is asked for
    assert run(["lists", "ratings"], check=False, settings=settings) == 0
    assert buckets_of(bench.client) == {"lists": 4, "history": 4}
    assert run(["lists"], check=False, settings=settings, buckets=1) == 0
    assert buckets_of(bench.client) == {"history": 4}
    assert MatchLists(bench.client).rows(range(1, 13)) == rows
    assert run(["lists"], check=True, settings=settings, buckets=2) == 1
    assert "--check compares the buckets that there are" in capsys.readouterr().err


def buckets_of(client: Redis) -> dict[str, int]:
    """How many buckets the projections have that have several."""
    live = {spec.name: Generations(client, spec).live() for spec in SPECS}
    return {name: at[1].buckets for name, at in live.items() if at and at[1].buckets > 1}


def test_only_what_is_named_is_rebuilt(bench: Bench, settings: Settings) -> None:
    side = catch_up(bench.store, bench.client)
    assert run(["lists", "lists"], check=False, settings=settings) == 0
    numbers = {spec.name: Generations(bench.client, spec).live() for spec in SPECS}
    assert {name for name, at in numbers.items() if at and at[1].number > 1} == {"lists"}
    # the worker finds the new one when there is something to write
    bench.start(20)
    settle(side)
    assert MatchLists(bench.client).rows([20]) != [None]


def test_nobody_needs_a_side_worker_to_rebuild(bench: Bench, settings: Settings) -> None:
    assert run([], check=False, settings=settings) == 0
    made = contents(bench.client)
    bench.client.delete(*bench.client.keys("{p:*"))
    catch_up(bench.store, bench.client)
    assert contents(bench.client) == made


def test_what_is_replaced_can_be_read_for_a_while(bench: Bench, settings: Settings) -> None:
    catch_up(bench.store, bench.client)
    old = live(bench.client)
    assert run(["lists"], check=False, settings=settings) == 0
    assert live(bench.client) != old
    assert not bench.client.exists(old.checkpoint_key)
    assert 0 < bench.client.ttl(old.key("rows")) <= EXPIRE_SECONDS
    assert bench.client.ttl(live(bench.client).key("rows")) == -1


def test_a_damaged_list_is_found_and_mended(
    bench: Bench, settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    catch_up(bench.store, bench.client)
    bench.client.zadd(live(bench.client).key(f"active:{ALICE.hex()}"), {"pow2:99": 99})
    assert run(["lists", "history"], check=True, settings=settings) == 1
    said = capsys.readouterr().out
    assert f"lists: differs from a rebuild of 36 leaves, first at active:{ALICE.hex()}" in said
    assert "history: equal to a rebuild of 36 leaves" in said
    assert run(["lists"], check=False, settings=settings) == 0
    assert run([], check=True, settings=settings) == 0


@pytest.mark.parametrize("damage", ["field", "value", "missing", "more", "kind", "list", "score"])
def test_any_difference_is_found(
    bench: Bench, settings: Settings, capsys: pytest.CaptureFixture[str], damage: str
) -> None:
    catch_up(bench.store, bench.client)
    found = Generations(bench.client, RATINGS).live()
    assert found is not None
    bucket = found[1].bucket(0)
    players = bucket.key("players:pow2")
    table = bucket.key("table:pow2")
    series = bucket.key(f"series:pow2:{ALICE.hex()}")
    key = {
        "field": lambda: bench.client.hset(players, "x", "y") and players,
        "value": lambda: bench.client.hset(players, ALICE.hex(), "y") == 0 and players,
        "missing": lambda: bench.client.delete(table) and table,
        "more": lambda: more(bench.client, bucket),
        "kind": lambda: bench.client.delete(table) and bench.client.set(table, "x") and table,
        "list": lambda: bench.client.rpush(series, "x") and series,
        "score": lambda: bench.client.zincrby(table, 1, ALICE.hex()) and table,
    }[damage]()
    assert run(["ratings"], check=True, settings=settings) == 1
    assert f"first at {key.removeprefix(bucket.key(''))}; " in capsys.readouterr().out


def more(client: Redis, bucket: Bucket) -> str:
    """What a projection has written that no event asks for."""
    client.sadd(bucket.names_key, "more")
    client.set(bucket.key("more"), "x")
    return bucket.key("more")


def test_a_check_leaves_everything_as_it_was(bench: Bench, settings: Settings) -> None:
    catch_up(bench.store, bench.client)
    before = {key: bench.client.dump(key) for key in bench.client.keys("{p:*")}
    assert run([], check=True, settings=settings) == 0
    after = {key: bench.client.dump(key) for key in bench.client.keys("{p:*")}
    assert after == before


def test_a_check_compares_with_the_live_one_where_it_stands(
    bench: Bench, settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    catch_up(bench.store, bench.client)
    bench.start(20, 21)
    assert run([], check=True, settings=settings) == 0
    assert "ratings: equal to a rebuild of 36 leaves" in capsys.readouterr().out


def test_what_is_not_there_can_be_rebuilt_and_not_checked(bench: Bench, settings: Settings) -> None:
    del bench
    with pytest.raises(
        LookupError, match=r"lists of version \d+ are not there yet; the projection worker"
    ):
        run(["lists"], check=True, settings=settings)


def test_without_data_it_says_so(redis_client: Redis, settings: Settings) -> None:
    del redis_client
    with pytest.raises(LookupError, match="there is no data yet"):
        run([], check=False, settings=settings)


def test_two_at_once_are_refused_and_what_a_killed_one_left_is_taken_away(
    bench: Bench, settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    catch_up(bench.store, bench.client)
    left = Generations(bench.client, LISTS).begin("killed later", 4).bucket(0)
    bench.client.hset(left.key("rows"), "1", "x")
    bench.client.sadd(left.names_key, "rows")
    assert run(["history", "lists"], check=False, settings=settings) == 1
    busy = "the projection `lists` is being rebuilt already; wait for that"
    assert capsys.readouterr().err.count(busy) == 1
    assert run(["lists"], check=True, settings=settings) == 0, "a check writes nothing"
    # the other one that had begun was given up
    assert run(["history"], check=False, settings=settings) == 0
    bench.client.delete(keys.projection("lists", "building"))  # as it would be after its time
    assert run(["lists"], check=False, settings=settings) == 0
    assert not bench.client.exists(left.checkpoint_key)
    assert bench.client.ttl(left.key("rows")) > 0


@pytest.mark.parametrize("check", [False, True])
def test_a_leaf_that_can_not_be_taken_in_is_named(
    bench: Bench, settings: Settings, capsys: pytest.CaptureFixture[str], *, check: bool
) -> None:
    catch_up(bench.store, bench.client)
    before = live(bench.client)
    replace_leaf(bench.client, 2, bench.store.leaf_indexes(6)[1], b"\x98 what is no event")
    assert run(["lists"], check=check, settings=settings) == 1
    err = capsys.readouterr().err
    assert re.search(r"^matchpost: lists stop at leaf \d+ of shard 2: ", err, re.MULTILINE)
    assert live(bench.client) == before
    assert bench.client.keys("{p:lists}:building") == []
    assert bench.client.keys(f"{{p:lists:b0}}:{before.generation + 1}:*") == []


@pytest.mark.long
@pytest.mark.slow
def test_it_works_while_people_play(tmp_path: Path) -> None:
    with Served(tmp_path / "data") as served:
        until(lambda: served.run("doctor").returncode == 0)
        ended = Event()
        codes: list[int] = []

        def rebuild() -> None:
            while not ended.is_set():
                codes.append(served.run("rebuild", "lists", "ratings", "history").returncode)
                codes.append(served.run("rebuild", "--check").returncode)

        rebuilder = Thread(target=rebuild)
        rebuilder.start()
        played = matches(4, 120)
        _, threads = all_play(served, played)
        for thread in threads:
            thread.join()
        ended.set()
        rebuilder.join()
        assert len(codes) >= 2
        assert set(codes) == {0}
        with served.client() as client:
            for start, *_ in played:
                state = state_of(client, start.match)
                until(lambda board=start.match, seq=state.seq: seq_of(client, board) == seq)
        assert served.run("rebuild", "--check").returncode == 0


def seq_of(client: Redis, board: int) -> int:
    (row,) = MatchLists(client).rows([board])
    return row.seq if row else 0


def test_notices_of_letters_are_no_part_of_what_is_compared(
    bench: Bench, settings: Settings
) -> None:
    catch_up(bench.store, bench.client)
    bench.client.set(keys.account(BOB), b"a record")
    letters = MessageStore(bench.client, lambda: bench.store.layout().shards)
    letters.chat(1, ALICE, "hello", bytes(16), (ALICE, BOB))
    assert unread_chat(letters, BOB) == {1: 1}
    assert run([], check=True, settings=settings) == 0
    assert run([], check=False, settings=settings) == 0
    assert unread_chat(letters, BOB) == {1: 1}
