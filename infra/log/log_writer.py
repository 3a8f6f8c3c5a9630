"""Writes the published log of a shard: bundles, tiles, and then the checkpoint that covers them.

The same leaves give the same bytes under the same names, so a writer that was killed anywhere is followed
by one that writes the rest. Two writers can't fork a log: full tiles and bundles are created only, and of
two checkpoints that follow the same one, one is refused.
"""

from collections.abc import Sequence

from infra.log import merkle
from infra.log.checkpoint import LogCheckpoint
from infra.log.names import CHECKPOINT, object_name
from infra.log.published_log import LogDamagedError, PublishedLog
from infra.log.signed_note import Signer, VerifierKey
from infra.log.tiles import LEVELS, WIDTH, Tile, bundle_path, fold_pairs, pack_bundle, tile_of
from infra.objects.port import ObjectStore
from infra.process.failpoints import failpoint


class LogWriter:
    """The only writer of a shard's log, under a lease. Call `load` first, and after any error.

    The first signer's key names the log. The keys of all signers, and `keys`, verify what was signed
    before.
    """

    def __init__(
        self,
        objects: ObjectStore,
        shard: int,
        signers: Sequence[Signer],
        keys: Sequence[VerifierKey] = (),
    ) -> None:
        self.shard = shard
        self.size = 0
        self.root = merkle.EMPTY_ROOT
        self.tail: list[bytes] = []
        """The leaves of the unfinished bundle."""
        self._completed: list[bytes] = []
        """The leaves of the bundle before it."""
        self._objects = objects
        self._signers = signers
        self._log = PublishedLog(objects, shard, [*(one.key for one in signers), *keys])
        self._rows: list[list[bytes]] = []
        """The hashes of the unfinished tile of each level, the lowest first."""
        self._note: bytes | None = None

    @property
    def recent(self) -> list[bytes]:
        """Return the last published leaves, at least 256 if there are so many."""
        return self._completed + self.tail

    def load(self) -> None:
        """Read what is published, and prove that its end fits its checkpoint; `LogDamagedError` if not.

        Deletes partial tiles and bundles that have become full.
        """
        log = self._log
        self.size = log.refresh()
        self._note = log.note or None
        self.root = log.checkpoint.root if log.checkpoint else merkle.EMPTY_ROOT
        unfinished = self.size % WIDTH
        self.tail = log.bundle(self.size // WIDTH) if unfinished else []
        self._rows = [[merkle.leaf_hash(leaf) for leaf in self.tail]]
        while nodes := self.size >> (LEVELS * len(self._rows)):
            level, width = len(self._rows), nodes % WIDTH
            row = log.hashes(tile_of(level, nodes - 1, self.size)) if width else []
            self._rows.append(list(row))
        if self._root() != self.root:
            raise LogDamagedError(
                f"shard {self.shard}: what is published does not have the root of its checkpoint of "
                f"{self.size} leaves"
            )
        self._completed = log.bundle(self.size // WIDTH - 1) if self.size >= WIDTH else []
        if self.size >= WIDTH:
            self._delete_partials((self.size // WIDTH - 1) * WIDTH, self.size)

    @property
    def has_checkpoint(self) -> bool:
        """Return whether any checkpoint is published; that of a new log has no leaves."""
        return self._note is not None

    def append(self, leaves: Sequence[bytes]) -> LogCheckpoint:
        """Publish further leaves, and return the checkpoint that covers them."""
        before = self.size
        for leaf in leaves:
            self._add(leaf)
        self._write_partials(before)
        self.root = self._root()
        checkpoint = LogCheckpoint(self._signers[0].key.name, self.size, self.root)
        note = checkpoint.sign(self._signers).encode()
        failpoint("publish.written")
        self._objects.replace(object_name(self.shard, CHECKPOINT), note, self._note)
        self._note = note
        failpoint("publish.signed")
        self._delete_partials(before, self.size)
        return checkpoint

    def _add(self, leaf: bytes) -> None:
        """Add a leaf, and write the bundle and the tiles that it completes."""
        self.tail.append(leaf)
        self.size += 1
        hash_ = merkle.leaf_hash(leaf)
        level = 0
        while True:
            if level == len(self._rows):
                self._rows.append([])
            row = self._rows[level]
            row.append(hash_)
            if len(row) < WIDTH:
                return
            number = (self.size >> (LEVELS * (level + 1))) - 1
            if level == 0:
                self._create(bundle_path(number), pack_bundle(self.tail))
                self._completed, self.tail = self.tail, []
            self._create(Tile(level, number).path, b"".join(row))
            hash_ = fold_pairs(row)
            self._rows[level] = []
            level += 1

    def _write_partials(self, before: int) -> None:
        """Write the unfinished bundle and tiles, those that have changed."""
        if self.tail:
            self._create(bundle_path(self.size // WIDTH, len(self.tail)), pack_bundle(self.tail))
        for level, row in enumerate(self._rows):
            nodes = self.size >> (LEVELS * level)
            if row and nodes != before >> (LEVELS * level):
                self._create(Tile(level, nodes // WIDTH, len(row)).path, b"".join(row))

    def _delete_partials(self, before: int, now: int) -> None:
        """Delete the partial tiles and bundles that have become full between two sizes."""
        for level in range(len(self._rows)):
            first, last = (size >> (LEVELS * (level + 1)) for size in (before, now))
            for number in range(first, last):
                self._delete_folder(f"{Tile(level, number).path}.p")
                if level == 0:
                    self._delete_folder(f"{bundle_path(number)}.p")

    def _delete_folder(self, path: str) -> None:
        for name in self._objects.names(object_name(self.shard, path)):
            self._objects.delete(name)
            failpoint("publish.deleted")

    def _create(self, path: str, data: bytes) -> None:
        self._objects.create(object_name(self.shard, path), data)
        failpoint("publish.created")

    def _root(self) -> bytes:
        """Return the root, of which every node is in an unfinished tile."""

        def node(level: int, number: int) -> bytes:
            below, height = divmod(level, LEVELS)
            first = (number << height) % WIDTH
            return fold_pairs(self._rows[below][first : first + (1 << height)])

        return merkle.root(self.size, node)
