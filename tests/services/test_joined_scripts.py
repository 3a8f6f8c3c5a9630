"""The scripts of the pages as one file: nothing of a module is lost, and each line is found again."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from services.http import web
from services.http.web.assets import ASSETS, module_tags
from services.http.web.joined_scripts import ALONE, join_scripts

STATIC = Path(web.__file__).with_name("static")
DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
MODULES = {path.name for path in STATIC.iterdir() if path.suffix == ".js"} - {"htmx.js", "sw.js"}


def numbers(segment: str) -> list[int]:
    """Return the numbers of a segment of a source map."""
    found, value, shift = [], 0, 0
    for digit in map(DIGITS.index, segment):
        value += (digit & 31) << shift
        shift += 5
        if not digit & 32:
            found.append(-(value >> 1) if value & 1 else value >> 1)
            value = shift = 0
    return found


def mapped() -> Iterator[tuple[str, str, int]]:
    """Yield each line of the joined file that is a module's, with its module and its number there."""
    found = json.loads(ASSETS["scripts.js.map"].data)
    module = line = 0
    text = ASSETS["scripts.js"].data.decode()
    for code, segment in zip(text.splitlines(), found["mappings"].split(";"), strict=False):
        if segment:
            _, modules_on, lines_on, _ = numbers(segment)
            module, line = module + modules_on, line + lines_on
            yield code, found["sources"][module], line


def test_no_line_of_a_module_is_lost_and_the_map_leads_back_to_each():
    sources = {name: ASSETS[name].data.decode().splitlines() for name in MODULES - ALONE}
    for code, name, line in mapped():
        source, sources[name][line] = sources[name][line].strip(), ""
        if "import" not in source and not source.startswith("export"):
            assert re.fullmatch(r"\s+//.*|", source.removeprefix(code)), name
        else:
            assert code.split()[-2:-1] == source.split()[-2:-1] or "import" in source
    left = "\n".join(line for lines in sources.values() for line in lines if line)
    assert re.sub(r"^\s*(/\*.*?\*/|//.*?)$", "", left, flags=re.MULTILINE | re.DOTALL).split() == []


def test_every_function_that_a_joined_file_calls_is_in_it_and_no_form_of_modules_is_left():
    for name in ("scripts.js", *ALONE):
        text = ASSETS[name].data.decode()
        made = set(re.findall(r"^const (\$\w+) = once\(", text, re.MULTILINE))
        assert made == set(re.findall(r"(?<!\w)\$[a-z]\w*", text))
        assert not re.search(r"^(import|export)\b|\bimport\(", text, re.MULTILINE)


def test_what_few_pages_need_is_loaded_by_them_alone():
    assert "scripts.js" in module_tags("match.js")
    assert 'data-module="match.js"' in module_tags("match.js")
    for name in ALONE:
        assert "data-module" not in module_tags(name)
        assert name in module_tags(name)


@pytest.mark.parametrize(
    "code",
    [
        "export default 1;",
        "export let changes = 1;",
        "export { other };",
        'export * from "./b.js";',
        'import * as all from "./b.js";',
        'import { one as other } from "./b.js";',
        'import first from "./b.js";',
        "const later = import(name);",
        "await start();",
        'import "./a.js";',
    ],
)
def test_a_form_that_can_not_be_joined_is_refused_at_the_start(code):
    with pytest.raises(ValueError, match=r"a\.js"):
        join_scripts({"a.js": code, "b.js": "export const b = 1;", "begin.js": ""})
