"""The feed: everything exactly once, whoever is killed, doubled, or fails."""

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any

import pytest
from redis import Redis

from infra.projections.buckets import LISTS, SPECS, Bucket, RedisWrite, Spec
from infra.projections.generations import Generations
from infra.projections.match_list_fold import MatchListsProjection
from infra.projections.match_lists import MatchLists
from infra.projections.projection import Fact, Projection
from infra.projections.ratings import RatingsProjection
from infra.projections.standings import StandingsProjection
from infra.valkey.server import EmbeddedServer
from tests.fakes.logs import ANCHOR, REFUSAL, Logs
from tests.helpers.given import ALICE, BOB, CAROL, ended, moved, offered, resigned, started, three
from tests.helpers.side import catch_up, contents, settle
from tests.helpers.steps import Steps, stepped_client
from workers.projections import PROJECTIONS
from workers.projections.worker import ProjectionWorker


@pytest.fixture
def logs() -> Logs:
    """Some matches in all shards, of which most have ended."""
    made = Logs()
    chance = random.Random(3)
    made.add_leaf(2, ANCHOR)
    for board in range(1, 31):
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


def test_every_projection_that_is_read_is_fed() -> None:
    assert [projection.spec for projection in PROJECTIONS] == list(SPECS)
    assert len({spec.name for spec in SPECS}) == len(SPECS)


def test_reading_goes_on_where_it_has_stopped(logs: Logs, shelf_client: Redis) -> None:
    catch_up(logs.store, shelf_client)
    for board in (31, 32):
        logs.add(board, 2_000, ALICE, started(), ended(1))
    catch_up(logs.store, shelf_client)
    piecemeal = contents(shelf_client)
    shelf_client.flushall()
    catch_up(logs.store, shelf_client)
    assert contents(shelf_client) == piecemeal


def test_a_round_without_news_changes_nothing(logs: Logs, shelf_client: Redis) -> None:
    side = catch_up(logs.store, shelf_client)
    before = contents(shelf_client)
    assert side.round() == 0
    assert contents(shelf_client) == before


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
def test_killed_between_any_two_commands_it_is_as_if_never_killed(
    logs: Logs, quick: EmbeddedServer, buckets: int
) -> None:
    wanted = expected(logs, quick, buckets)
    with quick.client() as plain:
        for client in at_each_command(quick, lambda _: die):
            with suppress(Gone):
                catch_up(logs.store, client, SOME, buckets=buckets)
            # who builds has to be silent for a while before another may
            for key in plain.scan_iter("{p:*}:building"):
                plain.delete(key)
            catch_up(logs.store, plain, SOME, buckets=buckets)
            assert contents(plain) == wanted


def test_another_worker_between_any_two_commands_does_no_harm(
    logs: Logs, quick: EmbeddedServer
) -> None:
    wanted = expected(logs, quick)
    others: list[ProjectionWorker] = []

    def another(server: Redis) -> Callable[[], object]:
        logs.shown, logs.mark = 10, 0
        others[:] = [ProjectionWorker(logs.store, server, SOME)]
        while others[0].round():
            pass
        logs.shown, logs.mark = 1_000, 1 << 50
        return others[0].round

    with quick.client() as plain:
        for client in at_each_command(quick, another):
            side = catch_up(logs.store, client, SOME)
            settle(others[0])
            settle(side)
            assert contents(plain) == wanted


def test_what_another_worker_has_made_anew_is_taken_over(logs: Logs, shelf_client: Redis) -> None:
    side = catch_up(logs.store, shelf_client, SOME)
    logs.add(50, 20, ALICE, started(), ended(0))  # belongs before others: this one is late
    while side.round():
        pass
    other = catch_up(logs.store, shelf_client, SOME)
    settle(side)
    logs.add(51, 5_000, ALICE, started(), ended(0))
    settle(side)
    wanted = contents(shelf_client)
    settle(other)
    assert contents(shelf_client) == wanted


def test_a_zombie_writes_nothing(logs: Logs, redis_client: Redis) -> None:
    side = catch_up(logs.store, redis_client)
    logs.add(50, 3_000, ALICE, started())
    catch_up(logs.store, redis_client)
    expected = contents(redis_client)
    # this one still believes it stands where it stood before
    settle(side)
    assert contents(redis_client) == expected


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
    assert live is not None
    return {int(board) for board in client.smembers(live[1].bucket(0).key("boards"))}


