"""A third language is files alone: a copy of the packages with the catalogues of one knows it everywhere, and no page has a plain word."""

import html
import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple

import httpx
import pytest

from domain.rules import game_keys
from services.http.web.site import SITE
from services.language.commands import FORMS
from tests.helpers.browser import chromium
from tests.helpers.page_texts import texts_of
from tests.helpers.pseudo import CODE, ROOT, bracketed, make_copy, plain_english
from tests.helpers.served import until

TEMPLATES = ROOT / "services" / "http" / "web"

NO_TEXT = re.compile(
    r"\{#.*?#\}|\{%-? trans.*?endtrans -?%\}|\{% block [\w-]+ %\}[\w -]*\{% endblock %\}"
    r"|\{%.*?%\}|\{\{.*?\}\}",
    re.DOTALL,
)
"""Comments, messages, expressions, and the blocks of a template that hold names of classes."""

ATTRIBUTE = re.compile(r"[\w-]+=\"[^\"]*\"?|\bautofocus\b")
"""What macros write into tags."""

LACKING = "torere"
"""A game that has no words in the language."""


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copy the packages, with the language in it."""
    return make_copy(tmp_path_factory.mktemp("copy"), without=(LACKING,))


@pytest.fixture(scope="module")
def walked(copy: Path) -> dict[str, list[list[str]]]:
    """Return what the program in the copy says in the language, by kind: each text with its place."""
    walk = Path(__file__).parents[1] / "helpers" / "pseudo_walk.py"
    done = subprocess.run(
        [sys.executable, "-P", walk, CODE, LACKING], cwd=copy, env={"PYTHONPATH": str(copy)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2_000:]
    found: dict[str, list[list[str]]] = json.loads(done.stdout)
    return found


def test_the_language_is_found_by_its_files(walked):
    assert walked["languages"] == ["en", "de", CODE]
    assert "el" in walked["usage"][0][1]
    assert walked["chosen"] == [["el", "el-GR,de;q=0.5"]]


def test_all_that_is_said_is_in_the_language_but_for_a_game_without_words(walked):
    for kind in ("sentences", "options", "guides", "sides", "endings", "mails"):
        assert len(walked[kind]) > 5
        assert {place: text for place, text in walked[kind] if plain_english(text)} == {}
    assert walked["lacking"] == [[LACKING, "Light"], ["pow2", bracketed("Light")]]


@pytest.mark.usefixtures("walked")  # it counts the languages of the copy
def test_a_language_is_begun_by_the_command_of_translating_md(copy):
    """The commands of docs/translating.md: this one, and the copy of this module's fixture."""
    tools = copy / "tools"
    tools.mkdir()
    shutil.copy(ROOT / "tools" / "language.py", tools)

    def begun() -> list[Path]:
        words = [sys.executable, "-P", tools / "language.py", "fr"]
        done = subprocess.run(words, cwd=copy, capture_output=True, text=True, check=True)
        return [Path(line) for line in done.stdout.splitlines()]

    pages = copy / "infra" / "languages" / "fr" / "page.po"
    assert {pages, copy / "domain" / "games" / "pow2" / "fr.po"} <= set(begun())
    started = pages.read_text()
    assert "nplurals=2; plural=(n > 1);" in started
    begun_before = re.sub(r"(POT-Creation-Date: )\d+", r"\g<1>2020", started)
    pages.write_text(
        begun_before.replace('msgid "Light"\nmsgstr ""', 'msgid "Light"\nmsgstr "Clair"')
    )
    kept = pages.read_text()
    begun()
    assert pages.read_text() == kept != started
    code = (
        "from infra.languages.wording import wording\n"
        "print(*map(wording('fr').gettext, ('Light', 'Dark')))"
    )
    words = [sys.executable, "-c", code]
    done = subprocess.run(words, cwd=copy, capture_output=True, text=True, check=True)
    assert done.stdout == "Clair Dark\n", "what has no words yet is English"


