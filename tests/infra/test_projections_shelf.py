"""Generations of a projection: written once, replaced at once, taken away in the end."""

import random
from collections.abc import Iterator

import pytest
from redis import Redis

from infra.projections import generations as module
from infra.projections.buckets import Bucket, Checkpoint, Spec, make_changes
from infra.projections.generations import BusyError, Generation, Generations, Query
from infra.redis import keys

SPEC = Spec("lists", 3)
ENDS = (9, 9)
BUCKETS = 3
HOURS_SECONDS = 3_600


class Plain(Query):
    """Reads a projection that keeps one value."""

    spec = SPEC

    def value(self) -> bytes | None:
        found: bytes | None = self._client.get(self._generation().bucket(0).key("value"))
        return found


@pytest.fixture
def generations(client: Redis) -> Generations:
    return Generations(client, SPEC)


def at(*counts: int, **rest: object) -> Checkpoint:
    return Checkpoint(SPEC.version, counts, **rest)  # type: ignore[arg-type]


def write(client: Redis, generation: Generation, before: Checkpoint, after: Checkpoint) -> bytes:
    """Have all buckets of a generation go on; gives the answer of each, or the one of all."""
    value = f"{before.counts}->{after.counts}"
    calls = [one.change_call(before, after, [("SET", "value", value)]) for one in generation.all]
    (reply,) = set(make_changes(client, calls))
    assert isinstance(reply, bytes)
    return reply


def promote(
    generations: Generations,
    generation: Generation,
    stand: Checkpoint,
    ends: tuple[int, int] = ENDS,
    token: str = "builder",
) -> bool:
    """Put a generation in place, all buckets of which stand there."""
    return generations.promote(generation, [stand] * generation.buckets, ends, token)


def building(
    client: Redis, generations: Generations, *counts: int, token: str = "builder"
) -> Generation:
    """A generation that is built, and has read so much."""
    generation = generations.begin(token, 2, BUCKETS)
    assert write(client, generation, at(0, 0), at(*counts)) == b"done"
    return generation


def put_live(generations: Generations, client: Redis, *counts: int) -> Generation:
    """A live generation that has read so much."""
    generation = building(client, generations, *counts)
    assert promote(generations, generation, at(*counts))
    return generation


BUILDING = keys.projection(SPEC.name, "building")
"""The key of the mark of who builds."""


def test_a_change_is_made_from_the_checkpoint_that_was_read_and_from_no_other(generations, client):
    generation = building(client, generations, 1, 2)
    assert generations.checkpoints(generation) == [at(1, 2)] * BUCKETS
    assert write(client, generation, at(0, 0), at(5, 5)) == b"moved"
    assert write(client, generation, at(1, 2, late=True), at(5, 5)) == b"moved"
    assert client.get(generation.bucket(0).key("value")) == b"(0, 0)->(1, 2)"
    words = [word for number in range(1_500) for word in (number, f"value {number}")]
    call = generation.bucket(1).change_call(
        at(1, 2), at(2, 2), [("HSET", "rows", *words), ("SET", "value", "x")]
    )
    assert make_changes(client, [call]) == [b"done"]
    assert client.hlen(generation.bucket(1).key("rows")) == 1_500
    generations.drop(generation, "builder")
    assert write(client, generation, at(0, 0), at(1, 2)) == b"moved"


def test_what_is_built_is_not_read_until_it_is_in_place(client, generations):
    assert generations.live() is None
    assert Plain(client).value() is None
    generation = building(client, generations, 1, 2)
    assert Plain(client).value() is None
    assert not promote(generations, generation, at(1, 2), token="another")
    assert generations.live() is None
    assert promote(generations, generation, at(1, 2))
    assert Plain(client).value() == b"(0, 0)->(1, 2)"
    assert generations.live() == (3, generation)
    assert not generations.is_building

    class Newer(Plain):
        spec = Spec("lists", 4)

    sentence = r"the projection `lists` has version 3 .* which reads version 4"
    with pytest.raises(LookupError, match=sentence):
        Newer(client).value()


