"""Merkle trees of RFC 6962: roots, and the proofs of RFC 9162, 2.1.3 and 2.1.4.

A *node* is named by its level and its number: node (0, i) is the hash of leaf i, and node (level, n) is
over the leaves from `n << level` up to `(n + 1) << level`. Only complete nodes have a name, so a named
node never changes; roots and proofs of a tree of any size are made of them.
"""

from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from typing import Final, TypeAlias

from domain.match.history import leaf_hash as leaf_hash  # noqa: PLC0414 - part of this module

HASH_SIZE: Final = 32

EMPTY_ROOT: Final = sha256(b"").digest()
"""Root of the tree without leaves."""

NodeReader: TypeAlias = Callable[[int, int], bytes]
"""Returns the hash of a complete node, by its level and number."""


def node_hash(left: bytes, right: bytes) -> bytes:
    """Return the hash of a node, of the hashes of its two children."""
    return sha256(b"\x01" + left + right).digest()


# roots and proofs from complete nodes


def root(size: int, read: NodeReader) -> bytes:
    """Return the root of the first `size` leaves."""
    return _range_hash(0, size, read) if size else EMPTY_ROOT


def inclusion_proof(index: int, size: int, read: NodeReader) -> list[bytes]:
    """Return the proof that leaf `index` is in the tree of the first `size` leaves.

    Raises ValueError unless `0 <= index < size`.
    """
    if not 0 <= index < size:
        raise ValueError(f"leaf {index} is not in a tree of {size} leaves")
    proof = []
    start, end = 0, size
    while end - start > 1:
        middle = start + _split(end - start)
        if index < middle:
            proof.append(_range_hash(middle, end, read))
            end = middle
        else:
            proof.append(_range_hash(start, middle, read))
            start = middle
    return proof[::-1]


def consistency_proof(old_size: int, new_size: int, read: NodeReader) -> list[bytes]:
    """Return the proof that the tree of `new_size` leaves begins with that of `old_size`.

    Raises ValueError unless `0 < old_size <= new_size`.
    """
    if not 0 < old_size <= new_size:
        raise ValueError(f"no proof leads from {old_size} leaves to {new_size}")
    proof = []
    start, end = 0, new_size
    while old_size != end:
        middle = start + _split(end - start)
        if old_size <= middle:
            proof.append(_range_hash(middle, end, read))
            end = middle
        else:
            proof.append(_range_hash(start, middle, read))
            start = middle
    if start:  # else it is the whole old tree, whose root the verifier knows
        proof.append(_range_hash(start, end, read))
    return proof[::-1]


def complete_nodes(start: int, end: int) -> Iterator[tuple[int, int]]:
    """Return level and number of the fewest complete nodes over the leaves `start` to `end`, in order."""
    while start < end:
        level = (end - start).bit_length() - 1
        if start:
            level = min(level, (start & -start).bit_length() - 1)
        yield level, start >> level
        start += 1 << level


def _range_hash(start: int, end: int, read: NodeReader) -> bytes:
    """Return the hash over a range of leaves that begins at a multiple of a power of two >= its size."""
    hashes = [read(level, number) for level, number in complete_nodes(start, end)]
    found = hashes.pop()
    while hashes:
        found = node_hash(hashes.pop(), found)
    return found


def _split(size: int) -> int:
    """Return the largest power of two below `size`."""
    return 1 << ((size - 1).bit_length() - 1)


# verification


def verify_inclusion(
    leaf_hash: bytes, index: int, size: int, proof: Sequence[bytes], root: bytes
) -> None:
    """Verify that a leaf is in a tree; ValueError, with the reason, if the proof does not show it."""
    if not 0 <= index < size:
        raise ValueError(f"leaf {index} is not in a tree of {size} leaves")
    _check_hashes([leaf_hash, root, *proof])
    found = leaf_hash
    for sibling, is_left in _siblings(index, size - 1, proof):
        found = node_hash(sibling, found) if is_left else node_hash(found, sibling)
    if found != root:
        raise ValueError("the proof leads to another root")


def verify_consistency(
    old_size: int, old_root: bytes, new_size: int, new_root: bytes, proof: Sequence[bytes]
) -> None:
    """Verify that one tree begins with another; ValueError, with the reason, if the proof fails."""
    if not 0 < old_size <= new_size:
        raise ValueError(f"no proof leads from {old_size} leaves to {new_size}")
    _check_hashes([old_root, new_root, *proof])
    if old_size == new_size:
        if proof:
            raise ValueError("the proof is too long")
        if old_root != new_root:
            raise ValueError("trees of one size have two roots")
        return
    # an old tree of a power of two is a node of the new tree, and the proof leaves it out
    path = list(proof) if old_size & (old_size - 1) else [old_root, *proof]
    if not path:
        raise ValueError("the proof is too short")
    # the path begins at the last node of the old tree's decomposition: as many levels up as the
    # old size has zeros at its end
    level = (old_size & -old_size).bit_length() - 1
    place, last = (old_size - 1) >> level, (new_size - 1) >> level
    old_found = new_found = path[0]
    for sibling, is_left in _siblings(place, last, path[1:]):
        if is_left:
            old_found = node_hash(sibling, old_found)
        new_found = node_hash(sibling, new_found) if is_left else node_hash(new_found, sibling)
    if old_found != old_root:
        raise ValueError("the proof leads to another old root")
    if new_found != new_root:
        raise ValueError("the proof leads to another new root")


def _siblings(place: int, last: int, proof: Sequence[bytes]) -> Iterator[tuple[bytes, bool]]:
    """Return the hashes of a path to the root, each with whether it is the left child of its node.

    The path begins at node `place` of a level whose last node is `last`.
    """
    for hash_ in proof:
        if last == 0:
            raise ValueError("the proof is too long")
        is_left = bool(place & 1) or place == last
        if is_left:
            while place and not place & 1:
                place, last = place >> 1, last >> 1
        yield hash_, is_left
        place, last = place >> 1, last >> 1
    if last:
        raise ValueError("the proof is too short")


def _check_hashes(hashes: Sequence[bytes]) -> None:
    for one in hashes:
        if len(one) != HASH_SIZE:
            raise ValueError(f"a hash has {HASH_SIZE} bytes, and this one {len(one)}")
