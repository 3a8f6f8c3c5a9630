"""The gateway: submit a command and wait for its outcome.

It runs in an event loop: that of the process (`ThreadGateway` is for its other threads), or that of a thread
of its own (`gateway_in_thread`). `infra.store.gateway` is its half without input and output.

The part of the store that an event loop needs, on Redis or Valkey.

The same scripts and keys as `infra.store.redis_store`; the guarantees are those of `infra.store.port`.
"""

import asyncio
import logging
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager, contextmanager, suppress
from functools import partial
from threading import Thread
from typing import Any, Final, Self, TypeVar

import msgspec
from redis import asyncio as aredis

from domain.errors import Refusal
from domain.match.commands import CommandEnvelope
from domain.match.history import PackedSnapshot
from domain.records import CommandId
from infra.process.failpoints import failpoint
from infra.process.log_context import add_log_fields
from infra.process.metrics import OUTCOMES_PENDING, count_outcome_wait, count_submissions
from infra.redis import keys, scripts
from infra.redis.autopipeline import CommandPipeline, CommandWords, MicroBatcher, raise_errors
from infra.redis.clients import ANSWER_TIMEOUT
from infra.redis.keys import Lane
from infra.store import snapshots
from infra.store.gateway import (
    LOOK_SECONDS,
    PENDING_TEXT,
    REPEAT_SECONDS,
    WAIT_SECONDS,
    OutcomePending,
    check_digest,
    check_fault,
    is_too_long,
    outcome_before_limit,
    refusal_of,
    submission_of,
)
from infra.store.layout import LAYOUT_SECONDS, Layout, decode_layout
from infra.store.leases import AsyncLaneLeases
from infra.store.outcomes import CommandOutcome, decode, new_channel, parse
from infra.store.port import AlreadyDecided, NotAccepted, Queued, Submission, SubmitResult
from infra.store.store_calls import read_submit_reply, submit_call

REST_SECONDS: Final = 10.0
"""How long after the last command a gateway goes on to look at the server each `LOOK_SECONDS`."""


class AsyncStore:
    """Submits commands and reads matches. Errors of the server pass through."""

    def __init__(self, pipe: CommandPipeline, shape: Layout, cap: int) -> None:
        self._pipe = pipe
        self._shape = shape
        self._cap = cap
        self._layout_due = 0.0
        """When the layout is read again, by the monotonic clock."""

    @property
    def shards(self) -> int:
        """Return the number of shards."""
        return self._shape.shards

    async def refresh_layout(self) -> None:
        """Refresh the layout if it is older than `LAYOUT_SECONDS`: its lanes may have changed."""
        if time.monotonic() < self._layout_due:
            return
        self._layout_due = time.monotonic() + LAYOUT_SECONDS
        (found,) = raise_errors(await self._pipe.send([("HGETALL", keys.LAYOUT)]))
        self._shape = decode_layout(dict(zip(found[::2], found[1::2], strict=True)))

    def node_of(self, board: int) -> object:
        """Return what tells the node of a match from other nodes; one server has one node."""
        return self._pipe.node_of(keys.inbox(self._shard(board)))

    def lane_of(self, board: int) -> keys.Lane:
        """Return the lane of a match."""
        return self._shape.lane_of(board)

    async def submit(self, submissions: Sequence[Submission]) -> list[SubmitResult]:
        """Submit commands; return an answer for each."""
        calls = [submit_call(self._shape.shards, new, self._cap) for new in submissions]
        return [
            read_submit_reply(reply) for reply in await scripts.call_all_async(self._pipe, calls)
        ]

    def answer_later(self, new: Submission, answer: SubmitResult) -> Awaitable[SubmitResult] | None:
        """Return the slow read of the true answer to a submission; None if `answer` is the true one."""
        del new, answer
        return None

    def snapshot_command(self, board: int) -> CommandWords:
        """Return the command that reads a match's snapshot; `read_snapshot` reads the reply."""
        return snapshots.read_command(self._shard(board), board)

    async def snapshot(self, board: int) -> PackedSnapshot | None:
        """Return a match's snapshot; None if there is none."""
        (reply,) = raise_errors(await self._pipe.send([self.snapshot_command(board)]))
        return await self.read_snapshot(board, reply)

    async def read_snapshot(self, board: int, reply: Any) -> PackedSnapshot | None:
        """Return the snapshot in the reply to `snapshot_command` of a match; None if there is none."""
        del board  # it is in the reply
        return snapshots.read_reply(reply)

    async def outcomes(self, wanted: Sequence[tuple[int, bytes]]) -> list[bytes | None]:
        """Return stored outcomes, each by its match and command id."""
        return raise_errors(
            await self._pipe.send(
                ("HGET", keys.outcomes(self._shard(board), board), command)
                for board, command in wanted
            )
        )

    async def events(self, board: int, start: int) -> list[bytes]:
        """Return a match's events from the one with sequence number `start` on."""
        name = keys.events(self._shard(board), board)
        # not by the client, because each of many streams would open a connection
        (found,) = raise_errors(await self._pipe.send([("LRANGE", name, start - 1, -1)]))
        return list(found)

    async def leaf(self, board: int, index: int) -> bytes | None:
        """Return the leaf with this index of the log that a match is in; None if Redis has it no longer."""
        shard, id_ = self._shard(board), f"{index}-1"
        (found,) = raise_errors(await self._pipe.send([("XRANGE", keys.log(shard), id_, id_)]))
        return bytes(found[0][1][1]) if found else None

    async def inbox_size(self) -> int:
        """Count the commands in all inboxes."""
        shards = range(self._shape.shards)
        return sum(
            raise_errors(await self._pipe.send([("XLEN", keys.inbox(one)) for one in shards]))
        )

    async def event_counts(self, boards: Sequence[int]) -> list[int]:
        """Return how many events each match has, in one round trip."""
        words = [("LLEN", keys.events(self._shard(board), board)) for board in boards]
        return raise_errors(await self._pipe.send(words))

    def _shard(self, board: int) -> int:
        return keys.shard_of(board, self._shape.shards)


