"""Directory pages, and matches made again from their entries and leaves, in every game and with every kind of end."""

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from infra.archive import directory_pages
from infra.archive.archive import ArchivedMatch, ArchiveError, describe, require_same, restore
from infra.store import locators
from infra.store.port import Store
from infra.valkey.server import EmbeddedServer
from tests.helpers.bench import Bench
from tests.helpers.corpus import Corpus
from tests.helpers.given import ALICE, BOB
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
def bench(own_valkey: EmbeddedServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    with own_valkey.client() as client:
        made = Bench(client, tmp_path_factory.mktemp("seeds"))
        corpus = Corpus(made, seed=3, matches=50)
        while corpus.leaves() < 1_000:
            corpus.step()
        yield made


@pytest.fixture(scope="module")
def over(bench: Bench) -> list[int]:
    boards = [board for shard in range(4) for board in bench.store.ended_boards(shard, 1 << 50, 80)]
    assert len(boards) > 10
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
    assert refused > 8


def test_an_entry_has_the_result_that_projections_fold(bench, over):
    reader, position, found = LogReader(bench.store), (0,) * 4, {}
    while (chunk := reader.read(position)).leaves:
        position = chunk.counts
        found.update({fact.event.match: fact for fact in chunk.facts if fact.result})
    for board in over:
        summary = describe(board, stored(bench.store, board)).summary
        result, setup = found[board].result, found[board].setup
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
def entry_and_leaves(
    bench: Bench, over: list[int]
) -> tuple[directory_pages.DirectoryEntry, list[bytes]]:
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


SHARDS, SHARD = 8, 7
BOARD = (256 * 12 + 5) * SHARDS + SHARD

SUMMARY = directory_pages.MatchSummary(
    rules="pow2/1",
    options=("-fast",),
    seats=(ALICE, BOB),
    winners=(1,),
    reason="resignation",
    ranks=(2, 1),
    plies=3,
    rated=True,
    played=True,
)

ENTRY = directory_pages.DirectoryEntry(
    board=BOARD,
    head=bytes(range(32)),
    seq=4,
    first_at=1_700_000_000_000,
    last_at=1_700_000_360_000,
    locator=locators.encode([3, 300, 301, 70_000]),
    summary=SUMMARY,
    digests=b"digest.1digest.2digest.3",
    refusals=((b"command of bob..", b"digest.4301:\x93\x05\x02\xa2no"),),
)

GOLDEN = (
    "9501 08 07 0c"
    "96c0c0c0c0c0"
    "99cd602fc420000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f04"
    "cf0000018bcfe56800cf0000018bcfeae640c40803ac02ad02f0a204"
    "99a6706f77322f3191a52d6661737492c408616c6963652e2e2ec408626f622e2e2e2e2e9101"
    "ab72657369676e6174696f6e92020103c3c3"
    "c4186469676573742e316469676573742e326469676573742e33"
    "9192c410636f6d6d616e64206f6620626f622e2ec4126469676573742e343330313a930502a26e6f"
)


def page(*entries: directory_pages.DirectoryEntry) -> directory_pages.DirectoryPage:
    return directory_pages.DirectoryPage.empty(SHARDS, SHARD, 12).with_entries(entries)


def decoded(data: bytes) -> directory_pages.DirectoryPage:
    return directory_pages.DirectoryPage.decode(data, SHARDS, SHARD, 12)


def test_a_page_has_these_bytes():
    assert page(ENTRY).encode().hex() == GOLDEN.replace(" ", "")
    assert decoded(bytes.fromhex(GOLDEN)).find(BOARD) == ENTRY
    of_tournament = replace(ENTRY, summary=replace(SUMMARY, tournament=300))
    assert decoded(page(of_tournament).encode()).find(BOARD) == of_tournament


def test_a_board_is_in_the_page_of_its_256_neighbours_in_its_shard():
    assert directory_pages.page_number(BOARD, SHARDS) == 12
    boards = [(256 * 12 + place) * SHARDS + SHARD for place in (0, 255)]
    assert [directory_pages.page_number(board, SHARDS) for board in boards] == [12, 12]
    assert directory_pages.page_number(boards[1] + SHARDS, SHARDS) == 13
    assert directory_pages.page_path(12) == "boards/012"
    assert directory_pages.page_path(1_234_067) == "boards/x001/x234/067"


@given(st.lists(st.integers(0, directory_pages.BOARDS - 1), max_size=20))
def test_entries_come_back_whatever_their_order(places):
    boards = [(256 * 12 + place) * SHARDS + SHARD for place in places]
    found = decoded(page(*(replace(ENTRY, board=board, seq=board) for board in boards)).encode())
    for place in range(directory_pages.BOARDS):
        board = (256 * 12 + place) * SHARDS + SHARD
        entry = found.find(board)
        assert entry == (replace(ENTRY, board=board, seq=board) if board in boards else None)


def test_an_entry_is_replaced_and_the_others_stay():
    other = replace(ENTRY, board=BOARD + SHARDS)
    newer = page(ENTRY, other).with_entries([replace(ENTRY, seq=9)])
    assert newer.find(BOARD) == replace(ENTRY, seq=9)
    assert newer.find(BOARD + SHARDS) == other


@pytest.mark.parametrize("board", [BOARD + 1, BOARD + 256 * SHARDS])
def test_a_board_of_another_page_is_refused(board):
    with pytest.raises(ValueError, match="is not in page 12 of shard 7"):
        page(ENTRY).find(board)
    with pytest.raises(ValueError, match="is not in page 12 of shard 7"):
        page(replace(ENTRY, board=board))


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "damaged"),
        (bytes.fromhex(GOLDEN)[:-1], "damaged"),
        (replace(page(ENTRY), version=2).encode(), "has version 2, and this program reads 1"),
        (replace(page(ENTRY), number=13).encode(), "calls itself page 13 of shard 7"),
        (replace(page(ENTRY), shards=16).encode(), "calls itself page 12 of shard 7 of 16"),
    ],
)
def test_bytes_that_are_not_the_page_are_refused(data, why):
    with pytest.raises(directory_pages.PageError, match=why):
        decoded(data)


