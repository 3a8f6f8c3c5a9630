"""RFC 6962 trees, their proofs and their tiles, against public vectors and against the recursive definition."""

import json
from base64 import b64decode
from collections.abc import Callable, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infra.log import tiles
from infra.log.merkle import (
    EMPTY_ROOT,
    complete_nodes,
    consistency_proof,
    inclusion_proof,
    leaf_hash,
    node_hash,
    root,
    verify_consistency,
    verify_inclusion,
)
from tests.helpers.leaves import TileTree

VECTORS = Path(__file__).parents[1] / "vectors" / "merkle"

PUBLIC_LEAVES = [
    bytes.fromhex(text)
    for text in (
        "", "00", "10", "2021", "3031", "40414243", "5051525354555657",
        "606162636465666768696a6b6c6d6e6f",
    )
]  # fmt: skip

ROOTS = (
    ("6e340b9c", "a01d"), ("fac54203", "c125"), ("aeb6bcfe", "6e77"), ("d37ee418", "14b7"),
    ("4e3bbb1f", "64d4"), ("76e67dad", "87ef"), ("ddb89be4", "4c8c"), ("5dc9da79", "4328"),
)  # fmt: skip

SIZES = st.integers(1, 300)


def recursive_root(hashes: Sequence[bytes]) -> bytes:
    """Return the root by the definition of RFC 6962."""
    if len(hashes) <= 1:
        return hashes[0] if hashes else EMPTY_ROOT
    middle = 1
    while middle * 2 < len(hashes):
        middle *= 2
    return node_hash(recursive_root(hashes[:middle]), recursive_root(hashes[middle:]))


HASHES = [leaf_hash(b"%d" % index) for index in range(300)]


def read(level: int, number: int) -> bytes:
    return recursive_root(HASHES[number << level : (number + 1) << level])


def vectors(kind: str) -> list[Path]:
    found = sorted((VECTORS / kind).rglob("*.json"))
    assert found
    return found


def refused(verify: Callable[..., None], *arguments: object) -> bool:
    try:
        verify(*arguments)
    except ValueError as error:
        return bool(str(error))
    return False


NO_HASHES = "sizes-are-equal-one-and-proof-is-empty"


def test_public_vectors():
    wrong = []
    for file in vectors("inclusion"):
        case = json.loads(file.read_text())
        proof = [b64decode(one) for one in case["proof"] or []]
        leaf, whole = b64decode(case["leafHash"]), b64decode(case["root"] or "")
        arguments = (leaf, case["leafIdx"], case["treeSize"], proof, whole)
        if refused(verify_inclusion, *arguments) != case["wantErr"]:
            wrong.append(file)
    for file in vectors("consistency"):
        case = json.loads(file.read_text())
        proof = [b64decode(one) for one in case["proof"] or []]
        one, other = (b64decode(case[name] or "") for name in ("root1", "root2"))
        arguments = (case["size1"], one, case["size2"], other, proof)
        if refused(verify_consistency, *arguments) != (case["wantErr"] or file.stem == NO_HASHES):
            wrong.append(file)
    assert wrong == []


def test_public_roots():
    hashes = [leaf_hash(data) for data in PUBLIC_LEAVES]
    for size, (start, end) in enumerate(ROOTS, 1):
        found = root(
            size, lambda level, n, h=hashes: recursive_root(h[n << level : (n + 1) << level])
        )
        assert found.hex().startswith(start)
        assert found.hex().endswith(end)
    assert root(0, read) == EMPTY_ROOT


@given(st.integers(0, 300), st.integers(0, 300))
def test_complete_nodes_cover_a_range_once(one, other):
    start, end = sorted((one, other))
    ranges = [(n << level, (n + 1) << level) for level, n in complete_nodes(start, end)]
    assert [start, *(stop for _, stop in ranges)] == [*(begin for begin, _ in ranges), end]
    assert all(first[1] == second[0] for first, second in pairwise(ranges))


@given(SIZES, st.data())
def test_a_root_is_as_defined_and_each_leaf_is_proven_and_no_other(size, data):
    index = data.draw(st.integers(0, size - 1))
    proof = inclusion_proof(index, size, read)
    whole = recursive_root(HASHES[:size])
    assert root(size, read) == whole
    verify_inclusion(HASHES[index], index, size, proof, whole)
    with pytest.raises(ValueError, match="another root"):
        verify_inclusion(leaf_hash(b"other"), index, size, proof, whole)
    for wrong in (proof[:-1], [*proof, whole]):
        if wrong != proof:
            with pytest.raises(ValueError, match=r"too|another"):
                verify_inclusion(HASHES[index], index, size, wrong, whole)