def test_what_is_written_in_a_template_is_a_message():
    """What stands in a template outside of a message is the same in every language."""
    same = frozenset({"API", "English", "userid"})
    left = {}
    for path in sorted(TEMPLATES.rglob("*.html")):
        shown = NO_TEXT.sub("", path.read_text("utf-8"))
        _, texts = texts_of(f'<html lang="x">{shown}')
        prose = [ATTRIBUTE.sub("", html.unescape(text)) for text in texts]
        words = [one for text in prose for one in plain_english(text, same)]
        if words:
            left[path.name] = words
    assert left == {}


ALSO = frozenset(
    f"English Deutsch API JSON SVG userid password Chrome Firefox Linux robot easy medium hard large small {CODE}"
    " pass propose agree resume swap unsupported response type".split()
) | set(game_keys())
"""Names, words of commands and moves, and the code by which a page of OAuth refuses an address without fields."""

ON_BOARDS = frozenset(
    [
        "Stones", "left", "placed", "Negative", "Pool", "Tiles", "blank", "dots", "dashes", "Remaining", "Pieces",
        "Light", "Dark", "PoT",
    ]
)  # fmt: skip
"""Words of drawings in letters, which are the same for both players of a match."""

RUN = "import sys; from services.cli.main import main; sys.exit(main(sys.argv[1:]))"

NO_PAGE = re.compile(
    r"\.(?:svg|png|json|txt|csv|js|css)|/log/|events|/stream|logout|^/api|/static|sw\.js|/feed$|/trf$"
)

PATHS = sorted(
    {route.path for route in SITE().routes if "GET" in route.methods and "{" not in route.path}
)

MOST = {"/m/N": 8, "/games/G": 12}
"""Of most kinds of pages three are looked at; of these so many."""

OVERFLOWING = """() => {
  const found = [];
  const seen = (one) => one.checkVisibility({ contentVisibilityAuto: true });
  const wide = document.documentElement.scrollWidth;
  if (wide > innerWidth) found.push(`the page is ${wide} wide`);
  for (const one of document.querySelectorAll("a, button, span, label, h1, h2, h3, td, th, summary, strong, li")) {
    const style = getComputedStyle(one);
    const cut = ["hidden", "clip"].includes(style.overflowX) && one.scrollWidth > one.clientWidth + 1;
    const meant = style.textOverflow === "ellipsis" || style.webkitLineClamp !== "none";
    if (cut && !meant && seen(one) && !one.closest(".sr, .skip, svg") && one.children.length < 3) {
      found.push(`cut: ${one.textContent.trim().slice(0, 60)}`);
    }
  }
  const fixed = (one) => {
    for (let at = one; at; at = at.parentElement) {
      if (["fixed", "sticky"].includes(getComputedStyle(at).position)) return true;
    }
    return false;
  };
  const buttons = [...document.querySelectorAll("main a.button, main button, header a")]
    .filter((one) => seen(one) && !one.closest("svg, .sr, .skip") && one.getBoundingClientRect().width > 2);
  for (const [at, one] of buttons.entries()) for (const other of buttons.slice(at + 1)) {
    if (one.contains(other) || fixed(one) !== fixed(other)) continue;
    const [a, b] = [one.getBoundingClientRect(), other.getBoundingClientRect()];
    const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
    const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
    if (across > 3 && down > 3) found.push(`${one.textContent.trim()} is on ${other.textContent.trim()}`);
  }
  return found;
}"""


TOURNAMENT = re.compile(r'/\d+" dir="auto">([^<]+)</a>')