@pytest.mark.parametrize(
    ("counts", "ends", "waiting", "taken"),
    [
        ((5, 5), ENDS, (), True),
        ((6, 7), ENDS, ((9, 1, 2), (9, 2, 1)), True),
        ((4, 7), ENDS, (), False),
        ((4, 7), (4, 9), (), True),  # the log has lost leaves
        ((6, 7), ENDS, ((9, 1, 2), (9, 1, 1)), False),
        ((6, 7), ENDS, ((8, 2, 1),), False),
    ],
)
def test_only_what_has_read_as_much_takes_the_place_for_its_builder(
    client, generations, counts, ends, waiting, taken
):
    old = put_live(generations, client, 1, 1)
    write(client, old, at(1, 1), at(5, 5, last=(9, 1, 1)))
    new = building(client, generations, *counts)
    for score, board, seq in waiting:
        client.zadd(new.bucket(1).key("pending"), {f"{board:015}:{seq:010}|x": score})
    assert not promote(generations, new, at(*counts), ends, "another")
    assert write(client, old, at(5, 5, last=(9, 1, 1)), at(5, 5, last=(9, 1, 1))) == b"done"
    assert promote(generations, new, at(*counts), ends) is taken
    assert generations.live() == (3, new if taken else old)


def test_one_builds_at_a_time_and_gives_signs_of_life(client, generations):
    generation = generations.begin("builder", 2, BUCKETS)
    with pytest.raises(BusyError, match="the projection `lists` is being rebuilt already"):
        generations.begin("another", 2)
    generations.renew("builder")
    client.delete(BUILDING)  # as it is after its time
    with pytest.raises(BusyError, match="was silent for too long"):
        generations.renew("builder")
    other = generations.begin("another", 2)
    assert other.number == generation.number + 1
    with pytest.raises(BusyError, match="was silent for too long"):
        generations.renew("builder")
    # the server's clock was set back: the mark seems to last for hours
    assert generations.is_building
    client.expire(BUILDING, HOURS_SECONDS)
    assert not generations.is_building
    generations.begin("next", 2)
    with pytest.raises(BusyError):
        generations.begin("third", 2)


def test_who_begins_takes_away_what_others_left(client, generations):
    live = put_live(generations, client, 1, 1)
    left = building(client, generations, 1, 1, token="killed")
    client.delete(BUILDING)
    new = generations.begin("builder", 2, BUCKETS)
    for bucket in left.all:
        assert not client.exists(bucket.checkpoint_key)
        assert 0 < client.ttl(bucket.key("value")) <= 60
        assert 0 < client.ttl(bucket.names_key) <= 60
    for bucket in live.all:
        assert client.ttl(bucket.key("value")) == client.ttl(bucket.checkpoint_key) == -1
    assert client.ttl(keys.projection("lists", "live")) == -1
    assert {one.number for one in generations.stored()} == {live.number, new.number}


def test_a_generation_is_held_by_one_and_released_by_it(client, generations):
    live = put_live(generations, client, 1, 1)
    generations.freeze(live, "one")
    assert write(client, live, at(1, 1), at(2, 2)) == b"held"
    with pytest.raises(BusyError, match="are being replaced already"):
        generations.freeze(live, "another")
    generations.unfreeze(live, "another")
    assert write(client, live, at(1, 1), at(2, 2)) == b"held"
    new = building(client, generations, 1, 1)
    assert not promote(generations, new, at(1, 1)), "another process replaces what is live"
    # a hold that seems to last for hours, because a clock was set back, holds nothing
    client.expire(live.bucket(0).hold_key, HOURS_SECONDS)
    client.delete(*(bucket.hold_key for bucket in live.all[1:]))
    assert write(client, live, at(1, 1), at(2, 2)) == b"done"
    generations.freeze(live, "next")
    with pytest.raises(BusyError):
        generations.freeze(live, "third")
    generations.unfreeze(live, "next")
    assert write(client, live, at(2, 2), at(3, 3)) == b"done"
    write(client, new, at(1, 1), at(3, 3))
    assert promote(generations, new, at(3, 3))


