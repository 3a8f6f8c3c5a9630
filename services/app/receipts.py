"""Receipts and proofs of leaves: by the outcome of a command, or by match and event.

A receipt is signed on demand, and only for a leaf that is as durable as an accepted move: where durability is
`none` there are none. A leaf that was read by its index counts only if it is of the command that was meant,
because after a failover another one may be in its place.
"""

import asyncio
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, Self

import msgspec
from redis.exceptions import RedisError

from domain.aggregates import unpack
from domain.errors import Code, Refusal
from domain.match.decision import seat_of
from domain.match.history import NO_HASH, decode_event, decode_refusal, is_event, leaf_hash
from domain.match.state import MatchState
from domain.records import AccountId, CommandId
from domain.sentences import ENGLISH, Translation, text_in
from infra.store.async_gateway import AsyncStore
from infra.store.outcomes import CommandOutcome, parse
from infra.store.trimmed_leaves import TrimmedLeavesError
from services.app.context import App
from services.app.damaged_match import UNREADABLE, refuse_damaged
from services.app.sentences import SAY

logger = logging.getLogger(__name__)

NO_RECEIPTS: Final = "this server signs no receipts"

NO_OUTCOME: Final = Refusal(Code.NOT_FOUND, "no command of this id has an outcome in this match")

NOT_PUBLISHED: Final = Refusal(Code.NOT_PUBLISHED, SAY("not-published"))


class Answered(msgspec.Struct, frozen=True):
    """The outcome of a command."""

    id: str
    """The id of the command, in hex; the same for every repetition with its key."""
    board: int
    """The number of the match or the tournament."""
    accepted: bool
    code: str
    """The error code; empty if the command was accepted."""
    message: str
    """The reason for a refusal, in a sentence; empty if the command was accepted."""
    seq: int
    """Sequence number of its first event; after a refusal, of the last event before it."""
    index: int
    """Index of its first leaf in the log of its shard."""
    receipt: str | None = None
    """The server's signed promise that this leaf is in the published log, or will be within a minute;
    null if there is none. The same leaf always gets the same receipt."""

    @classmethod
    def of(
        cls,
        board: int,
        command: CommandId,
        outcome: CommandOutcome,
        language: Translation = ENGLISH,
    ) -> Self:
        """Return an outcome as it is shown, with a message in a language, and without a receipt."""
        return cls(
            id=command.hex(),
            board=board,
            accepted=outcome.accepted,
            code=outcome.code,
            message=text_in(outcome.text, language),
            seq=outcome.seq,
            index=outcome.index,
        )


class PlacedLeaf(msgspec.Struct, frozen=True):
    """A leaf and what its receipt needs."""

    index: int
    """In its shard's log."""
    data: bytes
    seq: int
    """Of the event; for a refusal, of the last event before it."""
    head: bytes
    """For a refusal, the leaf hash of the last event before it."""


def receipt_if_any(app: App, decided: Answered) -> str | None:
    """Return the receipt of a command whose outcome is durable; None if there is none now.

    It never raises because of the receipt, because the command is decided.
    """
    if not app.gives_receipts:
        return None
    try:
        return receipt_of_leaf(app, decided.board, leaf_of_command(app, decided))
    except (Refusal, RedisError) as error:
        _note_failure(decided.board, error)
        return None


async def receipt_in_loop(app: App, store: AsyncStore, decided: Answered) -> str | None:
    """Return the receipt of a command as `receipt_if_any` does, in an event loop."""
    if not app.gives_receipts:
        return None
    board = decided.board
    try:
        before: list[bytes] = []
        if decided.accepted or not decided.seq:
            leaf = await store.leaf(board, decided.index)
        else:  # in one round trip
            leaf, before = await asyncio.gather(
                store.leaf(board, decided.index), store.events(board, decided.seq)
            )
        if leaf is None:  # it was trimmed, so it is read from the published log
            return await asyncio.to_thread(receipt_if_any, app, decided)
        head = leaf_hash(before[0]) if before else NO_HASH
        return receipt_of_leaf(app, board, _placed_leaf(decided, leaf, head))
    except (Refusal, RedisError, OSError, *UNREADABLE) as error:
        _note_failure(board, error)
        return None


def _note_failure(board: int, error: Exception) -> None:
    """Log why an answer has no receipt."""
    logger.info("a command in match %d is answered without a receipt: %s", board, error)


def receipt_of_leaf(app: App, board: int, leaf: PlacedLeaf) -> str | None:
    """Return the receipt of a durable leaf; None without a key."""
    shard = app.store.shard_of(board)
    return app.receipt_signer.sign(shard, leaf.data, leaf.seq, leaf.head)


