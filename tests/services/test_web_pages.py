"""Every page: what a browser is allowed, that words stay words, that links lead somewhere, and what surrounds pages."""

import gzip
import html
import re
import statistics
import struct
import sys
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import brotli
import pytest
from markupsafe import Markup, escape

from domain.rules import game_keys
from infra.languages.catalogues import script_words, translations
from infra.languages.wording import wording
from services.http import web
from services.http.web.assets import (
    ALONE,
    ASSET_NAMES,
    address,
    asset,
    asset_url,
    join_scripts,
    module_tags,
)
from services.http.web.boards.board_view import CARD, draw_guide_picture
from services.http.web.render import HEADERS, environment
from services.http.web.site_files import preview_png, with_plain_style
from tests.helpers.api import Api, code_of
from tests.helpers.web import Guest, Read, visitors

EVIL = "<script>alert(1)</script>\"'&amp;{{7*7}}"
MASKED = re.compile("[0-9a-f]{128}")
"""The token of forms, which differs in each answer."""

ICONS = ("/favicon.ico", "/apple-touch-icon.png", "/manifest.webmanifest")
"""Files that are named on a page, and loaded for a home screen, or in place of the other icon."""

REST = 1_000
"""Bytes for what isn't measured of the page of a match: the stream of events, dates, and a longer list of moves."""

SLOW = 0.05
"""Seconds at the median."""

MOST_OF_A_KIND = 2
"""Pages that are looked at where they differ by their numbers or their game alone."""

BROWSER = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}


@pytest.fixture(scope="module")
def played(api: Api) -> int:
    """A match of pow2 with two moves, between anna and berta."""
    anna, berta = api.player(name="anna"), api.player(name="berta")
    board = api.begun(anna, berta)
    anna.move(board, "m13-m5:l4")
    berta.move(board, "a13-c11")
    line = api.begun(anna, berta, game="line")
    anna.give(line, {"do": "resign"})
    puzzle = api.begun(anna, game="one")
    for move in ("c3", "m13", "done"):
        anna.move(puzzle, move)
    api.match(anna, berta, game="powerdrain", terms=["--gather"])
    berta.post("/api/challenges", {"game": "halves", "seats": 3, "note": "who likes tiles?"})
    api.caught_up()
    return board


def pages(board: int) -> list[str]:
    return [
        "/", "/login", "/signup", "/help", "/games", "/log", "/ratings/line", "/players", "/challenges",
        "/games/pow2", "/games/halves/try",
        "/puzzles", "/puzzles/one?line=a9+c3&undone=a5", "/puzzles/jump", "/challenges?game=halves",
        "/players/anna", "/players/anna/matches", "/players/anna/matches?state=finished",
        "/games/line/matches?state=finished", "/games/pow2/matches", "/games/one/scores",
        *(f"/m/{board + at}" for at in range(4)),
        *(f"/m/{board}/{rest}" for rest in ("0", "2", "1/if", "1/if?line=a13-d7", "compare", "check?move=m1-m7")),
    ]  # fmt: skip


def own_pages() -> list[str]:
    return [
        "/", "/new", "/new?game=halves", "/new/offer?game=halves&halves-pick-1=-keep_chosen",
        "/new?opponent=berta", "/account", "/players/berta", "/matches", "/matches?state=others",
        "/matches?state=finished", "/notices", "/messages",
    ]  # fmt: skip


def kind_of(path: str) -> str:
    """Return what pages of one template have in common in their addresses."""
    keys = "|".join(game_keys())
    return re.sub(rf"\d+|\b(?:{keys})\b|(?<=[?&])(\w+)=[^&]*", r"\1#", path)


