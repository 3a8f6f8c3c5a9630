"""The script calls of the store, and the readers of their replies; both stores on a server use them.

The keys and the words of the scripts that take many, by name and in order.

Each script unpacks them into locals with these names; a test compares both sides.
"""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import redis
from redis.exceptions import ResponseError

from domain.errors import Code
from infra.redis import keys, scripts
from infra.redis.scripts import Arg
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
    LogCutOff,
    NotAccepted,
    Queued,
    Submission,
    SubmitResult,
    Write,
    refusal_field,
)
from infra.store.refused_commands import RefusedId


class SubmitKeys(NamedTuple):
    """The keys of `submit.lua`."""

    inbox: str
    outcomes: str
    refusals: str
    floor: str
    archived: str
    closed: str


class SubmitWords(NamedTuple):
    """The words of `submit.lua`."""

    id: Arg
    digest: Arg
    payload: Arg
    reply_to: Arg
    at: Arg
    cap: Arg
    refusal: Arg
    most_refusals: Arg
    most_ahead: Arg
    bit: Arg


class CommitKeys(NamedTuple):
    """The keys of `commit.lua` for the shard; those of each match follow, then those of refused commands."""

    inbox: str
    log: str
    attempts: str
    seed_chain: str
    due_times: str
    ended_matches: str
    archived: str
    closed: str


class CommitMatchKeys(NamedTuple):
    """The keys of `commit.lua` for a match."""

    state: str
    moves: str
    turns: str
    events: str
    locator: str
    outcomes: str
    refusals: str
    conditional: str


class CommitWords(NamedTuple):
    """The words of `commit.lua` for a command; its rare words follow, if it has any, and the bytes of its leaves."""

    entry: Arg
    match: Arg
    id: Arg
    decided_on: Arg
    digest: Arg
    tail: Arg
    snapshot: Arg
    more_moves: Arg
    more_turns: Arg
    due: Arg
    leaves: Arg
    rare: Arg


class CommitRareWords(NamedTuple):
    """The words of `commit.lua` that most commands, which are moves, do not have."""

    refusal: Arg
    kept: Arg
    kept_in: Arg
    rewritten: Arg
    ended: Arg
    conditional_before: Arg
    conditional_after: Arg
    chain: Arg
    k: Arg


class AnchorKeys(NamedTuple):
    """The keys of `anchor_seed_chain.lua`."""

    log: str
    seed_chain: str
    closed: str


class AnchorWords(NamedTuple):
    """The words of `anchor_seed_chain.lua`."""

    before: Arg
    chain: Arg
    anchor: Arg
    leaf: Arg
    least: Arg
    most: Arg


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
    # by position, because the names of so many words take as long as the rest here
    names = SubmitKeys(
        keys.inbox(shard),
        keys.outcomes(shard, new.board),
        keys.refusals(shard, new.board),
        keys.floor(shard),
        keys.archived(shard),
        keys.closed(shard),
    )
    words = SubmitWords(
        *(new.id, new.digest, new.payload, new.reply_to),
        *(received, cap, refusal_field(new.actor, new.ply)),
        *(MOST_REFUSALS, MOST_AHEAD_MS, keys.archive_bit(new.board, shards)),
    )
    return scripts.SUBMIT, names, words


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
        return [LogCutOff(int(reply[1])) if len(reply) > 1 else CommitClosed()] * len(run)
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
    names = list(_commit_keys(shard))
    places: dict[int, int] = {}
    args: list[scripts.Arg] = [shards, least, "" if most is None else most]
    for board in dict.fromkeys(write.board for write in run):
        places[board] = len(places) + 1
        names += _commit_match_keys(shard, board)
    kept_in: dict[bytes, int] = {}
    for write in run:
        if write.kept and write.actor not in kept_in:
            names.append(keys.refused(shard, write.actor))
            kept_in[write.actor] = len(names)
        args += _commit_words(write, places[write.board], kept_in.get(write.actor, 0))
    return scripts.COMMIT, names, args


def _commit_keys(shard: int) -> CommitKeys:
    return CommitKeys(
        inbox=keys.inbox(shard),
        log=keys.log(shard),
        attempts=keys.attempts(shard),
        seed_chain=keys.seed_chain(shard),
        due_times=keys.due(shard),
        ended_matches=keys.ended(shard),
        archived=keys.archived(shard),
        closed=keys.closed(shard),
    )


def _commit_match_keys(shard: int, board: int) -> CommitMatchKeys:
    return CommitMatchKeys(
        state=keys.snapshot(shard, board),
        moves=keys.moves(shard, board),
        turns=keys.turns(shard, board),
        events=keys.events(shard, board),
        locator=keys.locator(shard, board),
        outcomes=keys.outcomes(shard, board),
        refusals=keys.refusals(shard, board),
        conditional=keys.conditional_moves(shard, board),
    )


def _commit_words(write: Write, match: int, kept_in: int) -> tuple[Arg, ...]:
    new = write.snapshot
    rare = _rare_words(write, kept_in)
    words = CommitWords(
        entry=write.entry,
        match=match,
        id=write.id,
        decided_on=write.head,
        digest=write.digest,
        tail=write.tail,
        snapshot=snapshots.with_marks(new.state, write.conditional_after) if new else "",
        more_moves=new.moves if new else "",
        more_turns=new.turns if new else "",
        due=write.due,
        leaves=len(write.leaves),
        rare="1" if rare else "",
    )
    return (*words, *rare, *write.leaves)


def _rare_words(write: Write, kept_in: int) -> tuple[Arg, ...]:
    """Return the rare words of a command; none if all are as those of most moves."""
    is_rare = write.refusal_field or write.kept or write.rewritten or write.ended or write.k
    if not (is_rare or write.conditional_before or write.conditional_after):
        return ()
    return CommitRareWords(
        refusal=write.refusal_field,
        kept=write.kept,
        kept_in=kept_in if write.kept else 0,
        rewritten="1" if write.snapshot and write.rewritten else "",
        ended=write.ended,
        conditional_before=write.conditional_before,
        conditional_after=write.conditional_after,
        chain=write.chain,
        k=write.k,
    )


def anchor_call(
    shard: int, chain: int, anchor: bytes, leaf: bytes, least: int, most: int | None = None
) -> scripts.Call:
    """Return the call that anchors the chain with that number; `least` and `most` as for `commit_call`."""
    names = AnchorKeys(
        log=keys.log(shard), seed_chain=keys.seed_chain(shard), closed=keys.closed(shard)
    )
    words = AnchorWords(
        before=chain - 1,
        chain=chain,
        anchor=anchor.hex(),
        leaf=leaf,
        least=least,
        most="" if most is None else most,
    )
    return scripts.ANCHOR_SEED_CHAIN, names, words


def retire_call(
    shards: int, board: int, head: bytes, locator: bytes, refused: Sequence[RefusedId] = ()
) -> scripts.Call:
    """Return the call that removes a match which is in the archive, and the commands refused in it."""
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
    rest = len(names)
    names += (keys.refused(shard, actor) for actor in dict.fromkeys(one.actor for one in refused))
    bit = keys.archive_bit(board, shards)
    words: list[scripts.Arg] = [head, locator, board, bit, keys.ARCHIVED_CHAT_SECONDS, rest]
    return scripts.RETIRE, names, words + [one.command for one in refused]


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