logger = logging.getLogger(__name__)

_LISTEN_SECONDS: Final = 5.0
_AGAIN_SECONDS: Final = 0.2

Answer = TypeVar("Answer")


class _Awaited(msgspec.Struct):
    """A command whose outcome is awaited."""

    board: int
    futures: list[asyncio.Future[bytes]]
    looked: bool = False
    """Whether it was there when the gateway last looked for stored outcomes."""


class _Sending(msgspec.Struct, eq=False):
    """A command on its way, whose sender waits for its outcome."""

    submission: Submission
    outcome: asyncio.Future[bytes] | None = None
    """The stored form; None if nobody waits."""
    seconds: float = 0.0
    """How long its sender waits, from the moment at which the inbox has it."""
    end: asyncio.TimerHandle | None = None
    known: bool = False
    """Whether the store had its outcome already."""


class AsyncCommandGateway:
    """Submits commands by micro-batches, and waits for their outcomes. Open it in the loop.

    `read_fault` reads why the server can't keep a move now; then commands are refused. `confirm` returns
    whether outcomes that are found stored are durable.
    """

    def __init__(
        self,
        store: AsyncStore,
        lanes: AsyncLaneLeases,
        client: aredis.Redis,
        read_fault: Callable[[], Awaitable[str]] | None = None,
        *,
        confirm: Callable[[], Awaitable[bool]] | None = None,
    ) -> None:
        self._store = store
        self._confirm = confirm
        self._read_fault = read_fault
        self._fault = ""
        self._looked = 0.0
        """When the server was last looked at, by the monotonic clock, as that of the next line."""
        self._sent = time.monotonic()
        """When a command was last sent."""
        self._used = asyncio.Event()
        """Set by each command that is sent."""
        self._lanes = lanes
        self._client = client
        self._channel = new_channel()
        self._submitting: defaultdict[object, MicroBatcher[_Sending, bytes]] = defaultdict(
            lambda: MicroBatcher(self._submit)
        )
        """The batches of each node, because one that is slow or away must not hold up the others."""
        self._waiting: dict[CommandId, _Awaited] = {}
        self._tasks: list[asyncio.Task[None]] = []
        self._requests: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        listening = asyncio.Event()
        self._tasks = [asyncio.create_task(self._subscribe(listening))]
        # subscribed before anything is submitted, so no announcement is missed
        await listening.wait()
        self._tasks.append(asyncio.create_task(self._look_up()))
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._requests:  # a drain is asked for although nobody waits for its outcomes
            await asyncio.wait(self._requests, timeout=LOOK_SECONDS)
        tasks = [*self._tasks, *self._requests]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def send(self, sent: CommandEnvelope, ply: int, seconds: float) -> CommandOutcome:
        """Submit a command and return its outcome; see `Gateway.send`."""
        add_log_fields(board=sent.match, command_id=sent.id, account=sent.actor)
        logger.debug("a command is submitted")
        submission = submission_of(sent, ply, self._channel)
        if is_too_long(sent, ply):
            (found,) = await self._store.outcomes([(sent.match, sent.id)])
            return await self.confirmed(outcome_before_limit(found, submission.digest))
        if self._has_rested():
            await self._look_for_a_while()
        check_fault(self._fault)
        future = self._expect(sent)
        sending = _Sending(submission, future, seconds)
        try:
            failpoint("submit.ready")
            # one wake-up of this task, by the outcome or by what the store said instead
            self._batches(sending).submit(sending, future)
            began = time.perf_counter()
            stored = await future
            count_outcome_wait(time.perf_counter() - began)
        finally:
            if sending.end is not None:
                sending.end.cancel()
            self._forget(sent, future)
        outcome = check_digest(parse(stored), submission.digest)
        if sending.known:
            return await self.confirmed(outcome)
        failpoint("submit.heard")
        return outcome

    async def confirmed(self, outcome: CommandOutcome) -> CommandOutcome:
        """Return an outcome that was found stored, once it is durable; else raise `OutcomePending`."""
        if self._confirm is not None and not await self._confirm():
            raise OutcomePending(PENDING_TEXT)
        return outcome

    async def submit_all(self, sents: Sequence[CommandEnvelope]) -> None:
        """Submit commands without waiting for their outcomes. Repeating it is harmless."""
        if self._has_rested():
            await self._look_for_a_while()
        sendings = [_Sending(submission_of(sent, 0, self._channel)) for sent in sents]
        await asyncio.gather(*(self._batches(one).get(one) for one in sendings))

    def _batches(self, sending: _Sending) -> MicroBatcher[_Sending, bytes]:
        return self._submitting[self._store.node_of(sending.submission.board)]

    def _expect(self, sent: CommandEnvelope) -> asyncio.Future[bytes]:
        future: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(sent.id, _Awaited(sent.match, [])).futures.append(future)
        return future

    def _forget(self, sent: CommandEnvelope, future: asyncio.Future[bytes]) -> None:
        futures = self._waiting[sent.id].futures
        futures.remove(future)
        if not futures:
            del self._waiting[sent.id]

    def _resolve(self, command: CommandId, stored: bytes) -> None:
        awaited = self._waiting.get(command)
        for future in awaited.futures if awaited else ():
            if not future.done():
                future.set_result(stored)

    async def _submit(self, sendings: Sequence[_Sending]) -> list[bytes | None]:
        """Submit commands; return the outcomes that are known, and None for the others."""
        submissions = [one.submission for one in sendings]
        try:
            answers = await self._store.submit(submissions)
        except (aredis.ConnectionError, ConnectionError):
            # nobody knows whether they were taken, and as they have ids, to repeat them is harmless
            await asyncio.sleep(REPEAT_SECONDS)
            answers = await self._store.submit(submissions)
        pairs = zip(sendings, answers, strict=True)
        queued = [one for one, answer in pairs if isinstance(answer, Queued)]
        if queued:
            count_submissions("queued", len(queued))
            failpoint("submit.queued")
        for lane in {self._store.lane_of(one.submission.board) for one in queued}:
            self._request_drain(lane)
        return list(map(self._result, sendings, answers))

    def _result(self, sending: _Sending, answer: SubmitResult) -> bytes | None:
        """Return `_result_of`; None for an answer that is read later, so that it holds up no other command."""
        if isinstance(answer, Queued):
            return _result_of(sending, answer)
        future = sending.outcome
        later = future and self._store.answer_later(sending.submission, answer)
        if not future or not later:
            _count(answer)
            return _result_of(sending, answer)
        task = asyncio.create_task(_answer(sending, future, later))
        self._requests.add(task)
        task.add_done_callback(self._requests.discard)
        return None

    def _request_drain(self, lane: Lane) -> None:
        """Request a drain without awaiting it; the sweep repeats a request that failed."""
        task = asyncio.create_task(self._request(lane))
        self._requests.add(task)
        task.add_done_callback(lambda done: self._drain_requested(lane, done))

    async def _request(self, lane: Lane) -> None:
        await self._lanes.request(lane)
        failpoint("submit.woken")

    def _drain_requested(self, lane: Lane, done: asyncio.Task[None]) -> None:
        self._requests.discard(done)
        if not done.cancelled() and (error := done.exception()) is not None:
            logger.warning("a drain of lane %s could not be asked for: %s", lane, error)

    async def _subscribe(self, listening: asyncio.Event) -> None:
        """Hear outcomes as they are announced; what is missed meanwhile is looked up."""
        while True:
            try:
                await self._read_messages(listening)
            except (aredis.RedisError, OSError):
                await asyncio.sleep(_AGAIN_SECONDS)

    async def _read_messages(self, listening: asyncio.Event) -> None:
        pubsub: Any = self._client.pubsub()
        async with pubsub:
            await pubsub.subscribe(self._channel)
            if await pubsub.get_message(timeout=ANSWER_TIMEOUT) is None:
                raise aredis.TimeoutError("the server did not confirm a subscription in time")
            listening.set()
            while True:
                message = await pubsub.get_message(timeout=_LISTEN_SECONDS)
                if message is not None and message["type"] == "message":
                    for command, stored in decode(message["data"]):
                        self._resolve(command, stored)

    async def _look_up(self) -> None:
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            if self._waiting or time.monotonic() - self._sent < REST_SECONDS:
                await self._look()
            else:
                self._used.clear()
                await self._used.wait()

    def _has_rested(self) -> bool:
        """Note that a command is to be sent; return whether the server was not looked at lately."""
        self._sent = time.monotonic()
        self._used.set()
        return self._sent - self._looked > 2 * LOOK_SECONDS

    async def _look_for_a_while(self) -> None:
        # a server that hangs holds up the command itself, which has a limit of its own
        with suppress(TimeoutError):
            await asyncio.wait_for(self._look(), LOOK_SECONDS)

    async def _look(self) -> None:
        """Look for outcomes that were not heard, for a change of the lanes, and for a fault of the server."""
        self._looked = time.monotonic()
        # those since the look before are most likely announced in time
        wanted = [(one.board, command) for command, one in self._waiting.items() if one.looked]
        for one in self._waiting.values():
            one.looked = True
        try:
            await self._store.refresh_layout()
            if self._read_fault is not None:
                self._fault = await self._read_fault()
            found = await self._store.outcomes(wanted) if wanted else []
            if any(found) and self._confirm is not None and not await self._confirm():
                return  # the replicas may have them a moment later
        except (aredis.RedisError, OSError, LookupError, Refusal):
            return  # a caller that waits gets `OutcomePending` in time
        for (_, command), stored in zip(wanted, found, strict=True):
            if stored is not None:
                self._resolve(command, stored)


