"""Generations of a projection: written once, replaced at once, taken away in the end."""

import pytest
from redis import Redis

from infra.projections.generations import BusyError, Checkpoint, Generation, Generations
from infra.projections.query import Query
from infra.projections.specs import Spec
from infra.redis import keys, scripts
from tests.fakes.memory import memory_client

SPEC = Spec("lists", 3)
ENDS = (9, 9)


class Plain(Query):
    """Reads a projection that keeps one value."""

    spec = SPEC

    def value(self) -> bytes | None:
        found: bytes | None = self._client.get(self._generation().key("value"))
        return found


@pytest.fixture(params=["fakeredis", "valkey"])
def client(request: pytest.FixtureRequest) -> Redis:
    if request.param == "fakeredis":
        return memory_client()
    found: Redis = request.getfixturevalue("redis_client")
    return found


@pytest.fixture
def generations(client: Redis) -> Generations:
    return Generations(client, SPEC)


def at(*counts: int, **rest: object) -> Checkpoint:
    return Checkpoint(SPEC.version, counts, **rest)  # type: ignore[arg-type]


def write(client: Redis, generation: Generation, before: Checkpoint, after: Checkpoint) -> bytes:
    value = f"{before.counts}->{after.counts}"
    call = generation.change_call(before, after, [("SET", "value", value)])
    (reply,) = scripts.call_all(client, [call])
    assert isinstance(reply, bytes)
    return reply


def put_live(generations: Generations, client: Redis, *counts: int) -> Generation:
    """A live generation that has read so much."""
    generation = generations.begin("builder", 2)
    assert write(client, generation, at(0, 0), at(*counts)) == b"done"
    assert generations.promote(generation, at(*counts), ENDS, "builder")
    return generation


def test_a_change_is_made_from_the_checkpoint_that_was_read_and_from_no_other(
    generations: Generations, client: Redis
) -> None:
    generation = generations.begin("builder", 2)
    assert write(client, generation, at(0, 0), at(1, 2)) == b"done"
    assert generations.checkpoint(generation) == at(1, 2)
    assert write(client, generation, at(0, 0), at(5, 5)) == b"moved"
    assert write(client, generation, at(1, 2, late=True), at(5, 5)) == b"moved"
    assert client.get(generation.key("value")) == b"(0, 0)->(1, 2)"


def test_nothing_is_written_to_a_generation_that_was_taken_away(
    generations: Generations, client: Redis
) -> None:
    generation = generations.begin("builder", 2)
    generations.drop(generation, "builder")
    assert write(client, generation, at(0, 0), at(1, 2)) == b"moved"
    assert client.keys(generation.key("*")) == []


def test_a_command_may_have_many_arguments(generations: Generations, client: Redis) -> None:
    generation = generations.begin("builder", 2)
    words = [word for number in range(1_500) for word in (number, f"value {number}")]
    call = generation.change_call(
        at(0, 0), at(1, 0), [("HSET", "rows", *words), ("SET", "value", "x")]
    )
    assert scripts.call_all(client, [call]) == [b"done"]
    assert client.hlen(generation.key("rows")) == 1_500


def test_before_there_is_any_nothing_is_read(client: Redis, generations: Generations) -> None:
    assert generations.live() is None
    assert Plain(client).value() is None


def test_what_is_built_is_not_read_until_it_is_in_place(
    client: Redis, generations: Generations
) -> None:
    generation = generations.begin("builder", 2)
    write(client, generation, at(0, 0), at(1, 2))
    assert Plain(client).value() is None
    assert generations.promote(generation, at(1, 2), ENDS, "builder")
    assert Plain(client).value() == b"(0, 0)->(1, 2)"
    assert generations.live() == (3, generation)
    assert not generations.is_building


@pytest.mark.parametrize(
    ("counts", "last", "taken"),
    [
        ((5, 5), (9, 1, 1), True),
        ((6, 7), (9, 2, 1), True),
        ((4, 7), (9, 2, 1), False),
        ((6, 7), (8, 2, 1), False),
    ],
)
def test_only_what_has_read_as_much_takes_the_place(
    client: Redis,
    generations: Generations,
    counts: tuple[int, int],
    last: tuple[int, int, int],
    taken: bool,  # noqa: FBT001
) -> None:
    old = put_live(generations, client, 1, 1)
    write(client, old, at(1, 1), at(5, 5, last=(9, 1, 1)))
    new = generations.begin("builder", 2)
    write(client, new, at(0, 0), at(*counts, last=last))
    assert generations.promote(new, at(*counts, last=last), ENDS, "builder") is taken
    assert generations.live() == (3, new if taken else old)


