"""The context of the HTTP handlers: one `ApiContext` a process."""

import asyncio
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from contextvars import copy_context
from functools import partial
from typing import Any, Final, TypeVar

import msgspec

from domain.aggregates import AnySnapshot, unpack
from domain.errors import Refusal
from domain.match.history import PackedSnapshot, Snapshot, unpack_snapshot
from infra.people.accounts import HASHES_AT_ONCE, HASHES_WAITING
from infra.people.admission import Admission
from infra.people.tokens import AsyncTokens, Token
from infra.redis.autopipeline import raise_errors
from infra.store.async_gateway import AsyncCommandGateway, AsyncStore, ThreadGateway
from services.app.context import App
from services.app.damaged_match import UNREADABLE, damaged_match
from services.app.loop_connections import gateway_on, open_connections
from services.app.matches import RecentPublishedSizes, check_exists
from services.app.play import LoopPlay
from services.doctor.recent import RecentDiagnosis
from services.http.health import HealthCheck
from services.http.request_limits import RequestLimits
from services.http.requests import (
    FOR_GUESTS,
    PRIVATE,
    SESSION_COOKIE,
    TRIAL,
    AnyConnection,
    cookie_name,
)
from services.http.streams.event_stream import MatchWatch
from services.http.streams.limits import StreamLimits
from services.http.streams.notice_stream import NoticeStream, NoticeWatermark, leaf_counts_of
from services.http.streams.page_marks import MarkWatch
from services.language import Language

API_FRONT_END: Final = "api"
"""Part of each command id, because different front ends may use equal keys."""

_MAX_THREADS: Final = 32 + HASHES_AT_ONCE + HASHES_WAITING
"""Threads for all blocking calls but command lines.

Password checks may occupy a thread for each hash at work or waiting; 32 remain for pages.
"""

_LINE_THREADS: Final = 32
"""Command lines that run at once, because each occupies a thread until its outcome is known."""

_HOST: Final = re.compile(
    r"[A-Za-z0-9.-]{1,253}(:[0-9]{1,5})?|\[[0-9a-fA-F:.]{2,45}\](:[0-9]{1,5})?"
)

Result = TypeVar("Result")


class TaskIntervals(msgspec.Struct, frozen=True):
    """Intervals of periodic work, in seconds."""

    heartbeat: float = 15.0
    """Silence of an event stream before a comment is sent, because that detects dead connections."""
    stream: float = 3600.0
    """Life of an event stream; its client resumes after the last event."""


DEFAULT_INTERVALS: Final = TaskIntervals()