def test_an_entry_at_the_wrong_place_or_damaged_is_refused():
    moved = page(ENTRY)
    moved = replace(moved, entries=(moved.entries[-1],))
    with pytest.raises(directory_pages.PageError, match=f"is of match {BOARD}"):
        moved.find(256 * 12 * SHARDS + SHARD)
    cut = decoded(bytes.fromhex(GOLDEN).replace(b"pow2/1", b"\xff\xffw2/1"))
    with pytest.raises(directory_pages.PageError, match="damaged"):
        cut.find(BOARD)


def test_a_full_page_of_long_matches_stays_below_the_size_of_an_object_that_is_read_whole():
    # 42 leaves far into a log, 40 moves by each of whose commands
    places = [20_000_000 + 1_000 * leaf for leaf in range(42)]
    long = replace(
        ENTRY, locator=locators.encode(places), digests=bytes(8 * 41), refusals=(), seq=42
    )
    boards = [(256 * 12 + place) * SHARDS + SHARD for place in range(directory_pages.BOARDS)]
    size = len(page(*(replace(long, board=board) for board in boards)).encode())
    assert size == 157_448, "615 bytes a match"


def test_arrays_in_arrays_are_refused_as_other_damage_is():
    deep = b"\x91" * 100_000
    with pytest.raises(directory_pages.PageError, match="is damaged"):
        decoded(b"\x96" + page(ENTRY).encode()[1:] + deep)
    # after the other fields of the entry, which has nine
    entry = page(ENTRY).encode().replace(b"\x99\xcd\x60\x2f", b"\x9a\xcd\x60\x2f") + deep
    with pytest.raises(directory_pages.PageError, match="is damaged"):
        decoded(entry)