def scans(client: Redis) -> int:
    """Calls of the commands that go through all keys."""
    found = client.info("commandstats")
    return sum(found.get(f"cmdstat_{name}", {"calls": 0})["calls"] for name in ("scan", "keys"))


def test_a_generation_is_made_replaced_and_deleted_without_looking_at_other_keys(redis_client):
    generations = Generations(redis_client, SPEC)
    for start in range(0, 50_000, 5_000):
        redis_client.mset({f"{{s01}}:m:{n}": "x" for n in range(start, start + 5_000)})
    before = scans(redis_client)
    old = put_live(generations, redis_client, 1, 1)
    new = put_live(generations, redis_client, 1, 1)
    dropped = building(redis_client, generations, 1, 1)
    generations.drop(dropped, "builder")
    assert scans(redis_client) == before
    assert all(0 < redis_client.ttl(one.key("value")) <= 60 for one in old.all)
    assert all(redis_client.ttl(one.key("value")) == -1 for one in new.all)
    assert not redis_client.exists(*(one.key("value") for one in dropped.all))
    assert generations.stored() == [new]
    assert not generations.is_building


class Pausing(Generations):
    """Generations whose deletion takes long: the mark is nearly over before each page, or gone."""

    lost = False

    def keys_of(self, bucket: Bucket) -> Iterator[list[str]]:
        for names in super().keys_of(bucket):
            self._client.pexpire(BUILDING, 0 if self.lost else 1_000)
            yield names


def test_the_mark_of_a_builder_is_renewed_while_it_deletes_and_without_it_nothing_begins(
    client, monkeypatch
):
    generations = Pausing(client, SPEC)
    with monkeypatch.context() as patched:
        patched.setattr(module, "RENEW_SECONDS", 0.0)
        building(client, generations, 1, 1, token="killed")
        client.delete(BUILDING)
        generations.begin("builder", 2, BUCKETS)
        assert client.pttl(BUILDING) > 20_000
        client.delete(BUILDING)
        left = building(client, generations, 1, 1, token="killed too")
        client.delete(BUILDING)
    generations.lost = True
    with pytest.raises(BusyError, match="was silent for too long"):
        generations.begin("builder", 2, BUCKETS)
    assert generations.stored() == [left]


@pytest.mark.parametrize("buckets", [1, 3])
def test_a_part_of_a_list_that_is_divided_by_board_is_read_without_what_is_before_it(
    redis_client, buckets
):
    generation = Generation(SPEC.name, 1, buckets)
    chance = random.Random(buckets)
    boards = sorted(chance.sample(range(1, 1_000_000), 5_000), reverse=True)
    with redis_client.pipeline(transaction=False) as pipe:
        for board in boards:
            pipe.zadd(generation.of(board).key("open:pow2"), {f"pow2:{board}": board})
        pipe.execute()
    members = [b"pow2:%d" % board for board in boards]
    query = Plain(redis_client)

    def used() -> list[int]:
        stats = redis_client.info("stats")
        return [stats[f"total_{name}"] for name in ("commands_processed", "net_output_bytes")]

    for start in (0, 1, 499, 2_500, 4_990, 4_999, 5_000, 9_000, *chance.sample(range(5_000), 9)):
        before = used()
        assert query._greatest(generation, "open:pow2", start, 50) == members[start : start + 50]
        commands, sent = (now - then for now, then in zip(used(), before, strict=True))
        assert commands <= 2 + buckets * (1 if buckets == 1 else 22)
        assert commands <= 2 + buckets or start > 450
        assert sent < 60_000  # all members are three times as much
