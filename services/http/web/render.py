"""Rendering of pages from templates, with automatic escaping."""

import re
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from datetime import UTC, datetime
from functools import cache, partial
from importlib.resources import files
from typing import Any, Final

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined, nodes
from jinja2.compiler import CodeGenerator, Frame
from jinja2.visitor import NodeTransformer
from litestar import MediaType, Response
from litestar.datastructures import Cookie
from litestar.response import Redirect
from markupsafe import Markup, escape

from domain.errors import Refusal
from domain.game.protocol import GamePart, game_text
from domain.rules import AnyRules
from domain.sentences import ENGLISH, text_in
from infra.languages.catalogues import languages, translated
from infra.languages.formats import language_name
from infra.languages.wording import Wording
from services.app.error_codes import CODE_INFO, retry_seconds
from services.http.web.assets import FILE_TYPES, asset_url, module_tags
from services.http.web.boards.board_view import board_sample, draw_figures, game_picture
from services.http.web.boards.live_try import in_earnest
from services.http.web.compiled_templates import CompiledTemplates
from services.http.web.messages.chat_text import linked
from services.http.web.session import CSRF_FIELD, Visitor, guest_cookie, session_cookie
from services.words.endings import reason_label

_PACKAGE: Final = "services.http.web"

HTML: Final = "text/html"

HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; "
        "frame-ancestors 'none'"
    ),
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
"""Headers of every page: it loads nothing inline or from other sites, and no site may frame it."""

_LOADED_TYPES: Final = (*FILE_TYPES, MediaType.JSON, "text/event-stream")
"""The media types of what pages load, and browsers show nobody."""

FRAMED_HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; "
        "frame-ancestors *"
    ),
    "Cross-Origin-Opener-Policy": "unsafe-none",
    "Cross-Origin-Resource-Policy": "cross-origin",
}
"""Headers of a page that any site may frame; it has no form, and shows nothing of its visitor."""


def sentence(text: str) -> str:
    """Return the text of a refusal or an outcome as a sentence; a move at its beginning keeps its case.

    A command at its end is left out, because a page has no place to enter one.
    """
    text = text.partition("; `")[0]
    first = text.partition(" ")[0].rstrip(",:")
    found = text[:1].upper() + text[1:] if first.isalpha() else text
    return found if found.endswith((".", "!", "?")) or not found else f"{found}."


def _folders() -> list[str]:
    """Return the folders that have templates: each beside its pages, and those that all share."""
    found = (one for one in files(_PACKAGE).iterdir() if one.is_dir())
    return sorted(
        folder.name
        for folder in found
        if any(one.name.endswith(".html") for one in folder.iterdir())
    )


class _InWords(NodeTransformer):
    """Puts the messages of a template into words when it is compiled.

    An environment has one language, so that a message is looked up once, and not whenever a page is rendered.
    """

    def __init__(self, words: Wording) -> None:
        self._lookup: Final[Mapping[str, Callable[..., str]]] = {
            "_": words.gettext,
            "gettext": words.gettext,
            "pgettext": words.pgettext,
        }

    def visit_Call(self, node: nodes.Call) -> nodes.Node:  # noqa: N802 - named after the node
        """Return the words in place of a call that looks up a message, with its values put into them."""
        self.generic_visit(node)
        lookup = self._lookup.get(node.node.name) if isinstance(node.node, nodes.Name) else None
        if lookup is None:
            return node
        message = [one.value for one in node.args if isinstance(one, nodes.Const)]
        if len(message) != len(node.args):
            raise TypeError(
                f"line {node.lineno} looks up a message that is made only when it is shown"
            )
        # as Jinja's own: a message is markup, and is always formatted, which escapes the values
        text = nodes.Const(Markup(lookup(*message)), lineno=node.lineno)  # noqa: S704
        values = [nodes.Pair(nodes.Const(one.key), one.value) for one in node.kwargs]
        return nodes.Mod(text, nodes.Dict(values), lineno=node.lineno)


_SPECIAL: Final = re.compile("[&<>'\"]").search


def _escaped(value: object) -> str:
    """Return what `markupsafe.escape` does, as plain text where that is all it would be.

    A page shows some hundred values, most of which are short texts and numbers.
    """
    if type(value) is int:
        return str(value)
    if type(value) is Markup or (type(value) is str and _SPECIAL(value) is None):
        return value
    return escape(value)


