"""The port of the store: its guarantees and its values.

Each guarantee has a test in the contract suite that every adapter passes:

1.  `submit` either queues a command or answers it from its stored outcome. A queued command
    stays in the inbox until an outcome for its id is committed.
2.  `read_inbox` returns the oldest entries of the given shards, those of one shard in the order in
    which they were submitted.
3.  `commit` applies each command whole or not at all, each with its own result. A command id that
    has an outcome changes nothing and gets that outcome. A command that was decided on another head
    than the match has now changes nothing and stays in the inbox.
4.  Events of a match are 1..n without gaps, and every leaf has the next index of its shard's log:
    log order is commit order.
5.  A snapshot read after a commit has returned is that commit's or a later one.
6.  `allocate` returns the same board number for the same command id each time.
7.  A watermark stays true: every event older than its time is in the logs, below its ends. Where the
    server's clock runs back, commands are received at the last watermark's time until it is there
    again. A clock that runs back by more than `MOST_AHEAD_MS` is believed, and breaks the promise.
8.  Conditional moves change only if they are as they were read, and a commit that was decided on
    others conflicts.
9.  A match is due at the time of the last commit of its events, at no other time.
10. A seed is used by one commit at most, and none is skipped: a start with another seed than the
    chain's next conflicts. A chain's anchor is a leaf before any of its seeds is used.
11. A match's locator has the log indexes of exactly its leaves, in order.
12. A match that has ended is listed at the time of its last event, and not once it goes on again, which
    takes moves back.
13. A match in the archive takes no command: `commit` writes nothing, and `submit` returns the stored
    outcome of a repetition, where the archive can be read, and refuses all others.
14. A match is retired whole or not at all, and only if nothing was written to it since it was read.
    Where the archive can be read, all that is read of a retired match is as it was before, except
    counts of refusals and conditional moves, of which it has none.
15. A closed shard takes no command. No leaf is written below the published size of its log.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, Protocol

import msgspec

from domain.match.history import PackedSnapshot
from domain.records import AccountId, CommandId
from infra.store.layout import Layout
from infra.store.log_streams import NextLeaves, ShardNews
from infra.store.refused_commands import NO_REFUSED, RefusedId
from infra.store.snapshots import WholeMatch

MOST_REFUSALS: int = 50
"""Refusals of a player at one ply after which further commands are not accepted there."""

MOST_AHEAD_MS: Final = 600_000
"""How far commands may be received ahead of the server's clock, ms.

Received times decide whether a move is in time. So this is the most that a player can lose when a clock
that ran ahead is put right, and it is little beside a turn of days.
"""

ARCHIVED_TEXT: Final = (
    "the match is over, and in the archive, where no command and no ruling changes it"
)
"""The sentence for a command that came to a match in the archive."""


class Submission(msgspec.Struct, frozen=True):
    """A command as a gateway submits it."""

    board: int
    id: CommandId
    digest: bytes
    """8 bytes, by which a repeated id with another command is found."""
    payload: bytes
    actor: AccountId
    ply: int
    """Of the match as the sender saw it: refusals are counted by player and ply."""
    reply_to: str
    """Channel on which the outcome is published."""


class Queued(msgspec.Struct, frozen=True):
    """The command waits in the inbox."""

    entry: str
    received: int
    """Milliseconds."""


class AlreadyDecided(msgspec.Struct, frozen=True):
    """The command has an outcome."""

    stored: bytes


class NotAccepted(msgspec.Struct, frozen=True):
    """The command was not accepted: see `infra.store.gateway.NOT_ACCEPTED_TEXT`."""

    code: str


SubmitResult = Queued | AlreadyDecided | NotAccepted


class InboxEntry(msgspec.Struct, frozen=True):
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
    """Leaf hash of the last event of the match that it was decided on."""
    digest: bytes
    tail: bytes
    """The outcome without digest and log index; see `infra.store.outcomes`."""
    leaves: tuple[bytes, ...]
    """The events' bytes, or the one leaf of a refusal."""
    snapshot: PackedSnapshot | None
    """None for a refusal. Its moves and turns are those that the command adds, unless `rewritten`."""
    rewritten: bool = False
    """Whether the snapshot has all moves and turns of the match, because some were taken back.

    If the match is not over then, it is not listed among those that have ended."""
    refusal_field: str = ""
    """For a refusal: its player and ply; see `refusal_field`."""
    actor: AccountId = b""
    """The sender of a command that is kept."""
    kept: bytes = b""
    """For a refusal: the command without its envelope, to keep; empty for none. See `infra.store.refused_commands`."""
    due: int = 0
    """When the match is next due, ms; 0 for never. A refusal changes nothing."""
    ended: int = 0
    """The time of the match's last event, ms, if it is over after this command; else 0."""
    conditional_before: bytes = b""
    """The conditional moves that it was decided on; empty for none."""
    conditional_after: bytes = b""
    """The conditional moves after it. A refusal changes nothing."""
    chain: int = 0
    k: int = 0
    """Chain and number of the seed that a start draws with; 0 and 0 for other commands."""


