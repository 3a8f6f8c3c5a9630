"""Buckets: each has its own fold, wherever the others are; together they answer as one does."""

import random
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from redis import Redis

from infra.projections.buckets import LISTS, SPECS, Bucket, ProjectionFailure, bucket_of
from infra.projections.finished_matches import FinishedMatches
from infra.projections.generations import Generations
from infra.projections.head_to_head import HeadToHeadQuery
from infra.projections.lag import lag
from infra.projections.leaderboards import Leaderboards
from infra.projections.match_list_fold import MatchListsProjection
from infra.projections.match_lists import MatchFilter, MatchLists
from infra.projections.notices import MatchNotices
from infra.projections.ratings import RatingsQuery
from infra.projections.standings import StandingsQuery
from infra.redis.reads import read_one
from infra.valkey.server import EmbeddedServer
from tests.fakes.logs import ANCHOR, Logs
from tests.helpers.given import ALICE, BOB, moved, started
from tests.helpers.side import catch_up, contents, settle
from tests.workers.random_matches import GAMES, PLAYERS, Chance
from workers.projections import PROJECTIONS, feed, log_reader
from workers.projections.verify import ProjectionVerifier
from workers.projections.worker import BucketGroup, ProjectionWorker

SEVERAL = 5


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedServer]:
    """A server that syncs nothing."""
    with EmbeddedServer(tmp_path_factory.mktemp("quick"), durable=False) as server:
        yield server


@pytest.fixture
def client(quick: EmbeddedServer) -> Iterator[Redis]:
    with quick.client() as found:
        found.flushall()
        yield found


def whole(client: Redis, seed: int, buckets: int) -> tuple[dict[str, object], list[object]]:
    """What one worker makes of everything in one go: the data, and the answers."""
    life = Chance(seed)
    while life.go_on():
        pass
    catch_up(life.logs.store, client, buckets=buckets)
    found = contents(client), answers(client)
    client.flushall()
    return found


