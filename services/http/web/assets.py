"""Static files of the pages: read once, and cached for a year under an address with their hash.

The scripts of the pages as one file, joined when a process starts: htmx, the words of the page's language, and the modules.

Each module becomes a function that runs once: when another module imports it, or an element of the page names it
(`static/begin.js`). Modules are joined by the forms of `import` and `export` that they use; any other is refused.

A module that others import only later, by `import("./x.js")`, is a file of its own, so that a page that does without it
is lighter. Modules of the pages that it imports are given to it, so it shares their state.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from graphlib import TopologicalSorter
from hashlib import sha256
from importlib.resources import files
from typing import Any, Final

import msgspec
from litestar import Request, Response
from litestar.params import FromPath
from markupsafe import Markup

from domain.drawing import PAGE_STYLE
from domain.errors import Code, Refusal
from infra.languages.catalogues import script_words, translated
from services.app.sentences import SAY
from services.http.middleware import Encoding, accepted_encoding, compress_well
from services.http.web.declared import Pages

PAGES: Final = "scripts.js"
"""The joined file of the pages; `scripts.de.js` is the same with German words."""

ALONE: Final = frozenset(
    {"embed.js", "names.js", "newmatch.js", "passkey.js", "push.js", "puzzle.js", "worker.js"}
)
"""Modules that few pages need: each becomes a file of its own, together with its imports.

What they import has no state that it would have to share with the file of the pages.
"""

_HASH_DIGITS: Final = 12

_OF_SERVICE_WORKER: Final = ("sw_pages.js", "sw_moves.js", "sw.js")
"""The parts of the service worker, which is no module, because not all browsers take one there."""

_NO_MODULES: Final = frozenset({"begin.js", "htmx.js", "once.js", *_OF_SERVICE_WORKER})

_SCRIPT_COMMENT: Final = re.compile(
    r"""^[ \t]*(/\*.*?\*/[ \t]*$|//[^\n]*$)|[ \t]+//[ ][^"'`\n]*$""", re.MULTILINE | re.DOTALL
)
"""A comment on lines of its own, or behind code; one with a quote stays there, for it might end a text."""
_IMPORT: Final = re.compile(r'import (?:\{ (\w+(?:, \w+)*) \} from )?"\./(\w+\.js)";')
_LATER_IMPORT: Final = re.compile(r'\bimport\("\./(\w+\.js)"\)')
_EXPORT: Final = re.compile(r"export (?=(?:async )?(?:function|class|const) (\w+))")
_OTHER_FORM: Final = re.compile(r"(?:export|import)\b|.*\bimport *\(")
_WORKER: Final = re.compile(r'new URL\("\./(\w+\.js)", import\.meta\.url\)')
_AWAIT: Final = re.compile(r"^await\b", re.MULTILINE)  # which holds up all that import the module


def join_scripts(sources: Mapping[str, str]) -> dict[str, str]:
    """Return the joined files of these modules, by name: that of the pages, and those of `ALONE` and of later modules.

    Raise ValueError if a module has a form of import or export that can't be joined, or imports itself in the end.
    """
    modules = {name: text for name, text in sources.items() if name not in _NO_MODULES}
    graph = _ordered({name: _imports_of(text) for name, text in modules.items()})
    loads = {name: set(_LATER_IMPORT.findall(text)) for name, text in modules.items()}
    later = set[str]().union(*loads.values())
    # pages name the modules that no other imports; a later one may import the module that loads it
    named = graph.keys() - ALONE - later.union(*graph.values())
    loading = {name for name in graph.keys() - later if loads[name]}
    of_pages = _reached(named | loading, graph)
    found = {name: _joined_later(name, sources, graph, of_pages) for name in later}
    for name in ALONE & graph.keys():
        found[name] = _joined(_reached([name], graph), sources, [f"{_function(name)}();"])
    end = [f"const modules = {{ {_functions(of_pages)} }};", *code_of(sources["begin.js"])]

    def quoted(one: re.Match[str]) -> str:
        return f'"{address(one[1], found[one[1]].encode())}"'

    # a worker's address has its own hash, so that pages of two releases share it if it is the same
    joined = _WORKER.sub(quoted, _joined(of_pages, sources, end))
    joined = _LATER_IMPORT.sub(
        lambda one: f"import({quoted(one)}).then((file) => file.run(modules))", joined
    )
    found[PAGES] = f"{_without_comment(sources['htmx.js'])}\n{joined}"
    if wrong := [name for name, text in found.items() if _LATER_IMPORT.search(text)]:
        raise ValueError(f"only modules of the pages import others later: {', '.join(wrong)}")
    return found


