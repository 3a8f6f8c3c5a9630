"""All pages: what the application has beside the API."""

from typing import Any, Final

from litestar import Request, Router
from litestar.di import Provide

from services.web.acts import act
from services.web.assets import show_asset
from services.web.entering import log_in, log_out, show_login, show_signup, sign_up
from services.web.exports import export_film, export_json, export_text
from services.web.home import show_home
from services.web.letters import lay_ready, say
from services.web.matches import check_move, list_moves, show_match
from services.web.pages import secured
from services.web.problems import HANDLERS
from services.web.replay import check_if, compare, list_moves_if, show_ply, what_if
from services.web.visitors import form, visitor

PAGES: Final[tuple[Any, ...]] = (
    show_asset,
    show_home,
    show_login,
    log_in,
    show_signup,
    sign_up,
    log_out,
    show_match,
    list_moves,
    check_move,
    act,
    say,
    lay_ready,
    show_ply,
    compare,
    what_if,
    list_moves_if,
    check_if,
    export_json,
    export_text,
    export_film,
)


async def _come_in(_: Request[Any, Any, Any]) -> None:
    """Let everybody in: what the API asks of a request, before all else, is not asked of a page's."""


WEB_ROUTES: Final = (
    Router(
        path="/",
        route_handlers=PAGES,
        dependencies={
            "visitor": Provide(visitor, sync_to_thread=True),
            "form": Provide(form),
        },
        exception_handlers=HANDLERS,
        request_class=Request,
        before_request=_come_in,
        after_request=secured,
        include_in_schema=False,
    ),
)
