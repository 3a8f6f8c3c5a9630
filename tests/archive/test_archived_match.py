"""Matches made again from their directory entries and leaves, in every game and with every kind of end."""

from collections.abc import Iterator

import pytest
from msgspec.structs import replace

from infra.archive.archive import ArchivedMatch, ArchiveError, describe, require_same, restore
from infra.archive.directory_pages import DirectoryEntry
from infra.store import locators
from infra.store.port import Store
from infra.valkey.server import EmbeddedServer
from tests.helpers.bench import Bench
from tests.helpers.corpus import Corpus
from workers.projections.log_reader import LogReader


def stored(store: Store, board: int) -> ArchivedMatch:
    (snapshot,) = store.snapshots([board])
    assert snapshot is not None
    return ArchivedMatch(
        snapshot, store.events(board), store.outcomes(board), store.leaf_indexes(board)
    )


def leaves_of(store: Store, board: int) -> list[bytes]:
    found = store.leaves_at(store.layout().shard_of(board), store.leaf_indexes(board))
    leaves = [leaf for leaf in found if leaf is not None]
    assert len(leaves) == len(found)
    return leaves


@pytest.fixture(scope="module")
def bench(valkey: EmbeddedServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    with valkey.client() as client:
        client.flushall()
        made = Bench(client, tmp_path_factory.mktemp("seeds"))
        corpus = Corpus(made, seed=3, matches=80)
        while corpus.leaves() < 2_500:
            corpus.step()
        yield made


@pytest.fixture(scope="module")
def over(bench: Bench) -> list[int]:
    boards = [board for shard in range(4) for board in bench.store.ended_boards(shard, 1 << 50, 80)]
    assert len(boards) > 30
    return boards


@pytest.mark.long
def test_every_match_that_is_over_is_made_again_from_its_entry_and_leaves(bench, over):
    refused = 0
    for board in over:
        match = stored(bench.store, board)
        entry = describe(board, match)
        again = restore(entry, leaves_of(bench.store, board))
        require_same(board, match, again)
        assert dict(again.outcomes) == dict(match.outcomes)
        refused += len(entry.refusals)
    assert refused > 20


def test_an_entry_has_the_result_that_projections_fold(bench, over):
    reader, position, found = LogReader(bench.store), (0,) * 4, {}
    while (chunk := reader.read(position)).leaves:
        position = chunk.counts
        found.update({fact.event.match: fact for fact in chunk.facts if fact.result})
    for board in over:
        summary = describe(board, stored(bench.store, board)).summary
        result, setup = found[board].result, found[board].setup
        assert result is not None
        assert (summary.rules, summary.options) == (setup.rules, setup.options)
        assert summary.seats == setup.seats
        assert (summary.winners, summary.reason) == (result.winners, result.reason)
        assert (summary.ranks, summary.plies) == (result.ranks, result.plies)
        assert (summary.rated, summary.played) == (result.rated, result.played)


def test_a_match_that_goes_on_has_no_entry(bench, over):
    going_on = next(
        board
        for board in range(1, 80)
        if board not in over and bench.store.snapshots([board])[0] is not None
    )
    with pytest.raises(ArchiveError, match="is not over"):
        describe(going_on, stored(bench.store, going_on))


@pytest.fixture
def entry_and_leaves(bench: Bench, over: list[int]) -> tuple[DirectoryEntry, list[bytes]]:
    """A match with refusals."""
    for board in over:
        entry = describe(board, stored(bench.store, board))
        if entry.refusals and entry.seq > 5:
            return entry, leaves_of(bench.store, board)
    raise AssertionError


def test_what_is_not_the_whole_match_is_refused(entry_and_leaves, bench, over):
    entry, leaves = entry_and_leaves
    other = leaves_of(bench.store, next(board for board in over if board != entry.board))
    indexes = locators.decode(entry.locator)
    short = replace(entry, locator=locators.encode(indexes[:-1]))
    cases = [
        (entry, leaves[:-1], "leaves, and"),
        (short, leaves[:-1], "ends with another event|than digests|other refusals"),
        (entry, [leaves[1], leaves[0], *leaves[2:]], "does not hold|other refusals"),
        (entry, [other[0], *leaves[1:]], "does not hold|other refusals"),
        (replace(entry, head=bytes(32)), leaves, "ends with another event"),
        (replace(entry, digests=entry.digests[:-8]), leaves, "than digests"),
        (entry, [b"", *leaves[1:]], "does not hold"),
        (entry, [*leaves[:-1], b"\x98"], "does not hold"),
        (entry, [b"\x98" + b"\x91" * 100_000, *leaves[1:]], "does not hold"),
    ]
    for wrong, read, why in cases:
        with pytest.raises(ArchiveError, match=why):
            restore(wrong, read)


def test_what_can_not_be_made_again_is_not_retired(bench, entry_and_leaves):
    entry, leaves = entry_and_leaves
    match, again = stored(bench.store, entry.board), restore(entry, leaves)
    command = next(iter(match.outcomes))
    wrong = {
        "snapshot": replace(
            match, snapshot=replace(match.snapshot, state=bytes(32) + match.snapshot.state[32:])
        ),
        "events": replace(match, events=match.events[:-1]),
        "outcomes": replace(match, outcomes={**match.outcomes, command: b"digest..7:\x92\x00\x01"}),
        "locator": replace(match, indexes=[*match.indexes, 1 << 20]),
    }
    for name, damaged in wrong.items():
        with pytest.raises(ArchiveError, match=f"the {name} of match {entry.board}"):
            require_same(entry.board, damaged, again)


def test_a_match_without_an_outcome_of_an_event_has_no_entry(bench, entry_and_leaves):
    entry, _ = entry_and_leaves
    match = stored(bench.store, entry.board)
    refused = dict(entry.refusals)
    with pytest.raises(ArchiveError, match="has no outcome"):
        describe(entry.board, replace(match, outcomes=refused))
