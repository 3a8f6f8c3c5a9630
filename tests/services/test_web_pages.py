"""Every page: what a browser is allowed, that words stay words, that links lead somewhere."""

import gzip
import re
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Iterator

import brotli
import pytest

from infra.languages.wording import wording
from services.app.games import game_keys
from services.http.web.assets import ASSETS, VERSION, asset_url
from services.http.web.games.page import help_blocks
from services.http.web.players.page import ChartSeries, draw_chart
from services.http.web.render import HEADERS
from tests.helpers.api import Api, code_of
from tests.helpers.web import Guest, Read, door

EVIL = "<script>alert(1)</script>\"'&amp;{{7*7}}"
MASKED = re.compile("[0-9a-f]{128}")
"""The token of forms, which differs in each answer."""
ICONS = ("/favicon.ico", "/apple-touch-icon.png", "/manifest.webmanifest")
"""Files that are named on a page, and loaded for a home screen, or in place of the other icon."""
SLOW = 0.05
"""Seconds at the median."""

BROWSER = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with Api(tmp_path_factory.mktemp("web")) as api:
        yield api


@pytest.fixture
def come(api: Api) -> Iterator[Callable[..., Guest]]:
    with door(api) as come:
        yield come


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
        "/",
        "/login",
        "/signup",
        "/help",
        "/games",
        *(f"/games/{key}" for key in game_keys()),
        *(f"/games/{key}/try" for key in game_keys()),
        "/puzzles",
        "/puzzles/one?line=a9+c3&undone=a5",
        "/puzzles/jump",
        "/challenges?game=halves",
        "/log",
        "/ratings/line",
        "/players",
        "/players/anna",
        "/players/anna/matches",
        "/players/anna/matches?state=finished",
        "/games/line/matches?state=finished",
        "/games/pow2/matches",
        "/games/one/scores",
        "/challenges",
        f"/m/{board}",
        f"/m/{board + 1}",
        f"/m/{board + 2}",
        f"/m/{board + 3}",
        f"/m/{board}/0",
        f"/m/{board}/2",
        f"/m/{board}/1/if",
        f"/m/{board}/1/if?line=a13-d7",
        f"/m/{board}/compare",
        f"/m/{board}/check?move=m1-m7",
    ]


def own_pages() -> list[str]:
    return [
        "/",
        "/new",
        "/new?game=halves",
        "/new/offer?game=halves&halves-pick-1=-keep_chosen",
        "/new?opponent=berta",
        "/account",
        "/players/berta",
        "/matches",
        "/matches?state=others",
        "/matches?state=finished",
        "/notices",
        "/messages",
    ]


def test_no_page_has_anything_inline_or_from_elsewhere(come, played):
    guest, anna = come(), come()
    anna.log_in("anna")
    for who, paths in ((guest, pages(played)), (anna, [*pages(played), *own_pages()])):
        for path in paths:
            answer = who.get(path)
            if answer.status_code == 303:  # who is logged in needs no form to log in
                continue
            assert answer.status_code == 200, (path, answer.text)
            read = Read(answer.text)
            assert read.inline == [], path
            assert all(one.startswith("/") and one[1] != "/" for one in read.loaded), path
            assert len(read.ids) == len(set(read.ids)), path
            assert all(one.startswith("/") for one in read.forms), path


def test_every_answer_tells_the_browser_what_it_may_do(come, played):
    guest = come()
    for path in ("/", f"/m/{played}", "/nowhere/at/all", "/m/999999", asset_url("page.js")):
        headers = guest.get(path, headers=BROWSER).headers
        for name, value in HEADERS.items():
            # of a file that pages load, browsers ask for this alone
            of_all = name == "Content-Security-Policy" or not path.startswith("/static/")
            assert headers.get_list(name) == [value] * of_all, (path, name)
        assert headers.get_list("x-content-type-options") == ["nosniff"]
    policy = guest.get("/").headers["content-security-policy"]
    assert "default-src 'self'" in policy
    assert "unsafe" not in policy


def test_every_link_of_every_page_leads_to_a_page(come, played):
    anna = come()
    anna.log_in("anna")
    wanted, seen = [*pages(played), *own_pages()], set()
    while wanted:
        path = wanted.pop().partition("#")[0]
        # lines of moves lead to lines without end
        if path in seen or "line=" in path:
            continue
        seen.add(path)
        answer = anna.get(path)
        assert answer.status_code in (200, 303), (path, answer.text)
        if answer.headers["content-type"].startswith("text/html") and not path.startswith("/api"):
            read = Read(answer.text)
            wanted += [one for one in (*read.links, *read.loaded) if one.startswith("/")]
    assert len(seen) > 60


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


def test_a_list_that_is_empty_says_what_to_do_next(come):
    new = come().sign_up("newcomer")
    for path, what in (
        ("/", 'href="/new"'),
        ("/ratings/torere", 'href="/new?game=torere"'),
        ("/players/newcomer", "a rated match"),
        ("/puzzles", "Start the puzzle"),
    ):
        page = new.page(path)
        assert re.search('class="(empty|fresh)"', page), path
        assert what in page, path


