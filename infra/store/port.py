"""What the store promises, and the values that cross its border.

Guarantees, each with a test in the contract suite that every adapter passes:

1.  `submit` either queues a command or answers it from its stored outcome. A queued command
    stays in the inbox until an outcome for its id is committed.
2.  `waiting` gives the oldest entries of the shards asked for, those of one shard in the order
    they were submitted.
3.  `commit` applies each command whole or not at all, each with its own result. A command id that
    has an outcome changes nothing and gets that outcome. A command decided on another head than
    the match now has changes nothing and stays in the inbox.
4.  Events of a match are 1..n without gaps, and every leaf has the next index of its shard's log:
    log order is commit order.
5.  A snapshot read after a commit has returned is that commit's or a later one.
6.  The same command id is given the same board number each time.
7.  What `watermark` tells holds for ever, as long as the server's clock does not run back: every
    event older than its time is in the logs, below the ends it gives.
8.  Replies are changed by who read them as they are, and a commit that was decided without those
    that are there conflicts.
9.  A match is due when the last commit of its events said, at no other time.
10. A seed is used by one commit at most, and none is skipped: a start whose seed is not the
    chain's next conflicts. A chain's anchor is a leaf before any of its seeds is used.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final, Protocol

import msgspec

from domain.match.events import AccountId, CommandId

NOTHING: Final[Mapping[str, bytes]] = MappingProxyType({})
"""No messages."""

REFUSALS: int = 50
"""Refusals a player gets for one ply before the door refuses to ask again."""


class Shape(msgspec.Struct, frozen=True):
    """How the data is laid out: shards for ever, lanes as long as a server runs."""

    shards: int
    lanes: int


class Submission(msgspec.Struct, frozen=True):
    """A command as a gateway submits it."""

    board: int
    id: CommandId
    digest: bytes
    """8 bytes; tells whether a repeated id came with the same command."""
    payload: bytes
    actor: AccountId
    ply: int
    """At which the sender saw the match: refusals are counted a player and ply."""
    reply_to: str
    """Channel on which the outcome is announced."""


class Queued(msgspec.Struct, frozen=True):
    """The command waits in the inbox."""

    entry: str
    received: int
    """Milliseconds."""


class Known(msgspec.Struct, frozen=True):
    """The command has an outcome already."""

    stored: bytes


class Turned(msgspec.Struct, frozen=True):
    """The command was not taken: `id-reused`, `too-many-refusals` or `busy`."""

    code: str


Submitted = Queued | Known | Turned


class Entry(msgspec.Struct, frozen=True):
    """An inbox entry."""

    shard: int
    id: str
    received: int
    reply_to: str
    payload: bytes


class Write(msgspec.Struct, frozen=True):
    """A decided command, ready to commit: events and the snapshot after them, or a refusal."""

    shard: int
    entry: str
    board: int
    id: CommandId
    head: bytes
    """Leaf hash of the last event of the match as it was decided on."""
    digest: bytes
    tail: bytes
    """The outcome, less digest and log index; see `infra.outcomes`."""
    leaves: tuple[bytes, ...]
    """The events' bytes, or the one leaf of a refusal."""
    snapshot: bytes | None
    """None for a refusal."""
    refused: str = ""
    """For a refusal: whose and at which ply; see `refusal_field`."""
    due: int = 0
    """When the match is next to be looked at by itself, ms; 0 for never. A refusal changes nothing."""
    laid: bytes = b""
    """The replies as they were decided on; empty for none."""
    left: bytes = b""
    """The replies after it. A refusal changes nothing."""
    chain: int = 0
    k: int = 0
    """Chain and number of the seed that a start draws with; 0 and 0 for all else."""


class Draws(msgspec.Struct, frozen=True):
    """A shard's chain of seeds."""

    chain: int
    """1 for the first."""
    used: int
    """How many of its seeds; the next draw uses number `used` + 1."""
    anchor: bytes
    """s(0)."""
    index: int
    """Of the anchor's leaf in the shard's log."""


class Watermark(msgspec.Struct, frozen=True):
    """Up to when the logs are complete."""

    at: int
    """No event older than this time, in ms, will come any more."""
    ends: tuple[int, ...]
    """For each shard, the index that its log's next leaf had by then."""


class Done(msgspec.Struct, frozen=True):
    """Committed now."""

    stored: bytes


class Conflict(msgspec.Struct, frozen=True):
    """The match has moved on; the command stays in the inbox."""


Committed = Done | Known | Conflict


def refusal_field(actor: AccountId, ply: int) -> str:
    """Name what refusals are counted under."""
    return f"{actor.hex()}:{ply}"


