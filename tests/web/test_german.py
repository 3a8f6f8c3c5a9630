"""Every page in German: no English is left on it, and its language is marked."""

from collections.abc import Iterator
from hashlib import sha256
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.helpers.api import Api, Player
from tests.helpers.english_words import english_in
from tests.helpers.page_texts import texts_of
from tests.helpers.web import Guest

SAID = "come and play with the others"
"""What a player writes, which stays as it is in every language."""


@pytest.fixture(scope="package")
def world(api: Api) -> tuple[Player, int]:
    """Make a player with a match in each state, mail, notices, a claim and an open challenge."""
    irma, jochen = api.player(name="irma"), api.player(name="jochen")
    board = api.begun(irma, jochen)
    irma.move(board, "m13-m5:l4")
    jochen.move(board, "a13-c11")
    api.begun(irma, jochen, game="halves")
    api.begun(jochen, irma, game="powerdrain")
    line = api.begun(irma, jochen, game="line")
    for at, move in enumerate(("a9", "i5", "e9")):
        assert (irma, jochen)[at % 2].move(line, move).status_code == 200
    jochen.give(line, {"do": "resign"})
    for game in ("pow2", "halves"):
        api.match(jochen, irma, game=game)
    own, other = (sha256(player.name.encode()).hexdigest() for player in (irma, jochen))
    fair: dict[str, Any] = {"game": "halves", "terms": ["--gather"]}
    api.match(jochen, irma, commitment=other, **fair)
    sealed = api.match(irma, jochen, commitment=own, **fair)
    assert jochen.give(sealed, {"do": "accept", "commitment": other}).is_success
    jochen.post("/api/challenges", {"game": "goliath", "note": SAID})
    jochen.give(board, {"do": "offer", "kind": "draw"})
    jochen.post(f"/api/matches/{board}/chat", {"text": SAID})
    jochen.post("/api/messages", {"to": ["irma"], "text": SAID})
    jochen.post(f"/api/matches/{board}/claim", {"ply": 1, "text": SAID})
    api.parts.accounts.set_arbiter("irma", True)
    api.caught_up()
    return irma, board


def pages_of_a_player(board: int) -> list[str]:
    """Return the paths of all pages that a player sees."""
    return [
        "/", "/new", "/new?game=halves", "/games", "/puzzles", "/log", "/ratings/line",
        "/players", "/players/jochen", "/players/irma", "/account", "/help", "/challenges",
        *(f"/games/{key}{rest}" for rest in ("", "/try?seed=00")
          for key in ("pow2", "line", "goliath", "halves", "powerdrain", "torere", "duo", "jump",
                      "one", "two")),
        *(f"/m/{board + at}" for at in range(8)), f"/m/{board}/1",
        f"/m/{board}/1/if", f"/m/{board}/compare", f"/m/{board}/check?move=m1-m7", "/m/999999",
        f"/m/{board + 3}/analysis", "/matches", "/matches?state=others", "/matches?state=finished",
        "/players/jochen/matches?state=finished", "/games/line/matches?state=finished", "/notices",
        "/messages", "/watching", "/playing", "/games/one/scores", "/cases", f"/m/{board}/claim?ply=1", f"/m/{board}/case",
        "/nowhere",
    ]  # fmt: skip


PAGES_OF_A_GUEST = (
    "/verify",
    "/",
    "/login",
    "/signup",
    "/games",
    "/games/pow2",
    "/help",
    "/puzzles",
)


def walked(guest: Guest, paths: list[str]) -> Iterator[tuple[str, str]]:
    """Yield each path with the page there."""
    for path in paths:
        yield path, guest.get(path, headers={"accept": "text/html"}).text


def test_no_page_has_english_in_it_when_german_is_asked_for(api, world):
    player, board = world
    left: list[str] = []
    asks = {"accept-language": "de-DE,de;q=0.9"}
    with Guest(api, **asks) as irma, Guest(api, **asks) as guest:
        irma.log_in(player.name)
        seen = [*walked(irma, pages_of_a_player(board)), *walked(guest, list(PAGES_OF_A_GUEST))]
    for path, page in seen:
        language, texts = texts_of(page)
        assert language == "de", path
        left += [f"{path}: {text}" for text in texts if english_in(text)]
    assert not left, "\n".join(left)


def test_english_would_be_found(api):
    with Guest(api, **{"accept-language": "en"}) as guest:
        for path in PAGES_OF_A_GUEST:
            language, texts = texts_of(guest.page(path))
            assert language == "en"
            assert sum(map(english_in, texts)) > 4, path


@pytest.mark.slow
def test_what_scripts_write_is_german_too(person, world):
    player, board = world
    page = person(player, locale="de-DE").goes_to(f"/m/{board}")
    page.locator("#board-area.choosing").wait_for()
    for place in ("m5", "m9"):
        page.locator(f'#board-area [data-place="{place}"] .hit').click()
    expect(page.locator("#says")).to_contain_text("m5-m9")
    expect(page.locator("html")).to_have_attribute("lang", "de")
    language, texts = texts_of(page.content())
    assert language == "de"
    assert [text for text in texts if english_in(text)] == []
