"""Declarations of pages: each module has the pages that it declares in its own `pages`."""

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, Final, Literal, TypeAlias

from litestar import get, post
from litestar.di import NamedDependency
from litestar.handlers import HTTPRouteHandler

from services.http.context import ApiContext
from services.http.request_limits import WEIGHT
from services.http.requests import FOR_GUESTS
from services.http.web.forms import COMMANDS, CommandCount, asked, own_page
from services.http.web.session import NEEDS_ACCOUNT, READS, AnyRequest, PageReads, Visitor, visitor

Handler: TypeAlias = Callable[..., Any]
Verb: TypeAlias = type[get] | type[post]
ForGuests: TypeAlias = bool | Literal["trial"]

FORMS: Final = frozenset({"own", "form", "open_form"})
"""The dependencies that check the token of a form; see `forms`."""

_OF_VISITOR: Final[Mapping[str, Callable[[ApiContext, Visitor], Any]]] = {
    "visitor": lambda _, found: found,
    "asked": asked,
    "own_page": own_page,
}
"""The dependencies that are made of the visitor without waiting, by name."""

_NEED_ACCOUNT: Final = frozenset({"own", "own_page"})
"""The dependencies of handlers that answer nobody without an account."""

_OF_REQUEST: Final = {"request": AnyRequest, "context": NamedDependency[ApiContext]}
"""The types of what a visitor is looked up by."""

_NEED_VISITOR: Final = FORMS | {"tried_line", "puzzle"}
"""The dependencies that wait for something else once the visitor is known."""


def _with_visitor(handler: Handler) -> Handler:
    """Return a handler that looks up its visitor by itself, in its own thread.

    As a dependency, the visitor has a thread of its own: the way there and back takes a twentieth of the time of a page.
    """
    signature = inspect.signature(handler)
    parameters = signature.parameters
    of_visitor = _OF_VISITOR.keys() & parameters.keys()
    if not of_visitor or _NEED_VISITOR & parameters.keys():
        return handler

    @wraps(handler, assigned=("__module__", "__qualname__", "__name__", "__doc__"))
    def page(**given: Any) -> Any:
        found = visitor(given["request"], given["context"])
        given |= {name: _OF_VISITOR[name](given["context"], found) for name in of_visitor}
        return handler(**{name: value for name, value in given.items() if name in parameters})

    of_request = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=kind)
        for name, kind in _OF_REQUEST.items()
    ]
    others = [
        one for name, one in parameters.items() if name not in of_visitor | _OF_REQUEST.keys()
    ]
    shown: Any = page
    shown.__signature__ = signature.replace(parameters=[*others, *of_request])
    shown.__annotations__ = {one.name: one.annotation for one in (*others, *of_request)} | {
        "return": signature.return_annotation
    }
    return page


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
        in_loop = inspect.iscoroutinefunction(handler)
        opt[NEEDS_ACCOUNT] = bool(_NEED_ACCOUNT & inspect.signature(handler).parameters.keys())
        declared: HTTPRouteHandler = verb(
            path, opt=opt, sync_to_thread=None if in_loop else in_thread
        )(_with_visitor(handler) if in_thread and not in_loop else handler)
        self.all.append(declared)
        return declared
