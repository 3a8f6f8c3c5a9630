"""The pages of games for people: guides, pictures, boards to try, options of a new match; and words in German."""

import html
import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from domain.game.options import OptionField, OptionKind
from domain.game.protocol import GamePart, game_text
from domain.rules import all_games, all_rules, game_by_key, game_keys
from domain.sentences import ENGLISH
from infra.languages.wording import wording
from infra.people.account_macs import AccountMacs
from infra.people.accounts import create_robot_accounts
from services.app.games import guide_of
from services.http.web.boards.board_view import draw_guide_picture
from services.http.web.challenges.match_draft import (
    chosen_options,
    showcase_games,
    suggested_game,
)
from services.http.web.forms import Form
from tests.helpers.api import Api
from tests.helpers.web import Guest
from tests.services.matches_by_form import start

GERMAN = {"Accept-Language": "de"}


def words_of(page: str) -> str:
    """Return what a page says, without what is folded away in the text for terminals."""
    shown = re.sub(r'<details id="terminal">.*?</details>', "", page, flags=re.DOTALL)
    return " ".join(re.sub(r"<[^>]*>", " ", shown).split())


@pytest.mark.parametrize("key", game_keys())
def test_a_game_s_page_explains_it_in_both_languages_without_boards_of_letters(api, come, key):
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
    words = re.sub(r"<[^>]*>", " ", english).lower()
    helped = api.http.get(f"/api/help?topic={key}").text
    assert [word for word in re.findall(r"[A-Za-z]{4,}", helped) if word.lower() not in words] == []


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


def test_a_guest_moves_on_the_first_page_and_a_robot_answers_until_the_end(come):
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
    where, sent = "/games/line/try", {"against": "robot", "live": "1", "line": ""}
    for _ in range(40):
        listed = guest.get(f"{where}/moves", params=sent).json()["moves"]
        part = guest.page(f"{where}/live", params={**sent, "move": listed[0]})
        found = re.search(r'name="line" value="([^"]*)"', part)
        if found is None:
            break
        sent["line"] = found[1]
    assert "You won." in part or "The robot won." in part
    assert "Sign up to play a robot" in part


def test_every_option_of_every_game_is_in_the_form_and_what_it_sends_is_one_of_the_game(guest):
    page = html.unescape(guest.page("/new"))
    shown = {rules.key for rules in showcase_games()}
    for rules in all_rules():
        for at, field in enumerate(game_by_key(rules.key).options_form):
            sent = values_of(field, at)
            for name, value in sent:
                flags = chosen_options(rules.key, Form({name: (value,)}))
                assert len(rules.write_options(rules.read_options(flags))) == 1, (name, value)
            if rules.key in shown:
                assert field.title in page, (rules.key, field.field)
                for name, value in sent if field.picks else [(f"{field.kind}-{at}", "")]:
                    given = f' value="{value}"' if value else ""
                    assert f'name="{rules.key}-{name}"{given}' in page
    sides = re.findall(r'name="halves-seat" value="\d"><span>(.*?)</span>', page)
    assert sides == ["Light", "Dark", "Teal"]
    for seat, said in (("1", "You’re playing Dark."), ("2", "")):
        chosen = {"game": "halves", "halves-seat": seat}
        found = html.unescape(guest.get("/new/offer", params=chosen).text)
        assert said in found
        assert "Teal" not in found


def values_of(field: OptionField, at: int) -> list[tuple[str, str]]:
    """Return what a form may send for an option, but for what is usual."""
    match field.kind:
        case OptionKind.NUMBER:
            numbers = {field.low, field.high} - {field.usual}
            return [(f"number-{at}", str(number)) for number in numbers]
        case OptionKind.NAMES:
            listed = field.names[: field.low]
            return [(f"names-{at}", ",".join(listed)), (f"names-{at}", ", ".join(listed))]
    return [(f"pick-{at}", pick.flag) for pick in field.picks if pick.flag]


ROOT = Path(__file__).parents[2]


def message(answer) -> str:
    found = re.search(r'<p class="lead"([^>]*)>(.*?)</p>', answer.text, re.DOTALL)
    assert found, answer.text
    assert "lang=" not in found[1]  # the page's own language
    return html.unescape(found[2])


def test_a_refused_move_is_explained_in_german(api, come):
    one, two = come(**GERMAN).sign_up("hanna-de"), come(**GERMAN).sign_up("heinz-de")
    board = start(one, two)
    assert "m13-k5: keine Linie verbindet m13 und k5." in one.page(
        one.act(board, "move", move="m13-k5").headers["location"]
    )
    assert message(two.act(board, "move", move="a1-a5")) == "Am Zug ist Hell, nicht Dunkel."
    said = one.get(
        f"/m/{board}/check", params={"move": "m13-m9"}, headers={"accept": "application/json"}
    )
    assert said.json()["said"] == "Dann ist heinz-de am Zug."
    # a short month has a full stop of its own
    made = api.player().post("/api/challenges", {"game": "torere"}).json()
    offer = re.sub(r"<[^>]*>", "", one.page(f"/c/{made['id']}"))
    assert ".." not in re.search(r"Sie ist bis (.*?) offen\.", offer)[0]
    one.act(board, "resign")
    shown = one.page(f"/m/{board}")
    assert "<desc>Dunkel (heinz-de) hat durch Aufgabe gewonnen. Hell: noch 14 zu setzen." in shown


