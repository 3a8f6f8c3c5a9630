"""The scripts of the pages as one file, joined when a process starts, so that no browser fetches thirty.

Each module becomes a function that runs once: when another module imports it, or an element of the page names it
(`static/begin.js`). Modules are joined by the forms of `import` and `export` that they use; any other is refused.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from graphlib import TopologicalSorter
from typing import Final

PAGES: Final = "scripts.js"
"""The joined file of the pages."""

ALONE: Final = frozenset(
    {"embed.js", "names.js", "newmatch.js", "push.js", "puzzle.js", "worker.js"}
)
"""Modules that few pages need: each becomes a file of its own, together with its imports.

What they import has no state that it would have to share with the file of the pages.
"""

_NO_MODULES: Final = frozenset({"begin.js", "htmx.js", "once.js", "sw.js"})

_COMMENT: Final = re.compile(
    r"""^[ \t]*(/\*.*?\*/[ \t]*$|//[^\n]*$)|[ \t]+//[ ][^"'`\n]*$""", re.MULTILINE | re.DOTALL
)
"""A comment on lines of its own, or behind code; one with a quote stays there, for it might end a text."""
_IMPORT: Final = re.compile(r'import (?:\{ (\w+(?:, \w+)*) \} from )?"\./(\w+\.js)";')
_LATER_IMPORT: Final = re.compile(r'\bimport\("\./(\w+\.js)"\)')
_EXPORT: Final = re.compile(r"export (?=(?:async )?(?:function|class|const) (\w+))")
_OTHER_FORM: Final = re.compile(r"(?:export|import)\b|.*\bimport *\(")
_AWAIT: Final = re.compile(r"^await\b", re.MULTILINE)  # which holds up all that import the module


def join_scripts(sources: Mapping[str, str]) -> dict[str, str]:
    """Return the joined files of these modules, by name: that of the pages, and those of `ALONE`.

    Raise ValueError if a module has a form of import or export that can't be joined, or imports itself in the end.
    """
    graph = {name: _imports_of(text) for name, text in sources.items() if name not in _NO_MODULES}
    ordered = tuple(TopologicalSorter(graph).static_order())  # a CycleError is a ValueError
    of_pages = [name for name in ordered if name not in ALONE]
    table = ", ".join(f'"{name}": {_function(name)}' for name in of_pages)
    end = [f"const modules = {{ {table} }};", *code_of(sources["begin.js"])]
    found = {PAGES: _joined(of_pages, sources, end)}
    for name in ALONE & graph.keys():
        needed = _reached(name, graph)
        used = [one for one in ordered if one in needed]
        found[name] = _joined(used, sources, [f"{_function(name)}();"])
    return found


def code_of(text: str) -> list[str]:
    """Return the lines of a script that are code, without their indents.

    No script has a text of several lines, which would lose its indents.
    """
    return [code for line in _COMMENT.sub("", text).splitlines() if (code := line.strip())]


def _imports_of(text: str) -> list[str]:
    """Return the modules that the text of a module imports, at its beginning or later."""
    at_once = [match[2] for match in map(_IMPORT.fullmatch, text.splitlines()) if match]
    return [*at_once, *_LATER_IMPORT.findall(text)]


def _reached(name: str, graph: Mapping[str, Collection[str]]) -> set[str]:
    return {name}.union(*(_reached(one, graph) for one in graph[name]))


def _joined(names: Sequence[str], sources: Mapping[str, str], end: Sequence[str]) -> str:
    functions = [line for name in names for line in _module(name, sources[name])]
    return "".join(f"{line}\n" for line in (*code_of(sources["once.js"]), *functions, *end))


def _module(name: str, text: str) -> Iterator[str]:
    """Yield the lines of a module as a function that returns what it exports."""
    exported = []
    if _AWAIT.search(text):
        raise ValueError(f"{name} awaits something outside of functions, and can't be joined")
    yield f"const {_function(name)} = once(function {name.replace('.', '_')}() {{"
    for line in code_of(text):
        code = line
        if found := _IMPORT.fullmatch(line):
            code = f"{_function(found[2])}();"
            if found[1]:
                code = f"const {{ {found[1]} }} = {code}"
        elif found := _EXPORT.match(line):
            exported.append(found[1])
            code = line[found.end() :]
        code = _LATER_IMPORT.sub(lambda one: f"Promise.resolve().then({_function(one[1])})", code)
        if _OTHER_FORM.match(code):
            raise ValueError(f"{name} can't be joined: {code}")
        yield code
    yield f"return {{ {', '.join(exported)} }};"
    yield "});"


def _function(name: str) -> str:
    """Return the name of the function that a module becomes; no name in a module begins so."""
    return f"${name.removesuffix('.js')}"
