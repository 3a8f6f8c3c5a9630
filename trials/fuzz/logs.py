"""Bytes and texts for the readers of the published log and of the archive, by the million.

    python trials/fuzz/logs.py [COUNT] [SEED] [READER...]

Each reader gets so many inputs: valid ones; valid ones with parts lost, doubled, changed, moved or made
long; and any bytes. It either raises the error that it documents, or reads something that, written
again, is the same bytes. It takes nothing for signed or proved that is not. None may take the processor
longer than 20 ms and 5 us a byte. Prints what came of them, and the slowest. The first failure ends it.
"""

import gc
import random
import sys
import time
from base64 import b64encode
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from domain.match.history import decode_leaf
from infra.archive.archive import ArchiveError, restore
from infra.archive.directory_pages import BOARDS, DirectoryPage, PageError
from infra.log import merkle
from infra.log.checkpoint import InclusionProof, LogCheckpoint, open_checkpoint
from infra.log.names import LogSecret
from infra.log.receipts import open_receipt, read_receipt
from infra.log.signed_note import NoteError, VerifierKey, open_note, sign, split_note
from infra.log.tiles import pack_bundle, unpack_bundle, unpack_tile
from infra.store import locators
from infra.witness.witness import CosignRequest
from trials.fuzz.log_inputs import (
    HASHES,
    LOG,
    ORIGIN,
    RECEIPTS,
    ROOTS,
    SHARD,
    SHARDS,
    WITNESS,
    ArchivedMatches,
    a_bundle,
    a_checkpoint,
    a_cosignature,
    a_growth,
    a_key,
    a_locator,
    a_path,
    a_proof,
    a_receipt,
    a_request,
    a_secret,
    a_text,
    a_tile,
    mutate,
    mutate_part,
    node,
    of_some,
)

sys.path.insert(0, str(Path(__file__).parents[2]))

COUNT: Final = 1_000_000
LIMIT: Final = 0.020
A_BYTE: Final = 0.000_005
"""Seconds of the processor that one input may take, and in addition each of its bytes."""

_PROGRESS: Final = 250_000
KEYS: Final = [LOG.key, WITNESS.key]
SIGNED: Final = {LogCheckpoint(ORIGIN, size, root).text for size, root in ROOTS.items()}
"""All texts that were ever signed."""

COSIGNED: Final = LogCheckpoint(ORIGIN, 300, ROOTS[300]).text
PROMISED: Final = {
    split_note(note)[0]
    for note in map(a_receipt, map(random.Random, range(200)))
    if f" {RECEIPTS.key.name} ".encode() in note
}
"""All texts of receipts that were ever signed."""

COSIGNATURES: Final = {a_cosignature(random.Random(number)) for number in range(40)}


def read_note(data: bytes) -> bytes:
    text, signatures = split_note(data)
    lines = [f"\u2014 {name} {b64encode(part).decode()}\n" for name, part in signatures]
    return f"{text}\n{''.join(lines)}".encode()


def open_signed(data: bytes) -> bytes:
    """Open a note by the keys of log and witness."""
    assert open_note(data, KEYS) in SIGNED
    return data


def read_checkpoint(data: bytes) -> bytes:
    """Sign a text, whatever it is, and open it as a checkpoint; extensions are left out."""
    text = data.decode()
    found = open_checkpoint(sign(text, [LOG]), ORIGIN, KEYS).text
    assert text.startswith(found)
    return data


def read_promise(data: bytes) -> bytes:
    """Read a receipt without a check of its signature; its text is written again."""
    text, _ = split_note(data)
    assert read_receipt(data).text == text
    return data


def open_promise(data: bytes) -> bytes:
    """Open a receipt by the keys of receipts and log."""
    assert open_receipt(data, [RECEIPTS.key, LOG.key]).text in PROMISED
    return data


def read_proof(data: bytes) -> bytes:
    """Read a proof file, verify it for the first leaf, and write it again."""
    proof = InclusionProof.parse(data.decode())
    try:
        proof.verify(HASHES[0], ORIGIN, KEYS)
    except ValueError:
        return str(proof).encode()
    assert (proof.index, split_note(proof.checkpoint)[0]) == (0, COSIGNED)
    return str(proof).encode()


def read_request(data: bytes) -> bytes:
    """Read a request to a witness, and write it again."""
    return str(CosignRequest.parse(data)).encode()


def read_cosignature(data: bytes) -> bytes:
    WITNESS.key.verify(COSIGNED, data)
    assert data in COSIGNATURES
    return data


def read_key(data: bytes) -> bytes:
    return str(VerifierKey.parse(data.decode())).encode()


def read_secret(data: bytes) -> bytes:
    """Read a private key; blanks around it do not count."""
    text = data.decode()
    assert str(LogSecret.parse(text)) == text.strip()
    return data


def read_bundle(data: bytes) -> bytes:
    return pack_bundle(unpack_bundle(data))


def read_tile(data: bytes) -> bytes:
    return b"".join(unpack_tile(data, 3))


def verify_path(data: bytes) -> bytes:
    """Verify the path of a leaf, whose index is the first byte."""
    index = data[0] if data else 0
    path = [data[at : at + 32] for at in range(1, len(data), 32)]
    merkle.verify_inclusion(HASHES[index], index, 300, path, ROOTS[300])
    assert path == merkle.inclusion_proof(index, 300, node)
    return data


def verify_growth(data: bytes) -> bytes:
    """Verify that 300 leaves begin with 17."""
    path = [data[at : at + 32] for at in range(0, len(data), 32)]
    merkle.verify_consistency(17, ROOTS[17], 300, ROOTS[300], path)
    assert path == merkle.consistency_proof(17, 300, node)
    return data


