"""Valid inputs for the readers of the published log and the archive, and changes of them."""

import random
from collections.abc import Callable
from functools import cached_property
from typing import Final

from infra.archive.archive import ArchivedMatch, describe
from infra.archive.directory_pages import DirectoryEntry, DirectoryPage
from infra.log import merkle
from infra.log.checkpoint import InclusionProof, LogCheckpoint
from infra.log.merkle import leaf_hash
from infra.log.names import LogSecret
from infra.log.receipts import KEY_SUFFIX, Receipt
from infra.log.signed_note import SignatureType, Signer, split_note
from infra.log.tiles import WIDTH, pack_bundle, unpack_bundle
from infra.store import locators
from infra.witness.witness import CosignRequest
from services.language import LOCAL, Language
from tests.fakes.app import FakeApp
from trials.fuzz.lines import PASSWORDS

ORIGIN: Final = "play.example.org/log/s01"
SECRET: Final = LogSecret("play.example.org/log", bytes(range(32)))
LOG: Final = SECRET.signer(1)
RECEIPTS: Final = SECRET.signer(1, KEY_SUFFIX)
OTHER: Final = Signer(ORIGIN, bytes(range(1, 33)))
WITNESS: Final = Signer("witness.example.org", bytes(range(2, 34)), SignatureType.COSIGNATURE)
SHARDS, SHARD = 4, 1
HASHES: Final = [leaf_hash(b"leaf %d" % number) for number in range(300)]
_ODD: Final = "\u2014 +=/\n\r\t\x00\x85\u2028\u00a0\ufeff09Az\u0660\uff11"
_MOST_REPEATED: Final = 2_000


def node(level: int, number: int) -> bytes:
    """Return a complete node of the tree of `HASHES`."""
    row = HASHES[number << level : (number + 1) << level]
    while len(row) > 1:
        row = [merkle.node_hash(*row[at : at + 2]) for at in range(0, len(row), 2)]
    return row[0]


ROOTS: Final = {size: merkle.root(size, node) for size in (1, 2, 3, 17, 256, 300)}


def mutate(chance: random.Random, data: bytes) -> bytes:
    """Return the bytes with some lost, doubled, changed, moved, or, seldom, repeated often."""
    found = bytearray(data)
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        at = chance.randrange(len(found) + 1)
        end = min(len(found), at + chance.choice((0, 1, 1, 1, 2, 4, 40)))
        part = bytes(found[at:end])
        to = chance.randrange(len(found) + 1)
        match chance.randrange(8):
            case 0:
                del found[at:end]
            case 1:
                found[at:at] = part
            case 2:
                found[at:end] = chance.randbytes(len(part))
            case 3:
                found[to:to] = part
            case 4:
                found[at:end] = chance.choice(_ODD).encode()
            case 5 if part:
                found[at] ^= 1 << chance.randrange(8)
            case 6:
                del found[at:]
            case _ if chance.random() < 0.01:
                found[at:at] = (part or b"\n") * chance.randrange(_MOST_REPEATED)
    return bytes(found)


def mutate_part(chance: random.Random, data: bytes) -> bytes:
    """Return a bundle in which one of the parts is changed, lost, doubled or moved."""
    parts = unpack_bundle(data)
    at = chance.randrange(len(parts))
    match chance.randrange(6):
        case 0:
            parts.insert(chance.randrange(len(parts)), parts.pop(at))
        case 1:
            parts.insert(at, parts[chance.randrange(len(parts))])
        case 2:
            del parts[at]
        case _:
            parts[at] = mutate(chance, parts[at])[:65_535]
    return pack_bundle(parts)


def a_checkpoint(chance: random.Random) -> bytes:
    """Return a signed checkpoint, of half of them one with a cosignature."""
    size = chance.choice(list(ROOTS))
    note = LogCheckpoint(ORIGIN, size, ROOTS[size]).sign([chance.choice((LOG, LOG, OTHER))])
    text, _ = split_note(note)
    seconds = chance.randrange(1 << 40)
    return (note + chance.choice(("", WITNESS.signature(text, seconds)))).encode()


def a_text(chance: random.Random) -> bytes:
    """Return the text of a checkpoint, of some with extensions."""
    size = chance.choice(list(ROOTS))
    extension = chance.choice(("", "", "an extension\n", "one\nmore\n"))
    return (LogCheckpoint(ORIGIN, size, ROOTS[size]).text + extension).encode()


def a_proof(chance: random.Random) -> bytes:
    index = chance.choice((0, 0, 1, 255, 299))
    path = tuple(merkle.inclusion_proof(index, 300, node))
    note = LogCheckpoint(ORIGIN, 300, ROOTS[300]).sign([LOG])
    return str(InclusionProof(index, path, note, chance.choice((b"", b"more", bytes(9))))).encode()