class Store(Protocol):
    """Matches, their inboxes, outcomes and logs. Errors of the server pass through."""

    def shape(self) -> Shape:
        """Return the layout; `LookupError` before `create`."""
        ...

    def create(self, shape: Shape) -> Shape:
        """Set the layout up; the shards of existing data stay, its lanes are set anew."""
        ...

    def allocate(self, command: CommandId) -> int:
        """Return the board number for the challenge of that id."""
        ...

    def numbers(self, commands: Sequence[CommandId]) -> list[int | None]:
        """Return the board numbers that `allocate` has given to these ids, None where it has not."""
        ...

    def submit(self, submissions: Sequence[Submission]) -> list[Submitted]:
        """Hand commands in, each with its own answer."""
        ...

    def waiting(
        self,
        shards: Sequence[int],
        count: int,
        block_ms: int = 0,
        first: Mapping[str, bytes] = NOTHING,
    ) -> list[Entry]:
        """Return about `count` of the oldest entries, waiting up to `block_ms` for the first.

        `first` are messages for doors, by their channels: they are published before it looks.
        """
        ...

    def depth(self, shards: Sequence[int]) -> int:
        """Count the entries that wait."""
        ...

    def snapshots(self, boards: Sequence[int]) -> list[bytes | None]:
        """Return the snapshots, None where there is no match."""
        ...

    def matches(self, boards: Sequence[int]) -> list[tuple[bytes | None, bytes]]:
        """Return the snapshots, each with the replies laid ready in its match, empty for none."""
        ...

    def lay(self, board: int, head: bytes, before: bytes, after: bytes) -> bool:
        """Store the replies laid ready in a match; False when head or replies are not as read.

        As durable as a commit when it returns True.
        """
        ...

    def commit(self, writes: Sequence[Write]) -> list[Committed]:
        """Commit, and return when it is as durable as the adapter is set to make it.

        `NotDurable` when it was written and can't be shown to be durable: nothing may be
        acknowledged; the outcomes are there and will be found by a retry.
        """
        ...

    def draws(self, shard: int) -> Draws | None:
        """Return the shard's chain of seeds; None before the first is anchored."""
        ...

    def anchored(self, shard: int, chain: int) -> int | None:
        """Return the log index of a chain's anchor."""
        ...

    def anchor(self, shard: int, chain: int, anchor: bytes, leaf: bytes) -> bool:
        """Anchor the chain that follows number `chain` - 1; False when another was first.

        As durable as a commit when it returns True.
        """
        ...

    def try_again(self, shard: int, entry: str) -> int:
        """Count one more attempt at a troublesome entry and give their number."""
        ...

    def forgive(self, shard: int, entry: str) -> None:
        """Take all attempts at an entry off its count: it was not the entry that failed."""
        ...

    def tried(self, shard: int) -> Mapping[str, int]:
        """Return the attempts at the troublesome entries of a shard."""
        ...

    def set_aside(self, entry: Entry) -> None:
        """Take an entry that can't be decoded out of the inbox and keep it for an operator."""
        ...

    def now(self) -> int:
        """Return the time that stamps what comes in, ms."""
        ...

    def due(self, shard: int, now: int, count: int) -> list[int]:
        """Return up to `count` boards of a shard whose `Write.due` has come, the oldest first."""
        ...

    def outcome(self, board: int, command: CommandId) -> bytes | None:
        """Return a stored outcome."""
        ...

    def outcomes(self, board: int) -> Mapping[CommandId, bytes]:
        """Return all stored outcomes of a match."""
        ...

    def refused(self, board: int, actor: AccountId, ply: int) -> int:
        """Count a player's refusals at a ply."""
        ...

    def events(self, board: int) -> list[bytes]:
        """Return a match's events in order."""
        ...

    def leaves(self, shard: int, start: int, count: int) -> list[tuple[int, bytes]]:
        """Return up to `count` leaves of a shard's log from index `start`, each with its index."""
        ...

    def news(self, starts: Sequence[int], block_ms: int = 0) -> list[int]:
        """Return the shards whose logs have leaves from these indexes on, one for each shard.

        Waits up to `block_ms` for the first.
        """
        ...

    def watermark(self) -> Watermark:
        """Tell up to when the logs are complete.

        That is the least, over the shards, of the received time of the oldest inbox entry, or of
        the server's time where the inbox is empty. Whatever enters an inbox later is stamped
        later, and what had entered earlier and waits no more was committed, so it is in the log.
        """
        ...


class NotDurable(Exception):  # noqa: N818 - it says what the commit is
    """A commit was written, but the server did not confirm that it is on disk."""