def read_leaf(data: bytes) -> bytes:
    """Read a leaf. Its bytes are hashed, and never written again."""
    decode_leaf(data)
    return data


def read_locator(data: bytes) -> bytes:
    """Read a locator. Its numbers may have needless bytes, and it is never written again."""
    found = locators.decode(data)
    assert locators.decode(locators.encode(found)) == found
    return data


def read_page(data: bytes) -> bytes:
    """Read a directory page with all its entries; as it is written again it stays."""
    page = DirectoryPage.decode(data, SHARDS, SHARD, 0)
    boards = [place * SHARDS + SHARD for place in range(min(BOARDS, len(page.entries)))]
    entries = list(filter(None, map(page.find, boards)))
    written = page.with_entries(entries).encode()
    again = DirectoryPage.decode(written, SHARDS, SHARD, 0)
    assert list(filter(None, map(again.find, boards))) == entries
    return data


def read_match(data: bytes) -> bytes:
    """Make a match again from its entry and its leaves, as readers of the archive do."""
    board, page, *leaves = unpack_bundle(data) if data else (b"", b"")
    entry = DirectoryPage.decode(page, SHARDS, SHARD, 0).find(int.from_bytes(board))
    if entry is not None:
        restore(entry, leaves)
    return data


class LogReader(NamedTuple):
    """A reader: what it does, its valid inputs, and the errors that it documents."""

    read: Callable[[bytes], bytes]
    valid: Callable[[random.Random], bytes]
    errors: tuple[type[Exception], ...] = (ValueError,)
    change: Callable[[random.Random, bytes], bytes] = mutate


_TEXT = (NoteError, UnicodeDecodeError)


@cache
def readers() -> dict[str, LogReader]:
    archived = ArchivedMatches()
    checkpoints = of_some(a_checkpoint)
    return {
        "notes": LogReader(read_note, checkpoints, (NoteError,)),
        "signed notes": LogReader(open_signed, checkpoints, (NoteError,)),
        "checkpoints": LogReader(read_checkpoint, of_some(a_text), _TEXT),
        "receipts": LogReader(read_promise, of_some(a_receipt), (NoteError,)),
        "signed receipts": LogReader(open_promise, of_some(a_receipt), (NoteError,)),
        "proof files": LogReader(read_proof, of_some(a_proof), _TEXT),
        "witness requests": LogReader(read_request, of_some(a_request), (NoteError,)),
        "cosignatures": LogReader(read_cosignature, of_some(a_cosignature), (NoteError,)),
        "verifier keys": LogReader(read_key, a_key, _TEXT),
        "private keys": LogReader(read_secret, a_secret, _TEXT),
        "bundles": LogReader(read_bundle, a_bundle),
        "tiles": LogReader(read_tile, a_tile),
        "inclusion": LogReader(verify_path, of_some(a_path)),
        "consistency": LogReader(verify_growth, of_some(a_growth)),
        "leaves": LogReader(read_leaf, archived.a_leaf, (msgspec.MsgspecError,)),
        "locators": LogReader(read_locator, a_locator),
        "directory pages": LogReader(read_page, archived.a_page, (PageError,)),
        "archived matches": LogReader(
            read_match, archived.a_match, (ArchiveError, ValueError), mutate_part
        ),
    }


def inputs(reader: LogReader, seed: int) -> Iterator[tuple[str, bytes]]:
    """Yield inputs without end, each with its kind."""
    chance = random.Random(seed)
    while True:
        kind = chance.random()
        if kind < 0.1:
            yield "valid", reader.valid(chance)
        elif kind < 0.95:
            yield "changed", reader.change(chance, reader.valid(chance))
        elif reader.change is mutate:
            yield "any bytes", chance.randbytes(chance.choice((0, 1, 2, 3, 8, 64, 300)))


def check(reader: LogReader, kind: str, data: bytes) -> tuple[str, float]:
    """Read an input; return what came of it, and how many seconds the reading took."""
    began = time.thread_time()
    try:
        written, result = reader.read(data), "read"
    except reader.errors as error:
        written, result = data, "refused"
        # it may repeat a name, escaped
        assert len(str(error)) < 1_000 + 8 * len(data), data  # noqa: PT017
    took = time.thread_time() - began
    assert written == data, f"{data!r} is written again as {written!r}"
    return f"{kind}, {result}", took


def main(count: int = COUNT, seed: int = 1, *names: str) -> None:
    """Read so many inputs with each reader, or with those named, and print the figures."""
    for name, reader in readers().items():
        if names and name not in names:
            continue
        found: Counter[str] = Counter()
        slowest = (0.0, b"")
        made = inputs(reader, seed)
        gc.collect()
        gc.freeze()
        for number in range(1, count + 1):
            kind, data = next(made)
            try:
                result, took = check(reader, kind, data)
            except Exception as error:
                raise AssertionError(f"{name}: {kind}, {data!r}") from error
            found[result] += 1
            if took > LIMIT:
                # twice more, because the machine has other work
                took = min(took, *(check(reader, kind, data)[1] for _ in range(2)))
            slowest = max(slowest, (took, data))
            assert took <= LIMIT + A_BYTE * len(data), f"{name} took {took:.3f} s for {data!r}"
            if number % _PROGRESS == 0:
                print(f"{name}: {number}", flush=True)
        for line, many in sorted(found.items()):
            print(f"{many:>9}  {name}, {line}")
        took, data = slowest
        print(f"slowest of {name}: {took * 1000:.2f} ms, of {len(data)} bytes", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]), *sys.argv[3:])
