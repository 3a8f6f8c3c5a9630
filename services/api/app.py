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
from services.api.accounts import (
    change_account,
    change_addresses,
    change_password,
    delete_account,
    list_tokens,
    make_token,
    revoke_token,
    show_account,
    sign_up,
)
from services.api.callers import caller, guest
from services.api.commands import command_outcome, give_command
from services.api.events import follow_account, show_events
from services.api.hand import Hand, open_hand
from services.api.matches import show_match, show_ply, show_svg, show_text
from services.api.players import (
    list_history,
    list_matches,
    list_notices,
    list_ratings,
    list_standings,
    show_player,
    show_rating,
)
from services.api.problems import HANDLERS
from services.api.starting import start_match
from services.api.system import Measured, health, metrics, openapi, show_api, show_error
from services.api.text import do_line, list_games, list_scores, show_game, show_help
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
    show_events,
    start_match,
    list_matches,
    sign_up,
    show_account,
    change_account,
    change_addresses,
    change_password,
    delete_account,
    follow_account,
    make_token,
    list_tokens,
    revoke_token,
    show_player,
    list_notices,
    list_ratings,
    show_rating,
    list_standings,
    list_history,
    list_scores,
    list_games,
    show_game,
    show_help,
    do_line,
    show_error,
    openapi,
    show_api,
    health,
    metrics,
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
            path="/api/schema",
            render_plugins=[JsonRenderPlugin(path="/openapi.json")],
        ),
        middleware=[Measured],
        logging_config=None,
        debug=False,
    )


def _hand(state: State) -> Hand:
    hand: Hand = state.hand
    return hand
