"""What the handlers of the API work with: one `Hand` a process."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from domain.match.record import Snapshot, unpack_snapshot
from infra.clients import make_async_client
from infra.lanes import AsyncLanes
from infra.queue import wake
from infra.store.doors import DoorStore
from infra.tokens import AsyncTokens, Token
from services.api.batches import Batches
from services.api.following import Follower
from services.api.post import AsyncPost, ThreadPost
from services.compose import Composition
from services.language import Language

DOOR: Final = "api"
"""Its name is part of each command id: keys of different doors don't meet."""

_BLOCKING: Final = 10.0
"""Seconds that a subscription waits in the server at most."""


class Hand:
    """The parts of a process that answers requests, those for an event loop among them.

    `parts` may be used from threads: all but its `post` and its `language`.
    """

    def __init__(
        self,
        parts: Composition,
        post: AsyncPost,
        store: DoorStore,
        tokens: AsyncTokens,
        follower: Follower,
    ) -> None:
        self.parts = parts
        self.post = post
        self.store = store
        self.follower = follower
        self.desk = Composition(
            parts.settings,
            data=parts.data,
            queue=parts.queue,
            store=parts.store,
            accounts=parts.accounts,
            pace=parts.pace,
            post=ThreadPost(post),
        )
        """For threads: all of it, also its `post` and its `language`."""
        self.language = Language(self.desk, DOOR)
        self._snapshots = Batches(store.snapshots)
        self._tokens = Batches(tokens.check)

    async def token(self, text: str) -> Token | None:
        """Give what a token stands for; None for one that is none, or none any more."""
        return await self._tokens.get(text)

    async def snapshot(self, board: int) -> Snapshot:
        """Give a match as it stands; that of no match where there is none."""
        return unpack_snapshot(await self._snapshots.get(board))


@asynccontextmanager
async def open_hand(parts: Composition) -> AsyncIterator[Hand]:
    """Make the hand of a process, and close it when done."""
    parts.ready()
    async with (
        make_async_client(parts.url, blocking_timeout=_BLOCKING) as data,
        make_async_client(parts.settings.queue_url or parts.url) as queue,
    ):
        store = DoorStore(data, parts.store.shape(), parts.settings.queue_cap)
        lanes = AsyncLanes(queue, lambda lane: wake(parts.queue, lane))
        async with AsyncPost(store, lanes, data) as post, Follower(store) as follower:
            yield Hand(parts, post, store, AsyncTokens(data), follower)