class _Compiler(CodeGenerator):
    """Has the values of a template escaped by `_escaped`."""

    def _output_child_pre(self, node: nodes.Expr, frame: Frame, finalize: Any) -> None:
        if frame.eval_ctx.volatile or not frame.eval_ctx.autoescape:
            super()._output_child_pre(node, frame, finalize)
        else:
            self.write("environment.escaped(")


class _Templates(Environment):
    """Templates in one language."""

    code_generator_class = _Compiler
    escaped = staticmethod(_escaped)

    def __init__(self, words: Wording, **options: Any) -> None:
        super().__init__(**options)
        self._in_words: Final = _InWords(words)

    def make_globals(self, d: MutableMapping[str, Any] | None) -> MutableMapping[str, Any]:
        """Return the globals of a template; those of all if it has none of its own, which are copied faster."""
        return super().make_globals(d) if d else self.globals

    def _generate(self, source: nodes.Template, *names: Any, **options: Any) -> str:
        in_words: nodes.Template = self._in_words.visit(source)
        return super()._generate(in_words, *names, **options)


@cache
def environment(words: Wording) -> Environment:
    """Return the templates in a language."""
    environment = _Templates(
        words,
        loader=ChoiceLoader([PackageLoader(_PACKAGE, folder) for folder in _folders()]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
        extensions=["jinja2.ext.i18n"],
        # other words are in the code of a template, and their catalogues are no part of it
        bytecode_cache=CompiledTemplates(__file__) if words.code == ENGLISH.code else None,
    )
    environment.policies["ext.i18n.trimmed"] = True
    environment.install_gettext_translations(words.translations, newstyle=True)  # type: ignore[attr-defined]
    environment.globals["ngettext"] = partial(_ngettext, words)
    environment.globals["asset"] = asset_url
    environment.globals["module"] = partial(module_tags, language=words.code)
    environment.globals["words"] = words
    environment.globals["languages"] = {one: language_name(one, one) for one in languages()}
    environment.globals["translated"] = translated()
    environment.filters["sentence"] = sentence
    environment.filters["moment"] = partial(_time, "moment", words.moment)
    environment.filters["day"] = partial(_time, "day", words.day)
    environment.filters["recent"] = partial(_time, "recent", words.day)
    environment.filters["hour"] = partial(_time, "hour", words.hour)
    environment.filters["linked"] = linked
    environment.filters["number"] = words.number
    environment.filters["left"] = words.span
    environment.filters["clock"] = words.clock
    environment.filters["countdown"] = partial(_countdown, words.clock)
    environment.filters["said"] = partial(text_in, language=words)
    environment.filters["reason"] = partial(reason_label, words=words)
    environment.filters["listed"] = words.names
    environment.filters["option_of"] = partial(_game_text, words, GamePart.OPTIONS)
    environment.filters["guide_of"] = partial(_game_text, words, GamePart.GUIDE)
    environment.filters["in_earnest"] = in_earnest
    environment.filters["robot_buttons"] = partial(_robot_buttons, words)
    environment.filters["figures"] = draw_figures
    environment.filters["board_sample"] = board_sample
    environment.filters["game_picture"] = game_picture
    return environment


def _game_text(words: Wording, part: GamePart, text: str, game: str) -> str:
    """Return a text of a game's package in the language of the page."""
    return game_text(game, part, text, words)


def _ngettext(words: Wording, one: str, many: str, count: int, /, **values: object) -> Markup:
    """Return a message for a count, which is its value `%(count)s`; Jinja's own calls it `num`."""
    text = words.translations.ngettext(one, many, count)
    return Markup(text) % {"count": count, **values}  # noqa: S704 - it escapes the values


def _time(shown: str, words: Callable[[int], str], at: int) -> Markup:
    """Return an instant (ms) as an element; `times.js` puts it into the zone of the browser."""
    return _time_element(at, f'data-shown="{shown}"', words(at))


def _countdown(words: Callable[[int], str], at: int, now: int) -> Markup:
    """Return the time until an instant (ms) as an element; `times.js` counts it down."""
    left = max(0, at - now)
    return _time_element(at, f'data-deadline="{left}"', words(left))


def _time_element(at: int, data: str, text: str) -> Markup:
    exact = f"{datetime.fromtimestamp(at / 1000, UTC):%Y-%m-%dT%H:%M:%SZ}"
    # no part is a user's; `Markup.format` takes ten times as long
    return Markup(f'<time datetime="{exact}" {data}>{escape(text)}</time>')  # noqa: S704


def render(
    template: str,
    visitor: Visitor,
    *,
    status: int = 200,
    block: str = "",
    reason: Refusal | None = None,
    **shown: Any,
) -> Response[str]:
    """Render a template, or one `block` of it, as a part of the page.

    A refusal gives the page its status, and its sentence as `feedback`, which is empty without one. A guest without a cookie gets one, which the CSRF check of forms needs.
    """
    # the proof is hexadecimal digits
    proof = Markup(f'<input type="hidden" name="{CSRF_FIELD}" value="{visitor.proof}">')  # noqa: S704
    found, named = (
        environment(visitor.wording).get_template(template),
        {"feedback": "", **shown, "visitor": visitor},
    )
    if reason is not None:
        named["feedback"] = reason.in_language(visitor.wording)
        status = CODE_INFO[reason.code].status
    named["csrf"] = lambda: proof
    again = retry_seconds(reason.code, reason.retry_after) if reason is not None else 0
    text = "".join(found.blocks[block](found.new_context(named))) if block else found.render(named)
    cookies = [guest_cookie(visitor)] if visitor.guest else []
    return Response(
        text,
        status_code=status,
        headers={
            "Cache-Control": "private, no-cache",
            "Vary": "Cookie, Accept-Language",
            **({"Retry-After": str(again)} if again else {}),
        },
        media_type=HTML,
        cookies=cookies,
    )


def framed(page: Response[str]) -> Response[str]:
    """Return a page without cookies that any site may frame."""
    page.cookies.clear()
    page.headers.update(FRAMED_HEADERS)
    return page


def secret_page(template: str, visitor: Visitor, **shown: Any) -> Response[str]:
    """Render a template as `render` does, with something secret, which no cache keeps."""
    page = render(template, visitor, **shown)
    page.headers["Cache-Control"] = "no-store"
    return page


def rendered_macro(words: Wording, template: str, macro: str, *values: Any) -> str:
    """Return what a macro of a template makes of values, as a part of a page for its script."""
    module = environment(words).get_template(template).module
    return str(getattr(module, macro)(*values))


@cache
def _robot_buttons(words: Wording, games: tuple[AnyRules, ...], levels: tuple[str, ...]) -> Markup:
    """Return the buttons of robots, which are the same on every page."""
    return Markup(rendered_macro(words, "_robots.html", "buttons", games, levels))  # noqa: S704


def redirect_to(path: str, cookies: Sequence[Cookie] = ()) -> Redirect:
    """Redirect the browser to a page of this server, after a form."""
    return Redirect(path, status_code=303, cookies=list(cookies))


def back_to(path: str, cookies: Sequence[Cookie] = ()) -> Redirect:
    """Redirect to the page that a form names, or home if that is none of this server."""
    return redirect_to(local_path(path), cookies)


def logged_out_to(path: str, visitor: Visitor) -> Redirect:
    """Redirect a browser that is logged out, and have it drop the pages that it keeps."""
    # not "storage", because that has the texts of sealed draws, without which a player could not reveal them
    return Redirect(
        path,
        status_code=303,
        cookies=[session_cookie(visitor, "")],
        headers={"Clear-Site-Data": '"cache"'},
    )


def local_path(path: str) -> str:
    """Return the path if it is on this server, otherwise the home page."""
    # a browser reads `//host` and `/\host` as another site
    local = path.startswith("/") and not path.startswith(("//", "/\\")) and path.isprintable()
    return path if local else "/"


def add_security_headers(response: Response[Any]) -> Response[Any]:
    """Add the security headers of every page; a page may have a stricter policy of its own.

    Of what pages load, such as a script or the moves of a board, browsers ask for the policy of its content alone.
    """
    is_loaded = response.media_type in _LOADED_TYPES
    for name, value in HEADERS.items():
        if not is_loaded or name == "Content-Security-Policy":
            response.headers.setdefault(name, value)
    return response
