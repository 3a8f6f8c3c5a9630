"""The scripts of the pages as one file: nothing of a module is lost, and each line is found again."""

import re
from pathlib import Path

import pytest

from services.http import web
from services.http.web.assets import ALONE, ASSETS, join_scripts, module_tags

STATIC = Path(web.__file__).with_name("static")
MODULES = {path.name for path in STATIC.iterdir() if path.suffix == ".js"} - {"htmx.js", "sw.js"}


def test_no_line_of_a_module_is_lost():
    joined = ASSETS["scripts.js"].data.decode().splitlines()
    for name in MODULES - ALONE:
        text = re.sub(
            r"^\s*/\*.*?\*/$", "", (STATIC / name).read_text(), flags=re.MULTILINE | re.DOTALL
        )
        for line in map(str.strip, text.splitlines()):
            code = re.sub(r"^export |(^| )//.*", "", line).strip()
            if code and "import" not in code:
                assert any(one.startswith(code) for one in joined), (name, line)


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
        "export default 1;", "export let changes = 1;", "export { other };", 'export * from "./b.js";',
        'import * as all from "./b.js";', 'import { one as other } from "./b.js";', 'import first from "./b.js";',
        "const later = import(name);", "await start();", 'import "./a.js";',
    ],
)  # fmt: skip
def test_a_form_that_can_not_be_joined_is_refused_at_the_start(code):
    with pytest.raises(ValueError, match=r"a\.js"):
        join_scripts({"a.js": code, "b.js": "export const b = 1;", "begin.js": "", "once.js": ""})
