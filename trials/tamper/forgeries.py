"""Forgeries by chance: of a match document, and of what a server with matches of many kinds has stored.

`trials/tamper/changes.py` changes single keys and files. Here somebody knows the program: chains again what was
changed, makes snapshot, outcomes or log fit, signs the published log again with the server's key.
"""

import random
from collections.abc import Callable
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from domain.match.history import EventEnvelope, RefusedLeaf, decode_event, decode_refusal, is_event
from infra.archive.directory_pages import BOARDS, DirectoryEntry, DirectoryPage
from infra.log.checkpoint import LogCheckpoint
from infra.log.key_files import keys_folder, read_keys
from infra.log.names import CHECKPOINT, LogSecret, object_name
from infra.log.signed_note import split_note
from infra.redis import keys
from infra.store import locators
from infra.store.outcomes import encode_stored, parse, tail
from tests.helpers.scrubbing import SHARDS
from trials.fuzz.documents import other
from trials.tamper.forger import Forger, other_leaf

MATCH_KEYS: Final = (
    keys.snapshot, keys.moves, keys.turns, keys.events, keys.outcomes, keys.locator,
)  # fmt: skip

Forgery = Callable[[Forger, random.Random], tuple[str, int]]
"""Makes a forgery; returns what it is, and the board that it concerns. Raises if nothing can be forged there."""


def _readable(leaf: bytes) -> bytes:
    """The leaf, if its bytes can be read; else an error, because another forgery is made then."""
    if is_event(leaf):
        decode_event(leaf)
    return leaf


def event_changed(forger: Forger, chance: random.Random) -> tuple[str, int]:
    """Another event of the match, chained again, with a snapshot that fits where that can be folded."""
    match = forger.match(chance)
    place = chance.randrange(len(match.events))
    events = forger.event_in_place(match, place, _readable(other_leaf(match.events[place], chance)))
    if chance.random() < 0.5:
        match.write(events)
        return f"event {place + 1} changed, snapshot made to fit", match.board
    forger.client.delete(keys.events(match.shard, match.board))
    forger.client.rpush(keys.events(match.shard, match.board), *events)
    return f"event {place + 1} changed, chained again", match.board


def event_changed_everywhere(forger: Forger, chance: random.Random) -> tuple[str, int]:
    """The same, and its leaves in the log are the changed ones, and now and then the published ones."""
    match = forger.match(chance)
    place = chance.randrange(len(match.events))
    events = forger.event_in_place(match, place, _readable(other_leaf(match.events[place], chance)))
    match.write(events)
    changed = dict(zip(match.events, events, strict=True))
    rows = [(id_, changed.get(leaf, leaf)) for id_, leaf in forger.log(match.shard)]
    forger.write_log(match.shard, rows)
    if chance.random() < 0.5:
        leaves = [changed.get(leaf, leaf) for leaf in forger.published(match.shard)]
        forger.publish_again(match.shard, leaves)
        return f"event {place + 1} changed in log and published log", match.board
    return f"event {place + 1} changed in the log too", match.board


def last_event(forger: Forger, chance: random.Random) -> tuple[str, int]:
    """The last event taken back everywhere, or later."""
    match = forger.match(chance)
    if chance.random() < 0.5:
        match.delay(chance.choice([1, 60_000]))
        return "the last event is later", match.board
    match.unmake()
    return "the last event is taken back", match.board


def match_erased(forger: Forger, chance: random.Random) -> tuple[str, int]:
    """A match erased, in its log too."""
    match = forger.match(chance)
    match.erase()
    return "the match is erased", match.board


def match_substituted(forger: Forger, chance: random.Random) -> tuple[str, int]:
    """All or some keys of another match of the shard in the place of a match's."""
    match = forger.match(chance)
    others = [one for one in forger.here if one != match.board and one % SHARDS == match.shard]
    other = chance.choice(others)
    parts = MATCH_KEYS if chance.random() < 0.4 else chance.sample(MATCH_KEYS, 2)
    for name in parts:
        data = forger.client.dump(name(match.shard, other))
        forger.client.delete(name(match.shard, match.board))
        if data is not None:
            forger.client.restore(name(match.shard, match.board), 0, data)
    return f"{len(parts)} keys are those of match {other}", match.board


