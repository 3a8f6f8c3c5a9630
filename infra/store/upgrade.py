"""The upgrade of data of format 1 to format 2, on the same server.

The data are copied under the keys of format 2, compared, and only then are the keys of format 1 deleted.
`{boards}:shape` has the step: the format is 1; `1 to 2` while copies are made; 2 with the mark
`{boards}:upgrade` while old keys are deleted; 2 without it. So a process that is killed loses nothing, and
the next one goes on.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Final, TypeVar

import msgspec
import redis

from domain.match.audit import verify
from domain.match.history import BrokenHistory, Snapshot, pack_snapshot
from domain.match.state import MatchState, next_due
from infra.durability import Mode
from infra.redis import keys
from infra.store import locators
from infra.store.format_one import (
    FormatOneData,
    FormatOneLeaf,
    FormatOneMatch,
    FormatOneOutcome,
    old_key,
)
from infra.store.layout import FORMAT, OLD_FORMAT, UPGRADING, Layout, layout_fields
from infra.store.outcomes import encode_stored, tail
from infra.store.redis_store import RedisStore
from infra.store.snapshots import with_marks

_MATCHES: Final = 50
_LEAVES: Final = 1_000
_KEYS: Final = 1_000

Item = TypeVar("Item")


class UpgradeError(Exception):
    """The data can't be upgraded; the message is a sentence for the operator."""


class UpgradeCounts(msgspec.Struct, frozen=True):
    """How much was carried over."""

    matches: int = 0
    leaves: int = 0
    waiting: int = 0
    """Commands in the inboxes."""


class Upgrade:
    """The upgrade of a server's data; `report` gets a line for each step."""

    def __init__(self, client: redis.Redis, report: Callable[[str], object]) -> None:
        self._client = client
        self._report = report
        self._old = FormatOneData(client)
        found: Any = client.hgetall(keys.LAYOUT)
        self._format: str = found.get(b"format", b"").decode()
        if not found:
            raise UpgradeError("there is no data yet")
        if self._format not in (OLD_FORMAT, UPGRADING, FORMAT):
            raise UpgradeError(f"the data has format {self._format}, which can't be upgraded")
        self._layout = Layout(int(found[b"shards"]), int(found[b"lanes"]))
        self.store = RedisStore(client, Mode.NONE, layout=self._layout)
        """The copies, which are complete after `copy`."""

    @property
    def is_copied(self) -> bool:
        """Whether the data have format 2, so that at most old keys are left."""
        return self._format == FORMAT

    def copy(self) -> tuple[UpgradeCounts, list[int]]:
        """Make all copies, and return what they are, with the boards that have events.

        Copies of a process that was killed are made again from the beginning.
        """
        self._client.hset(keys.LAYOUT, "format", UPGRADING)
        self._format = UPGRADING
        self._delete_copies()
        found = self._old.keys()
        for others in _batches(found.others, _KEYS):
            with self._client.pipeline(transaction=False) as pipe:
                for shard, rest in others:
                    pipe.copy(old_key(shard, rest), f"{keys.shard_tag(shard)}:{rest}", replace=True)
                pipe.execute()
        played: list[int] = []
        leaves = 0
        for shard in range(self._layout.shards):
            boards = found.boards.get(shard, ())
            for some in _batches(boards, _MATCHES):
                with self._client.pipeline(transaction=False) as pipe:
                    for match in self._old.matches(shard, some):
                        _write_checked(pipe, shard, match)
                        played += [match.board] if match.events else []
                    pipe.execute()
            leaves += self._copy_log(shard)
            self._report(f"shard {shard}: {len(boards)} matches are copied")
        waiting = self.store.inbox_size(range(self._layout.shards))
        return UpgradeCounts(len(played), leaves, waiting), played

    def compare_logs(self) -> None:
        """Raise UpgradeError unless each copied log has the same leaves at the same indexes."""
        for shard in range(self._layout.shards):
            for some in self._old_leaves(shard):
                first = some[0].index
                copied = self.store.leaves(shard, first, len(some))
                if copied != [(leaf.index, leaf.data) for leaf in some]:
                    raise UpgradeError(
                        f"the log of shard {shard} differs from its copy after {first}"
                    )

    def finish(self) -> None:
        """Make the copies the data."""
        with self._client.pipeline(transaction=True) as pipe:
            pipe.set(keys.UPGRADE, FORMAT)
            pipe.hset(keys.LAYOUT, mapping=dict[Any, Any](layout_fields(self._layout)))
            pipe.execute()
        self._format = FORMAT

    def abandon(self) -> None:
        """Delete the copies: the data have format 1 as before."""
        self._delete_copies()
        self._client.hset(keys.LAYOUT, "format", OLD_FORMAT)
        self._format = OLD_FORMAT

    def delete_old(self) -> int:
        """Delete the keys of format 1, and return their number; only once the data have format 2."""
        assert self.is_copied
        if not self._client.exists(keys.UPGRADE):
            return 0
        deleted = self._delete(self._old.garbage())
        self._client.delete(keys.UPGRADE)
        return deleted

    def _copy_log(self, shard: int) -> int:
        copied = 0
        for some in self._old_leaves(shard):
            with self._client.pipeline(transaction=False) as pipe:
                for leaf in some:
                    write_leaf(pipe, shard, leaf)
                pipe.execute()
            copied += len(some)
        return copied

    def _old_leaves(self, shard: int) -> Iterator[list[FormatOneLeaf]]:
        start = 0
        while some := self._old.leaves(shard, start, _LEAVES):
            yield some
            start = some[-1].index + 1

    def _delete_copies(self) -> None:
        self._delete(
            name
            for shard in range(self._layout.shards)
            for name in self._client.scan_iter(f"{keys.shard_tag(shard)}:*", count=_KEYS)
        )

    def _delete(self, names: Iterable[bytes]) -> int:
        return sum(int(self._client.unlink(*some)) for some in _batches(names, _KEYS))