def test_each_kind_of_page_has_links_that_lead_somewhere_and_nothing_inline_or_from_elsewhere(
    come, played
):
    for who, given in ((come(), pages(played)), (come("anna"), [*pages(played), *own_pages()])):
        wanted, seen, kinds = [*given], set[str](), Counter[str]()
        while wanted:
            path = wanted.pop().partition("#")[0]
            # lines of moves lead to lines without end
            more = "line=" in path or kinds[kind_of(path)] == MOST_OF_A_KIND
            if path in seen or (more and path not in given):
                continue
            seen.add(path)
            kinds[kind_of(path)] += 1
            answer = who.get(path)
            assert answer.status_code in (200, 303), (path, answer.text)
            if path.startswith("/api") or not answer.headers["content-type"].startswith(
                "text/html"
            ):
                continue
            read = Read(answer.text)
            assert read.inline == [] or path == "/verify", path  # which has a policy of its own
            assert all(one.startswith("/") and one[1] != "/" for one in read.loaded), path
            assert len(read.ids) == len(set(read.ids)), path
            assert all(one.startswith("/") for one in read.forms), path
            if who.name:
                wanted += [one for one in (*read.links, *read.loaded) if one.startswith("/")]
        assert len(kinds) >= 25


def test_every_answer_tells_the_browser_what_it_may_do(come, played):
    guest = come()
    loaded = (asset_url("page.js"), "/sw.js", f"/m/{played}/moves")
    for path in ("/", f"/m/{played}", "/nowhere/at/all", "/m/999999", *loaded):
        headers = guest.get(path, headers=BROWSER).headers
        for name, value in HEADERS.items():
            # of what pages load, browsers ask for this alone
            of_all = name == "Content-Security-Policy" or path not in loaded
            assert headers.get_list(name) == [value] * of_all, (path, name)
        assert headers.get_list("x-content-type-options") == ["nosniff"]
    policy = guest.get("/").headers["content-security-policy"]
    assert "default-src 'self'" in policy
    assert "unsafe" not in policy


def test_what_people_wrote_stays_words(api, come):
    one, two = come().sign_up("evan"), come().sign_up("eric")
    board = api.begun(*(api.player() for _ in range(2)))
    answer = one.send("/new", {"game": "pow2", "opponent": "eric", "seat": "first"}, on="/new")
    board = int(answer.headers["location"].rpartition("/")[2])
    one.send(f"/m/{board}/chat", {"text": EVIL}, on=f"/m/{board}")
    one.send("/new", {"game": "pow2", "note": EVIL}, on="/new")
    one.send("/account/tokens", {"label": EVIL, "scope": "read", "days": "30"})
    api.caught_up()
    shown = [
        two.page(f"/m/{board}"),
        two.page("/"),
        one.page("/account"),
        two.get(f"/new?opponent={EVIL[:24]}").text,
        two.get("/m/x<script>alert(1)</script>").text,
        two.get(f"/m/{board}/check", params={"move": EVIL}).text,
        two.get("/players/<script>").text,
        two.get("/games/pow2/try", params={"options": EVIL}).text,
        two.get("/login", params={"next": EVIL}).text,
    ]
    for text in shown:
        assert "<script>alert" not in text
        assert "49" not in re.findall(r"alert\(1\).{0,60}", text)
    assert "&lt;script&gt;alert(1)" in shown[0]
    assert "&lt;script&gt;alert(1)" in shown[1]
    assert "&lt;script&gt;alert(1)" in shown[2]


@pytest.mark.parametrize("every", [7, pytest.param(1, marks=pytest.mark.long)])
def test_pages_take_50_ms_of_the_processor_at_the_median(come, played, every):
    anna, took = come("anna"), {}
    for path in [*own_pages(), *pages(played)][::every]:
        if anna.get(path).status_code == 200:  # who is logged in needs no form to log in
            took[path] = statistics.median(seconds(anna, path) for _ in range(5))
    tell(f"{1000 * took[path]:7.1f} ms  {path}" for path in sorted(took, key=took.__getitem__))
    assert len(took) >= 4
    assert {path: median for path, median in took.items() if median > SLOW} == {}


def seconds(guest: Guest, path: str) -> float:
    """The time that this process has the processor for a page: guest, server and store's client."""
    began = time.process_time()
    guest.page(path)
    return time.process_time() - began


def tell(lines: Iterable[str]) -> None:
    """Say what was measured; `pytest -rP` shows it."""
    sys.stdout.writelines(f"{line}\n" for line in lines)


