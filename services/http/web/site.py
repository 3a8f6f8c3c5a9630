"""The site: the pages of all modules, and what they have in common."""

from importlib import import_module
from pkgutil import iter_modules
from typing import Any, Final

from litestar import Request, Router
from litestar.di import Provide
from litestar.handlers import HTTPRouteHandler

import services.http.web.pages as package
from services.http.web import assets, browser_stream, site_files, verify_page
from services.http.web.error_pages import HANDLERS
from services.http.web.forms import form, open_form, own
from services.http.web.pages.games import variation_in_address
from services.http.web.pages.puzzles import puzzle_in_address
from services.http.web.render import add_security_headers
from services.http.web.session import account, visitor


def _pages() -> list[HTTPRouteHandler]:
    """Return the pages of each module in the folder `pages`, and those of the modules beside it."""
    names = [found.name for found in iter_modules(package.__path__, f"{package.__name__}.")]
    beside = [assets, browser_stream, site_files, verify_page]
    return [page for module in (*map(import_module, names), *beside) for page in module.pages.all]


async def _skip_api_authentication(_: Request[Any, Any, Any]) -> None:
    """Replace the API's authentication, because the pages have their own."""


SITE: Final = Router(
    path="/",
    route_handlers=_pages(),
    dependencies={
        "visitor": Provide(visitor, sync_to_thread=True),
        "account": Provide(account, sync_to_thread=False),
        "own": Provide(own),
        "form": Provide(form),
        "open_form": Provide(open_form),
        "tried_line": Provide(variation_in_address, sync_to_thread=True),
        "puzzle": Provide(puzzle_in_address, sync_to_thread=True),
    },
    exception_handlers=HANDLERS,
    request_class=Request,
    before_request=_skip_api_authentication,
    after_request=add_security_headers,
    include_in_schema=False,
)