class Demo(NamedTuple):
    """A demo server in the language."""

    url: str
    password: str
    names: frozenset[str]
    """The userids on it."""


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Demo]:
    """Run a demo server of a copy of the packages with the language in it."""
    folder = tmp_path_factory.mktemp("copy")
    make_copy(folder)
    environment = {
        **os.environ, "PYTHONPATH": str(folder), "MATCHPOST_HTTP": "127.0.0.1:0", "MATCHPOST_COMMAND_RATE": "100000",
        "MATCHPOST_ADDRESS_RATE": "100000",
    }  # fmt: skip
    with subprocess.Popen(
        [sys.executable, "-P", "-c", RUN, "demo", "--data", str(folder / "data")],
        cwd=folder, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    ) as running:  # fmt: skip
        lines = iter(running.stdout or ())
        said = "".join(takewhile(lambda line: not line.rstrip().endswith("ready"), lines))
        try:
            (url,) = re.findall(r"(http://127\.0\.0\.1:\d+)/", said)[:1]
            (password,) = re.findall(r"password (\S+)", said)[:1]
            # all of them are listed once the projections have caught up
            until(lambda: len(TOURNAMENT.findall(httpx.get(f"{url}/tournaments").text)) >= 8)
            listed = httpx.get(f"{url}/players", timeout=60).text
            names = frozenset(re.findall(r'/players/([\w-]+)"', listed)) | {"demo"}
            yield Demo(url, password, names)
        finally:
            running.terminate()


def tournaments_of(client: httpx.Client) -> re.Pattern[str]:
    """Return the names of the tournaments, which are in titles of pages and in answers."""
    listed = client.get("/tournaments").text
    return re.compile("|".join(TOURNAMENT.findall(listed)))


def kind_of(path: str) -> str:
    """Return the kind of a page: its address without numbers, players and games."""
    kind = re.sub(r"/players/[^/?]+", "/players/P", path.partition("?")[0])
    return re.sub(
        r"\d+|(?<=/c/)\w+", "N", re.sub(r"/(games|puzzles|ratings)/[a-z0-9]+", r"/\1/G", kind)
    )


