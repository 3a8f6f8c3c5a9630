"""Changes of a match document, one at a time, at any place of its JSON."""

import random
from base64 import b64decode, b64encode
from typing import Any

import msgspec
from msgspec.structs import replace

from infra.audit.match_document import MatchDocument, write_document
from infra.store.outcomes import encode_stored, parse, tail

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
