"""The HTTP application: its routes, its lifetime and its error handlers."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

from litestar import Litestar, Request, Router
from litestar.di import Provide
from litestar.routes import HTTPRoute

from infra.liveness import LIVENESS
from services.app.context import App
from services.http.api.auth import (
    QUERY_PARAMETERS,
    authenticate,
    caller,
    parameters_of,
    query_value_form,
)
from services.http.api.bodies import MAX_BODY_BYTES, StrictRequest
from services.http.api.command_requests import command_request
from services.http.api.problem_details import HANDLERS
from services.http.api.routes.accounts import (
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
from services.http.api.routes.analyses import request_analysis, show_analysis
from services.http.api.routes.blocks import block_player, list_blocks, unblock_player
from services.http.api.routes.challenges import (
    accept_challenge,
    decline_challenges,
    list_challenges,
    open_challenge,
    own_challenges,
    show_challenge,
    withdraw_challenge,
)
from services.http.api.routes.command_line import (
    do_line,
    list_games,
    list_scores,
    show_game,
    show_help,
)
from services.http.api.routes.commands import command_outcome, give_command, reveal_text
from services.http.api.routes.conditional_moves import drop_replies, lay_replies, show_replies
from services.http.api.routes.disputes import (
    give_ruling,
    list_cases,
    list_waiting_cases,
    make_appeal,
    make_claim,
    show_evidence,
)
from services.http.api.routes.drafts import confirm_draft, drop_draft, show_draft, submit_draft
from services.http.api.routes.events import follow_account, show_events
from services.http.api.routes.follows import (
    follow_player,
    list_following,
    unfollow_player,
    unwatch_board,
    watch_board,
)
from services.http.api.routes.matches import (
    export_document,
    show_match,
    show_ply,
    show_svg,
    show_text,
    show_text_board,
)
from services.http.api.routes.messages import (
    list_messages,
    mark_messages,
    mute_chat,
    say,
    send_message,
    show_chat,
    unmute_chat,
)
from services.http.api.routes.players import (
    list_invitations,
    list_matches,
    list_notices,
    show_player,
)
from services.http.api.routes.push import add_push, list_push, remove_push
from services.http.api.routes.rankings import (
    list_history,
    list_ratings,
    list_standings,
    show_head_to_head,
    show_rating,
)
from services.http.api.routes.receipts import (
    command_proof,
    command_receipt,
    event_proof,
    event_receipt,
)
from services.http.api.routes.robots import add_robot, list_robots
from services.http.api.routes.start import start_match, start_rematch
from services.http.api.routes.system import (
    health,
    openapi,
    readiness,
    show_api,
    show_error,
)
from services.http.api.routes.vacations import end_vacation, show_vacation, take_vacation
from services.http.api.short_path import ShortPath
from services.http.context import DEFAULT_INTERVALS, ApiContext, TaskIntervals, open_context
from services.http.middleware import HttpMiddleware
from services.http.published_log import show_log_keys, show_log_object, show_receipts_keys
from services.http.web.assets import pack_assets
from services.http.web.error_pages import answer_not_found
from services.http.web.site import SITE

ROUTES: Final[tuple[Any, ...]] = (
    give_command,
    reveal_text,
    command_outcome,
    command_receipt,
    command_proof,
    event_receipt,
    event_proof,
    show_match,
    export_document,
    show_ply,
    show_svg,
    show_text,
    show_analysis,
    request_analysis,
    show_text_board,
    show_events,
    start_match,
    start_rematch,
    list_matches,
    list_invitations,
    show_replies,
    lay_replies,
    drop_replies,
    show_draft,
    submit_draft,
    drop_draft,
    confirm_draft,
    show_chat,
    say,
    make_claim,
    make_appeal,
    give_ruling,
    list_cases,
    list_waiting_cases,
    show_evidence,
    list_challenges,
    open_challenge,
    show_challenge,
    accept_challenge,
    withdraw_challenge,
    decline_challenges,
    add_robot,
    own_challenges,
    list_robots,
    list_messages,
    send_message,
    mark_messages,
    mute_chat,
    unmute_chat,
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
    list_following,
    watch_board,
    unwatch_board,
    follow_player,
    unfollow_player,
    list_blocks,
    block_player,
    unblock_player,
    list_push,
    add_push,
    remove_push,
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
    readiness,
    show_log_keys,
    show_receipts_keys,
    show_log_object,
)


def make_app(parts: App, intervals: TaskIntervals = DEFAULT_INTERVALS) -> ShortPath:
    """Return the application of these parts; its lifespan opens the connections."""

    @asynccontextmanager
    async def lifespan(app: Litestar) -> AsyncIterator[None]:
        async with open_context(parts, intervals) as context:
            app.state.context = context
            heart = asyncio.create_task(LIVENESS.watch_loop())
            packing = asyncio.create_task(asyncio.to_thread(pack_assets))
            try:
                yield
            finally:
                heart.cancel()
                await packing

    app = Litestar(
        route_handlers=[_api(), SITE],
        lifespan=[lifespan],
        dependencies={"context": Provide(_context_of, sync_to_thread=False)},
        exception_handlers={**HANDLERS, 404: answer_not_found, 405: answer_not_found},
        request_max_body_size=MAX_BODY_BYTES,
        openapi_config=None,  # `openapi` makes the document
        logging_config=None,
        debug=False,
    )
    _record_query_parameters(app)
    behind_proxy = parts.settings.trusted_proxy == "on"
    return ShortPath(app, HttpMiddleware(app, behind_proxy=behind_proxy, site=parts.settings.site))


def _api() -> Router:
    return Router(
        "/",
        route_handlers=list(ROUTES),
        dependencies={
            "caller": Provide(caller, sync_to_thread=False),
            "command_request": Provide(command_request, sync_to_thread=False),
        },
        request_class=StrictRequest,
        before_request=authenticate,
    )


def _context_of(request: Request[Any, Any, Any]) -> ApiContext:
    context: ApiContext = request.app.state.context
    return context


def _record_query_parameters(app: Litestar) -> None:
    """Record at each route which query parameters it accepts."""
    for route in app.routes:
        if isinstance(route, HTTPRoute):
            for handler, model in route.route_handler_map.values():
                fields = parameters_of(handler)
                handler.opt[QUERY_PARAMETERS] = {
                    one.field_alias: query_value_form(fields[one.field_name].annotation)
                    for one in model.expected_query_params
                    if one.field_name in fields
                }
