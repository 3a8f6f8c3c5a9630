"""The application: its routes, how it starts and ends, and how it says no."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

from litestar import Litestar
from litestar.datastructures import State
from litestar.di import Provide
from litestar.openapi import OpenAPIConfig
from litestar.openapi.plugins import JsonRenderPlugin

from services import __version__
from services.api.callers import caller, guest
from services.api.commands import command_outcome, give_command
from services.api.hand import Hand, open_hand
from services.api.matches import show_match, show_ply, show_svg, show_text
from services.api.problems import HANDLERS
from services.compose import Composition

BODY_LIMIT: Final = 65_536
"""Bytes a request's body may have."""

ROUTES: Final[tuple[Any, ...]] = (
    give_command,
    command_outcome,
    show_match,
    show_ply,
    show_svg,
    show_text,
)


def make_app(parts: Composition) -> Litestar:
    """Give the application on these parts; it opens what it needs when it is started."""

    @asynccontextmanager
    async def lifespan(app: Litestar) -> AsyncIterator[None]:
        async with open_hand(parts) as hand:
            app.state.hand = hand
            yield

    return Litestar(
        route_handlers=list(ROUTES),
        lifespan=[lifespan],
        dependencies={
            "hand": Provide(_hand, sync_to_thread=False),
            "caller": Provide(caller),
            "guest": Provide(guest),
        },
        exception_handlers=HANDLERS,
        request_max_body_size=BODY_LIMIT,
        openapi_config=OpenAPIConfig(
            title="matchpost",
            version=__version__,
            path="/api",
            render_plugins=[JsonRenderPlugin(path="/openapi.json")],
        ),
        logging_config=None,
        debug=False,
    )


def _hand(state: State) -> Hand:
    hand: Hand = state.hand
    return hand