async def _answer(
    sending: _Sending, future: asyncio.Future[bytes], later: Awaitable[SubmitResult]
) -> None:
    """Await the answer to a command, and set the outcome that its sender waits for."""
    try:
        answer = await later
    except Exception as error:  # noqa: BLE001 - raised by the future
        if not future.done():
            future.set_exception(error)
        return
    _count(answer)
    stored = _result_of(sending, answer)
    if stored is not None and not future.done():
        future.set_result(stored)


def _result_of(sending: _Sending, answer: SubmitResult) -> bytes | None:
    """Return the stored outcome that a command has already; None if its future has or gets another."""
    future = sending.outcome
    if future is None:
        return b""
    if isinstance(answer, AlreadyDecided):
        sending.known = not future.done()
        return answer.stored
    if future.done():  # the outcome was faster than this answer, or the task was cancelled
        return None
    if isinstance(answer, NotAccepted):
        future.set_exception(refusal_of(answer))
    else:
        sending.end = future.get_loop().call_later(sending.seconds, _set_pending, future)
    return None


def _set_pending(future: asyncio.Future[bytes]) -> None:
    if not future.done():
        OUTCOMES_PENDING.inc()
        future.set_exception(OutcomePending(PENDING_TEXT))


class ThreadGateway:
    """An `AsyncCommandGateway` for code that runs in a thread beside the loop."""

    def __init__(self, gateway: AsyncCommandGateway) -> None:
        self._gateway = gateway
        self._loop = asyncio.get_running_loop()

    def send(
        self, sent: CommandEnvelope, ply: int, seconds: float = WAIT_SECONDS
    ) -> CommandOutcome:
        """Submit a command and return its outcome; see `Gateway.send`."""
        return self._wait(self._gateway.send(sent, ply, seconds))

    def submit_all(self, sents: Sequence[CommandEnvelope]) -> None:
        """Submit commands without waiting for their outcomes."""
        self._wait(self._gateway.submit_all(sents))

    def _wait(self, coroutine: Coroutine[Any, Any, Answer]) -> Answer:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result()


@contextmanager
def gateway_in_thread(
    opening: AbstractAsyncContextManager[AsyncCommandGateway],
) -> Iterator[ThreadGateway]:
    """Run a gateway in the event loop of a thread of its own, for a process without one.

    Raises what `opening` raises.
    """
    opened: Future[tuple[ThreadGateway, Callable[[], object]]] = Future()

    async def run() -> None:
        loop, over = asyncio.get_running_loop(), asyncio.Event()
        async with opening as gateway:
            end = partial(loop.call_soon_threadsafe, over.set)
            opened.set_result((ThreadGateway(gateway), end))
            await over.wait()

    def work() -> None:
        try:
            asyncio.run(run())
        except BaseException as error:
            if opened.done():
                raise
            opened.set_exception(error)

    # no process waits at its end for one that was not closed
    thread = Thread(target=work, name="gateway", daemon=True)
    thread.start()
    gateway, end = opened.result()
    try:
        yield gateway
    finally:
        end()
        thread.join()


def _count(answer: SubmitResult) -> None:
    """Count an answer; those that are `Queued` are counted by the batch."""
    if isinstance(answer, NotAccepted):
        count_submissions(str(answer.code))
    elif isinstance(answer, AlreadyDecided):
        count_submissions("known")
