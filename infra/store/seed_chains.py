"""The hash chains of seeds of the shards: their secret ends, and the next seed of each.

A chain's secret is a file, named after shard, chain and anchor, which is written and synced before the
anchor becomes a leaf of the log: so an anchored chain can always be used. A file whose anchor is in no
log is never used, so seeds that were revealed in other data are not used again.

Beside a secret is the *mark* of its chain (`.used`): the first and the last seed of the draws that were
last about to be committed. It is synced before they are, so every revealed seed is within the mark. Data
that were restored from a backup have fewer draws than the mark: then their next seeds have been
revealed, and a new chain is anchored instead. The reason is kept in a file (`.left`), for the doctor,
unless the draws may merely have been cut off.
"""

import logging
import re
import secrets
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from domain.fairness import CHAIN_LENGTH, SEED_BYTES, ChainSeed, previous_seed
from domain.match.history import AnchorLeaf, decode_anchor, encode_event
from domain.records import SCHEMA
from infra.process.synced_files import overwrite_synced, sync_folder, write_synced
from infra.store.port import SeedChain, Store

logger = logging.getLogger(__name__)

_SEED_STEP: Final = 256
"""How many seeds lie between two that are kept in memory."""


_MARK: Final = ".used"
_ABANDONED: Final = ".left"

_MARK_TEXT: Final = re.compile(rb" *([0-9]{1,8}) +([0-9]{1,8})\n")


RETRY_SECONDS: Final = 1.0
"""How long a missing secret is not looked for again, because many commands may wait for it."""


class LostSeedsError(Exception):
    """A chain is anchored in the log, and the folder lacks its secret. A restored file is found."""


