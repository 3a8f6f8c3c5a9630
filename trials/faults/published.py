"""I5: the published log and the archive are what the leaves of the store give, and only ever grow.

Checked are, with hashes and trees that are made here and not by the code that is under test:

- every object of the log is, byte for byte, what the leaves give, and none is missing;
- each checkpoint that was ever seen is signed, and its tree begins the final one;
- no bundle or tile has ever changed its bytes, and no full one has gone;
- the leaf of each acknowledged command is published at the index that was answered;
- a match that was retired, or restored, reads as it did before.

I6 of the projections: what the side workers keep equals what a rebuild from zero makes.

The side workers get time to catch up by themselves, whatever was done to them; then each projection is
made anew up to the same leaf, as `matchpost rebuild --check` does it, and compared key by key.
"""

import os
import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from threading import Event, Thread
from typing import Self

import msgspec
from redis import Redis

from domain.match.history import command_of, decode_leaf
from infra.log.checkpoint import open_checkpoint
from infra.log.key_files import FOLDER_NAME, read_public_keys
from infra.log.names import shard_key
from infra.log.signed_note import NoteError, VerifierKey
from infra.projections.buckets import SPECS
from infra.projections.generations import Generations
from infra.projections.lag import Lag, lag
from infra.projections.projection import Projection
from infra.store.lost_leaves import losses_text
from infra.store.outcomes import parse
from infra.store.port import Store
from trials.faults.checker import WIDTH, Held, Invocation, Result, Violation
from workers.projections import PROJECTIONS
from workers.projections.rebuild import StuckError
from workers.projections.verify import ProjectionVerifier

LOOK_SECONDS = 0.05
_NAME = re.compile(r"s(\d\d)/tile/(entries|\d+)/((?:x\d{3}/)*\d{3})(?:\.p/(\d+))?")
Leaves = Sequence[bytes]


def check_objects(shard: int, leaves: Leaves, objects: Mapping[str, bytes]) -> Iterator[Violation]:
    """Return what is wrong with the tiles and bundles of a shard whose leaves are all published."""
    rows = _rows(leaves)
    for name, data in objects.items():
        found = _NAME.fullmatch(name)
        if found is None or int(found[1]) != shard:
            continue
        number, width = int(re.sub("[x/]", "", found[3])), int(found[4] or WIDTH)
        level = -1 if found[2] == "entries" else int(found[2])
        if _object(leaves, rows, level, number, width) != data:
            yield Violation("I5", f"{name} is not what the leaves give")
    for name in _wanted(shard, rows):
        if name not in objects:
            yield Violation("I5", f"{name} is missing, of {len(leaves)} leaves")


def check_checkpoints(
    leaves: Leaves, notes: Iterable[bytes], key: VerifierKey
) -> Iterator[Violation]:
    """Return what is wrong with the checkpoints of a shard that were seen."""
    found = []
    for note in notes:
        try:
            found.append(open_checkpoint(note, key.name, [key]))
        except NoteError as error:
            yield Violation("I5", f"a checkpoint of {key.name} can't be used: {error}")
    roots = _roots(leaves, {one.size for one in found})
    for one in found:
        if one.size > len(leaves):
            yield Violation("I5", f"{key.name}: {one.size} leaves were signed, of {len(leaves)}")
        elif roots[one.size] != one.root:
            yield Violation("I5", f"{key.name}: the checkpoint of {one.size} leaves is a fork")
    if max((one.size for one in found), default=0) != len(leaves):
        yield Violation("I5", f"{key.name}: not all of {len(leaves)} leaves are published")


def check_acknowledged(
    calls: Iterable[Invocation], leaves: Mapping[int, Leaves]
) -> Iterator[Violation]:
    """Return the acknowledged commands whose leaf is not published where the answer said."""
    for call in calls:
        if not call.command or call.result is not Result.OK:
            continue
        published = leaves[call.match % len(leaves)]
        leaf = published[call.index] if call.index < len(published) else b""
        try:
            right = command_of(decode_leaf(leaf)) == (call.match, call.command)
        except msgspec.MsgspecError:
            right = False
        if not right:
            yield Violation(
                "I5", f"match {call.match}: command {call.command.hex()} was acknowledged, and is not "
                f"published at {call.index}"
            )  # fmt: skip


