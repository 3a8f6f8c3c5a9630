"""The script calls of the store, and the readers of their replies; both stores on a server use them."""

from collections.abc import Sequence
from typing import Any, Final

import redis
from redis.exceptions import ResponseError

from domain.errors import Code
from infra.redis import keys, scripts
from infra.store import snapshots
from infra.store.outcomes import encode_stored, tail
from infra.store.port import (
    ARCHIVED_TEXT,
    MOST_AHEAD_MS,
    MOST_REFUSALS,
    AlreadyDecided,
    CommitArchived,
    CommitClosed,
    CommitConflict,
    CommitDone,
    CommitResult,
    NotAccepted,
    Queued,
    Submission,
    SubmitResult,
    Write,
    refusal_field,
)

_NOT_ACCEPTED: Final = {
    b"reused": Code.ID_REUSED,
    b"archived": Code.MATCH_OVER,
    b"closed": Code.UNAVAILABLE,
    b"refused-too-often": Code.TOO_MANY_REFUSALS,
    b"full": Code.BUSY,
}


def submit_call(shards: int, new: Submission, cap: int, received: str = "") -> scripts.Call:
    """Return the call that submits a command; `received` in ms, or empty for the server's time."""
    shard = keys.shard_of(new.board, shards)
    names = [keys.inbox(shard), keys.outcomes(shard, new.board), keys.refusals(shard, new.board)]
    names += [keys.floor(shard), keys.archived(shard), keys.closed(shard)]
    args: list[scripts.Arg] = [new.id, new.digest, new.payload, new.reply_to, received]
    args += [cap, refusal_field(new.actor, new.ply), MOST_REFUSALS, MOST_AHEAD_MS]
    args.append(keys.archive_bit(new.board, shards))
    return scripts.SUBMIT, names, args


def read_submit_reply(reply: Any) -> SubmitResult:
    """Return the result of `submit_call`."""
    match reply[0]:
        case b"queued":
            return Queued(reply[1].decode(), int(reply[2]))
        case b"known":
            return AlreadyDecided(reply[1])
        case why if why in _NOT_ACCEPTED:
            return NotAccepted(_NOT_ACCEPTED[why])
        case other:
            raise ResponseError(f"submit answered {other!r}")


def read_commit_replies(run: Sequence[Write], reply: Any) -> list[CommitResult]:
    """Return the results of the writes of one `commit_call`."""
    if reply[0] == b"closed":
        return [CommitClosed(int(reply[1]) if len(reply) > 1 else None)] * len(run)
    return [read_commit_reply(write, row) for write, row in zip(run, reply, strict=True)]


def read_commit_reply(write: Write, reply: Any) -> CommitResult:
    """Return the result of one write of `commit_call`."""
    match reply[0]:
        case b"done":
            return CommitDone(reply[1])
        case b"known":
            return AlreadyDecided(reply[1])
        case b"archived":
            return archived_result(write)
        case b"conflict":
            return CommitConflict()
        case other:
            raise ResponseError(f"commit answered {other!r}")


def commit_call(
    shards: int, shard: int, run: Sequence[Write], least: int, most: int | None = None
) -> scripts.Call:
    """Return the call that commits writes of one shard, in order.

    The first leaf's index has to be from `least` to `most`.
    """
    names = [keys.inbox(shard), keys.log(shard), keys.attempts(shard), keys.seed_chain(shard)]
    names += [keys.due(shard), keys.ended(shard), keys.archived(shard), keys.closed(shard)]
    places: dict[int, int] = {}
    args: list[scripts.Arg] = [shards, least, "" if most is None else most]
    for write in run:
        board = write.board
        if board not in places:
            places[board] = len(places) + 1
            names += [
                keys.snapshot(shard, board),
                keys.moves(shard, board),
                keys.turns(shard, board),
                keys.events(shard, board),
                keys.locator(shard, board),
                keys.outcomes(shard, board),
                keys.refusals(shard, board),
                keys.conditional_moves(shard, board),
            ]
        args += [write.entry, places[board], write.id, write.head, write.digest, write.tail]
        args.append(write.refusal_field)
        if write.snapshot is None:
            args += ["", "", "", ""]
        else:
            args.append(snapshots.with_marks(write.snapshot.state, write.conditional_after))
            args += [write.snapshot.moves, write.snapshot.turns, "1" if write.rewritten else ""]
        args += [write.due, write.ended]
        args += [write.conditional_before, write.conditional_after, write.chain, write.k]
        args += [len(write.leaves), *write.leaves]
    return scripts.COMMIT, names, args


def retire_call(shards: int, board: int, head: bytes, locator: bytes) -> scripts.Call:
    """Return the call that removes a match which is in the archive."""
    shard = keys.shard_of(board, shards)
    names = [
        keys.snapshot(shard, board),
        keys.locator(shard, board),
        keys.ended(shard),
        keys.archived(shard),
        keys.chat(shard, board),
        keys.moves(shard, board),
        keys.turns(shard, board),
        keys.events(shard, board),
        keys.outcomes(shard, board),
        keys.refusals(shard, board),
        keys.conditional_moves(shard, board),
        keys.drafts(shard, board),
    ]
    bit = keys.archive_bit(board, shards)
    return scripts.RETIRE, names, [head, locator, board, bit, keys.ARCHIVED_CHAT_SECONDS]


def repair_due(client: redis.Redis, shards: int, board: int, head: bytes, due: int) -> bool:
    """Set a match's due time; False if the match has moved on from `head`, or the time was right.

    Commits keep due times up to date; this is for what the scrubber and the scheduler find otherwise.
    """
    shard = keys.shard_of(board, shards)
    names = [keys.snapshot(shard, board), keys.due(shard)]
    return bool(scripts.call(client, scripts.REPAIR_DUE, names, [head, board, due]))


def archived_result(write: Write, known: bytes | None = None) -> CommitArchived:
    """Return the result of a commit to a match in the archive, which may know the command's outcome."""
    refused = tail(Code.MATCH_OVER, 0, ARCHIVED_TEXT)
    return CommitArchived(known or encode_stored(write.digest, 0, refused))