class SeedChain(msgspec.Struct, frozen=True):
    """A shard's chain of seeds."""

    chain: int
    """1 for the first."""
    used: int
    """How many of its seeds are used; the next draw uses number `used` + 1."""
    anchor: bytes
    """s(0)."""
    index: int
    """Of the anchor's leaf in the shard's log."""


class Watermark(msgspec.Struct, frozen=True):
    """Up to when the logs are complete."""

    at: int
    """No event older than this time, in ms, can follow."""
    ends: tuple[int, ...]
    """For each shard, the index of its log's next leaf."""


class CommitDone(msgspec.Struct, frozen=True):
    """Committed now."""

    stored: bytes


class CommitConflict(msgspec.Struct, frozen=True):
    """The match has moved on; the command stays in the inbox."""


class CommitArchived(msgspec.Struct, frozen=True):
    """The match is in the archive: nothing was written, and the command has left the inbox."""

    stored: bytes
    """An outcome to announce; it is not stored."""


class CommitClosed(msgspec.Struct, frozen=True):
    """The shard is closed; the command stays in the inbox."""


class LogCutOff(msgspec.Struct, frozen=True):
    """The shard's log lacks published leaves, so it has to be closed; the command stays in the inbox."""

    end: int
    """Where the log ends."""


CommitResult = (
    CommitDone | AlreadyDecided | CommitArchived | CommitConflict | CommitClosed | LogCutOff
)

CommitUnderWay = Callable[[], list[CommitResult]]
"""Waits until a commit is done, and returns its results; to be called once."""


def refusal_field(actor: AccountId, ply: int) -> str:
    """Return the field of the count of refusals."""
    return f"{actor.hex()}:{ply}"