def check_same(before: Held, after: Held, how: str) -> Iterator[Violation]:
    """Return the matches of `before` that read differently now.

    Of an outcome only the answer counts, because a restored one has no digest.
    """
    for board, events in before.events.items():
        parts = {
            "events": (events, after.events.get(board)),
            "head": (_head(before, board), _head(after, board)),
            "locator": (before.locators[board], after.locators.get(board)),
            "outcomes": (_answers(before, board), _answers(after, board)),
        }
        for name, (was, now) in parts.items():
            if was != now:
                yield Violation("I5", f"match {board}: its {name} are others after it was {how}")


class ObjectWatcher:
    """Looks at the files of an object store all the time; a context manager.

    Keeps each checkpoint, and the first bytes of everything else.
    """

    def __init__(self, root: Path) -> None:
        self.violations: list[Violation] = []
        self.notes: dict[str, list[bytes]] = {}
        """Of each checkpoint's name, in the order in which they were seen."""
        self._root = root
        self._seen: dict[str, tuple[tuple[int, int, int], bytes]] = {}
        """Of each bundle and tile: inode, size and time of its file, and the hash of its bytes."""
        self._stop = Event()
        self._thread = Thread(target=self._run, daemon=True)
        self._failure: BaseException | None = None

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self._stop.set()
        self._thread.join()
        if error is None and self._failure is not None:
            raise self._failure

    @property
    def counts(self) -> dict[str, int]:
        return {"checkpoints": sum(map(len, self.notes.values())), "objects": len(self._seen)}

    def look(self) -> None:
        there = {path: path.relative_to(self._root).as_posix() for path in _files(self._root)}
        for path, name in there.items():
            try:
                if name.endswith("/checkpoint"):
                    self._note(name, path.read_bytes())
                elif _NAME.fullmatch(name):
                    self._look(name, path)
            except FileNotFoundError:
                continue  # a partial one that was deleted just now
        gone = [name for name in self._seen.keys() - {*there.values()} if ".p/" not in name]
        for name in gone:
            if not (self._root / name).exists():
                self.violations.append(Violation("I5", f"{name} has gone"))
                del self._seen[name]

    def _look(self, name: str, path: Path) -> None:
        stat = path.stat()
        stamp = (stat.st_ino, stat.st_size, stat.st_mtime_ns)
        before = self._seen.get(name)
        if before and before[0] == stamp:
            return
        hash_ = sha256(path.read_bytes()).digest()
        if before and before[1] != hash_:
            self.violations.append(Violation("I5", f"{name} has changed its bytes"))
        self._seen[name] = (stamp, hash_)

    def _note(self, name: str, note: bytes) -> None:
        notes = self.notes.setdefault(name, [])
        if note not in notes[-1:]:
            notes.append(note)

    def _run(self) -> None:
        try:
            while not self._stop.wait(LOOK_SECONDS):
                self.look()
        except BaseException as error:  # noqa: BLE001 - raised again in the run's own thread
            self._failure = error


def check_log(data: Path, watcher: ObjectWatcher, held: Held) -> list[Violation]:
    """Return where the published log, as it was at any time, is not what the store's leaves give."""
    watcher.look()
    found = [*watcher.violations]
    objects = read_objects(data / "log")
    (public,) = read_public_keys(data / FOLDER_NAME)
    for shard, log in held.logs.items():
        leaves = [leaf for _, leaf in log]
        notes = watcher.notes.get(f"s{shard:02}/checkpoint", [])
        found += check_objects(shard, leaves, objects)
        found += check_checkpoints(leaves, notes, shard_key(public, shard))
    return found


def read_objects(root: Path) -> dict[str, bytes]:
    """Return all objects of a store in a folder."""
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in _files(root)}


def _files(root: Path) -> list[Path]:
    return [
        Path(folder, name)
        for folder, _, names in os.walk(root)
        for name in names
        if not name.startswith(".")
    ]


def _rows(leaves: Leaves) -> list[list[bytes]]:
    """Return the hashes of each level of tiles."""
    row = [sha256(b"\0" + leaf).digest() for leaf in leaves]
    rows = []
    while row:
        rows.append(row)
        whole = len(row) // WIDTH * WIDTH
        row = [_fold(row[at : at + WIDTH]) for at in range(0, whole, WIDTH)]
    return rows


