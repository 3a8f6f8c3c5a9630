"""Receipts, proofs and match documents as files, good ones and tampered ones."""

from base64 import b64decode, b64encode
from collections.abc import Callable
from functools import cache
from typing import Any

import msgspec

from domain.match.history import RefusedLeaf, decode_event, encode_event, is_event
from domain.records import SCHEMA
from infra.audit.match_document import MatchDocument, write_document
from infra.log.log_writer import LogWriter
from infra.log.published_log import PublishedLog
from infra.log.receipts import KEY_SUFFIX, Receipt
from infra.store.outcomes import encode_stored, tail
from tests.fakes.memory_store import MemoryObjects
from tests.golden.make_events import MATCHES
from tests.helpers.evidence import SECRET, HistoryStore

File = tuple[str, bytes]
REFUSED_AT = 1_795_200_000_000


class Evidence(HistoryStore):
    """A match whose last command was refused; the last leaves are not published, and have receipts."""

    def __init__(self, kind: str = "timed", unpublished: int = 3) -> None:
        super().__init__(MATCHES[kind]())
        last = decode_event(self.match.events[-1])
        self.refusal = encode_event(
            RefusedLeaf(
                SCHEMA,
                last.match,
                REFUSED_AT,
                b"r" * 16,
                b"alice...",
                "match-over",
                "a13-c11",
                None,
            )
        )
        self.indexes.append(len(self.log))
        self.stored[b"r" * 16] = encode_stored(
            bytes(8), len(self.log), tail("match-over", last.seq, "")
        )
        self.log.append(self.refusal)
        self.size = len(self.log) - unpublished
        self.publish(self.log[: self.size])

    def publish(self, leaves: list[bytes]) -> None:
        """Publish a log of these leaves, in the place of any other."""
        self.objects = MemoryObjects()
        writer = LogWriter(self.objects, self.shard, [SECRET.signer(self.shard)])
        writer.load()
        writer.append(leaves)

    @property
    def published(self) -> PublishedLog:
        log = PublishedLog(self.objects, self.shard, [SECRET.signer(self.shard).key])
        log.refresh()
        return log

    @property
    def keys(self) -> str:
        """The keys of the log, as somebody has them who got them before."""
        signers = [SECRET.signer(self.shard), SECRET.signer(self.shard, KEY_SUFFIX)]
        return "".join(f"{signer.key}\n" for signer in signers)

    def receipt(self, index: int) -> str:
        """The receipt of a leaf of the match."""
        leaf = self.log[index]
        signer = SECRET.signer(self.shard, KEY_SUFFIX)
        origin = SECRET.signer(self.shard).key.name
        before = [self.log[at] for at in self.indexes if at < index and is_event(self.log[at])]
        if is_event(leaf) or not before:
            return Receipt.of_leaf(origin, leaf).sign([signer])
        last = before[-1]
        head = decode_event(self.match.events[-1])
        assert decode_event(last) == head
        return Receipt.of_leaf(origin, leaf, head.seq, self.match.snapshot.head).sign([signer])

    def proof(self, index: int) -> str:
        """The proof file of a leaf, with its bytes."""
        found = self.published.inclusion(index)
        return str(msgspec.structs.replace(found, extra=self.log[index]))

    def whole(self) -> MatchDocument:
        """The match document, with receipts of what is not published."""
        receipts = tuple(self.receipt(index) for index in self.indexes if index >= self.size)
        return msgspec.structs.replace(self.document(), receipts=receipts)


@cache
def evidence(kind: str = "timed", unpublished: int = 3) -> Evidence:
    return Evidence(kind, unpublished)


def changed(document: MatchDocument, change: Callable[[Any], object]) -> bytes:
    """The bytes of a document after a change of its JSON."""
    found = msgspec.json.decode(write_document(document))
    change(found)
    return msgspec.json.encode(found) + b"\n"


def with_leaf(place: int, change: Callable[[bytes], bytes]) -> Callable[[Any], object]:
    """Change the bytes of one leaf of a document."""

    def tamper(found: Any) -> None:
        one = found["leaves"][place]
        one["leaf"] = encode(change(b64decode(one["leaf"])))

    return tamper


def with_event(place: int, **fields: Any) -> Callable[[Any], object]:
    """Change fields of one event of a document; those with `body_` before are of its body."""

    def change(data: bytes) -> bytes:
        envelope = decode_event(data)
        body = {key.removeprefix("body_"): x for key, x in fields.items() if key[:5] == "body_"}
        rest = {key: x for key, x in fields.items() if key[:5] != "body_"}
        changed_body = msgspec.structs.replace(envelope.body, **body)
        return encode_event(msgspec.structs.replace(envelope, **{"body": changed_body, **rest}))

    return with_leaf(place, change)


def flipped(data: bytes, at: int, bit: int = 1) -> bytes:
    """The bytes with one bit of one byte changed."""
    return data[:at] + bytes([data[at] ^ bit]) + data[at + 1 :]


def flip64(text: str, at: int) -> str:
    """Base64 of the bytes with one bit of one byte changed."""
    return encode(flipped(b64decode(text), at))


def encode(data: bytes) -> str:
    return b64encode(data).decode()