@given(SIZES, st.data())
def test_a_tree_is_proven_to_begin_with_an_older_one(size, data):
    old = data.draw(st.integers(1, size))
    proof = consistency_proof(old, size, read)
    roots = recursive_root(HASHES[:old]), recursive_root(HASHES[:size])
    verify_consistency(old, roots[0], size, roots[1], proof)
    for wrong in ((leaf_hash(b"fork"), roots[1]), (roots[0], leaf_hash(b"fork"))):
        with pytest.raises(ValueError, match="root"):
            verify_consistency(old, wrong[0], size, wrong[1], proof)
    for path in (proof[:-1], [*proof, roots[0]]):
        if path != proof:
            with pytest.raises(ValueError, match=r"too|another"):
                verify_consistency(old, roots[0], size, roots[1], path)


def test_what_has_no_proof_or_is_no_hash_is_refused():
    for index, size in ((-1, 3), (3, 3), (0, 0)):
        with pytest.raises(ValueError, match="is not in a tree"):
            inclusion_proof(index, size, read)
        with pytest.raises(ValueError, match="is not in a tree"):
            verify_inclusion(EMPTY_ROOT, index, size, [], EMPTY_ROOT)
    for old, new in ((0, 3), (4, 3), (-1, 2)):
        with pytest.raises(ValueError, match="no proof leads"):
            consistency_proof(old, new, read)
    with pytest.raises(ValueError, match="a hash has 32 bytes"):
        verify_inclusion(b"short", 0, 1, [], b"short")
    with pytest.raises(ValueError, match="a hash has 32 bytes"):
        verify_consistency(1, EMPTY_ROOT, 2, EMPTY_ROOT, [b""])


@cache
def row_of(level: int) -> list[bytes]:
    """Return the hashes of a level of tiles over 70,000 leaves, by the definition of a tile."""
    if level == 0:
        return [leaf_hash(b"%d" % index) for index in range(70_000)]
    row = row_of(level - 1)
    return [
        tiles.fold_pairs(row[at : at + tiles.WIDTH])
        for at in range(0, len(row) - tiles.WIDTH + 1, tiles.WIDTH)
    ]


def read_tile(tile: tiles.Tile) -> bytes:
    return b"".join(row_of(tile.level)[tile.number * tiles.WIDTH :][: tile.width])


def test_paths():
    assert [
        tiles.Tile(0, 1234067).path, tiles.Tile(3, 5, 17).path, tiles.bundle_path(1000), tiles.bundle_path(67, 255)
    ] == ["tile/0/x001/x234/067", "tile/3/005.p/17", "tile/entries/x001/000", "tile/entries/067.p/255"]  # fmt: skip


@pytest.mark.parametrize("size", [1, 256, 257, 1000, 65_536, 70_000])
def test_roots_and_proofs_come_from_tiles(size):
    tree = TileTree(size, read_tile)
    whole = root(size, tree.node)
    for index in {0, size // 2, size - 1}:
        path = inclusion_proof(index, size, tree.node)
        verify_inclusion(row_of(0)[index], index, size, path, whole)
    for old in {1, (size + 1) // 2, size}:
        before = root(old, TileTree(old, read_tile).node)
        verify_consistency(old, before, size, whole, consistency_proof(old, size, tree.node))


def test_a_tile_is_read_once():
    found: list[tiles.Tile] = []
    tree = TileTree(1000, lambda tile: (found.append(tile), read_tile(tile))[1])
    for index in range(1000):
        inclusion_proof(index, 1000, tree.node)
    assert len(found) == len(set(found)) == 5


def test_a_hash_beyond_the_size_has_no_tile():
    with pytest.raises(ValueError, match="no hash 300 at level 0"):
        tiles.tile_of(0, 300, 300)
    with pytest.raises(ValueError, match="is not complete"):
        TileTree(3, read_tile).node(1, 1)


@given(st.lists(st.binary(max_size=300), max_size=tiles.WIDTH))
def test_a_bundle_is_read_back(entries):
    data = tiles.pack_bundle(entries)
    assert tiles.unpack_bundle(data) == entries
    for cut in {1, len(data) - 1} & set(range(1, len(data))):
        try:
            found = tiles.unpack_bundle(data[:cut])
        except ValueError:
            continue
        assert found == entries[: len(found)]


def test_bundles_and_tiles_have_limits():
    assert tiles.unpack_bundle(tiles.pack_bundle([b"x" * tiles.MOST_ENTRY_BYTES])) == [
        b"x" * tiles.MOST_ENTRY_BYTES
    ]
    with pytest.raises(ValueError, match="at most 65535 bytes"):
        tiles.pack_bundle([b"x" * (tiles.MOST_ENTRY_BYTES + 1)])
    with pytest.raises(ValueError, match="at most 256 entries"):
        tiles.unpack_bundle(b"\0\0" * 257)
    with pytest.raises(ValueError, match="cut off in a length"):
        tiles.unpack_bundle(b"\0")
    with pytest.raises(ValueError, match="cut off in an entry"):
        tiles.unpack_bundle(b"\0\2x")
    with pytest.raises(ValueError, match="a tile of 2 hashes has 64 bytes"):
        tiles.unpack_tile(b"short", 2)