def _leaves_changed(leaves: list[bytes], chance: random.Random) -> tuple[str, int]:
    """Change some of these leaves in place; return what was done, and the board of one of them."""
    at, other = chance.randrange(len(leaves)), chance.randrange(len(leaves))
    board = _board_of(leaves[at])
    match chance.randrange(6):
        case 0:
            del leaves[at]
            return f"leaf {at} dropped", board
        case 1:
            leaves.insert(at, leaves[at])
            return f"leaf {at} doubled", board
        case 2:
            leaves[at], leaves[other] = leaves[other], leaves[at]
            return f"leaves {at} and {other} swapped", board
        case 3:
            leaves[at] = leaves[other]
            return f"leaf {other} in the place of leaf {at}", board
        case 4:
            place = chance.randrange(len(leaves[at]))
            found = bytearray(leaves[at])
            found[place] ^= 1 << chance.randrange(8)
            leaves[at] = bytes(found)
            return f"byte {place} of leaf {at} changed", board
        case _:
            leaves[at] = other_leaf(leaves[at], chance)
            return f"leaf {at} changed", board


def _board_of(leaf: bytes) -> int:
    try:
        found: EventEnvelope | RefusedLeaf = (decode_event if is_event(leaf) else decode_refusal)(
            leaf
        )
    except msgspec.MsgspecError:
        return 1
    return found.match


def log_changed(forger: Forger, chance: random.Random) -> tuple[str, int]:
    """The leaves of a log in Redis changed, at the ids that it has."""
    shard = chance.randrange(SHARDS)
    rows = forger.log(shard)
    leaves = [leaf for _, leaf in rows]
    how, board = _leaves_changed(leaves, chance)
    ids = [id_ for id_, _ in rows]
    forger.write_log(shard, list(zip(ids, leaves, strict=False)))
    return f"log of shard {shard}: {how}", board


def published_again(forger: Forger, chance: random.Random) -> tuple[str, int]:
    """The published log changed and signed again; sometimes by another key, or the log in Redis too."""
    shard = chance.randrange(SHARDS)
    leaves = forger.published(shard)
    how, board = _leaves_changed(leaves, chance)
    secret = LogSecret("example.org/log", bytes(range(32))) if chance.random() < 0.15 else None
    forger.publish_again(shard, leaves, secret)
    if chance.random() < 0.3:
        kept = forger.log(shard)
        first = int(kept[0][0].split(b"-")[0])
        forger.write_log(shard, [(b"%d-1" % at, leaves[at]) for at in range(first, len(leaves))])
        return f"shard {shard} published again, the log too: {how}", board
    return f"shard {shard} published again: {how}", board


def outcome_changed(forger: Forger, chance: random.Random) -> tuple[str, int]:
    """One part of an outcome changed, or two outcomes swapped, or one dropped or invented."""
    match = forger.match(chance)
    name = keys.outcomes(match.shard, match.board)
    rows = sorted(forger.client.hgetall(name).items())
    command, stored = chance.choice(rows)
    one = parse(stored)
    # the digest of a refusal is not proven where its command is not known
    how = chance.randrange(1 if one.code else 0, 7)
    index, code, sentence, seq, digest = one.index, one.code, one.text, one.seq, stored[:8]
    match how:
        case 0:
            digest = chance.randbytes(8)
        case 1:
            index = max(0, index + chance.choice([-1, 1, 2, 300]))
        case 2:
            seq += chance.choice([-1, 1]) if seq else 1
        case 3:
            code = "" if code else "illegal-move"
        case 4:
            sentence = "another sentence"
        case 5:
            forger.client.hdel(name, command)
            return f"outcome of {command.hex()} dropped", match.board
        case _:
            command = chance.randbytes(16)
    forger.client.hset(
        name, command, encode_stored(digest, index, tail(code, max(0, seq), sentence))
    )
    return f"outcome of {command.hex()} changed in way {how}", match.board


def kept_changed(forger: Forger, chance: random.Random) -> tuple[str, int]:
    """A refused command that is kept replaced by another one, or by what can't be read."""
    found = sorted(
        (name, command)
        for shard in range(SHARDS)
        for name in forger.client.scan_iter(keys.refused(shard, b"").rpartition(":")[0] + ":*")
        for command in forger.client.hkeys(name)
        if command
    )
    name, command = chance.choice(found)
    kept = forger.client.hget(name, command)
    new = chance.choice([b"\x81\xa4type\xa6resign", b"\x81\xa4type\xa6resume", kept[:-1], b"\xc1"])
    if new == kept:
        raise ValueError
    forger.client.hset(name, command, new)
    board = next(
        one
        for one in forger.here
        if forger.client.hexists(keys.outcomes(one % SHARDS, one), command)
    )
    return f"kept command {command.hex()} changed", board


