"""What surrounds the pages: icons, the manifest, previews of links, a board in a frame of another site."""

import re
import struct
from functools import partial
from html.parser import HTMLParser

import pytest
import resvg_py

from services.app.games import game_keys
from services.http.web import site_files
from services.http.web.boards.board_view import CARD, draw_guide_picture
from services.http.web.site_files import preview_png, with_plain_style
from tests.helpers.web import Read
from tests.services.matches_by_form import start


class Head(HTMLParser):
    """What a page says of itself to others."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.said: dict[str, str] = {}
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        name = given.get("property") or given.get("name")
        if tag == "meta" and name:
            self.said[name] = given["content"]
        if tag == "link" and given["rel"] == "canonical":
            self.said["canonical"] = given["href"]


def size(png: bytes) -> tuple[int, int]:
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">2I", png[16:24])
    return width, height


@pytest.mark.parametrize(
    ("path", "wanted"),
    [("/apple-touch-icon.png", 180), ("/icon-192.png", 192), ("/icon-512.png", 512)],
)
def test_icons_have_the_size_that_their_names_promise(come, path, wanted):
    answer = come().get(path)
    assert answer.headers["content-type"] == "image/png"
    assert size(answer.content) == (wanted, wanted)


def test_the_icon_of_tabs_is_a_file_with_one_picture(come):
    data = come().get("/favicon.ico").content
    assert struct.unpack("<3H", data[:6]) == (0, 1, 1)
    length, offset = struct.unpack("<2I", data[14:22])
    assert len(data) == offset + length
    assert size(data[offset:]) == (data[6], data[7]) == (32, 32)


def test_the_manifest_names_icons_that_there_are(come):
    guest = come()
    manifest = guest.get("/manifest.webmanifest").json()
    assert manifest["start_url"] == "/"
    for icon in manifest["icons"]:
        assert "x".join(map(str, size(guest.get(icon["src"]).content))) == icon["sizes"]
    assert {icon["purpose"] for icon in manifest["icons"]} == {"any", "maskable"}
    assert 'rel="manifest" href="/manifest.webmanifest"' in guest.page("/")


def test_search_engines_are_kept_from_pages_of_one_person_and_from_lines_without_end(come):
    rules = come().get("/robots.txt")
    assert rules.headers["content-type"].startswith("text/plain")
    lines = rules.text.splitlines()
    assert lines[0] == "User-agent: *"
    assert {"Disallow: /account", "Disallow: /games/*/try"} <= {*lines}
    assert "Disallow: /" not in lines


def test_a_link_to_a_match_shows_its_board(api, pair, come):
    one, two = pair
    board = start(one, two)
    guest = come()
    said = Head(guest.page(f"/m/{board}?move=m13-j7")).said
    assert said["canonical"] == said["og:url"] == f"{api.url}/m/{board}"
    assert one.name in said["og:title"]
    assert said["description"] == said["og:description"]
    assert said["twitter:card"] == "summary_large_image"
    picture = guest.get(said["og:image"].removeprefix(api.url))
    assert size(picture.content) == (1200, 630)
    assert picture.headers["cache-control"] == "public, max-age=300"


@pytest.mark.parametrize("path", ["/", "/games", "/players", "/games/halves", "/login"])
def test_each_page_describes_itself(come, path):
    said = Head(come().page(path)).said
    assert len(said["description"]) > 20
    assert said["og:title"]
    assert said["canonical"].endswith(path)
    assert ("preview.png" in said["og:image"]) == (path == "/games/halves")


def test_a_strange_host_is_not_repeated(come):
    for host in ('evil"><script>', "evil/nothing", "evil@else"):
        assert "evil" not in come().get("/", headers={"Host": host}).text


@pytest.mark.parametrize("key", game_keys())
def test_each_game_has_a_preview_in_plain_colours(key):
    svg = draw_guide_picture(key, CARD).svg
    plain = with_plain_style(svg)
    assert not re.search(r"var\(|light-dark\(|color-mix\(|@media", plain)
    assert plain.count("<g ") == svg.count("<g ")
    png = preview_png(svg)
    assert size(png) == (1200, 630)
    assert len(png) > 10_000


def test_a_machine_without_fonts_draws_boards_without_texts(monkeypatch):
    svg = draw_guide_picture("pow2", CARD).svg
    with_fonts = preview_png.__wrapped__(svg)
    bare = partial(resvg_py.svg_to_bytes, skip_system_fonts=True)
    monkeypatch.setattr(site_files.resvg_py, "svg_to_bytes", bare)
    without = preview_png.__wrapped__(svg)
    assert size(without) == size(with_fonts)
    assert len(without) > 10_000


def test_values_that_refer_to_each_other_come_to_an_end():
    style = ".b{--a:var(--b);--b:var(--a)}.c{fill:var(--a);stroke:light-dark(#fff,var(--b))}"
    plain = with_plain_style(f'<svg viewBox="0 0 9 9"><style>{style}</style></svg>')
    assert "stroke:#fff" in plain
    mixed = with_plain_style("<style>.c{fill:color-mix(in srgb,var(--x,#123456) 40%,red)}</style>")
    assert mixed == "<style>.c{fill:#123456}</style>"


def test_any_site_may_frame_a_match_and_no_other_page(pair, come):
    one, two = pair
    board = start(one, two)
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


def test_what_went_wrong_is_said_with_a_way_on(come, pair):
    page = come().get("/m/999999", headers={"Accept": "text/html"})
    assert page.status_code == 404
    assert "Page not found" in page.text
    assert '<a href="/games">' in page.text
    assert re.search(r"<details[^>]*><summary>Details</summary>.*unknown-board", page.text)
    assert pair[0].name in pair[0].get("/m/999999").text
    german = come(**{"Accept-Language": "de"}).get("/m/999999").text
    assert "Seite nicht gefunden" in german
    assert '<html lang="de"' in german


def test_the_switches_of_each_page_are_kept_in_the_browser(come):
    guest = come()
    answer = guest.send("/display", {"theme": "dark", "back": "/games"}, on="/games")
    assert answer.headers["location"] == "/games"
    assert 'data-theme="dark"' in guest.page("/games")
    guest.send("/display", {"language": "de"}, on="/games")
    page = guest.page("/games")
    assert '<html lang="de" data-theme="dark"' in page
    assert "Spiele</a>" in page
    guest.send("/display", {"sound": "true"}, on="/games")
    assert 'data-sound="on"' in guest.page("/games")
    assert 'data-sound="on"' not in come().page("/games")
    by_script = guest.send("/display", {"theme": "light"}, on="/", headers={"HX-Request": "true"})
    assert by_script.status_code == 204
    assert 'data-theme="light"' in guest.page("/")