def _write_checked(pipe: Any, shard: int, match: FormatOneMatch) -> None:
    try:
        write_match(pipe, shard, match)
    except BrokenHistory as broken:
        raise UpgradeError(f"match {match.board} does not hold: {broken}") from broken


def write_match(pipe: Any, shard: int, match: FormatOneMatch) -> None:
    """Write what format 2 keeps of a match, from its events and outcomes.

    This, `write_events` and `write_leaf` know how format 2 stores them. What follows from the
    events is made again from them, which raises `BrokenHistory` if they do not hold;
    `match.leaf_indexes()` is the order of the match's leaves in the log.
    """
    board = match.board
    if match.outcomes:
        stored = {id_: _outcome(one) for id_, one in match.outcomes.items()}
        pipe.hset(keys.outcomes(shard, board), mapping=stored)
    pipe.set(keys.locator(shard, board), locators.encode(match.leaf_indexes()))
    if match.events:  # else only refusals
        write_events(pipe, shard, board, match.events, match.conditional_moves)


def write_events(
    pipe: Any, shard: int, board: int, events: Sequence[bytes], conditional_moves: bytes = b""
) -> MatchState:
    """Write a match's events, and what follows from them: snapshot, due time and end; return the state."""
    audit = verify(board, events)
    state = audit.state
    packed = pack_snapshot(Snapshot(audit.head, state))
    pipe.set(keys.snapshot(shard, board), with_marks(packed.state, conditional_moves))
    if packed.moves:
        pipe.set(keys.moves(shard, board), packed.moves)
    if packed.turns:
        pipe.set(keys.turns(shard, board), packed.turns)
    pipe.rpush(keys.events(shard, board), *events)
    if due := next_due(state):
        pipe.zadd(keys.due(shard), {str(board): due})
    if state.over:
        pipe.zadd(keys.ended(shard), {str(board): state.at})
    return state


def _outcome(old: FormatOneOutcome) -> bytes:
    return encode_stored(old.digest, old.index, tail(old.code, old.seq, old.sentence))


def write_leaf(pipe: Any, shard: int, leaf: FormatOneLeaf) -> None:
    """Write a leaf of a shard's log as format 2 keeps it."""
    pipe.xadd(keys.log(shard), {"l": leaf.data}, id=f"{leaf.index}-1")


def _batches(items: Iterable[Item], most: int) -> Iterator[list[Item]]:
    rest = iter(items)
    while some := list(islice(rest, most)):
        yield some
