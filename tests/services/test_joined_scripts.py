"""The scripts of the pages as one file: nothing of a module is lost, and each line is found again."""

import re
from pathlib import Path

import pytest

from infra.languages.catalogues import script_words, translations
from services.http import web
from services.http.web.assets import ALONE, ASSETS, address, asset_url, join_scripts, module_tags

STATIC = Path(web.__file__).with_name("static")
SOURCES = {path.name: path.read_text() for path in STATIC.iterdir() if path.suffix == ".js"}


def test_every_function_that_a_joined_file_calls_is_in_it_and_no_form_of_modules_is_left():
    for name in ("scripts.js", *ALONE):
        text = own_code(name)
        made = set(re.findall(r"^const (\$\w+) = once\(", text, re.MULTILINE))
        assert made == set(re.findall(r"(?<!\w)\$[a-z]\w*", text))
        assert not re.search(r"^(import|export)\b|\bimport\(", text, re.MULTILINE)


def own_code(name: str) -> str:
    """Return a joined file without htmx, which has names of all kinds."""
    return ASSETS[name].data.decode().replace(HTMX, "")


HTMX = SOURCES["htmx.js"].partition("*/")[2].strip()


def test_htmx_is_in_the_joined_file_as_its_authors_packed_it():
    assert HTMX.startswith("var htmx=function(){")
    assert HTMX in ASSETS["scripts.js"].data.decode()


def test_a_page_in_another_language_loads_one_script_too_which_begins_with_its_words():
    translations("de")  # pages read the same catalogues, before or after
    assert ASSETS["scripts.de.js"].data == script_words("de") + ASSETS["scripts.js"].data
    assert asset_url("scripts.de.js") in module_tags("match.js", "de")
    assert asset_url("scripts.js") in module_tags("match.js", "en")


def test_what_few_pages_need_is_loaded_by_them_alone():
    assert 'data-module="match.js"' in module_tags("match.js", "en")
    for name in ALONE:
        assert "data-module" not in module_tags(name, "en")
        assert asset_url(name) in module_tags(name, "en")


def test_a_script_that_changes_gets_another_address_and_the_others_keep_theirs():
    def addresses(sources):
        return {name: address(name, text.encode()) for name, text in join_scripts(sources).items()}

    def changed_by(name):
        after = addresses({**SOURCES, name: f"{SOURCES[name]}\nchanged();\n"})
        return {one for one, path in after.items() if path != before[one]}

    before = addresses(SOURCES)
    assert {name: asset_url(name) for name in before} == before
    assert changed_by("match.js") == {"scripts.js"}
    assert changed_by("puzzle.js") == {"puzzle.js"}
    # the joined file has the worker's address
    assert changed_by("worker.js") == {"worker.js", "scripts.js"}
    assert f'new SharedWorker("{before["worker.js"]}"' in ASSETS["scripts.js"].data.decode()


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
        join_scripts(
            {
                "a.js": code,
                "b.js": "export const b = 1;",
                "begin.js": "",
                "once.js": "",
                "htmx.js": "",
            }
        )