def answers(client: Redis) -> list[object]:
    """The answer to every query, of everybody and every game."""
    lists, notices, history = MatchLists(client), MatchNotices(client), FinishedMatches(client)
    standings, pairs = StandingsQuery(client), HeadToHeadQuery(client)
    ratings = RatingsQuery(client)
    found: list[object] = [lists.rows(range(30)), history.rows(range(30))]
    for game in GAMES:
        found += [lists.playing(game), lists.playing(game, 1, 2), lists.count_playing(game)]
        found += [history.of(game), history.of(game, start=1, count=3), history.count(game)]
        found += [standings.of(game), standings.count(game), ratings.of(game), ratings.count(game)]
        found += [Leaderboards(client).best(game)]
    for who in PLAYERS:
        found += [lists.of(who, state) for state in MatchFilter]
        found += [lists.waiting(who), lists.others(who), lists.counts(who)]
        found += [notices.of(who)]
        found += [read_one(client, notices.since(who, (0, 0, 0, "")))]
        found += [standings.refused(who)]
        for game in GAMES:
            found += [lists.of(who, game=game, start=1, count=3), standings.player(game, who)]
            found += [history.of(game, who, start=1), history.count(game, who)]
            found += [ratings.player(game, who), ratings.place(game, who)]
            found += [ratings.series(game, who)]
            for other in PLAYERS:
                found += [history.of(game, who, other), history.count(game, who, other)]
                found += [pairs.of(game, who, other)] if who != other else []
    return found


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few leaves are read at a time, and few are kept to oneself."""
    monkeypatch.setattr(log_reader, "BATCH", 9)
    monkeypatch.setattr(feed, "BATCH", 9)


def test_an_owner_has_the_same_bucket_in_every_process_and_version() -> None:
    owners = (1, 77, b"77", "pow2", "line --size=6")
    assert [bucket_of(owner, 1) for owner in owners] == [0] * 5
    assert [bucket_of(owner, 64) for owner in owners] == [55, 4, 4, 44, 11]


@pytest.mark.parametrize("seed", range(3))
def test_several_buckets_answer_as_one_does(client: Redis, seed: int) -> None:
    data, wanted = whole(client, seed, 1)
    parts, found = whole(client, seed, SEVERAL)
    assert found == wanted
    assert len(parts) > len(data)
    assert {key.split(":")[1] for key in parts} == {f"b{number}" for number in range(SEVERAL)}


@pytest.mark.long
@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("buckets", [1, SEVERAL])
@pytest.mark.parametrize("seed", range(6))
def test_buckets_that_are_fed_in_pieces_hold_what_one_reading_gives(
    client: Redis, seed: int, buckets: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted, expected = whole(client, seed, buckets)
    life, chance = Chance(seed), random.Random(seed)
    catch_up(life.logs.store, client, buckets=buckets)
    places = set()
    while life.go_on():
        if chance.random() < 0.3:
            work_for_a_while(chance, life.logs, client, monkeypatch)
            places.add(positions(client))
    settle_all(life.logs, client)
    assert contents(client) == wanted
    assert answers(client) == expected
    assert unknown_keys(client) == set()
    if buckets > 1:
        # in most of these times the buckets stood at different places
        assert sum(len(set(found)) > 1 for found in places) > len(places) / 2


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
        assert live is not None
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


def positions(client: Redis) -> tuple[int, ...]:
    """How far the buckets of the lists have read."""
    generations = Generations(client, LISTS)
    live = generations.live()
    assert live is not None
    return tuple(sum(one.counts) for one in generations.checkpoints(live[1]) if one)


@pytest.mark.parametrize("buckets", [1, SEVERAL])
def test_a_rebuild_goes_over_all_buckets_and_finds_them_equal(
    client: Redis, buckets: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    life, chance = Chance(1), random.Random(1)
    catch_up(life.logs.store, client, buckets=buckets)
    while life.go_on():
        work_for_a_while(chance, life.logs, client, monkeypatch)
    for projection in PROJECTIONS:
        result = ProjectionVerifier(life.logs.store, client, projection).run()
        assert result.difference == ""
    for spec in SPECS:
        assert len(Generations(client, spec).stored()) == 1


def test_a_difference_in_any_bucket_is_found(client: Redis) -> None:
    life = Chance(1)
    while life.go_on():
        pass
    catch_up(life.logs.store, client, buckets=SEVERAL)
    live = Generations(client, LISTS).live()
    assert live is not None
    for bucket in live[1].all:
        (field, row) = next(iter(client.hgetall(bucket.key("rows")).items()))
        client.hset(bucket.key("rows"), field, b"x")
        found = ProjectionVerifier(life.logs.store, client, MatchListsProjection()).run()
        assert found.difference == "rows"
        client.hset(bucket.key("rows"), field, row)


class Recorded(MatchListsProjection):
    """Notes which buckets fold."""

    def __init__(self) -> None:
        self.folded: list[int] = []

    def fold(self, facts: Sequence[Any], found: Sequence[Any], bucket: Bucket) -> Any:
        self.folded.append(bucket.number)
        return super().fold(facts, found, bucket)


def test_a_move_is_written_in_the_buckets_that_it_changes_and_in_no_other(
    redis_client: Redis,
) -> None:
    logs, lists = Logs(), Recorded()
    logs.add(1, 100, ALICE, started(), moved(1, 0, 1))
    projections = [lists if one.spec is LISTS else one for one in PROJECTIONS]
    side = catch_up(logs.store, redis_client, projections, buckets=SEVERAL)
    concerned = {bucket_of(owner, SEVERAL) for owner in (1, ALICE, BOB)}
    told = bucket_of(ALICE, SEVERAL)
    lists.folded.clear()
    before = evalshas(redis_client)
    logs.add(1, 200, BOB, moved(2, 1, 0))
    while side.round():
        pass
    assert sorted(lists.folded) == sorted(concerned)
    # with the notice of alice
    assert evalshas(redis_client) - before == 1
    checkpoints = Generations(redis_client, LISTS)
    live = checkpoints.live()
    assert live is not None
    counts = [sum(one.counts) for one in checkpoints.checkpoints(live[1]) if one]
    assert [number for number in range(SEVERAL) if counts[number] == 3] == sorted(concerned)
    assert told in concerned


def evalshas(client: Redis) -> int:
    return int(client.info("commandstats")["cmdstat_evalsha"]["calls"])


def test_the_lag_is_that_of_the_last_bucket(client: Redis) -> None:
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
    assert live is not None
    generations.note_failure(live[1].bucket(3), "2", ProjectionFailure("leaf 7", 1, "x"))
    generations.note_failure(live[1].bucket(4), "2", ProjectionFailure("leaf 7", 1, "x"))
    assert [one.what for one in lag(logs.store, client, LISTS).failures] == ["leaf 7"]


def test_leaves_that_change_nothing_are_counted_in_the_end(
    shelf_client: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workers.projections.feed.SAVE_LEAVES", 3)
    logs = Logs()
    side = catch_up(logs.store, shelf_client)
    for count, stored in ((1, 0), (2, 0), (3, 3), (4, 3)):
        logs.add_leaf(2, ANCHOR)
        side.round()
        assert positions(shelf_client) == (stored,), count
    side.save()
    assert positions(shelf_client) == (4,)


def test_leaves_that_change_nothing_are_counted_after_some_seconds(
    shelf_client: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    logs = Logs()
    side = catch_up(logs.store, shelf_client)
    logs.add_leaf(2, ANCHOR)
    side.round()
    assert positions(shelf_client) == (0,)
    monkeypatch.setattr("workers.projections.feed.Track.due_seconds", 0.0)
    side.round()
    assert positions(shelf_client) == (1,)
