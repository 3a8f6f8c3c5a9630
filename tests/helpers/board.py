"""Boards in a terminal of the test, on a real server."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from textual.pilot import Pilot
from textual.widgets import Static

from infra.languages.wording import wording
from services.client import Client
from services.client.draw_texts import Texts
from services.tui.board_app import BoardApp, board_app
from services.tui.board_panes import DrawingPane, SidePane
from services.tui.match_api import MatchApi
from tests.helpers.api import Player

SIZE = (80, 24)


class Seen:
    """A running board, and what can be seen of it."""

    def __init__(self, app: BoardApp, pilot: Pilot[None]) -> None:
        self.app = app
        self.pilot = pilot

    async def press(self, *keys: str) -> None:
        """Press keys, one after the other; every request that follows from one is answered first."""
        for key in keys:
            await self.pilot.press(key)
            await self.idle()

    async def idle(self) -> None:
        """Wait until all keys were heard and nothing is asked of the server."""
        heard = asyncio.Event()
        self.app.call_later(heard.set)
        await heard.wait()
        await self.until(lambda: not self.busy)
        await self.pilot.pause()

    @property
    def busy(self) -> bool:
        return self.app.view is None or any(
            worker.group != "dialog" and not worker.is_finished for worker in self.app.workers
        )

    async def until(self, condition: Callable[[], object]) -> None:
        async with asyncio.timeout(60):
            while not condition():  # noqa: ASYNC110 - of whatever a test can see
                await asyncio.sleep(0.01)

    def _text(self, kind: Any) -> str:
        return str(self.app.screen_stack[0].query_one(kind).content)

    @property
    def drawing(self) -> str:
        return self._text(DrawingPane)

    @property
    def side(self) -> str:
        return self._text(SidePane)

    @property
    def message(self) -> str:
        widget = self.app.screen_stack[0].query_one("#message", Static)
        return str(widget.content)


async def _turn(*_: float) -> None:
    """Instead of Textual's wait for an idle process, which the server in this one never is."""
    await asyncio.sleep(0.01)


@contextmanager
def client_of(url: str, player: Player | None, folder: Path) -> Iterator[Client]:
    """A client of a player, or of a spectator."""
    token = player.token if player else None
    with Client(url, token, wait=5, texts=Texts(folder / "texts")) as client:
        yield client


def play(  # noqa: PLR0917 - what differs between tests
    url: str,
    board: int,
    player: Player | None,
    folder: Path,
    steps: Callable[[Seen], Awaitable[None]],
    size: tuple[int, int] = SIZE,
    language: str = "en",
) -> None:
    """Open a board for a player, take some steps at it, and quit."""
    with client_of(url, player, folder) as client:
        app = board_app(
            MatchApi(client, player.name if player else "", words=wording(language)), board
        )

        async def run() -> None:
            async with app.run_test(size=size) as pilot:
                seen = Seen(app, pilot)
                await seen.until(lambda: app.view is not None)
                await seen.idle()
                await steps(seen)

        waits = [f"textual.{module}.wait_for_idle" for module in ("app", "pilot")]
        with patch(waits[0], _turn), patch(waits[1], _turn):
            asyncio.run(run())