class ApiContext:
    """The context of the handlers: an `App`, and its asynchronous counterparts."""

    def __init__(  # noqa: PLR0913 - one for each part
        self,
        parts: App,
        gateway: AsyncCommandGateway,
        store: AsyncStore,
        tokens: AsyncTokens,
        watched: MatchWatch,
        bulletins: NoticeStream,
        *,
        health: HealthCheck,
        intervals: TaskIntervals = DEFAULT_INTERVALS,
    ) -> None:
        self.store = store
        self.match_watch = watched
        self.notice_stream = bulletins
        self.health = health
        self.marks = MarkWatch(parts)
        self.intervals = intervals
        self.published_sizes = RecentPublishedSizes(
            lambda: self.app.data, lambda: self.app.store.shards
        )
        self.request_limits = RequestLimits(parts.settings)
        self.stream_limits = StreamLimits()
        self.diagnosis = RecentDiagnosis(parts.settings)
        self.app = App(
            parts.settings,
            data=parts.data,
            queue=parts.queue,
            store=parts.store,
            accounts=parts.accounts,
            pace=parts.pace,
            gateway=ThreadGateway(gateway),
        )
        """The use cases' context, for threads; its gateway submits through the event loop."""
        self.play = LoopPlay(self.app, gateway, store)
        self.language = Language(self.app, API_FRONT_END)
        self._tokens = tokens
        self._line_threads = ThreadPoolExecutor(_LINE_THREADS, "line")

    async def admission(self) -> Admission:
        """Return the admission, at most a second old."""
        admissions = self.app.admissions
        if admissions.is_fresh:
            return admissions.recent()
        return await asyncio.to_thread(admissions.recent)

    async def needs_account(self, connection: AnyConnection) -> bool:
        """Return whether a request is answered to members alone; then no cache may keep the answer for others."""
        route: Any = connection.scope["route_handler"]
        open_to_guests = route.opt.get(FOR_GUESTS, False)
        if open_to_guests and open_to_guests != TRIAL:
            return False
        admission = await self.admission()
        if not admission.for_members_only or (open_to_guests and admission.trial == "on"):
            return False
        scope: Any = connection.scope
        scope[PRIVATE] = True
        return True

    def came_by_tls(self, connection: AnyConnection) -> bool:
        """Return whether the client used TLS, to this server or to the trusted proxy."""
        if connection.url.scheme == "https":
            return True
        forwarded = connection.headers.get("x-forwarded-proto", "").rpartition(",")[2].strip()
        return self.app.settings.trusted_proxy == "on" and forwarded == "https"

    def site_of(self, connection: AnyConnection) -> str:
        """Return the address of the server: as it is set, or else as the client named it; empty if it named none."""
        host = connection.headers.get("host", "")
        scheme = "https" if self.came_by_tls(connection) else "http"
        named = f"{scheme}://{host}" if _HOST.fullmatch(host) else ""
        return self.app.settings.site or named

    def has_session(self, connection: AnyConnection) -> bool:
        """Return whether a request comes from a browser that has logged in."""
        name = cookie_name(SESSION_COOKIE, secure=self.came_by_tls(connection))
        text = connection.cookies.get(name, "")
        return bool(text) and self.app.sessions.check(text) is not None

    async def token(self, text: str) -> Token | None:
        """Return the token with this text; None if it is unknown or no longer valid."""
        return await self._tokens.check(text)

    def token_and_snapshot(
        self, text: str, board: int
    ) -> Awaitable[tuple[Token | None, list[Any]]]:
        """Return the token with this text, and the reply from which `read_snapshot` reads a match."""
        return self._tokens.check_and_read(text, [self.store.snapshot_command(board)])

    async def snapshot(self, board: int) -> Snapshot:
        """Return a match's snapshot; an empty one if there is no such match. Raises `damaged`."""
        return await self._read(board, await self.store.snapshot(board), unpack_snapshot)

    async def aggregate(self, number: int) -> AnySnapshot:
        """Return the snapshot of a match or a tournament; otherwise as `snapshot`."""
        return await self._read(number, await self.store.snapshot(number), unpack)

    async def read_snapshot(self, board: int, replies: list[Any]) -> Snapshot:
        """Return the snapshot that is the only reply; otherwise as `snapshot`."""
        (reply,) = raise_errors(replies)
        packed = await self.store.read_snapshot(board, reply)
        return await self._read(board, packed, unpack_snapshot)

    async def _read(
        self,
        board: int,
        packed: PackedSnapshot | None,
        unpack: Callable[[PackedSnapshot | None], Result],
    ) -> Result:
        try:
            return unpack(packed)
        except UNREADABLE as error:
            raise await self.damaged(board, error) from error

    async def match(self, board: int) -> Snapshot:
        """Return a match's snapshot; raise `unknown-board` or `damaged`."""
        return check_exists(board, await self.snapshot(board))

    async def damaged(self, board: int, error: Exception) -> Refusal:
        """Record that a match can't be read, and return the refusal for its reader."""
        return await asyncio.to_thread(damaged_match, self.app.damage, board, error)

    async def wait(self, work: Callable[[], Result]) -> Result:
        """Run work that may wait for an outcome, in a thread pool for such work only."""
        # the context variables hold the source of the request
        run = partial(copy_context().run, work)
        return await asyncio.get_running_loop().run_in_executor(self._line_threads, run)

    def close(self) -> None:
        """Stop waiting for outcomes; submitted commands are decided all the same."""
        self._line_threads.shutdown(wait=False, cancel_futures=True)


@asynccontextmanager
async def open_context(
    parts: App, intervals: TaskIntervals = DEFAULT_INTERVALS
) -> AsyncIterator[ApiContext]:
    """Open the context of a process, and close it at the end."""
    parts.ready()
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(_MAX_THREADS, "api"))
    async with open_connections(parts) as loop:
        store, watch = loop.store, parts.durability_watch()
        health = HealthCheck(store, parts.status, watch)
        horizon = NoticeWatermark(parts.store, leaf_counts_of(parts.data), time.monotonic)
        async with (
            gateway_on(loop, watch, durable=parts.durable) as gateway,
            MatchWatch(store, loop.queue) as watched,
            NoticeStream(parts.notices, horizon) as bulletins,
        ):
            context = ApiContext(
                *(parts, gateway, store, AsyncTokens(loop.pipe, parts.time), watched, bulletins),
                health=health,
                intervals=intervals,
            )
            try:
                async with context.marks:
                    yield context
            finally:
                context.close()
