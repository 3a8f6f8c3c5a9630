"""Directory pages: their bytes, their size, and what is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from infra.archive.directory_pages import (
    BOARDS,
    DirectoryEntry,
    DirectoryPage,
    MatchSummary,
    PageError,
    page_number,
    page_path,
)
from infra.store import locators
from tests.helpers.given import ALICE, BOB

SHARDS, SHARD = 8, 7
BOARD = (256 * 12 + 5) * SHARDS + SHARD

SUMMARY = MatchSummary(
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
ENTRY = DirectoryEntry(
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


def page(*entries: DirectoryEntry) -> DirectoryPage:
    return DirectoryPage.empty(SHARDS, SHARD, 12).with_entries(entries)


def decoded(data: bytes) -> DirectoryPage:
    return DirectoryPage.decode(data, SHARDS, SHARD, 12)


def test_a_page_has_these_bytes():
    assert page(ENTRY).encode().hex() == GOLDEN.replace(" ", "")
    assert decoded(bytes.fromhex(GOLDEN)).find(BOARD) == ENTRY


def test_a_board_is_in_the_page_of_its_256_neighbours_in_its_shard():
    assert page_number(BOARD, SHARDS) == 12
    boards = [(256 * 12 + place) * SHARDS + SHARD for place in (0, 255)]
    assert [page_number(board, SHARDS) for board in boards] == [12, 12]
    assert page_number(boards[1] + SHARDS, SHARDS) == 13
    assert page_path(12) == "boards/012"
    assert page_path(1_234_067) == "boards/x001/x234/067"


@given(st.lists(st.integers(0, BOARDS - 1), max_size=20))
def test_entries_come_back_whatever_their_order(places):
    boards = [(256 * 12 + place) * SHARDS + SHARD for place in places]
    found = decoded(page(*(replace(ENTRY, board=board, seq=board) for board in boards)).encode())
    for place in range(BOARDS):
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
    with pytest.raises(PageError, match=why):
        decoded(data)


def test_an_entry_at_the_wrong_place_or_damaged_is_refused():
    moved = page(ENTRY)
    moved = replace(moved, entries=(moved.entries[-1],))
    with pytest.raises(PageError, match=f"is of match {BOARD}"):
        moved.find(256 * 12 * SHARDS + SHARD)
    cut = decoded(bytes.fromhex(GOLDEN).replace(b"pow2/1", b"\xff\xffw2/1"))
    with pytest.raises(PageError, match="damaged"):
        cut.find(BOARD)


def test_a_full_page_of_long_matches_stays_below_the_size_of_an_object_that_is_read_whole():
    # 42 leaves far into a log, 40 moves by each of whose commands
    places = [20_000_000 + 1_000 * leaf for leaf in range(42)]
    long = replace(
        ENTRY, locator=locators.encode(places), digests=bytes(8 * 41), refusals=(), seq=42
    )
    boards = [(256 * 12 + place) * SHARDS + SHARD for place in range(BOARDS)]
    size = len(page(*(replace(long, board=board) for board in boards)).encode())
    assert size == 157_448, "615 bytes a match"


def test_arrays_in_arrays_are_refused_as_other_damage_is():
    deep = b"\x91" * 100_000
    with pytest.raises(PageError, match="is damaged"):
        decoded(b"\x96" + page(ENTRY).encode()[1:] + deep)
    # after the other fields of the entry, which has nine
    entry = page(ENTRY).encode().replace(b"\x99\xcd\x60\x2f", b"\x9a\xcd\x60\x2f") + deep
    with pytest.raises(PageError, match="is damaged"):
        decoded(entry)