class Store(Protocol):
    """Matches, their inboxes, outcomes and logs. Errors of the server pass through."""

    published: Callable[[int], int]
    """Returns how many leaves of a shard's log are published: no leaf is written below."""

    def layout(self) -> Layout:
        """Return the layout; `LookupError` before `create`.

        Its lanes are those of about a second ago, because `change_lanes` may change them meanwhile.
        """
        ...

    @property
    def shards(self) -> int:
        """How many shards there are, which never changes; `LookupError` before `create`."""
        ...

    def shard_of(self, board: int) -> int:
        """Return the shard that a board lives in, always the same; `LookupError` before `create`."""
        ...

    def create(self, shape: Layout) -> Layout:
        """Create the layout, and return it; existing data keep theirs. `ValueError` as `change_lanes`."""
        ...

    def change_lanes(self, lanes: int) -> Layout:
        """Divide the shards into so many lanes, from 1 to their number; `ValueError` for others.

        Running processes learn of it within seconds. Until then drains of both divisions may work on a
        shard, which the heads that `commit` compares make safe.
        """
        ...

    def allocate(self, command: CommandId) -> int:
        """Return the board number for the start with that id."""
        ...

    def allocate_all(self, commands: Sequence[CommandId]) -> list[int]:
        """Return the board numbers for the starts with these ids, in one round trip."""
        ...

    def board_numbers(self, commands: Sequence[CommandId]) -> list[int | None]:
        """Return the board numbers that `allocate` has returned for these ids, None for others."""
        ...

    def submit(self, submissions: Sequence[Submission]) -> list[SubmitResult]:
        """Submit commands, each with its own answer."""
        ...

    def read_inbox(self, shards: Sequence[int], count: int) -> list[InboxEntry]:
        """Return about `count` of the oldest entries."""
        ...

    def inbox_size(self, shards: Sequence[int]) -> int:
        """Return the number of entries that wait."""
        ...

    def news(self, ends: Sequence[int]) -> tuple[int, list[ShardNews]]:
        """Return the server's time, ms, and for each shard its news since its log ended at `ends`.

        Mostly by one command for all shards, because the scheduler asks each second.
        """
        ...

    def snapshots(self, boards: Sequence[int]) -> list[PackedSnapshot | None]:
        """Return the snapshots, None for a match that does not exist."""
        ...

    def snapshots_with_conditional_moves(
        self, boards: Sequence[int]
    ) -> list[tuple[PackedSnapshot | None, bytes]]:
        """Return the snapshots, each with the match's conditional moves, empty for none."""
        ...

    def set_conditional_moves(self, board: int, head: bytes, before: bytes, after: bytes) -> bool:
        """Store a match's conditional moves; False if head or conditional moves have changed.

        As durable as a commit when it returns True.
        """
        ...

    def commit(self, writes: Sequence[Write]) -> list[CommitResult]:
        """Commit, and return once that is as durable as the adapter's setting.

        `NotDurable` if it was written and the server does not confirm that it is durable: nothing may
        be acknowledged; the outcomes are stored, and a retry returns them.
        """
        ...

    def begin_commit(self, writes: Sequence[Write]) -> CommitUnderWay:
        """Begin to commit; the function that is returned waits, and has the results and errors of `commit`."""
        ...

    def seed_chain(self, shard: int) -> SeedChain | None:
        """Return the shard's chain of seeds; None before the first is anchored."""
        ...

    def anchor_index(self, shard: int, chain: int) -> int | None:
        """Return the log index of a chain's anchor."""
        ...

    def anchor(self, shard: int, chain: int, anchor: bytes, leaf: bytes) -> bool:
        """Anchor the chain that follows number `chain` - 1; False if another process was first.

        As durable as a commit if True. `ShardClosedError` as for `CommitClosed`.
        """
        ...

    def count_attempt(self, shard: int, entry: str) -> int:
        """Count one more attempt at a suspected entry and return their number."""
        ...

    def reset_attempts(self, shard: int, entry: str) -> None:
        """Reset the attempts at an entry, because another one has failed."""
        ...

    def dead_letter(self, entry: InboxEntry) -> None:
        """Move an entry that can't be decoded to the dead letters, for an operator."""
        ...

    def now(self) -> int:
        """Return the time that stamps submitted commands, ms."""
        ...

    def next_due(self, shards: Sequence[int]) -> list[int | None]:
        """Return for each shard when its next match is due, ms; None if none ever is."""
        ...

    def due_boards(self, shard: int, now: int, count: int) -> list[int]:
        """Return up to `count` boards of a shard that are due, the longest due first."""
        ...

    def ended_boards(self, shard: int, until: int, count: int) -> list[int]:
        """Return up to `count` boards of a shard whose matches ended until then, the earliest first."""
        ...

    def whole_matches(self, boards: Sequence[int]) -> list[WholeMatch | None]:
        """Return all that is stored of matches; None for one that has no state in the data."""
        ...

    def retire(
        self,
        matches: Sequence[tuple[int, bytes, Sequence[int]]],
        refused: Mapping[int, Sequence[RefusedId]] = NO_REFUSED,
    ) -> list[bool]:
        """Remove matches that are over, each by board, head and leaves; mark them as in the archive.

        The commands that were `refused` in them, by board, are no longer kept.

        False for one that is not over, or has other leaves than these or another head.
        """
        ...

    def outcome(self, board: int, command: CommandId) -> bytes | None:
        """Return a stored outcome."""
        ...

    def outcomes(self, board: int) -> Mapping[CommandId, bytes]:
        """Return all stored outcomes of a match."""
        ...

    def kept_commands(self, shard: int, refused: Sequence[RefusedId]) -> list[bytes | None]:
        """Return refused commands without their envelopes, None for those that are not kept."""
        ...

    def forget_refused(self, account: AccountId) -> None:
        """Erase the refused commands of an account; safe to repeat.

        A command that waits meanwhile, and is refused later, is kept for a day at most.
        """
        ...

    def events(self, board: int) -> list[bytes]:
        """Return a match's events in order."""
        ...

    def leaf_indexes(self, board: int) -> list[int]:
        """Return the indexes of a match's leaves, events and refusals, in its shard's log."""
        ...

    def first_events(self, boards: Sequence[int]) -> list[bytes | None]:
        """Return the first event of each match, None for a match that does not exist."""
        ...

    def leaves(self, shard: int, start: int, count: int) -> list[tuple[int, bytes]]:
        """Return up to `count` leaves of a shard's log from index `start`, each with its index."""
        ...

    def durable_leaves(
        self, starts: Mapping[int, int], count: int, *, expected: bool = False
    ) -> dict[int, list[tuple[int, bytes]]]:
        """Return by shard up to `count` leaves from the index of `starts`, each with its index.

        Shards without any are left out; `expected` saves a look for them. `NotDurable` if they are less durable than commits.
        """
        ...

    def are_durable(self, leaves: Mapping[int, Sequence[tuple[int, bytes]]]) -> bool:
        """Return whether no failover takes back these leaves, by shard and each with its index."""
        ...

    def leaves_at(self, shard: int, indexes: Sequence[int]) -> list[bytes | None]:
        """Return the leaves of a shard's log with these indexes, None for missing ones."""
        ...

    def next_leaves(self, starts: Mapping[int, int]) -> NextLeaves:
        """Return the shards whose logs have leaves from the index of `starts` on, and these leaves.

        Fewer than `MOST_NEXT` leaves of a shard are all it has.
        """
        ...

    def watermark(self, beyond: int = 0) -> Watermark:
        """Return up to when the logs are complete; if the clock allows it, beyond a time in ms.

        That is the least, over the shards, of the received time of the oldest inbox entry, or of the server's
        time if the inbox is empty; without new leaves, a store may return an older time beyond `beyond`. A
        later command is not stamped earlier, and an earlier one that no longer waits is in the log.
        """
        ...


class ShardClosedError(Exception):
    """A shard is closed, or its log has lost published leaves; nothing is written to it."""


class NotDurable(Exception):  # noqa: N818 - it says what the commit is
    """A commit was written, but the server did not confirm that it is on disk."""
