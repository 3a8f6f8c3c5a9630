"""The way in for commands from an event loop; `services.post` is the one for threads."""

import asyncio
import logging
from collections.abc import Coroutine, Sequence
from types import TracebackType
from typing import Any, Final, Self, TypeVar
from uuid import uuid4

from redis import asyncio as aredis

from domain.errors import Code, Refusal
from domain.match import commands
from domain.match.commands import Sent
from domain.match.events import CommandId
from infra.announce import read_told
from infra.batches import Batches
from infra.lanes import AsyncLanes
from infra.outcomes import Outcome, parse
from infra.store.doors import DoorStore
from infra.store.port import Known, Submission, Submitted, Turned
from services.post import TURNED, Pending, is_too_long, known_or_refused, own

logger = logging.getLogger(__name__)

LOOK_SECONDS: Final = 1.0
"""How often the stored outcomes of what is waited for are looked at: announcements may be lost."""

_LISTEN_SECONDS: Final = 5.0
_AGAIN_SECONDS: Final = 0.2

Answer = TypeVar("Answer")

Waiting = dict[CommandId, tuple[int, list[asyncio.Future[bytes]]]]


class Taken(Pending):
    """A command was taken whose outcome is not known yet; `place` is where it will be."""

    def __init__(self, board: int, command: CommandId, why: str) -> None:
        self.place = f"/api/matches/{board}/commands/{command.hex()}"
        super().__init__(f"{why}; its outcome will be at {self.place}")


class AsyncPost:
    """Hands commands in by micro-batches, and waits for their outcomes. Open it in the loop."""

    def __init__(self, store: DoorStore, lanes: AsyncLanes, client: aredis.Redis) -> None:
        self._store = store
        self._lanes = lanes
        self._client = client
        self._door = f"door:{uuid4().hex}"
        self._submitting = Batches(self._submit)
        self._waiting: Waiting = {}
        self._tasks: list[asyncio.Task[None]] = []
        self._wanting: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        listening = asyncio.Event()
        self._tasks = [
            asyncio.create_task(self._listen(listening)),
            asyncio.create_task(self._look()),
        ]
        # subscribed before anything is submitted: nothing is announced past us
        await listening.wait()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        tasks = [*self._tasks, *self._wanting]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def send(self, sent: Sent, ply: int, seconds: float) -> Outcome:
        """Hand a command in and give its outcome, accepted or refused.

        As `services.post.Post.send`: raises `Refusal` when it was not taken, `Pending` when there
        is no outcome in time.
        """
        submission = self._submission(sent, ply)
        digest = submission.digest
        if is_too_long(sent, ply):
            (stored,) = await self._store.outcomes([(sent.match, sent.id)])
            return own(parse(known_or_refused(stored)), digest)
        future = self._expect(sent)
        try:
            answer = await self._submitting.get(submission)
            if isinstance(answer, Turned):
                raise Refusal(Code(answer.code), TURNED[Code(answer.code)])
            if isinstance(answer, Known):
                return own(parse(answer.stored), digest)
            stored = await asyncio.wait_for(future, seconds)
        except TimeoutError:
            raise Taken(
                sent.match, sent.id, "the command was taken and waits for its turn"
            ) from None
        finally:
            self._forget(sent, future)
        return own(parse(stored), digest)

    async def hand_in(self, sents: Sequence[Sent]) -> None:
        """Hand commands in whose outcomes nobody waits for. Repeating it is harmless."""
        submissions = [self._submission(sent, 0) for sent in sents]
        await asyncio.gather(*map(self._submitting.get, submissions))

    def _submission(self, sent: Sent, ply: int) -> Submission:
        payload = commands.encode(sent)
        digest = commands.digest(payload)
        return Submission(sent.match, sent.id, digest, payload, sent.actor, ply, self._door)

    def _expect(self, sent: Sent) -> asyncio.Future[bytes]:
        future: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(sent.id, (sent.match, []))[1].append(future)
        return future

    def _forget(self, sent: Sent, future: asyncio.Future[bytes]) -> None:
        _, futures = self._waiting[sent.id]
        futures.remove(future)
        if not futures:
            del self._waiting[sent.id]

    def _tell(self, command: CommandId, stored: bytes) -> None:
        for future in self._waiting.get(command, (0, []))[1]:
            if not future.done():
                future.set_result(stored)

    async def _submit(self, submissions: Sequence[Submission]) -> list[Submitted]:
        answers = await self._store.submit(submissions)
        for lane in {self._store.lane_of(new.board) for new in submissions}:
            self._want(lane)
        return answers

    def _want(self, lane: int) -> None:
        """Ask for a drain; nobody waits for that. What becomes of a failure is the sweeper's."""
        task = asyncio.create_task(self._lanes.want(lane))
        self._wanting.add(task)
        task.add_done_callback(lambda done: self._wanted(lane, done))

    def _wanted(self, lane: int, done: asyncio.Task[None]) -> None:
        self._wanting.discard(done)
        if not done.cancelled() and (error := done.exception()) is not None:
            logger.warning("a drain of lane %d could not be asked for: %s", lane, error)

    async def _listen(self, listening: asyncio.Event) -> None:
        """Hear outcomes as they are announced; what is missed meanwhile is looked up."""
        while True:
            try:
                await self._hear(listening)
            except (aredis.RedisError, OSError):
                await asyncio.sleep(_AGAIN_SECONDS)

    async def _hear(self, listening: asyncio.Event) -> None:
        pubsub: Any = self._client.pubsub()
        async with pubsub:
            await pubsub.subscribe(self._door)
            await pubsub.get_message(timeout=None)
            listening.set()
            while True:
                message = await pubsub.get_message(timeout=_LISTEN_SECONDS)
                if message is not None and message["type"] == "message":
                    for command, stored in read_told(message["data"]):
                        self._tell(command, stored)

    async def _look(self) -> None:
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            wanted = [(board, command) for command, (board, _) in self._waiting.items()]
            try:
                found = await self._store.outcomes(wanted) if wanted else []
            except (aredis.RedisError, OSError):
                continue  # who waits hears that it is pending, in time
            for (_, command), stored in zip(wanted, found, strict=True):
                if stored is not None:
                    self._tell(command, stored)


class ThreadPost:
    """The same way in, for code that runs in a thread beside the loop."""

    def __init__(self, post: AsyncPost) -> None:
        self._post = post
        self._loop = asyncio.get_running_loop()

    def send(self, sent: Sent, ply: int, seconds: float) -> Outcome:
        """Hand a command in and give its outcome; see `AsyncPost.send`."""
        return self._wait(self._post.send(sent, ply, seconds))

    def hand_in(self, commands: Sequence[Sent]) -> None:
        """Hand commands in whose outcomes nobody waits for."""
        self._wait(self._post.hand_in(commands))

    def _wait(self, coroutine: Coroutine[Any, Any, Answer]) -> Answer:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result()