def pages_from(start: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield addresses to look at; each is followed by the links that are put into its list."""
    queue, done, kinds = [*start], set(), Counter()
    while queue:
        path = queue.pop(0)
        kind = kind_of(path)
        if path in done or NO_PAGE.search(path) or kinds[kind] >= MOST.get(kind, 3):
            continue
        done.add(path)
        kinds[kind] += 1
        links: list[str] = []
        yield path, links
        queue += links


def client_of(demo: Demo, **headers: str) -> httpx.Client:
    return httpx.Client(
        base_url=demo.url, headers={"Accept-Language": CODE, **headers}, follow_redirects=True, timeout=60
    )  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("name", ["", "demo"])
def test_no_page_has_a_plain_word(demo, name):
    also = ALSO | demo.names | {one.title() for one in demo.names}
    found, looked_at = {}, 0
    with client_of(demo, Accept="text/html") as client:
        if name:
            form = client.get("/login").text
            fields = dict(re.findall(r'type="hidden" name="([^"]*)" value="([^"]*)"', form))
            client.post("/login", data={**fields, "userid": name, "password": demo.password})
        named = tournaments_of(client)
        for path, links in pages_from(["/", *PATHS]):
            answer = client.get(path)
            if "text/html" not in answer.headers.get("content-type", ""):
                continue
            looked_at += 1
            language, texts = texts_of(answer.text)
            assert language == CODE, path
            links.extend(re.findall(r'href="(/[^"#]*)', answer.text.replace("&amp;", "&")))
            for text in texts:
                if words := plain_english(named.sub("", text), also):
                    found.setdefault(text, (path, words))
    assert looked_at > 60
    assert found == {}


LINKS = """[...document.querySelectorAll('a[href^="/"]')].map((one) => one.getAttribute("href").split("#")[0])"""


@pytest.mark.long
@pytest.mark.parametrize("name", ["", "demo"])
def test_every_page_fits_a_phone_with_words_a_third_longer(demo, name):
    found, looked_at = {}, 0
    with chromium() as browser:
        page = browser.new_context(
            viewport={"width": 390, "height": 844}, locale=CODE, extra_http_headers={"Accept-Language": CODE}
        ).new_page()  # fmt: skip
        if name:
            page.goto(f"{demo.url}/login")
            page.fill("[name=userid]", name)
            page.fill("[name=password]", demo.password)
            page.locator("main form button").first.click()
            page.wait_for_url(lambda url: "/login" not in url)
        for path, links in pages_from(["/", *PATHS]):
            answer = page.goto(f"{demo.url}{path}")
            if answer is None or "text/html" not in answer.headers.get("content-type", ""):
                continue
            looked_at += 1
            page.wait_for_function("!document.querySelector('script[data-module]')")
            if wrong := page.evaluate(OVERFLOWING):
                found[path] = wrong[:3]
            links.extend(page.evaluate(LINKS))
    assert looked_at > 50
    assert found == {}


CHANGING = ("delete", "signup", "signoff", "change password", "change address", "set", "messages")
"""Commands that would change what the lines after them are answered."""


def lines(password: str) -> Iterator[str]:
    """Yield lines of each form: alone, with all its words for several matches, and with wrong ones."""
    known = {"userid": "demo", "password": password, "MOVE": "m13-j7", "GAME": "pow2"}
    for form in FORMS:
        name = f"pow2 {form.name}" if form.of_game else form.name
        yield form.name if form.name == "help" else name
        yield f"help {form.name}"
        if form.name in CHANGING:
            continue
        rest = re.sub(r"\[[^\]]*\]|\.\.\.", "", form.rest.partition("  |  ")[0]).split()
        for board in ("177", "205", "99999", "x"):
            words = {**known, "BOARD": board}
            yield " ".join([name, *(words.get(word, word.partition("|")[0]) for word in rest)])
        yield f"{name} demo {password} 177 nonsense and more"
        yield f"{name} 177 demo wrong-password"
    own = f"demo {password}"
    yield from (
        "nonsense", "pow2 nonsense", f"pow2 show 177 {own}", "halves show 174", "powerdrain show 191", "line show 179",
        f"set {own} language eo", f"set {own} notify maybe", f"set {own} challenges maybe", f"set {own} receipts maybe",
        f"pow2 set {own} tiny", f"vacation {own} 100", f"message {own} anneke hi\nthere", f"message {own} zz hi",
        f"pow2 challenge demo anneke demo {password}", f"pow2 challenge demo zz {own}", f"pow2 move 173 {own} m13-a1",
        f"pow2 challenge demo anneke --days=0 {own}", f"pow2 challenge demo anneke -foo {own}", f"pow2 move 173 {own} zz",
        f"pow2 move 177 {own} accept", f"pow2 move 177 {own} propose draw", f"claim 177 {own} text", "all show demo",
    )  # fmt: skip


@pytest.mark.long
def test_no_command_is_answered_in_plain_words(demo):
    also = ALSO | ON_BOARDS | demo.names | {one.title() for one in demo.names}
    found, answered = {}, 0
    with client_of(demo) as client:

        def do(line: str) -> str:
            return client.post("/api/do", content=line, headers={"Content-Type": "text/plain"}).text

        do(f"set demo {demo.password} language {CODE}")
        asked = {"userid": "demo", "password": demo.password, "label": "walk", "scopes": ["play"]}
        token = client.post("/api/tokens", json=asked).json()["token"]
        # every line is read by the same account, also one that anybody may send
        client.headers["Authorization"] = f"Bearer {token}"
        named = tournaments_of(client)
        for line in dict.fromkeys(lines(demo.password)):
            answered += 1
            for row in do(line).splitlines():
                text = named.sub("", re.sub(r"^[a-z-]+: ", "", row))
                if words := plain_english(text, also):
                    found.setdefault(text, (line.replace(demo.password, "..."), words))
    assert answered > 200
    assert found == {}