def address(name: str, data: bytes) -> str:
    """Return the address of a static file with this content, which has its hash."""
    return f"/static/{sha256(data).hexdigest()[:_HASH_DIGITS]}/{name}"


def code_of(text: str) -> list[str]:
    """Return the lines of a script that are code, without their indents.

    No script has a text of several lines, which would lose its indents.
    """
    return [code for line in _SCRIPT_COMMENT.sub("", text).splitlines() if (code := line.strip())]


def _without_comment(text: str) -> str:
    """Return a script that others have packed, without the comment at its beginning."""
    return text.partition("*/")[2].strip()


def _imports_of(text: str) -> list[str]:
    """Return the modules that the text of a module imports at its beginning."""
    imports = (line for line in text.splitlines() if line.startswith("import"))
    return [match[2] for match in map(_IMPORT.fullmatch, imports) if match]


_Graph = dict[str, list[str]]
"""The modules that each module imports at its beginning; each stands after those."""


def _ordered(graph: _Graph) -> _Graph:
    # a CycleError is a ValueError
    return {name: graph[name] for name in TopologicalSorter(graph).static_order()}


def _reached(names: Collection[str], graph: _Graph) -> list[str]:
    """Return these modules and all that they import, in order."""
    reached = set(names)
    for name in reversed(graph):
        if name in reached:
            reached.update(graph[name])
    return [name for name in graph if name in reached]


def _joined(names: Sequence[str], sources: Mapping[str, str], end: Sequence[str]) -> str:
    functions = [line for name in names for line in _module(name, sources[name])]
    return "".join(f"{line}\n" for line in (*code_of(sources["once.js"]), *functions, *end))


def _joined_later(
    name: str, sources: Mapping[str, str], graph: _Graph, of_pages: Sequence[str]
) -> str:
    """Return the file of a later module, whose `run` gets the modules of the pages."""
    needed = _reached([name], graph)
    given = _functions(one for one in needed if one in of_pages)
    own = [one for one in needed if one not in of_pages]
    end = f"export const run = (modules) => (({{ {given} }} = modules), {_function(name)}());"
    return _joined(own, sources, [f"let {given};" if given else "", end])


def _module(name: str, text: str) -> Iterator[str]:
    """Yield the lines of a module as a function that returns what it exports."""
    exported = []
    if _AWAIT.search(text):
        raise ValueError(f"{name} awaits something outside of functions, and can't be joined")
    yield f"const {_function(name)} = once(function {name.replace('.', '_')}() {{"
    for line in code_of(text):
        if "import" not in line and "export" not in line:
            yield line  # as nearly all are
            continue
        code = line
        if found := _IMPORT.fullmatch(line):
            code = f"{_function(found[2])}();"
            if found[1]:
                code = f"const {{ {found[1]} }} = {code}"
        elif found := _EXPORT.match(line):
            exported.append(found[1])
            code = line[found.end() :]
        if _OTHER_FORM.match(_LATER_IMPORT.sub("", code)):
            raise ValueError(f"{name} can't be joined: {code}")
        yield code
    yield f"return {{ {', '.join(exported)} }};"
    yield "});"


def _functions(names: Iterable[str]) -> str:
    return ", ".join(map(_function, names))


def _function(name: str) -> str:
    """Return the name of the function that a module becomes; no name in a module begins so."""
    return f"${name.removesuffix('.js')}"


pages = Pages()

AnyRequest = Request[Any, Any, Any]

_TYPES: Final = {
    "css": "text/css",
    "js": "text/javascript",
    "svg": "image/svg+xml",
}
FILE_TYPES: Final = frozenset(_TYPES.values())
"""The media types of static files."""

_FOREVER: Final = "public, max-age=31536000, immutable"
REVALIDATE: Final = "no-cache"
"""A browser asks each time whether what it keeps is still the same."""

_COMMENT: Final = re.compile(r"/\*.*?\*/", re.DOTALL)
_STYLE_TEXT: Final = r"""("[^"]*"|'[^']*')"""
_SPACES: Final = re.compile(rf"{_STYLE_TEXT}|\s*([{{}};,])\s*")
_AFTER_NAME: Final = re.compile(rf"{_STYLE_TEXT}|((?<=[{{;])[\w-]+:) ")


class Asset(msgspec.Struct, frozen=True):
    """A static file."""

    data: bytes
    kind: str
    """Its media type."""


_STYLES: Final = {
    "style": (
        *("tokens", "page", "forms", "parts", "puzzles", "board", "match", "chat", "choosing"),
        *("replay", "tree", "print"),
    ),
    "more": ("lists", "home", "charts", "challenges", "compare", "case", "account", "embed"),
    "games": ("games",),
    "newmatch": ("newmatch",),
    "tournament": ("tournament",),
}
"""The style sheets, each of these parts in this order. All pages link to `style`, and all but that of a match to `more`, so
that it stays light; the others are for some pages."""