def test_pages_take_50_ms_of_the_processor_at_the_median(come, played):
    anna, took = come(), {}
    anna.log_in("anna")
    for path in [*own_pages(), *pages(played)]:
        if anna.get(path).status_code == 200:  # who is logged in needs no form to log in
            took[path] = statistics.median(seconds(anna, path) for _ in range(5))
    tell(f"{1000 * took[path]:7.1f} ms  {path}" for path in sorted(took, key=took.__getitem__))
    assert len(took) > 30
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
    anna = come()
    anna.log_in("anna")
    path = f"/m/{played}"
    loaded = {one for one in Read(anna.page(path)).loaded if one not in ICONS}
    wanted = [path, *loaded, f"{path}/moves", asset_url("worker.js")]
    weights = {one: sent(anna, one, "br")[1] for one in wanted}
    total = sum(weights.values())
    tell(f"{weights[one]:7,} bytes  {one}" for one in sorted(weights, key=weights.__getitem__))
    tell([f"{total:7,} bytes  in all"])
    assert asset_url("scripts.js") in weights
    assert total < 60_000


def sent(guest: Guest, path: str, encoding: str) -> tuple[str, int]:
    """Return the text at a path, and its bytes as they are sent with an encoding."""
    with guest.http.stream("GET", path, headers={"Accept-Encoding": encoding}) as answer:
        raw = b"".join(answer.iter_raw())
    packed = {"br": brotli.decompress, "gzip": gzip.decompress}
    unpack = packed.get(answer.headers.get("content-encoding", ""), bytes)
    return unpack(raw).decode(errors="replace"), len(raw)


# what pages refer to


def test_assets_are_kept_for_good_under_their_version_and_not_under_another(come):
    guest = come()
    now = guest.get(asset_url("style.css"))
    assert "immutable" in now.headers["cache-control"]
    before = guest.get("/static/000000000000/style.css")
    assert before.content == now.content
    assert before.headers["cache-control"] == "no-cache"
    assert guest.get(f"/static/{VERSION}/nothing.js").status_code == 404
    assert guest.get(f"/static/{VERSION}/..%2f__init__.py").status_code == 404


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


def test_a_packed_answer_has_a_weak_tag_which_is_known_again(come, played):
    guest = come()
    answer = guest.get(f"/api/matches/{played}", headers={"Accept-Encoding": "br"})
    assert answer.headers["content-encoding"] == "br"
    tag = answer.headers["etag"]
    assert tag.startswith('W/"')
    again = guest.get(f"/api/matches/{played}", headers={"If-None-Match": tag})
    assert again.status_code == 304


def test_no_asset_names_anything_elsewhere():
    for name, asset in ASSETS.items():
        text = asset.data.decode()
        if name == "htmx.js":
            assert text.startswith("/*! htmx 2.0.11, https://htmx.org")
            assert "Zero-Clause BSD" in text
        else:
            found = set(re.findall(r"https?://[^\s\"')]+", text))
            assert found <= {"http://www.w3.org/2000/svg"}, name


# help and plots


def test_help_is_read_as_headings_sentences_and_what_is_drawn():
    page = "THE GAME\n\nFirst line\nand second.\n\n  a - b\n\n  c - d\n\n1. One\n   goes on\n2. Two"
    assert [(one.kind, one.text) for one in help_blocks(page)] == [
        ("heading", "The game"),
        ("text", "First line and second."),
        ("drawn", "  a - b\n\n  c - d"),
        ("item", "1. One goes on"),
        ("item", "2. Two"),
    ]


def test_nothing_of_a_game_s_help_is_lost(api, come):
    guest = come()
    for key in game_keys():
        page = guest.page(f"/games/{key}")
        words = re.sub(r"<[^>]*>", " ", page)
        for word in re.findall(r"[A-Za-z]{4,}", api.http.get(f"/api/help?topic={key}").text):
            assert word.lower() in words.lower(), (key, word)


def test_a_plot_has_a_line_for_each_player_within_the_picture():
    drawn = draw_chart(
        "Ratings",
        [ChartSeries("a<b", (1500, 1600, 1550)), ChartSeries("bob", (1500, 1400))],
        wording("en"),
    )
    assert drawn.count("<polyline") == 2
    assert "a&lt;b 1550" in drawn
    assert ">2 matches</text>" in drawn
    assert ">1 match</text>" in draw_chart(
        "Ratings", [ChartSeries("bob", (1500, 1400))], wording("en")
    )
    for points in re.findall(r'points="([^"]*)"', drawn):
        for point in points.split():
            x, y = map(float, point.split(","))
            assert 0 <= x <= 640
            assert 0 <= y <= 240


def test_what_has_no_two_points_has_no_plot():
    assert draw_chart("Ratings", [ChartSeries("bob", (1500,))], wording("en")) == ""
    assert draw_chart("Ratings", [], wording("en")) == ""


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


@pytest.mark.parametrize(("path", "code"), [("/api/nowhere", "not-found"), ("/api/help/x", "not-found"),
                                            ("/api/messages/read", "not-allowed")])  # fmt: skip
def test_where_the_api_has_nothing_a_browser_too_gets_a_problem(come, path, code):
    assert code_of(come().get(path, headers=BROWSER)) == code


def test_a_style_is_sent_without_comments_and_loses_nothing_else():
    style = ASSETS["style.css"].data.decode()
    assert "/*" not in style
    assert style.count("{") == style.count("}") > 300