def a_request(chance: random.Random) -> bytes:
    old = chance.choice((0, 17, 300))
    proof = tuple(merkle.consistency_proof(old, 300, node)) if 0 < old < 300 else ()
    note = LogCheckpoint(ORIGIN, 300, ROOTS[300]).sign([LOG])
    return str(CosignRequest(old, proof, note)).encode()


def a_receipt(chance: random.Random) -> bytes:
    """Return a receipt, signed by its key, by that of the log, or by both."""
    signers = chance.choice(([RECEIPTS], [RECEIPTS], [LOG], [RECEIPTS, LOG]))
    seq = chance.choice((0, 1, 40))
    found = Receipt(ORIGIN, chance.choice((1, 17, 10**15)), seq, HASHES[seq], HASHES[2], 1 << seq)
    return found.sign(signers).encode()


def a_cosignature(chance: random.Random) -> bytes:
    """Return a cosignature of the first checkpoint, with its time and without its key id."""
    seconds = chance.choice((0, 1, 1_700_000_000, (1 << 63) + 5))
    text = LogCheckpoint(ORIGIN, 300, ROOTS[300]).text
    _, ((_, data),) = split_note(f"{text}\n{WITNESS.signature(text, seconds)}")
    return data[4:]


def a_key(chance: random.Random) -> bytes:
    return str(chance.choice((LOG, OTHER, WITNESS)).key).encode()


def a_secret(chance: random.Random) -> bytes:
    return (str(SECRET) + chance.choice(("", "\n"))).encode()


def a_bundle(chance: random.Random) -> bytes:
    """Return a bundle of short entries, of some with as many as there may be."""
    count = chance.choice((0, 1, 2, 5, 5, 5, WIDTH))
    return pack_bundle([chance.randbytes(chance.randrange(9)) for _ in range(count)])


def a_tile(chance: random.Random) -> bytes:
    return chance.randbytes(96)


def a_path(chance: random.Random) -> bytes:
    """Return the index of a leaf, a byte, and the path from it to the root of 300 leaves."""
    index = chance.choice((0, 1, 17, 255))
    return bytes([index]) + b"".join(merkle.inclusion_proof(index, 300, node))


def a_growth(chance: random.Random) -> bytes:
    """Return the proof that 300 leaves begin with 17."""
    del chance
    return b"".join(merkle.consistency_proof(17, 300, node))


def a_locator(chance: random.Random) -> bytes:
    return locators.encode(sorted(chance.choices(range(1 << 40), k=chance.randrange(9))))


def of_some(make: Callable[[random.Random], bytes]) -> Callable[[random.Random], bytes]:
    """Return inputs out of some that are made only once."""
    made = [make(random.Random(number)) for number in range(40)]
    return lambda chance: chance.choice(made)


_MATCHES: Final = (
    *("pow2 challenge alice bob -fast", *3 * ("pow2 challenge alice bob",)),
    "powerdrain challenge alice bob",
)
"""By boards from 1 on. The first and the last are in one shard."""

_ORDERS: Final = (
    *("pow2 move 1 alice {alice} m13-j7", "pow2 move 1 alice {alice} a1-a2"),
    *("pow2 propose 1 bob {bob} draw", "pow2 resign 1 bob {bob}", "powerdrain resign 5 bob {bob}"),
)
"""With a move that is refused."""


class ArchivedMatches:
    """Some matches of one shard that are over, as the archive has them."""

    @cached_property
    def _made(self) -> tuple[dict[int, list[bytes]], DirectoryPage]:
        """The leaves of each board, and the page of all; made when the first is asked for."""
        app = FakeApp()
        language = Language(app, origin=LOCAL)
        for name, password in PASSWORDS.items():
            app.accounts.signup(name, password)
        for line in (*_MATCHES, *_ORDERS):
            language.do(line.format(**PASSWORDS))
        leaves: dict[int, list[bytes]] = {}
        entries: list[DirectoryEntry] = []
        for board in (1, 5):
            indexes = app.store.leaf_indexes(board)
            (snapshot,) = app.store.snapshots([board])
            assert snapshot is not None
            match = ArchivedMatch(
                snapshot, app.store.events(board), app.store.outcomes(board), indexes
            )
            entries.append(describe(board, match))
            leaves[board] = [leaf or b"" for leaf in app.store.leaves_at(SHARD, indexes)]
        app.close()
        return leaves, DirectoryPage.empty(SHARDS, SHARD, 0).with_entries(entries)

    def a_page(self, chance: random.Random) -> bytes:
        del chance
        return self._made[1].encode()

    def a_match(self, chance: random.Random) -> bytes:
        """Return a bundle of a match's board (a byte), its directory page, and its leaves."""
        leaves, page = self._made
        board = chance.choice(list(leaves))
        return pack_bundle([bytes([board]), page.encode(), *leaves[board]])

    def a_leaf(self, chance: random.Random) -> bytes:
        leaves = self._made[0]
        return chance.choice(leaves[chance.choice(list(leaves))])