_DOT: Final = b'<circle cx="76%" cy="24%" r="24%" fill="#fff"/><circle cx="76%" cy="24%" r="19%" fill="#d9480f"/>'
"""Drawn into the icon while matches wait for the visitor."""


def _read_assets() -> dict[str, Asset]:
    static = files("services.http.web").joinpath("static")
    found = {path.name: path.read_bytes() for path in static.iterdir() if path.is_file()}
    scripts = {name: data.decode() for name, data in found.items() if name.endswith(".js")}
    found |= {name: text.encode() for name, text in join_scripts(scripts).items()}
    found["sw.js"] = "".join(
        f"{line}\n" for name in _OF_SERVICE_WORKER for line in code_of(scripts[name])
    ).encode()
    for name, parts in _STYLES.items():
        text = "".join(static.joinpath("styles", f"{part}.css").read_text() for part in parts)
        # the drawings' style comes first, because the pages' own style sets the board's colours
        found[f"{name}.css"] = _slim(PAGE_STYLE + text if name == "style" else text)
    found["icon-waiting.svg"] = found["icon.svg"].replace(b"</svg>", _DOT + b"</svg>")
    return {name: _asset(name, data) for name, data in found.items()}


_TRANSLATED: Final = {f"scripts.{language}.js": language for language in translated()}
"""The joined files of the pages with the words of a language, by name."""


def _slim(style: str) -> bytes:
    """Return a style sheet without its comments, and without the spaces that only people need."""
    text = _COMMENT.sub("", style)
    for spaces in (_SPACES, _AFTER_NAME):
        text = spaces.sub(lambda one: one[1] or one[2], text)
    return text.replace(";}", "}").encode()


def _asset(name: str, data: bytes) -> Asset:
    return Asset(data, _TYPES[name.rpartition(".")[2]])


_ASSETS: Final = _read_assets()

ASSET_NAMES: Final = (*_ASSETS, *_TRANSLATED)
"""The static files."""


@cache
def asset(name: str) -> Asset:
    """Return a static file; `KeyError` if there is no such file."""
    if name in _TRANSLATED:
        # not at the start, because reading a catalogue takes longer than all other files
        return _asset(name, script_words(_TRANSLATED[name]) + _ASSETS[PAGES].data)
    return _ASSETS[name]


@cache
def asset_url(name: str) -> str:
    """Return the address of a static file; `KeyError` if there is no such file."""
    return address(name, asset(name).data)


@cache
def module_tags(name: str, language: str) -> Markup:
    """Return the element that runs a module; a browser loads and begins their joined file once."""
    if name in ALONE:
        tag = Markup('<script src="{}" type="module"></script>').format(asset_url(name))
    else:
        in_words = f"scripts.{language}.js"
        tag = Markup('<script src="{}" type="module" data-module="{}"></script>').format(
            asset_url(in_words if in_words in _TRANSLATED else PAGES), name
        )
    return tag


@pages.get("/static/{version:str}/{name:str}", in_thread=False, for_guests=True)
def show_asset(request: AnyRequest, version: FromPath[str], name: FromPath[str]) -> Response[bytes]:
    """Return a static file. For an outdated version, return the current file, uncached."""
    if name not in ASSET_NAMES:
        raise Refusal(Code.NOT_FOUND, SAY("no-file"))
    current = asset_url(name) == f"/static/{version}/{name}"
    return sent_asset(request, name, _FOREVER if current else REVALIDATE)


def sent_asset(request: AnyRequest, name: str, kept: str) -> Response[bytes]:
    """Return a static file, packed as its browser takes it; `kept` says for how long the browser may keep it."""
    found = asset(name)
    headers = {"Cache-Control": kept, "Vary": "Accept-Encoding"}
    encoding = accepted_encoding(request.headers.get("accept-encoding", ""))
    if encoding is None:
        return Response(found.data, headers=headers, media_type=found.kind)
    headers["Content-Encoding"] = encoding
    return Response(_packed(name, encoding), headers=headers, media_type=found.kind)


@cache
def _packed(name: str, encoding: Encoding) -> bytes:
    return compress_well(asset(name).data, encoding)


def pack_assets() -> None:
    """Compress the files that pages load as most browsers want them, so that a request hardly ever waits for it."""
    for name in ASSET_NAMES:
        # of a module that is in the joined file no page asks for its own, and few ask for one that comes later
        if name in ALONE or name.startswith(("scripts.", "sw.")) or not name.endswith(".js"):
            _packed(name, "br")
