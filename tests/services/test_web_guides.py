"""The pages of games for people: guides, pictures, boards to try; the first page; help."""

import html
import re
from collections.abc import Callable, Iterator
from urllib.parse import parse_qs, urlsplit

import pytest

from domain.game.protocol import GamePart, game_text
from domain.sentences import ENGLISH
from infra.languages.wording import wording
from services.app.games import game_keys
from services.http.web.boards.board_view import draw_guide_picture, guide_of
from tests.helpers.api import Api
from tests.helpers.web import Guest, door

GERMAN = {"Accept-Language": "de"}


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with Api(tmp_path_factory.mktemp("web")) as api:
        yield api


@pytest.fixture
def come(api: Api) -> Iterator[Callable[..., Guest]]:
    with door(api) as come:
        yield come


def words_of(page: str) -> str:
    """Return what a page says, without what is folded away in the text for terminals."""
    shown = re.sub(r'<details id="terminal">.*?</details>', "", page, flags=re.DOTALL)
    return " ".join(re.sub(r"<[^>]*>", " ", shown).split())


@pytest.mark.parametrize("key", game_keys())
def test_a_game_s_page_explains_it_in_both_languages_without_boards_of_letters(come, key):
    guest, guide = come(), guide_of(key)
    assert guide
    english, german = guest.page(f"/games/{key}"), guest.page(f"/games/{key}", headers=GERMAN)
    for page, language in ((english, ENGLISH), (german, wording("de"))):
        said = words_of(page).replace("&#39;", "'")
        for text in (guide.about, guide.goal, *(one.caption for one in guide.pictures)):
            assert game_text(key, GamePart.GUIDE, text, language) in said
        goal = game_text(key, GamePart.GUIDE, guide.goal, language)
        assert f"<strong>{goal}</strong>".replace("'", "&#39;") in page
        assert " - - - " not in said
        assert "challenge userid" not in said
        assert page.count("<figure>") == len(guide.pictures)
        assert page.count('loading="lazy"') == len(guide.pictures)
        assert 'alt=""' not in page
    assert 'lang="de"' in german


def test_pictures_are_kept_by_browsers_under_an_address_that_changes_with_them(come):
    guest = come()
    address = re.search(
        r'src="(/games/pow2/pictures/meet\.svg\?v=[0-9a-f]+)"', guest.page("/games/pow2")
    )
    assert address
    kept = guest.get(address[1])
    assert kept.headers["content-type"] == "image/svg+xml"
    assert "immutable" in kept.headers["cache-control"]
    assert kept.text == draw_guide_picture("pow2", "meet").svg
    other = guest.get("/games/pow2/pictures/meet.svg?v=old")
    assert "immutable" not in other.headers["cache-control"]
    assert other.text == kept.text
    assert guest.get("/games/pow2/pictures/nothing.svg").status_code == 404
    assert guest.get("/games/nothing/pictures/card.svg").status_code == 404
    assert guest.page("/games/pow2/board.svg") == guest.page("/games/pow2/pictures/card.svg")


def test_pictures_have_the_colours_of_the_board_that_a_browser_has_chosen(come):
    guest = come()
    found = {}
    for theme in ("paper", "wood", "slate"):
        guest.http.cookies.set("display", f"board-{theme}")
        address = re.search(r'src="(/games/pow2/pictures/card[^"]+)"', guest.page("/games"))
        assert address
        picture = guest.get(html.unescape(address[1]))
        assert "immutable" in picture.headers["cache-control"]
        found[theme] = picture.text
    assert len(set(found.values())) == 3
    assert "#dcb57c" in found["wood"]
    assert guest.get("/games/pow2/pictures/card.svg?board=pink").status_code == 400


def test_the_cards_of_all_games_show_different_pictures(come):
    page = come().page("/games")
    for key in game_keys():
        assert f'href="/games/{key}"' in page
        assert f"/games/{key}/pictures/card.svg" in page
    assert len({draw_guide_picture(key, "card").svg for key in game_keys()}) == len(game_keys())
    assert "about 23 moves" in page
    assert "2 or 3 players" in page


