"""A sample of the tamper tests; `trials/tamper/run.py` makes as many as are asked for."""

from collections.abc import Iterator

import pytest

from trials.tamper.changes import FILES, RECORDS
from trials.tamper.run import STOPPED, TamperBench, tamper_bench

SAMPLE = 104
"""Four of each kind."""


@pytest.fixture(scope="module")
def bench() -> Iterator[TamperBench]:
    with tamper_bench() as bench:
        yield bench


def test_there_is_something_of_every_kind_to_change(bench: TamperBench) -> None:
    assert bench.tampering.kinds == {*RECORDS, *FILES}


@pytest.mark.parametrize("count", [6, pytest.param(SAMPLE, marks=pytest.mark.long)])
def test_every_change_is_found(bench: TamperBench, count: int) -> None:
    found = {seed: bench.find(seed) for seed in range(count)}
    missed = {
        seed: one.change for seed, one in found.items() if not one.who or STOPPED in one.sentence
    }
    assert missed == {}
    kinds = {one.change.kind for one in found.values()}
    assert kinds <= bench.tampering.kinds
    assert len(kinds) == min(len(bench.tampering.kinds), count)
    assert all(": " in one.sentence or "shard" in one.sentence for one in found.values())


def test_all_of_redis_rolled_back_is_found_by_the_gate(bench: TamperBench) -> None:
    who, sentence = bench.find_rolled_back(data=True)
    assert who == "gate"
    assert "because they were rolled back" in sentence


def test_the_object_store_rolled_back_is_found_by_the_scrubber(bench: TamperBench) -> None:
    who, sentence = bench.find_rolled_back(objects=True)
    assert who == "scrubber"
    assert "leaves are recorded as published, and the object store has a checkpoint of" in sentence


def test_seeds_rolled_back_are_found_by_the_scrubber(bench: TamperBench) -> None:
    who, sentence = bench.find_rolled_back(seeds=True)
    assert who == "scrubber"
    assert sentence.startswith("seeds of shard 1: seeds up to number 2 of chain 1 are used")