def test_the_page_of_a_match_weighs_less_than_60_kb_in_all_as_it_is_sent(come, played):
    anna = come("anna")
    path = f"/m/{played}"
    loaded = {one for one in Read(anna.page(path)).loaded if one not in ICONS}
    assert {asset_url("style.css"), asset_url("scripts.js")} <= loaded
    wanted = [path, *loaded, f"{path}/moves", asset_url("worker.js"), "/sw.js"]
    weights = {one: sent(anna, one, "br")[1] + head_of(anna, one) for one in wanted}
    total = sum(weights.values())
    tell(f"{weights[one]:7,} bytes  {one}" for one in sorted(weights, key=weights.__getitem__))
    tell([f"{total:7,} bytes  in all"])
    assert len(wanted) < 10
    assert total < 60_000 - REST


def head_of(guest: Guest, path: str) -> int:
    """Return the bytes of what stands before an answer: its status and its headers, a line each."""
    fields = guest.get(path).headers.raw
    return sum(len(name) + len(value) + 4 for name, value in fields) + len(
        "HTTP/1.1 200 OK\r\n\r\n"
    )


def sent(guest: Guest, path: str, encoding: str) -> tuple[str, int]:
    """Return the text at a path, and its bytes as they are sent with an encoding."""
    with guest.http.stream("GET", path, headers={"Accept-Encoding": encoding}) as answer:
        raw = b"".join(answer.iter_raw())
    packed = {"br": brotli.decompress, "gzip": gzip.decompress}
    unpack = packed.get(answer.headers.get("content-encoding", ""), bytes)
    return unpack(raw).decode(errors="replace"), len(raw)


def test_assets_are_kept_for_good_under_their_version_and_not_under_another(come):
    guest = come()
    now = guest.get(asset_url("style.css"))
    assert "immutable" in now.headers["cache-control"]
    before = guest.get("/static/000000000000/style.css")
    assert before.content == now.content
    assert before.headers["cache-control"] == "no-cache"
    folder = asset_url("style.css").removesuffix("style.css")
    assert guest.get(f"{folder}nothing.js").status_code == 404
    assert guest.get(f"{folder}..%2f__init__.py").status_code == 404


@pytest.mark.parametrize(
    ("path", "shrinks"),
    [
        ("/static/0/htmx.js", 3),
        ("/games", 2),
        ("/games/pow2/board.svg", 2),
        ("/api/openapi.json", 4),
    ],
)
def test_texts_are_sent_packed_to_who_takes_them_so(come, path, shrinks):
    plain, size = sent(come(**BROWSER), path, "identity")
    for encoding in ("br", "gzip"):
        text, packed = sent(come(**BROWSER), path, encoding)
        assert MASKED.sub("", text) == MASKED.sub("", plain)
        assert packed < size / shrinks
    answer = come(**BROWSER).get(path, headers={"Accept-Encoding": "gzip;q=0.5, br"})
    assert answer.headers["content-encoding"] == "br"
    assert "Accept-Encoding" in answer.headers["vary"]
    assert int(answer.headers["content-length"]) < size / shrinks
    for refused in ("br;q=0, gzip;q=0", "zstd"):
        answer = come(**BROWSER).get(path, headers={"Accept-Encoding": refused})
        assert "content-encoding" not in answer.headers


@pytest.mark.parametrize(("path", "status"), [("/nowhere", 404), ("/apia", 404), ("/logout", 405)])
def test_where_there_is_nothing_a_browser_gets_a_page_and_a_program_a_problem(come, path, status):
    guest = come()
    page = guest.get(path, headers=BROWSER)
    assert page.status_code == status
    assert page.headers["content-type"].startswith("text/html")
    assert "There’s no page at this address." in page.text
    german = guest.get(path, headers={**BROWSER, "Accept-Language": "de"})
    assert '<p class="lead">Unter dieser Adresse gibt es keine Seite.</p>' in german.text
    answer = guest.get(path, headers={"Accept": "application/json"})
    assert answer.status_code == status
    assert code_of(answer) == {404: "not-found", 405: "not-allowed"}[status]
    # where the API has nothing a browser, too, gets a problem
    missing = {404: "/api/help/x", 405: "/api/messages/read"}[status]
    assert code_of(guest.get(missing, headers=BROWSER)) == code_of(answer)


def test_the_pages_of_refusals_have_the_header_of_who_is_logged_in(tmp_path):
    with Api(tmp_path, address_rate=12) as api, visitors(api) as come:
        one = come().sign_up("ines")
        for path in ["/nowhere"] * 5 + ["/games"] * 10:
            answer = one.get(path, headers={"Accept": "text/html"})
            assert answer.status_code in (404 if path == "/nowhere" else 200, 429)
            assert 'href="/account">ines</a>' in answer.text
            assert 'href="/new"' in answer.text
        assert answer.status_code == 429