class SeedChains:
    """Returns the next seeds of the shards; only the workers may read `folder`."""

    def __init__(self, store: Store, folder: Path) -> None:
        self._store = store
        self._folder = folder
        self._marks: dict[tuple[int, int], list[bytes]] = {}
        self._first: dict[int, int] = {}
        """Of each shard, the first seed that was returned since draws were committed."""
        self._failures: dict[tuple[int, int], tuple[float, str]] = {}
        """When the seeds of a chain, 0 for the next seed, could not be read, by the monotonic clock; and why."""
        self._current: dict[int, SeedChain] = {}
        """The chain of each shard's last seed."""

    def next(self, shard: int, after: ChainSeed | None = None) -> ChainSeed:
        """Return the seed for the shard's next draw; the one after `after`, if that is given.

        Anchors a first or a new chain if one is needed. Raises `LostSeedsError`.
        """
        with self._retrying(shard, 0):
            return self._next(shard, after)

    def _next(self, shard: int, after: ChainSeed | None) -> ChainSeed:
        draws = self._current.get(shard)
        if (
            draws is None
            or after is None
            or draws.chain != after.chain
            or after.k < self._mark_of(shard, draws)[1]  # another drain has drawn since
        ):
            draws = self._draws(shard)
        used = draws.used
        if after is not None and after.chain == draws.chain:
            used = max(used, after.k)
        if used >= CHAIN_LENGTH or used < self._last_used(shard, draws):
            if after is not None:
                # draws with earlier seeds have to be committed before a new chain can follow
                raise ChainExhausted
            draws, used = self._new_chain(shard, draws.chain), 0
        if after is None:
            self._first[shard] = used + 1
        self._current[shard] = draws
        return ChainSeed(draws.chain, used + 1, self._seed(shard, draws, used + 1))

    @contextmanager
    def _retrying(self, shard: int, chain: int) -> Iterator[None]:
        """Raise a `LostSeedsError` of less than `RETRY_SECONDS` ago again; log an alarm for the first."""
        key = shard, chain
        at, sentence = self._failures.get(key, (-RETRY_SECONDS, ""))
        if sentence and time.monotonic() - at < RETRY_SECONDS:
            raise LostSeedsError(sentence)
        try:
            yield
        except LostSeedsError as error:
            if not sentence:
                logger.error("ALARM: matches of shard %d that need a draw wait: %s", shard, error)  # noqa: TRY400
            self._failures[key] = time.monotonic(), str(error)
            raise
        if self._failures.pop(key, None) is not None:
            logger.warning("shard %d has its seeds again; matches that need a draw go on", shard)

    def lost_shards(self) -> list[int]:
        """Return the shards for whose present chain this folder lacks the secret."""
        chains = ((shard, self._store.seed_chain(shard)) for shard in range(self._store.shards))
        return [
            shard
            for shard, draws in chains
            if draws and not self._file(shard, draws.chain, draws.anchor).exists()
        ]

    def mark_used(self, drawn: Mapping[int, ChainSeed]) -> None:
        """Note and sync the last seed of each shard whose draw is about to be committed."""
        for shard, seed in drawn.items():
            anchor = self._marks[shard, seed.chain][0]
            file = self._file(shard, seed.chain, anchor).with_suffix(_MARK)
            _write_mark(file, min(self._first[shard], seed.k), seed.k)

    def _last_used(self, shard: int, draws: SeedChain) -> int:
        """Return the number of the last seed that may be revealed; log an alarm if data are older."""
        file = self._file(shard, draws.chain, draws.anchor)
        first, last = self._mark_of(shard, draws)
        if last > draws.used:
            what = (
                f"shard {shard}: seeds up to number {last} of chain {draws.chain} were used, and the "
                f"data knows of {draws.used}"
            )
            if draws.used < first - 1:
                why = f"{what}: it was put back; the draws to come are of a new chain"
                logger.error("ALARM: %s", why)
                _write_new(file.with_suffix(_ABANDONED), why.encode())
            else:
                logger.warning("%s: draws were cut off; those to come are of a new chain", what)
        return last

    def _mark_of(self, shard: int, draws: SeedChain) -> tuple[int, int]:
        """Return the first and the last seed of the mark of a chain."""
        return read_mark(self._file(shard, draws.chain, draws.anchor).with_suffix(_MARK))

    def sealed_seed(self, shard: int, chain: int, k: int) -> ChainSeed:
        """Return a seed that was sealed before; `LostSeedsError` if its secret is missing."""
        with self._retrying(shard, chain):
            draws = self._draws(shard)
            if chain != draws.chain:
                draws = self._before(shard, chain)
            return ChainSeed(chain, k, self._seed(shard, draws, k))

    def _before(self, shard: int, chain: int) -> SeedChain:
        """Return an earlier chain, by the leaf that anchored it."""
        index = self._store.anchor_index(shard, chain)
        if index is None:
            raise LostSeedsError(f"chain {chain} of shard {shard} was never anchored")
        ((_, leaf),) = self._store.leaves(shard, index, 1)
        return SeedChain(chain, CHAIN_LENGTH, decode_anchor(leaf).anchor, index)

    def _draws(self, shard: int) -> SeedChain:
        return self._store.seed_chain(shard) or self._new_chain(shard, 0)

    def _new_chain(self, shard: int, last: int) -> SeedChain:
        self._check_folder()
        end = secrets.token_bytes(SEED_BYTES)
        marks = _marks(end)
        anchor = marks[0]
        file = self._file(shard, last + 1, anchor)
        _write_new(file, end)
        _write_mark(file.with_suffix(_MARK), 1, 0)
        leaf = encode_event(AnchorLeaf(SCHEMA, shard, last + 1, anchor))
        if self._store.anchor(shard, last + 1, anchor, leaf):
            logger.info("shard %d: chain %d of seeds is anchored", shard, last + 1)
        draws = self._store.seed_chain(shard)
        if draws is None:
            raise RuntimeError(f"shard {shard} has no chain of seeds after one was anchored")
        return draws

    def _check_folder(self) -> None:
        """Raise `LostSeedsError` if this folder can't be the one that the other workers use.

        Their draws would fail if a chain were anchored whose secret is in another folder.
        """
        if lost := self.lost_shards():
            raise LostSeedsError(
                f"{self._folder} lacks the secrets of shards {', '.join(map(str, lost))}, so no new "
                "chain is made there; use the same folder on all machines, or restore it"
            )

    def _seed(self, shard: int, draws: SeedChain, k: int) -> bytes:
        marks = self._marks.get((shard, draws.chain))
        if marks is None or marks[0] != draws.anchor:
            marks = self._marks[shard, draws.chain] = _marks(self._secret(shard, draws))
        if marks[0] != draws.anchor:
            raise LostSeedsError(f"the secret of chain {draws.chain} of shard {shard} is another's")
        above = -(-k // _SEED_STEP)
        seed = marks[above]
        for _ in range(above * _SEED_STEP - k):
            seed = previous_seed(seed)
        return seed

    def _secret(self, shard: int, draws: SeedChain) -> bytes:
        file = self._file(shard, draws.chain, draws.anchor)
        try:
            return file.read_bytes()
        except FileNotFoundError:
            raise LostSeedsError(
                f"the secret of chain {draws.chain} of shard {shard} is missing: {file}; "
                "restore it from a backup"
            ) from None

    def _file(self, shard: int, chain: int, anchor: bytes) -> Path:
        return self._folder / f"s{shard:02}-{chain}-{anchor.hex()[:16]}"


class ChainExhausted(Exception):  # noqa: N818 - it says what is the case
    """Draws that are not committed yet use all seeds of a chain; retry after their commit."""


def _marks(end: bytes) -> list[bytes]:
    """Return s(0), s(256), s(512) and so on to s(CHAIN_LENGTH), from the last."""
    found = [end]
    seed = end
    for k in range(CHAIN_LENGTH - 1, -1, -1):
        seed = previous_seed(seed)
        if k % _SEED_STEP == 0:
            found.append(seed)
    return found[::-1]


def abandoned_chains(folder: Path) -> list[str]:
    """Return the reasons for which chains were replaced: a sentence for each."""
    return [file.read_text("utf-8") for file in sorted(folder.glob(f"s*{_ABANDONED}"))]


def retire_chains(folder: Path) -> None:
    """Have no seed of the present chains be drawn again: seeds that they are not known to have revealed may be known."""
    for file in sorted(folder.glob("s*-*-*")):
        if not file.suffix:
            _write_mark(file.with_suffix(_MARK), CHAIN_LENGTH + 1, CHAIN_LENGTH)


def read_mark(file: Path) -> tuple[int, int]:
    """Return the first and the last seed of a mark; a damaged one means that all are used."""
    try:
        data = file.read_bytes()
    except FileNotFoundError:
        return 1, 0  # the chain is older than marks
    found = _MARK_TEXT.fullmatch(data)
    return (int(found[1]), int(found[2])) if found else (CHAIN_LENGTH + 1, CHAIN_LENGTH)


def _write_mark(file: Path, first: int, last: int) -> None:
    """Write a mark in place, within one sector, and sync it; a new one with its folder."""
    data = b"%8d %8d\n" % (first, last)
    try:
        overwrite_synced(file, data)
    except FileNotFoundError:
        _write_new(file, data)


def _write_new(file: Path, data: bytes) -> None:
    write_synced(file, data)
    sync_folder(file.parent)
