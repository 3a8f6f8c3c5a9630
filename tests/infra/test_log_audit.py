"""The audit of a shard's log: leaves beside the published ones, and counters beside the leaves."""

import pytest
from redis import Redis

from domain.match.history import AnchorLeaf, encode_event
from infra.audit.leaf_order import LeafFacts
from infra.audit.log import audit_page, counter_faults, first_difference
from infra.durability.durability import Mode
from infra.redis import keys
from infra.store.layout import Layout
from infra.store.redis_store import RedisStore

SHARD, SHARDS = 1, 4


@pytest.mark.parametrize(
    ("rows", "first"),
    [
        ([(4, b"e"), (5, b"f"), (6, b"g")], None),
        ([(3, b"any"), (4, b"e")], None),
        ([(4, b"e"), (5, b"other"), (6, b"g")], 5),
        ([(6, b"other"), (7, b"not published")], 6),
        ([], None),
    ],
)
def test_the_first_leaf_that_is_not_the_published_one_is_found(rows, first):
    assert first_difference(rows, [b"e", b"f", b"g"], 4) == first


def test_a_page_of_the_log_is_compared_leaf_by_leaf(redis_client: Redis):
    for id_, fields in (
        ("2-1", {"l": b"c"}),
        ("3-1", {"l": b"other"}),
        ("5-1", {"x": b"f"}),
        ("6-1", {"l": b"g"}),
        ("6-7", {"l": b"one more"}),
        ("8-1", {"l": b"i"}),
    ):
        redis_client.xadd(keys.log(SHARD), fields, id_)  # type: ignore[arg-type]
    published = {index: b"%c" % (ord("a") + index) for index in range(7)}
    found = audit_page(redis_client, SHARD, range(8), published, 7)
    assert dict(found.leaves) == {2: b"c", 3: b"other", 6: b"g"}
    assert found.faults == [
        "leaf 3 is another one than the published leaf, which is signed",
        "leaf 5 in the data can't be read: {b'x': b'f'}",
        "the data have an entry 6-7, which is no leaf",
        "leaf 4 is missing in the data, and is published",
        "leaf 7 is missing",
    ]


def test_what_is_not_published_is_not_trimmed_either(redis_client: Redis):
    redis_client.xadd(keys.log(SHARD), {"l": b"c"}, "2-1")
    assert audit_page(redis_client, SHARD, range(3), {}, 1).faults == ["leaf 1 is missing"]


def test_counters_that_can_not_be_read_are_named(redis_client: Redis):
    store = RedisStore(redis_client, Mode.NONE)
    store.create(Layout(SHARDS, 1))
    facts = LeafFacts(SHARD, SHARDS)
    facts.add(0, encode_event(AnchorLeaf(1, SHARD, 1, bytes(32))))
    fields = {"chain": "1", "k": "0", "anchor": bytes(32).hex(), "index:1": "0"}
    redis_client.hset(keys.seed_chain(SHARD), mapping=fields)
    assert list(counter_faults(redis_client, store, facts)) == []
    redis_client.hset(keys.seed_chain(SHARD), "anchor", bytes(range(32)).hex())
    (other,) = counter_faults(redis_client, store, facts)
    assert other.sentence == "the anchor of chain 1 of shard 1 is another than in leaf 0"
    redis_client.hset(keys.seed_chain(SHARD), "k", "no number")
    (unread,) = counter_faults(redis_client, store, facts)
    assert unread.sentence.startswith("the counters of shard 1 can't be read: ValueError(")