def test_search_engines_and_strange_hosts_get_no_more_than_they_should(come):
    rules = come().get("/robots.txt")
    assert rules.headers["content-type"].startswith("text/plain")
    lines = rules.text.splitlines()
    assert lines[0] == "User-agent: *"
    assert {"Disallow: /account", "Disallow: /games/*/try"} <= {*lines}
    assert "Disallow: /" not in lines
    for host in ('evil"><script>', "evil/nothing", "evil@else"):
        assert "evil" not in come().get("/", headers={"Host": host}).text


def test_each_game_has_a_preview_in_plain_colours():
    for key in game_keys():
        svg = draw_guide_picture(key, CARD).svg
        plain = with_plain_style(svg)
        assert not re.search(r"var\(|light-dark\(|color-mix\(|@media", plain), key
        assert plain.count("<g ") == svg.count("<g "), key
    png = preview_png(svg)
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    assert struct.unpack(">2I", png[16:24]) == (1200, 630)
    assert len(png) > 10_000
    # values that refer to each other come to an end
    style = ".b{--a:var(--b);--b:var(--a)}.c{fill:var(--a);stroke:light-dark(#fff,var(--b))}"
    assert "stroke:#fff" in with_plain_style(f'<svg viewBox="0 0 9 9"><style>{style}</style></svg>')
    mixed = with_plain_style("<style>.c{fill:color-mix(in srgb,var(--x,#123456) 40%,red)}</style>")
    assert mixed == "<style>.c{fill:#123456}</style>"


def test_any_site_may_frame_a_match_and_no_other_page(one, board, come):
    one.move(board, "m13-j7")
    for guest in (come(), one):
        answer = guest.get(f"/m/{board}/embed")
        policy = answer.headers["content-security-policy"]
        assert "frame-ancestors *" in policy
        assert "form-action 'none'" in policy
        assert "set-cookie" not in answer.headers
        read = Read(answer.text)
        assert read.forms == read.inline == []
        assert "csrf" not in answer.text.lower()
        assert "m13-j7" in answer.text
        assert "embed.js" in answer.text
    assert "frame-ancestors 'none'" in one.get(f"/m/{board}").headers["content-security-policy"]
    before = come().page(f"/m/{board}/embed?ply=0")
    assert "m13-j7" not in before
    assert "embed.js" not in before
    assert come().get(f"/m/{board}/embed?ply=9").status_code == 404


_BACK = re.compile(r'id="display-form".*?name="back" value="([^"]*)"', re.DOTALL)


@pytest.mark.parametrize("page", ["/login", "/signup"])
def test_the_switches_below_a_refused_login_keep_the_wanted_page(come, page):
    guest = come()
    fields = {"userid": "nobody-here", "password": "wrong", "next": "/m/7?move=a b"}
    found = _BACK.search(guest.send(page, fields, on=page).text)
    assert found
    sent = guest.send("/display", {"theme": "dark", "back": html.unescape(found[1])})
    assert 'name="next" value="/m/7?move=a b"' in guest.page(sent.headers["location"])


@pytest.mark.parametrize(
    "value", ["plain", "<b>&\"'</b>", "", 7, True, None, 1.5, Markup("<b>&amp;</b>"), ["<i>"]]
)
def test_a_value_is_escaped_by_itself_and_in_a_message(value):
    template = environment(wording("de")).from_string(
        '{{ value }}|{{ _("%(names)s won", names=value) }}|{{ _("Moves") }}'
    )
    assert template.render(value=value) == f"{escape(value)}|Sieg: {escape(value)}|Züge"


def test_a_message_that_is_made_only_when_a_page_is_shown_is_an_error():
    with pytest.raises(TypeError, match="line 1"):
        environment(wording("en")).from_string("{{ _(message) }}")


STATIC = Path(web.__file__).with_name("static")
SOURCES = {path.name: path.read_text() for path in STATIC.iterdir() if path.suffix == ".js"}


HTMX = SOURCES["htmx.js"].partition("*/")[2].strip()


