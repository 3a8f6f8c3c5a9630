"""The scripts of the pages as one file, joined when a process starts, so that no browser fetches thirty.

Each module becomes a function that runs once: when another module imports it, or an element of the page names it
(`static/begin.js`). Modules are joined by the forms of `import` and `export` that ours use; any other is refused.
A source map leads from the lines of the joined file to those of the modules.
"""

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from graphlib import TopologicalSorter
from typing import Final, NamedTuple

PAGES: Final = "scripts.js"
"""The joined file of the pages."""

ALONE: Final = frozenset(
    {"embed.js", "names.js", "newmatch.js", "push.js", "puzzle.js", "worker.js"}
)
"""Modules that few pages need: each is joined with what it imports to a file of its own.

What they import has no state that it would have to share with the file of the pages.
"""

_BEGIN: Final = "begin.js"
_NO_MODULES: Final = frozenset({"htmx.js", "sw.js", _BEGIN})

_COMMENT: Final = re.compile(
    r"""^[ \t]*(/\*.*?\*/[ \t]*$|//[^\n]*$)|[ \t]+//[ ][^"'`\n]*$""", re.MULTILINE | re.DOTALL
)
"""A comment on lines of its own, or behind code; one with a quote stays there, for it might end a text."""
_IMPORT: Final = re.compile(r'import (?:\{ (\w+(?:, \w+)*) \} from )?"\./(\w+\.js)";')
_LATER_IMPORT: Final = re.compile(r'\bimport\("\./(\w+\.js)"\)')
_EXPORT: Final = re.compile(r"export (?=(?:async )?(?:function|class|const) (\w+))")
_OTHER_FORM: Final = re.compile(r"(?:export|import)\b|.*\bimport *\(")
_AWAIT: Final = re.compile(r"^await\b", re.MULTILINE)  # which holds up all that import the module

_ONCE: Final = """\
const once = (make) => {
let run = () => {
run = () => { throw new Error(`${make.name} has failed`); };
const made = make();
run = () => made;
return made;
};
return () => run();
};
"""


class _Line(NamedTuple):
    text: str
    module: str = ""
    number: int = 0
    """Its number in the module, from 0."""


def join_scripts(sources: Mapping[str, str]) -> dict[str, str]:
    """Return the joined files of these modules, by name: that of the pages with its map, and those of `ALONE`.

    Raise ValueError if a module has a form of import or export that can't be joined, or imports itself in the end.
    """
    graph = {name: _imports_of(text) for name, text in sources.items() if name not in _NO_MODULES}
    ordered = tuple(TopologicalSorter(graph).static_order())  # a CycleError is a ValueError
    of_pages = [name for name in ordered if name not in ALONE]
    table = [_Line(f'"{name}": {_function(name)},') for name in of_pages]
    begin = [_Line("const modules = {"), *table, _Line("};"), *_code(_BEGIN, sources[_BEGIN])]
    lines = [*_joined(of_pages, sources), *begin]
    found = {
        PAGES: f"{_text(lines)}//# sourceMappingURL={PAGES}.map\n",
        f"{PAGES}.map": _source_map(lines, [*of_pages, _BEGIN]),
    }
    for name in ALONE & graph.keys():
        needed = _reached(name, graph)
        used = [one for one in ordered if one in needed]
        found[name] = _text([*_joined(used, sources), _Line(f"{_function(name)}();")])
    return found


def _imports_of(text: str) -> list[str]:
    """Return the modules that the text of a module imports, at its beginning or later."""
    at_once = [match[2] for match in map(_IMPORT.fullmatch, text.splitlines()) if match]
    return [*at_once, *_LATER_IMPORT.findall(text)]


def _reached(name: str, graph: Mapping[str, Collection[str]]) -> set[str]:
    return {name}.union(*(_reached(one, graph) for one in graph[name]))


def _joined(names: Sequence[str], sources: Mapping[str, str]) -> list[_Line]:
    functions = [line for name in names for line in _module(name, sources[name])]
    return [*map(_Line, _ONCE.splitlines()), *functions]


def _module(name: str, text: str) -> Iterator[_Line]:
    """Yield the lines of a module as a function that returns what it exports."""
    exported = []
    if _AWAIT.search(text):
        raise ValueError(
            f"{name} can't be joined, because it awaits something outside of functions"
        )
    yield _Line(f"const {_function(name)} = once(function {name.replace('.', '_')}() {{")
    for line in _code(name, text):
        code = line.text
        if found := _IMPORT.fullmatch(code):
            code = f"{_function(found[2])}();"
            if found[1]:
                code = f"const {{ {found[1]} }} = {code}"
        elif found := _EXPORT.match(code):
            exported.append(found[1])
            code = code[found.end() :]
        code = _LATER_IMPORT.sub(lambda one: f"Promise.resolve().then({_function(one[1])})", code)
        if _OTHER_FORM.match(code):
            raise ValueError(f"{name}, line {line.number + 1} can't be joined: {code}")
        yield line._replace(text=code)
    yield _Line(f"return {{ {', '.join(exported)} }};")
    yield _Line("});")


def _function(name: str) -> str:
    """Return the name of the function that a module becomes; no name in a module begins so."""
    return f"${name.removesuffix('.js')}"


def _code(name: str, text: str) -> Iterator[_Line]:
    """Yield the lines of a script that are code, without their indents.

    No script of ours has a text of several lines, which would lose its indents.
    """
    blank = _COMMENT.sub(lambda comment: "\n" * comment[0].count("\n"), text)
    for number, line in enumerate(blank.splitlines()):
        if code := line.strip():
            yield _Line(code, name, number)


def _text(lines: Sequence[_Line]) -> str:
    return "".join(f"{line.text}\n" for line in lines)


def _source_map(lines: Sequence[_Line], modules: Sequence[str]) -> str:
    """Return a source map, version 3: for each line its module and line, as differences from those before."""
    mappings, before = [], (0, 0)
    for line in lines:
        if not line.module:
            mappings.append("")
            continue
        here = modules.index(line.module), line.number
        steps = (0, here[0] - before[0], here[1] - before[1], 0)
        mappings.append("".join(map(_digits, steps)))
        before = here
    return json.dumps(
        {"version": 3, "sources": modules, "names": [], "mappings": ";".join(mappings)}
    )


_BASE64: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


def _digits(number: int) -> str:
    """Return a number in base 64 with its sign as the last bit, as source maps write it."""
    rest = -number << 1 | 1 if number < 0 else number << 1
    digits = ""
    while True:
        rest, digit = rest >> 5, rest & 31
        digits += _BASE64[digit | (32 if rest else 0)]
        if not rest:
            return digits