def test_what_the_logs_have_lost_need_not_be_read(client: Redis, generations: Generations) -> None:
    put_live(generations, client, 7, 7)
    new = generations.begin("builder", 2)
    write(client, new, at(0, 0), at(6, 7))
    assert not generations.promote(new, at(6, 7), (7, 7), "builder")
    assert generations.promote(new, at(6, 7), (6, 7), "builder")


def test_an_order_that_is_broken_need_not_be_reached(
    client: Redis, generations: Generations
) -> None:
    old = put_live(generations, client, 1, 1)
    write(client, old, at(1, 1), at(1, 1, last=(9, 1, 1), late=True))
    new = generations.begin("builder", 2)
    write(client, new, at(0, 0), at(1, 1, last=(8, 1, 1)))
    assert generations.promote(new, at(1, 1, last=(8, 1, 1)), ENDS, "builder")


def test_a_builder_that_moved_on_or_is_not_known_puts_nothing_in_place(
    client: Redis, generations: Generations
) -> None:
    generation = generations.begin("builder", 2)
    write(client, generation, at(0, 0), at(1, 2))
    assert not generations.promote(generation, at(0, 0), ENDS, "builder")
    assert not generations.promote(generation, at(1, 2), ENDS, "another")
    assert generations.live() is None


def test_one_builds_at_a_time_and_gives_signs_of_life(
    client: Redis, generations: Generations
) -> None:
    generation = generations.begin("builder", 2)
    with pytest.raises(BusyError, match="lists are being rebuilt already"):
        generations.begin("another", 2)
    generations.renew("builder")
    client.delete(keys.projection("lists", "building"))  # as it is after its time
    with pytest.raises(BusyError, match="was silent for too long"):
        generations.renew("builder")
    other = generations.begin("another", 2)
    assert other.number == generation.number + 1
    with pytest.raises(BusyError, match="was silent for too long"):
        generations.renew("builder")


def test_who_begins_takes_away_what_others_left(client: Redis, generations: Generations) -> None:
    live = put_live(generations, client, 1, 1)
    left = generations.begin("killed", 2)
    write(client, left, at(0, 0), at(1, 1))
    client.delete(keys.projection("lists", "building"))
    client.set(keys.projection("lists", "an-old-form"), "x")
    generations.begin("builder", 2)
    assert not client.exists(left.checkpoint_key)
    assert 0 < client.ttl(left.key("value")) <= 60
    assert client.ttl(keys.projection("lists", "an-old-form")) > 0
    assert client.ttl(live.key("value")) == client.ttl(live.checkpoint_key) == -1
    assert client.ttl(keys.projection("lists", "live")) == -1


def test_a_generation_is_held_by_one_and_released_by_it(
    client: Redis, generations: Generations
) -> None:
    live = put_live(generations, client, 1, 1)
    generations.freeze(live, "one")
    assert write(client, live, at(1, 1), at(2, 2)) == b"held"
    with pytest.raises(BusyError, match="are being compared already"):
        generations.freeze(live, "another")
    generations.keep_frozen(live, "one")
    with pytest.raises(BusyError, match="could not be kept still"):
        generations.keep_frozen(live, "another")
    generations.unfreeze(live, "another")
    assert write(client, live, at(1, 1), at(2, 2)) == b"held"
    generations.unfreeze(live, "one")
    assert write(client, live, at(1, 1), at(2, 2)) == b"done"


def test_data_of_another_version_are_not_read(client: Redis, generations: Generations) -> None:
    put_live(generations, client, 1, 1)

    class Newer(Plain):
        spec = Spec("lists", 4)

    with pytest.raises(LookupError, match=r"lists are of version 3 .* which reads version 4"):
        Newer(client).value()


# the server's clock was set back: marks seem to last for hours

HOURS_SECONDS = 3_600


def test_a_builder_whose_mark_seems_to_last_stops_no_other(
    generations: Generations, client: Redis
) -> None:
    generations.begin("killed", 2)
    assert generations.is_building
    client.expire(keys.projection(SPEC.name, "building"), HOURS_SECONDS)
    assert not generations.is_building
    generations.begin("next", 2)
    with pytest.raises(BusyError):
        generations.begin("third", 2)


def test_a_hold_that_seems_to_last_holds_nothing(generations: Generations, client: Redis) -> None:
    generation = put_live(generations, client, 1, 1)
    generations.freeze(generation, "killed")
    assert write(client, generation, at(1, 1), at(2, 2)) == b"held"
    client.expire(generation.hold_key, HOURS_SECONDS)
    assert write(client, generation, at(1, 1), at(2, 2)) == b"done"
    generations.freeze(generation, "next")
    with pytest.raises(BusyError):
        generations.freeze(generation, "third")
