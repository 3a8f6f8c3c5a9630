"""Match documents for tests: of histories that were decided by hand, with a published log around them.

Changes of a match document, one at a time, at any place of its JSON.
"""

import random
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator
from functools import cache
from itertools import groupby
from typing import Any, cast

import msgspec
from msgspec.structs import replace

from domain.fairness import previous_seed
from domain.match.audit import possible_digests
from domain.match.evolve import ply_after
from domain.match.history import (
    AnchorLeaf,
    EventEnvelope,
    RefusedLeaf,
    decode_event,
    encode_event,
    pack_snapshot,
)
from domain.records import SCHEMA
from infra.audit.build_document import Additions, ServerLogs, build_document
from infra.audit.match_document import MatchDocument, write_document
from infra.log.log_writer import LogWriter
from infra.log.names import LogSecret
from infra.log.published_log import PublishedLog
from infra.objects.port import ObjectStore
from infra.store.layout import Layout
from infra.store.outcomes import encode_stored, parse, tail
from infra.store.port import Store
from tests.fakes.memory_store import MemoryObjects
from tests.golden.make_events import MATCHES
from tests.helpers.given import Match

SECRET = LogSecret("play.example.org/log", bytes(range(32)))
OTHER_SECRET = LogSecret("play.example.org/log", bytes(range(1, 33)))

KINDS = sorted(MATCHES)
"""Histories in which every kind of event happens."""


class HistoryStore:
    """The one match of a shard, as far as documents read a store; with leaves of others in between."""

    def __init__(self, match: Match, published: int | None = None) -> None:
        self.match = match
        anchor = previous_seed(match.seed.seed)
        foreign = encode_event(
            RefusedLeaf(SCHEMA, 9, 1, b"f" * 16, b"account.", "usage", None, None)
        )
        self.shard = match.board % 4
        self.log = [foreign, encode_event(AnchorLeaf(SCHEMA, self.shard, 1, anchor))]
        self.indexes: list[int] = []
        self.stored: dict[bytes, bytes] = {}
        ply = 0
        for group in _commands(match.events):
            if len(self.indexes) % 3 == 1:
                self.log.append(foreign)
            self._store(group, ply)
            for envelope in group:
                self.indexes.append(len(self.log))
                self.log.append(match.events[envelope.seq - 1])
            for envelope in group:
                ply = ply_after(envelope.body, ply)
        self.objects: ObjectStore = MemoryObjects()
        size = len(self.log) if published is None else published
        writer = LogWriter(self.objects, self.shard, [SECRET.signer(self.shard)])
        writer.load()
        writer.append(self.log[:size])

    def _store(self, group: list[EventEnvelope], ply: int) -> None:
        first, digest = group[0], possible_digests(group, ply)[0]
        self.stored[first.command] = encode_stored(digest, len(self.log), tail("", first.seq))

    def layout(self) -> Layout:
        return Layout(4, 1)

    shards = 4

    def shard_of(self, board: int) -> int:
        return self.layout().shard_of(board)

    def snapshots(self, boards: Any) -> list[Any]:
        del boards
        return [pack_snapshot(self.match.snapshot)]

    def leaf_indexes(self, board: int) -> list[int]:
        del board
        return list(self.indexes)

    def outcomes(self, board: int) -> dict[bytes, bytes]:
        del board
        return self.stored

    def leaves_at(self, shard: int, indexes: list[int]) -> list[bytes]:
        assert shard == self.shard
        return [self.log[index] for index in indexes]

    def anchor_index(self, shard: int, chain: int) -> int:
        assert (shard, chain) == (self.shard, 1)
        return 1

    def logs(self) -> ServerLogs:
        return server_logs(
            lambda shard: PublishedLog(self.objects, shard, [SECRET.signer(shard).key])
        )

    def document(self, additions: Additions | None = None) -> MatchDocument:
        store = cast("Store", self)
        found = build_document(store, self.match.board, self.logs(), additions)
        assert found is not None
        return found


def server_logs(open_log: Callable[[int], PublishedLog], secret: LogSecret = SECRET) -> ServerLogs:
    """The logs of a server that signs with this key."""
    return ServerLogs(open_log, [secret.public], [secret.public])


def _commands(events: list[bytes]) -> Iterator[list[EventEnvelope]]:
    for _, group in groupby(map(decode_event, events), key=lambda envelope: envelope.command):
        yield list(group)


@cache
def golden_document(kind: str, unpublished: int = 0) -> MatchDocument:
    """The document of a history of one kind, the last leaves of which are not published."""
    whole = HistoryStore(MATCHES[kind]())
    return HistoryStore(MATCHES[kind](), len(whole.log) - unpublished).document()


Path = tuple[str | int, ...]


def tamper(document: MatchDocument, chance: random.Random) -> tuple[bytes, Path]:
    """A document with one change by chance, and its place."""
    tree = msgspec.json.decode(write_document(document))
    places = list(_places(tree, ()))
    path = chance.choice(places)
    parent = tree
    for step in path[:-1]:
        parent = parent[step]
    old = parent[path[-1]]
    kind = chance.randrange(6)
    if kind == 0 and isinstance(parent, list):
        del parent[path[-1]]
    elif kind == 1 and isinstance(parent, list):
        parent.insert(path[-1], old)
    elif kind == 2 and isinstance(parent, list) and len(parent) > 1:
        other = chance.randrange(len(parent))
        parent[path[-1]], parent[other] = parent[other], old
    else:
        parent[path[-1]] = _changed(old, chance)
    return msgspec.json.encode(tree), path


def _places(tree: Any, path: Path) -> Any:
    """All places of a tree, but that of the whole."""
    if path:
        yield path
    if isinstance(tree, dict | list):
        for step, one in tree.items() if isinstance(tree, dict) else enumerate(tree):
            yield from _places(one, (*path, step))


def _changed(old: Any, chance: random.Random) -> Any:
    match old:
        case bool() | None:
            return chance.choice([0, 1, "", [], "x"])
        case int():
            return chance.choice([old + 1, old - 1, old * 2 + 1, -old - 1, 0 if old else 5])
        case str() if old:
            return _other_text(old, chance)
        case []:
            return [0]
        case _:
            return chance.choice([None, [], 7])


def _other_text(old: str, chance: random.Random) -> str:
    """A text with a byte of its base64, or a character, changed."""
    try:
        data = bytearray(b64decode(old, validate=True))
    except ValueError:
        data = bytearray()
    if len(data) > 8:
        at = chance.randrange(len(data))
        data[at] ^= 1 << chance.randrange(8)
        return b64encode(data).decode()
    at = chance.randrange(len(old))
    other = chance.choice([one for one in "0a9fZ-/" if one != old[at]])
    return chance.choice([old[:at] + other + old[at + 1 :], old[:at], old + other])


def proven_part(document: MatchDocument) -> MatchDocument:
    """A document without what nothing proves: names of players, the words of refusals, and keys in the file.

    The digest of an accepted command is not proven where a move has several spellings.
    """
    leaves = []
    for one in document.leaves:
        if isinstance(one.outcome, bytes):
            found = parse(one.outcome)
            bare = tail(found.code, found.seq)
            one = replace(one, outcome=encode_stored(bytes(8), found.index, bare))  # noqa: PLW2901
        leaves.append(one)
    return replace(
        document,
        leaves=tuple(leaves),
        seats=tuple(replace(seat, userid=None) for seat in document.seats),
        log=replace(document.log, keys=(), receipt_keys=()),
    )
