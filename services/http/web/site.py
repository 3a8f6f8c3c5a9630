"""The site: the pages of all modules, and what they have in common."""

from functools import partial
from importlib import import_module
from pkgutil import walk_packages
from typing import Final

from litestar import Request
from litestar.di import Provide
from litestar.handlers import HTTPRouteHandler

import services.http.web as package
from services.http.requests import RouterOfOneApp
from services.http.web.declared import Pages
from services.http.web.error_pages import HANDLERS
from services.http.web.forms import asked, form, open_form, own, own_page
from services.http.web.games.page import variation_in_address
from services.http.web.puzzles.page import puzzle_in_address
from services.http.web.render import add_security_headers
from services.http.web.session import check_admission, visitor


def _pages() -> list[HTTPRouteHandler]:
    """Return the pages of each module of this package that has some."""
    names = (found.name for found in walk_packages(package.__path__, f"{package.__name__}."))
    modules = [import_module(name) for name in names if name != __name__]
    return [page for module in modules for page in getattr(module, "pages", Pages()).all]


SITE: Final = partial(
    RouterOfOneApp,
    path="/",
    route_handlers=_pages(),
    dependencies={
        "visitor": Provide(visitor, sync_to_thread=True),
        "asked": Provide(asked, sync_to_thread=False),
        "own_page": Provide(own_page, sync_to_thread=False),
        "own": Provide(own),
        "form": Provide(form),
        "open_form": Provide(open_form),
        "tried_line": Provide(variation_in_address, sync_to_thread=True),
        "puzzle": Provide(puzzle_in_address, sync_to_thread=True),
    },
    exception_handlers=HANDLERS,
    request_class=Request,
    before_request=check_admission,
    after_request=add_security_headers,
    include_in_schema=False,
)
"""Makes the router of all pages."""
