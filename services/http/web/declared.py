"""Declarations of pages: each module has the pages that it declares in its own `pages`."""

import inspect
from collections.abc import Callable
from typing import Any, Final, Literal, TypeAlias

from litestar import get, post
from litestar.handlers import HTTPRouteHandler

from services.http.request_limits import WEIGHT
from services.http.requests import FOR_GUESTS
from services.http.web.forms import COMMANDS, CommandCount
from services.http.web.session import READS, PageReads

Handler: TypeAlias = Callable[..., Any]
Verb: TypeAlias = type[get] | type[post]
ForGuests: TypeAlias = bool | Literal["trial"]

FORMS: Final = frozenset({"own", "form", "open_form"})
"""The dependencies that check the token of a form; see `forms`."""


class Pages:
    """The pages of a module; `all` has them in the order of their declarations."""

    def __init__(self) -> None:
        self.all: list[HTTPRouteHandler] = []

    def get(
        self,
        path: str,
        *,
        weight: int = 1,
        in_thread: bool = True,
        for_guests: ForGuests = False,
        reads: PageReads | None = None,
    ) -> Callable[[Handler], HTTPRouteHandler]:
        """Declare a page, which counts as `weight` requests; `reads` are gathered for it.

        A handler that is no coroutine runs in a thread; one that never waits may do without. One that is not
        `for_guests` redirects those without an account to the log-in on a server whose matches are for members.
        """

        def declare(handler: Handler) -> HTTPRouteHandler:
            opt = {WEIGHT: weight, READS: reads, FOR_GUESTS: for_guests}
            return self._add(get, path, handler, in_thread=in_thread, opt=opt)

        return declare

    def post(
        self,
        path: str,
        *,
        commands: CommandCount | None = None,
        proven_by_address: bool = False,
        in_thread: bool = True,
        for_guests: bool = False,
    ) -> Callable[[Handler], HTTPRouteHandler]:
        """Declare what takes a form; `TypeError` if the handler does not say who may send it.

        It says so by a dependency on `own`, `form` or `open_form`. Only a POST that is `proven_by_address`, which
        nobody can guess, needs none. An `own` form counts as one command, or as many as `commands` finds in it.
        """

        def declare(handler: Handler) -> HTTPRouteHandler:
            forms = FORMS & inspect.signature(handler).parameters.keys()
            if len(forms) != (0 if proven_by_address else 1):
                raise TypeError(f"{handler.__name__} does not say who may send its form")
            opt = {COMMANDS: commands, FOR_GUESTS: for_guests}
            return self._add(post, path, handler, in_thread=in_thread, opt=opt)

        return declare

    def _add(
        self,
        verb: Verb,
        path: str,
        handler: Handler,
        *,
        in_thread: bool,
        opt: dict[str, Any],
    ) -> HTTPRouteHandler:
        threads = None if inspect.iscoroutinefunction(handler) else in_thread
        declared: HTTPRouteHandler = verb(path, opt=opt, sync_to_thread=threads)(handler)
        self.all.append(declared)
        return declared