def test_german_says_du_everywhere():
    parts = [ROOT / "services", ROOT / "infra", ROOT / "domain"]
    kinds = ("*.de.txt", "*.po", "guide.toml")
    found = list(chain.from_iterable(part.rglob(kind) for part in parts for kind in kinds))
    assert len(found) > 80
    for path in found:
        text = " ".join(path.read_text("utf-8").split())
        assert not re.search(r"[a-zäöüß,] (?:Sie|Ihnen|Ihre[mnrs]?)\b", text), path


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with Api(tmp_path_factory.mktemp("api")) as api:
        create_robot_accounts(api.parts.data, AccountMacs())
        yield api


@pytest.fixture
def guest(api: Api) -> Iterator[Guest]:
    """Somebody who has logged in."""
    with Guest(api) as guest:
        guest.log_in(api.player().name)
        yield guest


def board_of(answer) -> int:
    assert answer.status_code == 303, answer.text
    found = re.fullmatch(r"/m/(\d+)", answer.headers["location"])
    assert found, answer.headers["location"]
    return int(found[1])


def shown(api: Api, board: int) -> dict:
    return api.http.get(f"/api/matches/{board}").json()


def test_one_click_on_the_home_page_starts_a_match_with_a_robot_and_robots_are_marked(api, guest):
    home = guest.page("/")
    assert 'name="play" value="pow2 easy"' in home
    assert 'name="play" value="halves hard"' in home
    assert 'value="one ' not in home
    board = board_of(guest.send("/robots", {"play": "pow2 medium"}, on="/"))
    match = shown(api, board)
    assert {seat["robot"] for seat in match["players"]} == {None, "medium"}
    assert match["clock"]["rated"] is False
    page = guest.page(f"/m/{board}")
    assert '<span class="tag">robot</span>' in page
    assert 'id="chat-form"' not in page
    # they are marked in lists and on their pages
    marked = 'href="/players/robot-easy">robot-easy</a> <span class="tag">robot</span>'
    assert marked in guest.page("/players")
    page = guest.page("/players/robot-hard")
    assert '<h1>robot-hard <span class="tag">robot</span></h1>' in page
    assert "A robot of this server, here since" in page
    assert "Matches against robots aren’t rated." in page
    # and fill an open challenge
    guest.send("/new", {"game": "pow2", "opponent": ""}, on="/new")
    (found,) = re.findall(r'action="(/challenges/[a-z2-7]{10}/robot)"', guest.page("/"))
    board = board_of(guest.send(found, {"level": "easy"}))
    assert shown(api, board)["clock"]["rated"] is False


def test_a_guest_signs_up_first_and_finds_the_match_chosen(api):
    with Guest(api) as guest:
        answer = guest.send("/robots", {"play": "torere hard"}, on="/")
        assert answer.status_code == 303
        signup = answer.headers["location"]
        assert signup.startswith("/signup?next=")
        page = guest.page(signup)
        wanted = re.search(r'name="next" value="([^"]+)"', page)[1].replace("&amp;", "&")
        answer = guest.send(
            "/signup", {"userid": "newcomer", "password": "yes-we-can", "next": wanted}, on=signup
        )
        assert answer.headers["location"] == "/new?game=torere&opponent=robot-hard"
        form = guest.page(answer.headers["location"])
        assert 'name="robot" value="robot-hard" checked' in form
        fields = {"game": "torere", "opponent": ["", "robot-hard"]}
        board = board_of(guest.send("/new", fields, on=answer.headers["location"]))
        assert shown(api, board)["clock"]["rated"] is False


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


def test_the_games_that_are_offered_are_those_that_say_so(api, guest):
    featured = {game.key for game in all_games() if game.featured}
    shown = showcase_games()
    assert {rules.key for rules in shown[: len(featured)]} == featured
    assert suggested_game(api.parts) == shown[0]
    several = {rules.key for rules in all_rules() if rules.players != (1,)}
    assert {rules.key for rules in shown} == several
    assert f"The rules of {suggested_game(api.parts).title}" in guest.page("/new")


def test_two_robots_of_one_strength_are_a_mistake_beside_the_second_and_nothing_is_promised(guest):
    fields = {"game": "halves", "against": "robot"}
    fields |= {"robot": "robot-easy", "halves-robot": "robot-easy"}
    answer = guest.send("/new", fields | {"halves-seat": "2"}, on="/new")
    assert answer.status_code == 422
    said = "The same robot can’t play twice in one match; choose another strength."
    field = re.search(r'<select name="halves-robot"[^>]*>', answer.text)[0]
    assert field.endswith('aria-invalid="true" aria-describedby="wrong-halves-robot" autofocus>')
    assert f'<p class="mistake" id="wrong-halves-robot">{said}</p>' in answer.text
    offer = re.search(r'<div id="offer".*?</div>', answer.text, re.DOTALL)[0]
    assert said in offer
    assert "against" not in offer
    # a field that only another way to find opponents shows has no mistake
    assert guest.send("/new", fields | {"halves-robot": "", "note": "x" * 201}).status_code == 303