def locator_changed(forger: Forger, chance: random.Random) -> tuple[str, int]:
    """The locator with an index more or less, or two swapped."""
    match = forger.match(chance)
    name = keys.locator(match.shard, match.board)
    places = locators.decode(forger.client.get(name))
    at = chance.randrange(len(places))
    match chance.randrange(4):
        case 0:
            del places[at]
        case 1:
            places.insert(at, places[at])
        case 2:
            places.append(places[-1] + 1)
        case _:
            places[at] += 1
    forger.client.set(name, locators.encode(places))
    return "locator changed", match.board


def counter_changed(forger: Forger, chance: random.Random) -> tuple[str, int]:
    """A counter of boards or seeds set back or on, or an anchor's place changed."""
    shard = chance.randrange(SHARDS)
    name = keys.seed_chain(shard)
    field, value = chance.choice(sorted(forger.client.hgetall(name).items()))
    if value.isdigit():
        forger.client.hset(name, field, max(0, int(value) + chance.choice([-1, 1, -2])))
    else:
        forger.client.hset(name, field, value[::-1])
    return f"field {field.decode()} of the seeds of shard {shard} changed", chance.choice(
        forger.here
    )


def entry_changed(forger: Forger, chance: random.Random) -> tuple[str, int]:
    """A field of a match's entry in a directory page changed, or entries swapped."""
    shard = chance.randrange(SHARDS)
    name = object_name(shard, "boards/000")
    data = forger.server.objects.get(name)
    page = DirectoryPage.decode(data, SHARDS, shard, 0)
    boards = [one for place in range(BOARDS) if page.find(one := place * SHARDS + shard)]
    board, entry = (one := chance.choice(boards)), page.find(one)
    assert entry is not None
    field = chance.choice(DirectoryEntry.__struct_fields__[1:])
    value: Any = other(getattr(entry, field), chance)
    if field == "refusals" and entry.refusals:
        # the digest of a refused command is not proven
        (id_, stored), *rest = entry.refusals
        value = (*rest,) if chance.random() < 0.5 else ((id_, stored[:8] + stored[8:][::-1]), *rest)
    if field == "summary":
        of = chance.choice(entry.summary.__struct_fields__)
        value = replace(entry.summary, **{of: other(getattr(entry.summary, of), chance)})
    if value == getattr(entry, field):
        raise ValueError
    changed = page.with_entries([replace(entry, **{field: value})])
    forger.server.objects.replace(name, changed.encode(), data)
    return f"{field} of the entry of match {board} changed", board


def checkpoint_changed(forger: Forger, chance: random.Random) -> tuple[str, int]:
    """The checkpoint of another size or root, signed by the server's key, or by none."""
    shard = chance.randrange(SHARDS)
    name = object_name(shard, CHECKPOINT)
    objects = forger.server.objects
    note = objects.get(name)
    head = LogCheckpoint.parse(split_note(note)[0])
    size, root = head.size, head.root
    match chance.randrange(3):
        case 0:
            size += chance.choice([-1, 1, 256])
        case 1:
            root = root[::-1]
        case _:
            place = chance.randrange(len(note))
            other = note[:place] + bytes([note[place] ^ 1]) + note[place + 1 :]
            objects.replace(name, other, note)
            return f"byte {place} of the checkpoint of shard {shard} changed", shard or SHARDS
    secrets = read_keys(keys_folder(forger.server.settings)).secrets
    signed = LogCheckpoint(head.origin, size, root).sign([one.signer(shard) for one in secrets])
    objects.replace(name, signed if isinstance(signed, bytes) else signed.encode(), note)
    return f"another checkpoint of shard {shard} signed", shard or SHARDS


FORGERIES: Final[dict[str, Forgery]] = {
    "event changed": event_changed,
    "event changed everywhere": event_changed_everywhere,
    "last event": last_event,
    "match erased": match_erased,
    "match substituted": match_substituted,
    "log changed": log_changed,
    "published again": published_again,
    "outcome changed": outcome_changed,
    "kept command changed": kept_changed,
    "locator changed": locator_changed,
    "counter changed": counter_changed,
    "entry changed": entry_changed,
    "checkpoint changed": checkpoint_changed,
}
"""The forgeries of what a server has stored."""