def require_receipt(app: App, board: int, leaf: PlacedLeaf) -> str:
    """Return the receipt of a leaf; `not-found` where there are none, `unavailable` if it is not durable."""
    receipt = None
    if app.gives_receipts:
        if not app.durability_watch().confirm():
            raise Refusal(Code.UNAVAILABLE, SAY("not-on-disks"))
        receipt = receipt_of_leaf(app, board, leaf)
    if receipt is None:
        raise Refusal(Code.NOT_FOUND, NO_RECEIPTS)
    return receipt


def leaf_of_command(app: App, decided: Answered) -> PlacedLeaf:
    """Return the first leaf of a command; `not-found` if the log has another one there."""
    board = decided.board
    with _reading(app, board):
        shard = app.store.shard_of(board)
        (leaf,) = app.store.leaves_at(shard, [decided.index])
        head = NO_HASH
        if not decided.accepted and decided.seq:
            head = leaf_hash(app.store.events(board)[decided.seq - 1])
        return _placed_leaf(decided, leaf, head)


def leaf_shown_to(app: App, account: AccountId, board: int, command: CommandId) -> PlacedLeaf:
    """Return the first leaf of a command, for a player of its match, or the sender of a command in a tournament.

    `unknown-board` for the number of neither, `not-a-player`, `not-found`.
    """
    with _reading(app, board):
        state = unpack(app.store.snapshots([board])[0]).state
    if not state.seq:
        raise Refusal(Code.UNKNOWN_BOARD, SAY("no-board", board=board))
    if isinstance(state, MatchState):
        seat_of(account, state)
    stored = app.store.outcome(board, command)
    if stored is None:
        raise NO_OUTCOME
    decided = Answered.of(board, command, parse(stored))
    if isinstance(state, MatchState):
        return leaf_of_command(app, decided)
    return check_sent(app, account, decided)


def check_sent(app: App, account: AccountId, decided: Answered) -> PlacedLeaf:
    """Return the first leaf of an account's own command in a tournament; `not-found` for another's."""
    leaf = leaf_of_command(app, decided)
    sent = decode_event(leaf.data) if is_event(leaf.data) else decode_refusal(leaf.data)
    if sent.actor != account:
        raise NO_OUTCOME
    return leaf


def _placed_leaf(decided: Answered, leaf: bytes | None, head: bytes) -> PlacedLeaf:
    """Return the leaf that was read for a command; `not-found` if it is missing or another's.

    `head` is the leaf hash of the last event before a refusal. Errors of reading it pass through.
    """
    if leaf is not None:
        found = decode_event(leaf) if is_event(leaf) else decode_refusal(leaf)
        if (found.match, found.command.hex()) == (decided.board, decided.id):
            return PlacedLeaf(decided.index, leaf, decided.seq, head)
    raise Refusal(Code.NOT_FOUND, SAY("not-in-log"))


def leaf_of_event(app: App, board: int, seq: int) -> PlacedLeaf:
    """Return the leaf of an event; `unknown-board`, or `not-found` for one that is not there."""
    with _reading(app, board):
        events = app.store.events(board)
        if not events:
            raise Refusal(Code.UNKNOWN_BOARD, SAY("no-board", board=board))
        if seq > len(events):
            text = SAY("events-of-match", board=board, count=len(events), seq=seq)
            raise Refusal(Code.NOT_FOUND, text)
        data = events[seq - 1]
        stored = app.store.outcome(board, decode_event(data).command)
        if stored is None:
            raise LookupError(f"the command of event {seq} has no outcome")
        first = parse(stored)
        # the events of a command follow each other in match and log
        return PlacedLeaf(first.index + seq - first.seq, data, seq, NO_HASH)


def proof_of(app: App, board: int, leaf: PlacedLeaf) -> str:
    """Return the proof of a leaf; `not-published` before there is one, `not-found` where there is no log."""
    # they import cryptography, which most commands of the terminal need not
    from infra.log.key_files import LogKeyError  # noqa: PLC0415
    from infra.log.published_log import LogDamagedError  # noqa: PLC0415
    from infra.log.signed_note import NoteError  # noqa: PLC0415
    from infra.objects.port import ObjectStoreError  # noqa: PLC0415

    shard = app.store.shard_of(board)
    try:
        proof = app.proofs.prove(shard, leaf.index, leaf.data)
    except LogKeyError as error:
        raise Refusal(Code.NOT_FOUND, SAY("no-log")) from error
    except ObjectStoreError as error:
        raise Refusal(Code.UNAVAILABLE, SAY("log-away")) from error
    except (LogDamagedError, NoteError) as error:
        logger.error("ALARM: no proof in match %d: %s", board, error)  # noqa: TRY400
        raise Refusal(Code.DAMAGED, SAY("log-damaged")) from error
    if proof is None:
        raise NOT_PUBLISHED
    return str(proof)


@contextmanager
def _reading(app: App, board: int) -> Iterator[None]:
    try:
        with refuse_damaged(app.damage, board):
            yield
    except TrimmedLeavesError as error:
        raise Refusal(Code.UNAVAILABLE, SAY("log-away")) from error