def _fold(row: Sequence[bytes]) -> bytes:
    while len(row) > 1:
        row = [sha256(b"\1" + row[at] + row[at + 1]).digest() for at in range(0, len(row), 2)]
    return row[0]


def _roots(leaves: Leaves, sizes: set[int]) -> dict[int, bytes]:
    """Return the root at each of these sizes."""
    peaks: list[tuple[int, bytes]] = []
    found = {0: sha256(b"").digest()}
    for size, leaf in enumerate(leaves, 1):
        width, hash_ = 1, sha256(b"\0" + leaf).digest()
        while peaks and peaks[-1][0] == width:
            hash_ = sha256(b"\1" + peaks.pop()[1] + hash_).digest()
            width *= 2
        peaks.append((width, hash_))
        if size in sizes:
            root = hash_
            for _, peak in reversed(peaks[:-1]):
                root = sha256(b"\1" + peak + root).digest()
            found[size] = root
    return found


def _object(
    leaves: Leaves, rows: Sequence[Sequence[bytes]], level: int, number: int, width: int
) -> bytes | None:
    """Return the bytes of a tile, or of a bundle (level -1); None if the log has not so many."""
    row = leaves if level < 0 else rows[level] if level < len(rows) else ()
    part = row[number * WIDTH : number * WIDTH + width]
    if len(part) != width:
        return None
    return b"".join(part if level >= 0 else [len(one).to_bytes(2) + one for one in part])


def _wanted(shard: int, rows: Sequence[Sequence[bytes]]) -> Iterator[str]:
    """Return the names of all objects that a log has to have."""
    for level, row in enumerate(rows):
        for number in range(-(-len(row) // WIDTH)):
            width = min(WIDTH, len(row) - number * WIDTH)
            assert number < 1000
            partial = f".p/{width}" if width < WIDTH else ""
            yield f"s{shard:02}/tile/{level}/{number:03}{partial}"
            if level == 0:
                yield f"s{shard:02}/tile/entries/{number:03}{partial}"


def _head(held: Held, board: int) -> bytes | None:
    packed = held.snapshots.get(board)
    return packed.state[:32] if packed else None


def _answers(held: Held, board: int) -> dict[bytes, tuple[str, int, int]]:
    """Return what is known of each command: code, event and index."""
    found = {id_: parse(stored) for id_, stored in held.outcomes.get(board, {}).items()}
    return {id_: (one.code, one.seq, one.index) for id_, one in found.items()}


CAUGHT_UP_SECONDS = 60.0
"""For the side workers; one that was killed while it built keeps others from building for 30 s."""

_LOOK_SECONDS = 0.1


def projected(
    store: Store, client: Redis, seconds: float = CAUGHT_UP_SECONDS
) -> Iterator[Violation]:
    """Wait until the side workers have read everything, and give what differs."""
    late = _behind(store, client, time.monotonic() + seconds)
    for one in late:
        yield Violation("I6", f"{one.spec.name}: {_stand(one)} after {seconds} s")
    if not late:
        for projection in PROJECTIONS:
            yield from _compare(store, client, projection)


def _behind(store: Store, client: Redis, deadline: float) -> list[Lag]:
    """Return where the projections stand that have not read everything by then."""
    shards = store.layout().shards
    while late := [
        one
        for spec in SPECS
        if _is_behind(one := lag(store, client, spec))
        or Generations(client, spec).losses() != losses_text(client, shards)
    ]:
        if time.monotonic() > deadline:
            return late
        time.sleep(_LOOK_SECONDS)
    return []


def _is_behind(one: Lag) -> bool:
    return bool(one.version is None or one.events or one.failures or one.late or one.building)


def _stand(one: Lag) -> str:
    """Say where a projection stands, for a reader."""
    if one.failures:
        return f"stuck at {one.failures[0].what} ({one.failures[0].error})"
    there = "not there" if one.version is None else f"{one.events} events behind"
    return f"{there}{', out of order' * one.late}{', being built' * one.building}"


def _compare(store: Store, client: Redis, projection: Projection) -> Iterator[Violation]:
    name = projection.spec.name
    try:
        result = ProjectionVerifier(store, client, projection).run()
    except StuckError as error:
        yield Violation("I6", f"{name} can't be made again: {error}")
        return
    if result.difference:
        yield Violation(
            "I6", f"{name} differ from what {result.leaves} leaves make, at {result.difference}"
        )