def test_what_one_projection_fails_at_stops_it_in_that_shard_and_no_other(
    logs: Logs, shelf_client: Redis, caplog: pytest.LogCaptureFixture
) -> None:
    failing = Failing()
    side = ProjectionWorker(logs.store, shelf_client, (*PROJECTIONS, failing))
    settle(side)
    failing.broken = {42}
    for board in (38, 42, 46, 43):
        logs.add(board, 3_000, ALICE, started())
    while side.round():
        pass
    assert {38, 43} <= seen(shelf_client)
    assert not {42, 46} & seen(shelf_client)
    assert MatchLists(shelf_client).rows([46])[0] is not None
    generations = Generations(shelf_client, failing.spec)
    live = generations.live()
    assert live is not None
    (stuck,) = generations.failures(live[1].bucket(0)).values()
    index = next(i for i, leaf in logs.leaves(2, 0, 1_000) if leaf == logs.events(42)[0])
    assert stuck.what == f"leaf {index} of shard 2"
    assert stuck.error == "ZeroDivisionError: as it was told to"
    assert caplog.text.count("ALARM") == 1
    assert "is tried again every 10 s" in caplog.text
    # with the mistake mended and the worker started again
    catch_up(logs.store, shelf_client, (*PROJECTIONS, Failing()))
    assert {42, 46} <= seen(shelf_client)
    assert generations.failures(live[1].bucket(0)) == {}


def test_a_leaf_that_fails_again_is_told_once(
    logs: Logs, shelf_client: Redis, caplog: pytest.LogCaptureFixture
) -> None:
    catch_up(logs.store, shelf_client, (Failing(),))
    logs.add(42, 3_000, ALICE, started())
    for _ in range(3):
        side = ProjectionWorker(logs.store, shelf_client, (Failing(42),))
        while side.round():
            pass
    assert caplog.text.count("ALARM") == 1


@pytest.mark.parametrize("garbage", [b"\x98\x01", b"\x98", b"", None])
def test_an_unreadable_leaf_stops_its_shard_and_no_other(
    logs: Logs, shelf_client: Redis, garbage: Any
) -> None:
    side = catch_up(logs.store, shelf_client)
    logs.add(42, 3_000, ALICE, started())
    good = logs.replace(2, -1, garbage)
    logs.add(46, 3_000, ALICE, started())
    logs.add(43, 3_000, ALICE, started())
    while side.round():
        pass
    lists = MatchLists(shelf_client)
    assert [row and row.board for row in lists.rows([42, 46, 43])] == [None, None, 43]
    assert side.has_work
    logs.replace(2, -2, good)
    catch_up(logs.store, shelf_client)
    assert [row and row.board for row in lists.rows([42, 46, 43])] == [42, 46, 43]


def test_an_unreadable_leaf_is_told_once_for_all_buckets_of_a_projection(
    logs: Logs, shelf_client: Redis, caplog: pytest.LogCaptureFixture
) -> None:
    side = catch_up(logs.store, shelf_client, SOME, buckets=4)
    logs.add(42, 3_000, ALICE, started())
    logs.replace(2, -1, b"\x98")
    while side.round():
        pass
    alarms = [one.getMessage() for one in caplog.records if "ALARM" in one.getMessage()]
    assert [text.split()[1] for text in alarms] == ["lists", "ratings", "standings"]
    for projection in SOME:
        generations = Generations(shelf_client, projection.spec)
        live = generations.live()
        assert live is not None
        assert [list(generations.failures(one)) for one in live[1].all] == [["2"]] * 4


def test_an_event_out_of_sequence_is_not_taken_in(logs: Logs, shelf_client: Redis) -> None:
    side = catch_up(logs.store, shelf_client)
    logs.add(42, 3_000, ALICE, started(), moved(1, 0, 1), moved(2, 1, 0))
    lost = logs.replace(2, -2, REFUSAL)
    while side.round():
        pass
    (row,) = MatchLists(shelf_client).rows([42])
    assert row is not None
    assert row.seq == 1
    logs.replace(2, -2, lost)


def test_a_key_of_another_type_stops_its_projection_and_no_other(
    logs: Logs, shelf_client: Redis
) -> None:
    side = catch_up(logs.store, shelf_client)
    live = Generations(shelf_client, LISTS).live()
    assert live is not None
    shelf_client.set(live[1].bucket(0).key("rows"), "what an operator's hand has left")
    logs.add(42, 3_000, ALICE, started(), ended(0))
    while side.round():
        pass
    side.save()
    assert list(Generations(shelf_client, LISTS).failures(live[1].bucket(0))) == ["2"]
    others = {key: value for key, value in contents(shelf_client).items() if "lists:" not in key}
    shelf_client.flushall()
    catch_up(logs.store, shelf_client)
    whole = contents(shelf_client)
    assert others == {key: value for key, value in whole.items() if "lists:" not in key}


def test_a_held_generation_does_not_change_until_it_is_released(
    logs: Logs, shelf_client: Redis
) -> None:
    side = catch_up(logs.store, shelf_client)
    generations = Generations(shelf_client, LISTS)
    live = generations.live()
    assert live is not None
    generations.freeze(live[1], "token")
    logs.add(42, 3_000, ALICE, started())
    while side.round():
        pass
    assert MatchLists(shelf_client).rows([42]) == [None]
    generations.unfreeze(live[1], "another token")
    assert shelf_client.exists(live[1].bucket(0).hold_key)
    generations.unfreeze(live[1], "token")
    settle(side)
    assert MatchLists(shelf_client).rows([42]) != [None]
