"""Tiles and bundles: paths and bytes as specified, and the tree that is read back from them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infra.log.merkle import (
    consistency_proof,
    inclusion_proof,
    leaf_hash,
    root,
    verify_consistency,
    verify_inclusion,
)
from infra.log.tiles import (
    MOST_ENTRY_BYTES,
    WIDTH,
    Tile,
    bundle_path,
    fold_pairs,
    pack_bundle,
    tile_of,
    unpack_bundle,
    unpack_tile,
)
from tests.helpers.leaves import TileTree

LEAVES = [leaf_hash(b"%d" % index) for index in range(70_000)]


def hashes_of(tile: Tile) -> list[bytes]:
    """Return the hashes of a tile over LEAVES, by the definition of a tile."""
    row = LEAVES
    for _ in range(tile.level):
        row = [fold_pairs(row[at : at + WIDTH]) for at in range(0, len(row) - WIDTH + 1, WIDTH)]
    return row[tile.number * WIDTH :][: tile.width]


def read(tile: Tile) -> bytes:
    return b"".join(hashes_of(tile))


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (Tile(0, 1234067).path, "tile/0/x001/x234/067"),
        (Tile(3, 5, 17).path, "tile/3/005.p/17"),
        (bundle_path(1000), "tile/entries/x001/000"),
        (bundle_path(67, 255), "tile/entries/067.p/255"),
    ],
)
def test_paths(path: str, expected: str) -> None:
    assert path == expected


@pytest.mark.parametrize("size", [1, 2, 255, 256, 257, 512, 1000, 65_536, 70_000])
def test_roots_and_proofs_come_from_tiles(size: int) -> None:
    tree = TileTree(size, read)
    whole = root(size, tree.node)
    for index in {0, size // 2, size - 1}:
        path = inclusion_proof(index, size, tree.node)
        verify_inclusion(LEAVES[index], index, size, path, whole)
    for old in {1, (size + 1) // 2, size}:
        before = root(old, TileTree(old, read).node)
        verify_consistency(old, before, size, whole, consistency_proof(old, size, tree.node))


def test_a_tile_is_read_once() -> None:
    found: list[Tile] = []
    tree = TileTree(1000, lambda tile: (found.append(tile), read(tile))[1])
    for index in range(1000):
        inclusion_proof(index, 1000, tree.node)
    assert len(found) == len(set(found)) == 5


def test_a_hash_beyond_the_size_has_no_tile() -> None:
    with pytest.raises(ValueError, match="no hash 300 at level 0"):
        tile_of(0, 300, 300)
    with pytest.raises(ValueError, match="is not complete"):
        TileTree(3, read).node(1, 1)


@given(st.lists(st.binary(max_size=300), max_size=WIDTH))
def test_a_bundle_is_read_back(entries: list[bytes]) -> None:
    data = pack_bundle(entries)
    assert unpack_bundle(data) == entries
    for cut in {1, len(data) - 1} & set(range(1, len(data))):
        try:
            found = unpack_bundle(data[:cut])
        except ValueError:
            continue
        assert found == entries[: len(found)]


def test_bundles_and_tiles_have_limits() -> None:
    assert unpack_bundle(pack_bundle([b"x" * MOST_ENTRY_BYTES])) == [b"x" * MOST_ENTRY_BYTES]
    with pytest.raises(ValueError, match="at most 65535 bytes"):
        pack_bundle([b"x" * (MOST_ENTRY_BYTES + 1)])
    with pytest.raises(ValueError, match="at most 256 entries"):
        unpack_bundle(b"\0\0" * 257)
    with pytest.raises(ValueError, match="cut off in a length"):
        unpack_bundle(b"\0")
    with pytest.raises(ValueError, match="cut off in an entry"):
        unpack_bundle(b"\0\2x")
    with pytest.raises(ValueError, match="a tile of 2 hashes has 64 bytes"):
        unpack_tile(b"short", 2)


@given(st.binary(max_size=600))
def test_any_bytes_are_a_bundle_or_refused(data: bytes) -> None:
    try:
        entries = unpack_bundle(data)
    except ValueError:
        return
    assert pack_bundle(entries) == data