def test_a_guest_moves_on_the_first_page_and_a_robot_answers(come):
    guest = come()
    page = guest.page("/")
    form = re.search(r'<form id="play" method="get" action="([^"]+)" hx-get="([^"]+)">', page)
    assert form
    assert form[2] == f"{form[1]}/live"
    sent = {"against": "robot", "live": "1", "line": "", "move": "4-0"}
    part = guest.page(form[2], params=sent)
    assert "The robot played 5-4. Your turn." in part
    assert 'name="line" value="4-0 5-4"' in part
    assert "<html" not in part
    assert guest.page(form[2], params=sent) == part, "an address has one answer"
    # without scripts the same form leads to the whole page of the board
    moved = guest.get(form[1], params=sent)
    assert moved.status_code == 303
    query = parse_qs(urlsplit(moved.headers["location"]).query)
    assert query == {"against": ["robot"], "live": ["1"], "line": ["4-0 5-4"]}
    assert "<html" in guest.page(moved.headers["location"])
    assert guest.get(form[2], params={**sent, "move": "2-0"}).status_code == 422
    assert guest.get(form[2], params={**sent, "against": "bob"}).status_code == 400


def test_a_robot_answers_until_the_game_is_over_and_then_says_who_has_won(come):
    guest, line = come(), ""
    for _ in range(40):
        part = guest.page(
            "/games/line/try/live", params={"against": "robot", "live": "1", "line": line}
        )
        if "<form" not in part:
            break
        listed = guest.get(
            "/games/line/try/moves", params={"against": "robot", "live": "1", "line": line}
        ).json()["moves"]
        sent = {"against": "robot", "live": "1", "line": line, "move": listed[0]}
        part = guest.page("/games/line/try/live", params=sent)
        found = re.search(r'name="line" value="([^"]*)"', part)
        if found is None:
            break
        line = found[1]
    assert "You won." in part or "The robot won." in part
    assert "New match" in part


def test_a_preview_on_a_part_of_a_page_has_no_plates_either(come):
    guest = come()
    checked = guest.get("/games/pow2/try/check", params={"live": "1", "move": "m13-j7"}).json()
    whole = guest.get("/games/pow2/try/check", params={"move": "m13-j7"}).json()
    assert 'class="plate"' not in checked["svg"]
    assert 'class="plate"' in whole["svg"]


def test_the_options_of_a_board_to_try_are_chosen_by_controls(come):
    guest = come()
    page = guest.page("/games/halves/try")
    assert "-manual_start" not in words_of(page)
    chosen = {"pick-5": "-manual_start", "number-0": "8", "players": "3", "against": ""}
    moved = guest.get("/games/halves/try/options", params=chosen)
    query = parse_qs(urlsplit(moved.headers["location"]).query)
    assert query == {"options": ["-manual_start -tiles_each=8"], "players": ["3"]}
    tried = guest.page(moved.headers["location"])
    assert re.search(r'value="-manual_start" checked', tried)
    assert re.search(r'name="number-0"[^>]* value="8"', tried)
    assert '<option value="3" selected>' in tried
    wrong = guest.get("/games/halves/try/options", params={"number-0": "999"})
    assert wrong.status_code == 422
    plain = guest.get("/games/torere/try/options", params={"against": "robot"})
    assert plain.headers["location"] == "/games/torere/try?against=robot"


def test_a_guest_sees_who_offers_a_match(api, come):
    player = api.player(name="olive")
    player.post("/api/challenges", {"game": "halves", "note": "a calm one"})
    page = come().page("/")
    assert "olive" in page
    assert "a calm one" in page


def test_help_is_by_topics_and_the_manual_is_a_page_of_its_own(come):
    guest = come()
    for headers, word in ((None, "Getting started"), (GERMAN, "So fängst du an")):
        page = guest.page("/help", headers=headers)
        assert word in page
        assert "userid" not in page
        contents = re.findall(r'<li><a href="#([a-z]+)">', page)
        assert len(contents) >= 12
        assert all(f'<section id="{name}"' in page for name in contents)
    assert "/help/commands" in page
    manual = guest.page("/help/commands")
    assert "challenge" in manual
    assert manual != guest.page("/help/commands", headers=GERMAN)