LATER = ("draws.js", "sound.js", "walk.js")
"""Modules that are imported later."""


def test_joined_files_have_every_function_that_they_call_htmx_unchanged_and_no_form_of_modules():
    assert SOURCES["htmx.js"].startswith("/*! htmx 2.0.11, https://htmx.org")
    assert "Zero-Clause BSD" in SOURCES["htmx.js"]
    assert HTMX.startswith("var htmx=function(){")
    assert HTMX in asset("scripts.js").data.decode()
    made: dict[str, set[str]] = {}
    for name in ("scripts.js", *ALONE, *LATER):
        text = asset(name).data.decode().replace(HTMX, "")  # which has names of all kinds
        made[name] = set(re.findall(r"^const (\$\w+) = once\(", text, re.MULTILINE))
        given = set(re.findall(r"\$\w+", "".join(re.findall(r"^let (\$.+);$", text, re.MULTILINE))))
        assert (name in LATER) >= bool(given)
        assert given <= made["scripts.js"]
        assert made[name] | given == set(re.findall(r"(?<!\w)\$[a-z]\w*", text))
        assert re.findall(r"^export\b.*? = ", text, re.MULTILINE) == (
            ["export const run = "] * (name in LATER)
        )
        assert not re.search(r"^import\b(?!\()", text, re.MULTILINE)
        assert set(re.findall(r"\bimport\((.*?)\)", text)) == (
            {f'"{asset_url(one)}"' for one in LATER} if name == "scripts.js" else set()
        )
    for name in ASSET_NAMES:
        text = asset(name).data.decode().replace(SOURCES["htmx.js"], "")
        found = set(re.findall(r"https?://[^\s\"')]+", text.replace(HTMX, "")))
        assert found <= {"http://www.w3.org/2000/svg"}, name


def test_a_module_that_is_imported_later_is_in_no_file_but_its_own_with_what_it_alone_imports():
    once = {"begin.js": "", "once.js": "", "htmx.js": ""}
    pages = {
        "a.js": 'import { b } from "./b.js";\nexport const go = () => import("./c.js");',
        "b.js": "export const b = 1;",
        "c.js": 'import { b } from "./b.js";\nimport { d } from "./d.js";\nimport "./a.js";',
        "d.js": "export const d = 1;",
    }
    joined = join_scripts({**pages, **once})
    made = {
        name: re.findall(r"^const (\$\w) = once", text, re.MULTILINE)
        for name, text in joined.items()
    }
    assert made == {"scripts.js": ["$b", "$a"], "c.js": ["$d", "$c"]}
    assert "export const run = (modules) => (({ $b, $a } = modules), $c());" in joined["c.js"]
    assert f'import("{address("c.js", joined["c.js"].encode())}")' in joined["scripts.js"]
    with pytest.raises(ValueError, match=r"only modules of the pages import others later: c\.js"):
        join_scripts({**pages, "c.js": 'const later = () => import("./d.js");', **once})


def test_a_page_in_another_language_loads_one_script_too_which_begins_with_its_words():
    translations("de")  # pages read the same catalogues, before or after
    assert asset("scripts.de.js").data == script_words("de") + asset("scripts.js").data
    assert asset_url("scripts.de.js") in module_tags("match.js", "de")
    assert asset_url("scripts.js") in module_tags("match.js", "en")


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
    # the joined file has the addresses of later modules
    assert changed_by("walk.js") == {"walk.js", "scripts.js"}
    # the joined file has the worker's address
    assert changed_by("worker.js") == {"worker.js", "scripts.js"}
    assert f'new SharedWorker("{before["worker.js"]}"' in asset("scripts.js").data.decode()


@pytest.mark.parametrize(
    "code",
    [
        "export default 1;", "export let changes = 1;", "export { other };", 'export * from "./b.js";',
        'import * as all from "./b.js";', 'import { one as other } from "./b.js";', 'import first from "./b.js";',
        "const later = import(name);", "await start();", 'import "./a.js";',
    ],
)  # fmt: skip
def test_a_form_that_can_not_be_joined_is_refused_at_the_start(code):
    others = {"b.js": "export const b = 1;", "begin.js": "", "once.js": "", "htmx.js": ""}
    with pytest.raises(ValueError, match=r"a\.js"):
        join_scripts({"a.js": code, **others})
