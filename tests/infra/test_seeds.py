"""Chains of seeds: anchored before use, none twice, none skipped, none lost unnoticed."""

import itertools
from pathlib import Path

import pytest
from redis import Redis

from domain.fairness import CHAIN_LENGTH, earlier_seed, previous_seed
from domain.match.history import decode_anchor
from infra.durability.durability import Mode
from infra.redis import keys
from infra.store.layout import Layout
from infra.store.port import Store
from infra.store.redis_store import RedisStore
from infra.store.seed_chains import RETRY_SECONDS, ChainExhausted, LostSeedsError, SeedChains
from tests.fakes.memory_store import MemoryStore


@pytest.fixture(params=["memory", "valkey"])
def store(request: pytest.FixtureRequest) -> Store:
    made: Store = (
        MemoryStore()
        if request.param == "memory"
        else RedisStore(request.getfixturevalue("redis_client"), Mode.FSYNC)
    )
    made.create(Layout(shards=4, lanes=1))
    return made


def test_the_first_seed_hashes_to_an_anchor_that_is_a_leaf_already(
    store: Store, tmp_path: Path
) -> None:
    seed = SeedChains(store, tmp_path).next(2)
    assert (seed.chain, seed.k) == (1, 1)
    ((index, leaf),) = store.leaves(2, 0, 10)
    anchor = decode_anchor(leaf)
    assert (anchor.shard, anchor.chain, index) == (2, 1, store.anchor_index(2, 1))
    assert previous_seed(seed.seed) == anchor.anchor


def test_each_seed_hashes_to_the_one_before(store: Store, tmp_path: Path) -> None:
    seeds = SeedChains(store, tmp_path)
    found = [seeds.next(0)]
    for _ in range(600):
        found.append(seeds.next(0, found[-1]))
    assert [seed.k for seed in found] == list(range(1, 602))
    assert all(previous_seed(b.seed) == a.seed for a, b in itertools.pairwise(found))


def test_an_unused_seed_is_given_again(store: Store, tmp_path: Path) -> None:
    seeds = SeedChains(store, tmp_path)
    assert seeds.next(0) == seeds.next(0)


def test_another_process_with_the_same_folder_gives_the_same_seeds(
    store: Store, tmp_path: Path
) -> None:
    assert SeedChains(store, tmp_path).next(0) == SeedChains(store, tmp_path).next(0)


def test_secrets_are_for_their_owner_only_and_differ(store: Store, tmp_path: Path) -> None:
    seeds = SeedChains(store, tmp_path / "seeds")
    assert seeds.next(0).seed != seeds.next(1).seed
    files = list((tmp_path / "seeds").iterdir())
    assert {file.stat().st_mode & 0o777 for file in files} == {0o600}
    assert (tmp_path / "seeds").stat().st_mode & 0o777 == 0o700


def test_a_missing_secret_is_told_and_no_other_chain_is_begun(store: Store, tmp_path: Path) -> None:
    SeedChains(store, tmp_path / "here").next(0)
    with pytest.raises(LostSeedsError, match="is missing"):
        SeedChains(store, tmp_path / "elsewhere").next(0)
    drawn = store.seed_chain(0)
    assert drawn is not None
    assert drawn.chain == 1


def test_a_chain_can_be_anchored_once(store: Store, tmp_path: Path) -> None:
    SeedChains(store, tmp_path).next(0)
    assert not store.anchor(0, 1, bytes(32), b"leaf")
    assert not store.anchor(0, 3, bytes(32), b"leaf")
    assert len(store.leaves(0, 0, 10)) == 1


def test_a_used_up_chain_is_followed_by_the_next(redis_client: Redis, tmp_path: Path) -> None:
    store = RedisStore(redis_client, Mode.FSYNC)
    store.create(Layout(shards=4, lanes=1))
    seeds = SeedChains(store, tmp_path)
    first = seeds.next(0)
    redis_client.hset(keys.seed_chain(0), "k", CHAIN_LENGTH - 1)
    last = seeds.next(0)
    assert last.k == CHAIN_LENGTH
    assert earlier_seed(last.seed, CHAIN_LENGTH - 1) == first.seed
    with pytest.raises(ChainExhausted):
        seeds.next(0, last)
    redis_client.hset(keys.seed_chain(0), "k", CHAIN_LENGTH)
    following = seeds.next(0)
    assert (following.chain, following.k) == (2, 1)
    assert len(store.leaves(0, 0, 10)) == 2


def test_seeds_of_data_that_is_gone_are_not_used_again(redis_client: Redis, tmp_path: Path) -> None:
    store = RedisStore(redis_client, Mode.FSYNC)
    store.create(Layout(shards=4, lanes=1))
    revealed = SeedChains(store, tmp_path).next(0)
    redis_client.flushall()
    store.create(Layout(shards=4, lanes=1))
    assert SeedChains(store, tmp_path).next(0).seed != revealed.seed


def test_the_shards_whose_chain_can_t_be_gone_on_with_are_known(
    redis_client: Redis, tmp_path: Path
) -> None:
    store = RedisStore(redis_client, Mode.FSYNC)
    store.create(Layout(shards=4, lanes=1))
    mine, others = SeedChains(store, tmp_path / "mine"), SeedChains(store, tmp_path / "others")
    assert mine.lost_shards() == []
    mine.next(0)
    assert (mine.lost_shards(), others.lost_shards()) == ([], [0])


def test_seeds_that_are_back_are_found_and_their_loss_is_logged_once(
    redis_client: Redis, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store = RedisStore(redis_client, Mode.FSYNC)
    store.create(Layout(shards=4, lanes=1))
    SeedChains(store, tmp_path / "seeds").next(0)
    seeds = SeedChains(store, tmp_path / "other")
    for _ in range(3):
        with pytest.raises(LostSeedsError, match="is missing"):
            seeds.next(0)
    assert [record.levelname for record in caplog.records] == ["ERROR"]
    (tmp_path / "seeds").rename(tmp_path / "other")
    seeds._failures = {key: (at - RETRY_SECONDS, why) for key, (at, why) in seeds._failures.items()}
    assert seeds.next(0).k == 1
    assert [record.levelname for record in caplog.records] == ["ERROR", "WARNING"]
