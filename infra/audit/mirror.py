"""The check of one mirrored log: all leaves, the root that was signed, earlier checkpoints, and its matches.

Nothing but bundles and a checkpoint is needed. The root is made again from the leaves; where it is another one, the
tiles of the mirror, if there are any, say in which bundle the first changed leaf is.

The logs of a mirror: a folder of shards or of one, or the address of a server's published logs.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from itertools import islice
from pathlib import Path
from typing import Final

import msgspec

from domain.match.history import AnchorLeaf, BrokenHistory, decode_leaf, leaf_hash
from infra.audit.draws import KnownSeeds
from infra.audit.leaf_order import LeafOrder
from infra.audit.match import CheckedMatches, audit_leaves
from infra.log.checkpoint import LogCheckpoint
from infra.log.names import CHECKPOINT, WITNESSED, folder, keys_of_log, object_name, shard_key
from infra.log.signed_note import NoteError, SignatureType, VerifierKey, open_note, split_note
from infra.log.tiles import WIDTH, TreeRebuild, bundle_path, tile_of, unpack_bundle, unpack_tile
from infra.objects.files import FileObjects
from infra.objects.http import HttpObjects
from infra.objects.port import ObjectNotFoundError, ObjectStore, ObjectStoreError
from infra.redis.keys import MOST_SHARDS

_SHARD: Final = re.compile(r"s[0-9]{2,3}")


class MirrorObjects:
    """The objects of a mirror, by the names that they have in an object store.

    What is read over HTTP, with a token if there is one, is kept in the folder `kept`, so that it is read once; the
    others are read where they are.
    """

    def __init__(self, where: str, kept: Path, token: str = "") -> None:
        self._source: ObjectStore
        self._kept: FileObjects | None = None
        self._one = ""
        """The folder that all names begin with, in a mirror of one shard."""
        if "://" in where:
            self._source, self._kept = HttpObjects(where, token=token), FileObjects(kept)
            lone = bool(_SHARD.fullmatch(where.rstrip("/").rpartition("/")[2]))
        else:
            self._source = FileObjects(Path(where))
            lone = (Path(where) / CHECKPOINT).is_file()
        self.where = where
        if lone:
            self._one = f"{folder(self._shard_of_checkpoint())}/"

    def shards(self) -> list[int]:
        """Return the shards that the mirror has, at least one; `ObjectStoreError` without any."""
        if self._one:
            return [int(self._one[1:-1])]
        found = (
            [shard for shard in range(MOST_SHARDS) if self._has(shard)] if not self._kept else []
        )
        while self._kept and len(found) < MOST_SHARDS and self._has(len(found)):
            found.append(len(found))
        if not found:
            raise ObjectStoreError(
                f"{self.where} has no published log: there is no {folder(0)}/{CHECKPOINT}"
            )
        return found

    def get(self, name: str) -> bytes:
        """Return an object."""
        if self._kept is None:
            return self._source.get(name.removeprefix(self._one))
        try:
            return self._kept.get(name)
        except ObjectNotFoundError:
            data = self._source.get(name.removeprefix(self._one))
        self._kept.create(name, data)
        return data

    def _has(self, shard: int) -> bool:
        try:
            self.get(object_name(shard, CHECKPOINT))
        except ObjectNotFoundError:
            return False
        return True

    def _shard_of_checkpoint(self) -> int:
        """Return the shard whose log the only checkpoint is of."""
        found = LogCheckpoint.parse(split_note(self._source.get(CHECKPOINT))[0])
        name = found.origin.rpartition("/")[2]
        if not _SHARD.fullmatch(name):
            raise ObjectStoreError(f"{self.where} is of {found.origin}, which isn't a shard's log")
        return int(name[1:])


_NOTE: Final = re.compile(
    r"^\S+/s[0-9]{2,3}\n[0-9]+\n[A-Za-z0-9+/=]{44}\n(?:^[^\n]+\n){0,8}\n(?:^\u2014 [^\n]+\n)+",
    re.MULTILINE,
)
_QUOTED: Final = re.compile(r"^[> ]*", re.MULTILINE)


class MirrorFault(Exception):  # noqa: N818 - it is the fault of a log
    """A mirrored log does not hold; the message is a sentence."""


class MirroredLog(msgspec.Struct):
    """A mirrored log as its check has found it."""

    shard: int
    origin: str
    size: int
    signed: bool
    """Whether the signature was checked by a key from elsewhere."""
    said: list[str]
    """Sentences about earlier checkpoints and cosignatures that hold."""
    faults: list[str]
    leaf_bytes: dict[int, int]
    """How many bytes the leaves of each match have."""
    anchors: dict[int, int]
    """The indexes of the anchors of seed chains."""
    divisor: int = 0
    """See `LeafOrder.divisor`."""


def notes_in(text: str) -> list[str]:
    """Return the checkpoints in a text, such as a mail that quotes one."""
    plain = _QUOTED.sub("", text.replace("\r\n", "\n"))
    return [note for note in _NOTE.findall(plain) if _is_checkpoint(note)]


def _is_checkpoint(note: str) -> bool:
    """Return whether a note is a checkpoint: receipts are notes, too."""
    try:
        LogCheckpoint.parse(split_note(note)[0])
    except NoteError:
        return False
    return True


class MirrorReader:
    """Reads the leaves of one shard of a mirror, at the size of its checkpoint."""

    def __init__(self, objects: MirrorObjects, shard: int, keys: Sequence[VerifierKey]) -> None:
        self.shard = shard
        self._objects = objects
        self.note = objects.get(object_name(shard, CHECKPOINT))
        self.checkpoint = LogCheckpoint.parse(split_note(self.note)[0])
        self._witnesses = [key for key in keys if key.type is SignatureType.COSIGNATURE]
        origin = self.checkpoint.origin
        self._keys = keys_of_log(
            (key for key in keys if origin in (key.name, shard_key(key, shard).name)), origin
        )

    def bundles(self) -> Iterator[tuple[int, list[bytes]]]:
        """Yield the leaves of each bundle with the index of the first; `MirrorFault` if one can't be read."""
        size = self.checkpoint.size
        for first in range(0, size, WIDTH):
            width = min(WIDTH, size - first)
            try:
                rows = unpack_bundle(self._bundle(first // WIDTH, width))[:width]
            except (ObjectStoreError, ValueError) as error:
                raise MirrorFault(
                    f"leaves {first} to {first + width - 1} can't be read: {error}"
                ) from error
            if len(rows) != width:
                raise MirrorFault(f"leaves {first + len(rows)} to {first + width - 1} are missing")
            yield first, rows

    def _bundle(self, number: int, width: int) -> bytes:
        try:
            return self._objects.get(object_name(self.shard, bundle_path(number, width)))
        except ObjectNotFoundError:
            # a partial one is deleted after the full one is written
            return self._objects.get(object_name(self.shard, bundle_path(number)))

    def check(self, earlier: Sequence[str]) -> MirroredLog:
        """Check the log; `earlier` are notes of any logs, of which those of this one must be prefixes."""
        found = MirroredLog(
            self.shard,
            self.checkpoint.origin,
            self.checkpoint.size,
            bool(self._keys),
            [],
            [],
            {},
            {},
        )
        try:
            if self._keys:
                open_note(self.note, self._keys)
            self._read_leaves(found, self._earlier(found, earlier))
        except (MirrorFault, NoteError) as error:
            found.faults.append(f"the log {self.checkpoint.origin} does not hold: {error}")
        return found

    def _earlier(self, found: MirroredLog, notes: Sequence[str]) -> list[LogCheckpoint]:
        """Return the earlier checkpoints of this log, after checking their signatures."""
        named = list(notes)
        if self._witnesses:
            with suppress(ObjectNotFoundError):
                named.append(self._objects.get(object_name(self.shard, WITNESSED)).decode())
        seen: list[LogCheckpoint] = []
        cosigned: dict[str, int] = {}
        for note in [self.note.decode(), *named]:
            checkpoint = LogCheckpoint.parse(split_note(note)[0])
            if checkpoint.origin != self.checkpoint.origin:
                continue
            if self._keys:
                open_note(note, self._keys)
            seen.append(checkpoint)
            for witness in self._witnesses:
                names = {name for name, _ in split_note(note)[1]}
                if witness.name in names:
                    open_note(note, [witness])
                    cosigned[witness.name] = max(checkpoint.size, cosigned.get(witness.name, 0))
        for witness in self._witnesses:
            size = cosigned.get(witness.name)
            found.said.append(
                f"{witness.name} has not cosigned {found.origin}"
                if size is None
                else f"{witness.name} has cosigned {found.origin} at {size} leaves"
            )
        return seen

    def _read_leaves(self, found: MirroredLog, earlier: Sequence[LogCheckpoint]) -> None:
        """Read all leaves, and compare the root with those of all checkpoints."""
        tree, order = TreeRebuild(), LeafOrder(self.shard, 0)
        wanted = defaultdict(list)
        for checkpoint in earlier:
            wanted[checkpoint.size].append(checkpoint)
        for size in [size for size in wanted if size > self.checkpoint.size]:
            found.faults.append(
                f"the log {found.origin} has {found.size} leaves here, and a checkpoint of {size} was "
                "signed: the mirror is older, or leaves were taken away"
            )
        self._compare(tree, wanted.pop(0, []), found)
        sizes: dict[int, int] = defaultdict(int)
        for first, rows in self.bundles():
            for size in sorted(size for size in wanted if first < size < first + len(rows)):
                part = deepcopy(tree)
                list(part.add(rows[: size - first]))
                self._compare(part, wanted[size], found)
            list(tree.add(rows))
            for index, leaf in enumerate(rows, first):
                place = order.add(index, leaf)
                if place is not None:
                    sizes[place] += len(leaf)
            self._compare(tree, wanted.get(tree.size, []), found)
        found.faults += islice(order.sentences(), 20)
        found.leaf_bytes, found.anchors = (
            dict(sizes),
            {chain: index for chain, (index, _) in order.anchors.items()},
        )
        found.divisor = order.divisor

    def _compare(
        self, tree: TreeRebuild, checkpoints: Sequence[LogCheckpoint], found: MirroredLog
    ) -> None:
        root = tree.root()
        for checkpoint in checkpoints:
            if checkpoint.root == root:
                if checkpoint.size < self.checkpoint.size:
                    found.said.append(
                        f"the checkpoint of {found.origin} at {checkpoint.size} leaves is a prefix of the log"
                    )
            elif checkpoint == self.checkpoint:
                raise MirrorFault(
                    f"its {tree.size} leaves do not have the root of its checkpoint{self._first_changed()}"
                )
            else:
                found.faults.append(
                    f"the log {found.origin} is forked: a checkpoint of {checkpoint.size} leaves has another "
                    "root than the first leaves of the mirror"
                )

    def _first_changed(self) -> str:
        """Return a clause about the first leaf that does not fit the mirror's tiles, if there are any."""
        for first, rows in self.bundles():
            tile = tile_of(0, first, self.checkpoint.size)
            try:
                data = self._objects.get(object_name(self.shard, tile.path))
                hashes = unpack_tile(data, tile.width)
            except (ObjectStoreError, ValueError):
                return ""
            for index, (leaf, wanted) in enumerate(zip(rows, hashes, strict=False), first):
                if leaf_hash(leaf) != wanted:
                    return f"; the first that does not fit its tile is leaf {index}"
        return ""

    def matches(self, boards: range) -> dict[int, dict[int, bytes]]:
        """Return the leaves of matches by their indexes."""
        found: dict[int, dict[int, bytes]] = defaultdict(dict)
        for first, rows in self.bundles():
            for index, data in enumerate(rows, first):
                try:
                    leaf = decode_leaf(data)
                except msgspec.MsgspecError:
                    continue  # it was named when the whole log was read
                if not isinstance(leaf, AnchorLeaf) and leaf.match in boards:
                    found[leaf.match][index] = data
        return found

    def check_matches(self, anchors: Mapping[int, int], boards: range) -> CheckedMatches:
        """Audit the matches with these boards by their leaves; `anchors` are those that `check` has found."""
        found, known = CheckedMatches(), KnownSeeds()

        def anchor_of(chain: int) -> tuple[int, bytes] | None:
            index = anchors.get(chain)
            return None if index is None else (index, self.leaf(index))

        for board, leaves in self.matches(boards).items():
            try:
                found.add_match(audit_leaves(board, self.shard, leaves, anchor_of, known))
            except BrokenHistory as broken:
                found.add_fault(board, str(broken))
        return found

    def leaf(self, index: int) -> bytes:
        """Return one leaf."""
        first = index // WIDTH * WIDTH
        width = min(WIDTH, self.checkpoint.size - first)
        return unpack_bundle(self._bundle(first // WIDTH, width))[index - first]
