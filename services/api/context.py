"""What the handlers of the API work with: one `ApiContext` a process."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from contextvars import copy_context
from functools import partial
from typing import Any, Final, TypeAlias, TypeVar

import msgspec

from domain.errors import Refusal
from domain.match.record import Snapshot, unpack_snapshot
from domain.match.state import MatchState
from infra.accounts import HASHES_AT_ONCE, HASHES_WAITING
from infra.async_gateway import AsyncCommandGateway, ThreadGateway
from infra.batches import Batches
from infra.clients import make_async_client
from infra.lanes import AsyncLanes
from infra.outcomes import Outcome
from infra.pipe import Pipe, sound
from infra.queue import wake
from infra.store.async_store import AsyncStore
from infra.tokens import AsyncTokens, Token
from services.api.bulletins import Bulletins, Horizon, counts_of
from services.api.following import Follower
from services.api.marks import Marks
from services.api.streams import Streams
from services.api.visitors import Visitors
from services.app.actor import Actor
from services.app.commands import Action, MatchCommand, command_of, finish, needs_redis
from services.app.context import App
from services.app.damaged import UNREADABLE, damaged
from services.app.matches import check_exists
from services.language import Language

DOOR: Final = "api"
"""Its name is part of each command id: keys of different doors don't meet."""

_BLOCKING: Final = 10.0
"""Seconds that a subscription waits in the server at most."""

_THREADS: Final = 32 + HASHES_AT_ONCE + HASHES_WAITING
"""For all that waits for the server but for the outcome of a command line.

So many passwords may keep a thread each, and pages have 32 all the same.
"""

_LINES: Final = 32
"""Command lines that are carried out at once: each has a thread that waits for its outcome."""

Answer = TypeVar("Answer")

Asked: TypeAlias = asyncio.Future[list[Any]]
"""A match that was asked for."""


class Rhythm(msgspec.Struct, frozen=True):
    """How often background tasks run, in seconds."""

    heartbeat: float = 15.0
    """Silence of an event stream after which a comment is sent, so that a dead one is noticed."""
    challenges: float = 5.0
    """Time between sweeps for full challenges whose match has not started."""


USUAL: Final = Rhythm()


class ApiContext:
    """What the routes of the API and the pages work with: an `App`, and the event loop's drivers."""

    def __init__(
        self,
        parts: App,
        gateway: AsyncCommandGateway,
        store: AsyncStore,
        tokens: AsyncTokens,
        follower: Follower,
        bulletins: Bulletins,
        *,
        rhythm: Rhythm = USUAL,
    ) -> None:
        self.gateway = gateway
        self.store = store
        self.follower = follower
        self.bulletins = bulletins
        self.marks = Marks(parts)
        self.rhythm = rhythm
        self.visitors = Visitors(parts.settings)
        self.streams = Streams()
        self.app = App(
            parts.settings,
            data=parts.data,
            queue=parts.queue,
            store=parts.store,
            accounts=parts.accounts,
            pace=parts.pace,
            gateway=ThreadGateway(gateway),
        )
        """The use cases' context, for threads: its gateway submits by the event loop's."""
        self.language = Language(self.app, DOOR)
        self._tokens = Batches(tokens.check)
        self._lines = ThreadPoolExecutor(_LINES, "line")

    async def token(self, text: str) -> Token | None:
        """Return the token of a text; None for an unknown, revoked or expired one."""
        return await self._tokens.get(text)

    async def snapshot(self, board: int, asked: Asked | None = None) -> Snapshot:
        """Return what is stored of a board, with or without a match on it. Refused as `damaged`."""
        (found,) = sound(await (asked or self.store.ask_snapshot(board)))
        try:
            return unpack_snapshot(found)
        except UNREADABLE as error:
            raise await self.damaged(board, error) from error

    def ask(self, board: int) -> Asked:
        """Ask for a match before it is sure that it is needed; `snapshot` takes it up."""
        asked = self.store.ask_snapshot(board)
        asked.add_done_callback(_seen)
        return asked

    async def match(self, board: int) -> Snapshot:
        """Return a match as it is stored, as `load_snapshot` does: `unknown-board`, `damaged`."""
        return check_exists(board, await self.snapshot(board))

    async def act(
        self, actor: Actor, board: int, state: MatchState, action: Action, seconds: float
    ) -> Outcome:
        """Have a player act in a match; refused and pending as `finish` says."""
        make = partial(command_of, self.app, actor, board, state, action)
        command = await asyncio.to_thread(make) if needs_redis(action) else make()
        return await self.send(command, seconds)

    async def send(self, command: MatchCommand, seconds: float) -> Outcome:
        """Hand a command in, and return its outcome once it is accepted; else as `finish` says."""
        return finish(self.app, await self.gateway.send(command.sent, command.ply, seconds))

    async def damaged(self, board: int, error: Exception) -> Refusal:
        """Note that a match can't be read, and return the refusal for its reader."""
        return await asyncio.to_thread(damaged, self.app.damage, board, error)

    async def wait(self, work: Callable[[], Answer]) -> Answer:
        """Run work that may wait for an outcome, in a thread of those that do nothing else."""
        # where it comes from goes with it
        run = partial(copy_context().run, work)
        return await asyncio.get_running_loop().run_in_executor(self._lines, run)

    def close(self) -> None:
        """Stop waiting; commands that were handed in are decided all the same."""
        self._lines.shutdown(wait=False, cancel_futures=True)


def _seen(asked: Asked) -> None:
    asked.cancelled() or asked.exception()  # it may be that nothing awaits it


@asynccontextmanager
async def open_context(parts: App, rhythm: Rhythm = USUAL) -> AsyncIterator[ApiContext]:
    """Yield the context of a process, and close it afterwards."""
    parts.ready()
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(_THREADS, "api"))
    async with (
        make_async_client(parts.url, blocking_timeout=_BLOCKING) as data,
        make_async_client(parts.settings.queue_url or parts.url) as queue,
        Pipe(data) as pipe,
        Pipe(queue) as apart,
    ):
        store = AsyncStore(data, pipe, parts.store.shape(), parts.settings.queue_cap)
        lanes = AsyncLanes(
            apart if parts.settings.queue_url else pipe, lambda lane: wake(parts.queue, lane)
        )
        horizon = Horizon(parts.store, counts_of(parts.data), time.monotonic)
        async with (
            AsyncCommandGateway(store, lanes, data) as gateway,
            Follower(store) as follower,
            Bulletins(parts.notices, horizon) as bulletins,
        ):
            context = ApiContext(
                parts, gateway, store, AsyncTokens(pipe), follower, bulletins, rhythm=rhythm
            )
            try:
                async with context.marks:
                    yield context
            finally:
                context.close()
