"""A sample of the tamper tests; `trials/tamper/run.py` makes as many as are asked for, and forgeries of one who knows it all."""

import logging
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from infra.valkey.server import EmbeddedServer
from trials.tamper.changes import FILES, RECORDS
from trials.tamper.run import STOPPED, TamperBench, tamper_bench
from trials.tamper.verdicts import forged_server, forgeries, make


@pytest.fixture(scope="module")
def bench() -> Iterator[TamperBench]:
    with tamper_bench() as bench:
        yield bench


# four of each kind are 104
@pytest.mark.parametrize("count", [6, pytest.param(104, marks=pytest.mark.long)])
def test_every_change_is_found(bench: TamperBench, count: int) -> None:
    assert bench.tampering.kinds == {*RECORDS, *FILES}
    found = {seed: bench.find(seed) for seed in range(count)}
    missed = {
        seed: one.change for seed, one in found.items() if not one.who or STOPPED in one.sentence
    }
    assert missed == {}
    assert len({one.change.kind for one in found.values()}) == min(
        len(bench.tampering.kinds), count
    )
    assert all(": " in one.sentence or "shard" in one.sentence for one in found.values())


@pytest.mark.parametrize(
    ("what", "who", "said"),
    [
        ("data", "gate", "because they were rolled back"),
        ("objects", "scrubber", "leaves are recorded as published, and the object store has a checkpoint of"),
        ("seeds", "scrubber", "seeds of shard 1: seeds up to number 2 of chain 1 are used"),
    ],
)  # fmt: skip
def test_what_was_rolled_back_as_a_whole_is_found(bench, what, who, said) -> None:
    found, sentence = bench.find_rolled_back(**{what: True})
    assert (found, said in sentence) == (who, True), sentence


SEEN_BY = {
    "match erased": {"verify", "verify --all"},
    "match substituted": {"verify", "verify --all", "scrubber"},
    "log changed": {"verify --all", "scrubber"},
    "published again": {"verify", "verify --all", "verify --mirror --key", "scrubber"},
    "outcome changed": {"verify", "verify --all", "scrubber"},
    "locator changed": {"verify", "verify --all", "scrubber"},
    "entry changed": {"scrubber"},
    "checkpoint changed": {"verify", "verify --all", "verify --mirror --key", "scrubber"},
}
"""The doors that find every forgery of a kind."""

ROUND = 34
"""So many forgeries have some of all kinds."""


@pytest.mark.long
def test_every_door_that_can_see_a_forgery_finds_it() -> None:
    with ExitStack() as stack:
        logging.disable(logging.WARNING)
        stack.callback(logging.disable, logging.NOTSET)
        place = Path(stack.enter_context(TemporaryDirectory()))
        with EmbeddedServer(place / "valkey") as valkey, valkey.client(blocking_timeout=5) as made:
            copy = make(made, valkey.url, place / "data")
        forged = stack.enter_context(forged_server(copy))
        usual = forged.verdicts(1)
        assert [name for name, said in usual.items() if "RAISED" in str(said)] == []
        found = dict.fromkeys(SEEN_BY, 0)
        for one in forgeries(forged, 2 * ROUND):
            kind, said = one["kind"], one["doors"]
            for door in SEEN_BY.get(kind, ()):
                holds = said[door][0] == "0" if door == "verify" else said[door] == usual[door]
                assert not holds, (one["seed"], kind, one["what"], door)
                found[kind] += 1
        assert min(found.values()) >= 2
        assert forged.verdicts(1) == usual
