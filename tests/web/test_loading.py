"""What a browser loads with a page that it has never seen, and in which form."""

import pytest

from domain.drawing import PAGE_STYLE
from services.http.web import assets
from services.http.web.assets import ASSETS, asset_url

RULES = """(text) => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(text);
  return [...sheet.cssRules].map((rule) => rule.cssText.replace(/,\\s+/g, ","));
}"""
"""The rules that a browser reads in a style sheet; it keeps the spaces of values that have variables."""


@pytest.mark.parametrize(("locale", "scripts"), [("en-GB", "scripts.js"), ("de-DE", "scripts.de.js")])  # fmt: skip
def test_a_match_loads_one_script_and_one_style_and_its_moves_once(person, api, locale, scripts):
    one = person(f"loads-{locale[:2]}", locale=locale)
    board = api.begun(api.player_of(one.name), api.player())
    paths: list[str] = []
    one.page.on("request", lambda request: paths.append(request.url.removeprefix(api.url)))
    with one.page.expect_request(f"**{asset_url('worker.js')}"):  # which waits for the board
        one.goes_to(f"/m/{board}").locator("#board-area.choosing").wait_for()
    files = map(asset_url, ("style.css", scripts, "worker.js"))
    # the icon is another one once the lists know that the match waits
    assert sorted(path for path in paths if not path.endswith(".svg")) == sorted(
        [f"/m/{board}", *files, f"/m/{board}/moves"]
    )


def test_tips_of_times_and_the_stream_come_although_they_wait_for_the_board(person, api):
    one = person("patient")
    other = api.player()
    board = api.begun(api.player_of(one.name), other)
    page = one.goes_to(f"/m/{board}")
    page.locator("time[title]").first.wait_for(state="attached")
    other.post(f"/api/matches/{board}/commands", {"do": "offer", "kind": "draw"})
    page.locator(".offer").wait_for()


@pytest.mark.parametrize("name", ["style.css", "games.css", "newmatch.css"])
def test_a_style_sheet_has_the_rules_of_its_sources_and_no_others(browser, name):
    folder = assets.files("services.http.web").joinpath("static", "styles")
    parts = assets._STYLES if name == "style.css" else [name.removesuffix(".css")]
    source = PAGE_STYLE * (name == "style.css")
    source += "".join(folder.joinpath(f"{part}.css").read_text() for part in parts)
    page = browser.new_page()
    rules = page.evaluate(RULES, source)
    assert rules == page.evaluate(RULES, ASSETS[name].data.decode())
    assert len(rules) > 20
    page.close()
