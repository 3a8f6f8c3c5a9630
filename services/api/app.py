"""The application: its routes, how it starts and ends, and how it says no."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

from litestar import Litestar, Request, Router
from litestar.di import Provide
from litestar.routes import HTTPRoute

from infra.liveness import HEART
from services.api.accounts import (
    change_account,
    change_addresses,
    change_password,
    delete_account,
    list_tokens,
    log_out_everywhere,
    make_token,
    revoke_token,
    show_account,
    sign_up,
)
from services.api.blocks import block_player, list_blocks, unblock_player
from services.api.bodies import LIMIT, StrictRequest
from services.api.callers import QUERY, admit, caller, form_of
from services.api.challenges import (
    accept_challenge,
    list_challenges,
    open_challenge,
    own_challenges,
    show_challenge,
    start_full,
    withdraw_challenge,
)
from services.api.commands import command_outcome, give_command, reveal_text
from services.api.context import USUAL, ApiContext, Rhythm, open_context
from services.api.drafts import confirm_draft, drop_draft, show_draft, submit_draft
from services.api.edge import Edge
from services.api.events import follow_account, show_events
from services.api.letters import list_messages, mark_messages, say, send_message, show_chat
from services.api.matches import show_match, show_ply, show_svg, show_text
from services.api.players import list_matches, list_notices, show_player
from services.api.problems import HANDLERS
from services.api.replies import drop_replies, lay_replies, show_replies
from services.api.starting import start_match
from services.api.system import health, openapi, show_api, show_error
from services.api.tables import (
    list_history,
    list_ratings,
    list_standings,
    show_head_to_head,
    show_rating,
)
from services.api.text import do_line, list_games, list_scores, show_game, show_help
from services.api.vacations import end_vacation, show_vacation, take_vacation
from services.app.context import App
from services.web.problems import lost
from services.web.routes import WEB_ROUTES

ROUTES: Final[tuple[Any, ...]] = (
    give_command,
    reveal_text,
    command_outcome,
    show_match,
    show_ply,
    show_svg,
    show_text,
    show_events,
    start_match,
    list_matches,
    show_replies,
    lay_replies,
    drop_replies,
    show_draft,
    submit_draft,
    drop_draft,
    confirm_draft,
    show_chat,
    say,
    list_challenges,
    open_challenge,
    show_challenge,
    accept_challenge,
    withdraw_challenge,
    own_challenges,
    list_messages,
    send_message,
    mark_messages,
    sign_up,
    show_account,
    change_account,
    change_addresses,
    change_password,
    log_out_everywhere,
    delete_account,
    show_vacation,
    take_vacation,
    end_vacation,
    list_blocks,
    block_player,
    unblock_player,
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
    show_head_to_head,
    list_scores,
    list_games,
    show_game,
    show_help,
    do_line,
    show_error,
    openapi,
    show_api,
    health,
)


def make_app(parts: App, rhythm: Rhythm = USUAL) -> Edge:
    """Return the application on these parts; it opens what it needs when it is started."""

    @asynccontextmanager
    async def lifespan(app: Litestar) -> AsyncIterator[None]:
        async with open_context(parts, rhythm) as context:
            app.state.context = context
            tasks = [asyncio.create_task(task) for task in (start_full(context), HEART.turn())]
            try:
                yield
            finally:
                for task in tasks:
                    task.cancel()

    app = Litestar(
        route_handlers=[_api(), *WEB_ROUTES],
        lifespan=[lifespan],
        dependencies={"context": Provide(_hand, sync_to_thread=False)},
        exception_handlers={**HANDLERS, 404: lost, 405: lost},
        request_max_body_size=LIMIT,
        openapi_config=None,  # ours is made by `openapi`
        logging_config=None,
        debug=False,
    )
    _note_parameters(app)
    return Edge(app, behind_proxy=parts.settings.trusted_proxy == "on")


def _api() -> Router:
    return Router(
        "/",
        route_handlers=list(ROUTES),
        dependencies={"caller": Provide(caller, sync_to_thread=False)},
        request_class=StrictRequest,
        before_request=admit,
    )


def _hand(request: Request[Any, Any, Any]) -> ApiContext:
    context: ApiContext = request.app.state.context
    return context


def _note_parameters(app: Litestar) -> None:
    """Note at each route which parameters its query may have."""
    for route in app.routes:
        if isinstance(route, HTTPRoute):
            for handler, model in route.route_handler_map.values():
                fields = handler.parsed_fn_signature.parameters
                handler.opt[QUERY] = {
                    one.field_alias: form_of(fields[one.field_name].annotation)
                    for one in model.expected_query_params
                    if one.field_name in fields
                }
