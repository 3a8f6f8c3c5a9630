"""The HTTP application: its routes, its lifetime and its error handlers."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from typing import Final

from litestar import Litestar
from litestar.di import Provide
from litestar.routes import HTTPRoute

from infra.process.liveness import LIVENESS
from services.app.context import App
from services.http.api.auth import (
    QUERY_PARAMETERS,
    authenticate,
    own,
    parameters_of,
    query_value_form,
)
from services.http.api.bodies import MAX_BODY_BYTES, StrictRequest, sender
from services.http.api.problem_details import HANDLERS
from services.http.api.routes import (
    accounts,
    admin,
    analyses,
    apps,
    bots,
    challenges,
    clubs,
    command_line,
    commands,
    conditional_moves,
    disputes,
    drafts,
    events,
    games,
    hooks,
    match_lines,
    matches,
    messages,
    moderation,
    new_match,
    oauth,
    own_account,
    pairings,
    players,
    rankings,
    receipts,
    rules,
    site,
    system,
    tournaments,
)
from services.http.api.short_path import ShortPath
from services.http.context import DEFAULT_INTERVALS, ApiContext, TaskIntervals, open_context
from services.http.middleware import HttpMiddleware
from services.http.published_log import LOG_ROUTES
from services.http.requests import RouterOfOneApp, context_of
from services.http.web.error_pages import answer_not_found
from services.http.web.site import SITE

_API_MODULES: Final = (
    *(commands, receipts, matches, analyses, events),
    *(new_match, conditional_moves, drafts, messages),
    *(
        disputes,
        challenges,
        clubs,
        tournaments,
        pairings,
        accounts,
        own_account,
        apps,
        oauth,
        bots,
        hooks,
        players,
        match_lines,
        rankings,
        games,
        command_line,
        rules,
    ),
    *(moderation, site, admin, system),
)
"""The modules of the API, in the order of its document."""

ROUTES: Final = (*(route for module in _API_MODULES for route in module.api.all), *LOG_ROUTES)


def make_app(
    parts: App,
    intervals: TaskIntervals = DEFAULT_INTERVALS,
    beside: Callable[[App], AbstractAsyncContextManager[None]] = lambda _: nullcontext(),
    routed: Litestar | None = None,
) -> ShortPath:
    """Return the application of these parts; its lifespan opens the connections.

    It opens `beside` as well, for the parts as threads may use them. `routed` is what `make_routes` returned, if
    no other application uses it.
    """

    @asynccontextmanager
    async def opening() -> AsyncIterator[ApiContext]:
        async with open_context(parts, intervals) as context, beside(context.app):
            yield context

    app = make_routes() if routed is None else routed
    app.state.opening = opening
    behind_proxy = parts.settings.trusted_proxy == "on"
    return ShortPath(app, HttpMiddleware(app, behind_proxy=behind_proxy, site=parts.settings.site))


def make_routes() -> Litestar:
    """Return all routes, without parts to answer from; this takes the framework a third of a second."""
    app = Litestar(
        route_handlers=[_api(), SITE()],
        lifespan=[_lifespan],
        dependencies={"context": Provide(context_of, sync_to_thread=False)},
        exception_handlers={**HANDLERS, 404: answer_not_found, 405: answer_not_found},
        request_max_body_size=MAX_BODY_BYTES,
        openapi_config=None,  # `openapi` makes the document
        logging_config=None,
        debug=False,
    )
    _record_query_parameters(app)
    return app


@asynccontextmanager
async def _lifespan(app: Litestar) -> AsyncIterator[None]:
    async with app.state.opening() as context:
        app.state.context = context
        heart = asyncio.create_task(LIVENESS.watch_loop())
        try:
            yield
        finally:
            heart.cancel()


def _api() -> RouterOfOneApp:
    return RouterOfOneApp(
        "/",
        route_handlers=list(ROUTES),
        dependencies={
            "own": Provide(own, sync_to_thread=False),
            "sender": Provide(sender, sync_to_thread=False),
        },
        request_class=StrictRequest,
        before_request=authenticate,
    )


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
