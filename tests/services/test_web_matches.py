"""Matches by the web: what is played, what is shown to whom, and what is only tried."""

import json
import random
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from markupsafe import Markup

from domain.match.state import positions
from domain.rules import game_by_key, latest_rules
from infra.people.notes import Notes
from infra.people.unread import UnreadCounts
from services.app.games import game_keys
from services.app.matches import load_state
from services.http.web.pages.games import _initial_position
from services.http.web.views.animated_svg import animate_match
from services.http.web.views.board_view import MAX_MOVES, BoardView, draw_position, preview_move
from tests.fakes.tokens import check, check_one
from tests.helpers.api import PASSWORD, Api, until
from tests.helpers.web import Guest, door

SCRIPT = Path(sys.executable).with_name("matchpost")


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with Api(tmp_path_factory.mktemp("web")) as api:
        yield api


@pytest.fixture
def come(api: Api) -> Iterator[Callable[..., Guest]]:
    with door(api) as come:
        yield come


@pytest.fixture
def pair(api: Api, come) -> tuple[Guest, Guest]:
    """Two who have logged in."""
    found = []
    for _ in range(2):
        guest = come()
        guest.log_in(api.player().name)
        found.append(guest)
    return found[0], found[1]


def start(one: Guest, *others: Guest, game: str = "pow2", **fields) -> int:
    """Start a match by the form; who starts it moves first."""
    fields = {"game": game, "opponent": [other.name for other in others], "seat": "first", **fields}
    answer = one.send("/new", fields, on="/new" if others else "/puzzles")
    assert answer.status_code == 303, answer.text
    return int(re.fullmatch(r"/m/(\d+)", answer.headers["location"])[1])


def turn(guest: Guest, board: int) -> str:
    """The line that says whose turn it is."""
    page = guest.page(f"/m/{board}")
    return re.sub(
        r"\s+", " ", re.search(r'<div id="turn"[^>]*>(.*?)</div>', page, re.DOTALL)[1]
    ).strip()


def moves(guest: Guest, board: int) -> list[str]:
    return guest.get(f"/m/{board}/moves").json()["moves"]


# playing


def test_a_match_is_started_and_played_with_forms_alone(pair):
    one, two = pair
    board = start(one, two)
    assert turn(one, board) == "Your turn"
    assert turn(two, board) == f"{one.name}\N{RIGHT SINGLE QUOTATION MARK}s turn"
    one.move(board, "m13-m5:l4")
    assert turn(two, board) == "Your turn"
    two.move(board, "A13 - C11")
    assert ">a13-c11</a>" in one.page(f"/m/{board}")


def test_a_form_sent_twice_is_one_move(api, pair):
    one, two = pair
    board = start(one, two)
    page = one.page(f"/m/{board}")
    fields = dict(re.findall(r'name="(csrf|key)" value="([^"]*)"', page))
    fields |= {"do": "move", "move": "m13-j7", "ply": "0"}
    for _ in range(2):
        assert one.http.post(f"/m/{board}/act", data=fields).status_code == 303
    assert load_state(api.parts, board).ply == 1


def test_after_a_move_that_was_refused_another_can_be_sent_from_the_same_page(api, pair):
    one, two = pair
    board = start(one, two)
    page = one.page(f"/m/{board}")
    fields = dict(re.findall(r'name="(csrf|key)" value="([^"]*)"', page))
    refused = one.http.post(f"/m/{board}/act", data={**fields, "do": "move", "move": "m13-k5"})
    assert refused.status_code == 422
    assert "m13-k5: no line joins m13 and k5." in refused.text
    taken = one.http.post(f"/m/{board}/act", data={**fields, "do": "move", "move": "m13-j7"})
    assert taken.status_code == 303
    assert load_state(api.parts, board).moves == "m13-j7"


def test_htmx_gets_a_refusal_as_a_sentence_for_the_place_where_messages_stand(pair):
    one, two = pair
    board = start(one, two)
    fields = {"do": "move", "move": "m13-k5"}
    answer = one.send(f"/m/{board}/act", fields, headers={"HX-Request": "true"})
    assert answer.status_code == 422
    assert answer.headers["hx-retarget"] == "#message"
    assert answer.text.startswith('<p class="message">')


def test_a_move_meant_for_another_ply_is_refused(pair):
    one, two = pair
    board = start(one, two)
    answer = one.act(board, "move", move="m13-j7", ply="4")
    assert answer.status_code == 409
    assert "stale-ply" in answer.text


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"do": "fly"}, "bad-request"),
        ({}, "bad-request"),
        ({"do": "offer", "kind": "cake"}, "unknown-offer"),
        ({"do": "accept"}, "no-offer"),
        ({"do": "move", "move": "xx"}, "unreadable-move"),
        ({"do": "move", "move": "m13-j7", "ply": "99999999999999999999"}, ""),
        ({"do": "resume"}, "not-paused"),
    ],
)
def test_what_can_t_be_done_is_told(pair, fields, code):
    one, two = pair
    board = start(one, two)
    answer = one.send(f"/m/{board}/act", fields, on=f"/m/{board}")
    assert f"<code>{code}</code>" in answer.text if code else answer.status_code == 303


def test_an_offer_is_made_answered_and_ends_the_match(pair):
    one, two = pair
    board = start(one, two)
    assert one.act(board, "offer", kind="draw").status_code == 303
    assert "proposes a draw" in two.page(f"/m/{board}")
    assert two.act(board, "accept").status_code == 303
    assert "draw by agreement" in turn(one, board)
    assert f'action="/m/{board}/rematch"' in one.page(f"/m/{board}")


def test_who_declines_is_out_of_it_and_who_resigns_has_lost(pair):
    one, two = pair
    board = start(one, two)
    assert two.act(board, "decline").status_code == 303
    assert "declined" in turn(one, board)
    board = start(one, two)
    assert one.act(board, "resign").status_code == 303
    assert "by resignation" in turn(two, board)


def test_strangers_and_who_has_not_logged_in_can_do_nothing(api, come, pair):
    one, two = pair
    board = start(one, two)
    stranger, guest = come(), come()
    stranger.log_in(api.player().name)
    for path, fields in (("act", {"do": "resign"}), ("chat", {"text": "hello"}), ("replies", {})):
        where = f"/m/{board}/{path}"
        assert stranger.send(where, fields).status_code == 403
        answer = guest.send(where, fields, on="/login")
        assert answer.status_code == 303
        assert answer.headers["location"] == "/login?over=yes"
    assert not load_state(api.parts, board).over


def test_who_looks_on_sees_the_board_and_neither_chat_nor_replies_nor_forms(api, come, pair):
    one, two = pair
    board = start(one, two)
    two.send(f"/m/{board}/chat", {"text": "a secret of ours"}, on=f"/m/{board}")
    two.send(f"/m/{board}/replies", {"line": "m13-j7 a13-d7"})
    mine, theirs = two.page(f"/m/{board}"), one.page(f"/m/{board}")
    assert "a secret of ours" in mine
    assert "a secret of ours" in theirs
    assert "a13-d7" in mine
    assert "a13-d7" not in theirs
    stranger = come()
    stranger.log_in(api.player().name)
    for who in (stranger, come()):
        page = who.page(f"/m/{board}")
        assert 'data-game="pow2"' in page
        assert "a secret" not in page
        assert "a13-d7" not in page
        assert f"/m/{board}/act" not in page


def test_replies_laid_ready_from_a_line_are_played_and_can_be_dropped(api, pair):
    one, two = pair
    board = start(one, two)
    assert "set your answer in advance" in two.page(f"/m/{board}")
    assert "set your answer in advance" not in one.page(f"/m/{board}")
    assert "Set your moves" in two.page(f"/m/{board}/0/if?line=m13-j7+a13-d7")
    assert "Set your moves" not in one.page(f"/m/{board}/0/if?line=m13-j7+a13-d7")
    assert two.send(f"/m/{board}/replies", {"line": "m13-j7 a13-d7"}).status_code == 303
    one.move(board, "m13-j7")
    assert load_state(api.parts, board).moves == "m13-j7 a13-d7"
    board = start(one, two)
    two.send(f"/m/{board}/replies", {"line": "m13-j7 a13-d7"})
    assert two.send(f"/m/{board}/replies", {"line": ""}).status_code == 303
    one.move(board, "m13-j7")
    assert load_state(api.parts, board).moves == "m13-j7"


def test_a_match_that_waits_for_consent_is_accepted_with_a_word(api, pair):
    one, two = pair
    board = start(one, two, game="powerdrain", gather="yes")
    assert turn(two, board) == "Your consent is needed"
    assert turn(one, board) == "Waiting until all have accepted"
    api.caught_up()
    assert "<title>● Your consent" in two.page(f"/m/{board}")
    assert 'class="turn yours"' in two.page(f"/m/{board}")
    home = two.page("/")
    assert "Its board is set up once all have accepted." in home
    assert f"/m/{board}/0/board.svg" not in home
    assert two.get(f"/m/{board}/0").status_code == 409
    assert two.act(board, "accept", entropy="swordfish").status_code == 303
    assert turn(one, board) == "Your turn"


def test_an_open_challenge_is_taken_and_withdrawn(api, pair):
    one, two = pair
    one.send("/new", {"game": "goliath", "note": "a first try", "seat": "first"}, on="/new")
    one.send("/new", {"game": "torere"}, on="/new")
    page = two.page("/")
    assert "a first try" in page
    assert "you play Goliath" in page
    for id_ in re.findall(r"/challenges/([a-z2-7]{10})/withdraw", one.page("/"))[:1]:
        assert one.send(f"/challenges/{id_}/withdraw").status_code == 303
    (left,) = re.findall(r"/challenges/([a-z2-7]{10})/withdraw", one.page("/"))
    answer = two.send(f"/challenges/{left}/take")
    board = int(answer.headers["location"].rpartition("/")[2])
    seats = load_state(api.parts, board).seats
    assert {*api.parts.accounts.name_of(seats)} == {one.name, two.name}


def test_an_open_challenge_for_three_says_so(pair):
    one, two = pair
    one.send("/new", {"game": "halves", "seats": "3", "note": "a round of three"}, on="/new")
    assert "; for 3 players; " in two.page("/").partition("a round of three")[0][-200:]


def test_whose_tiles_are_whose_is_shown_after_they_were_swapped(pair):
    one, two = pair
    board = start(one, two, game="halves")
    looks = re.compile(r'class="seat seat-(\d)"')
    assert looks.findall(one.page(f"/m/{board}")) == ["0", "1"]
    one.move(board, "swap")
    assert looks.findall(one.page(f"/m/{board}")) == ["1", "0"]


def test_beside_a_name_stands_the_look_of_the_pieces_even_where_dark_ones_begin():
    game = game_by_key("torere")
    rules = game.latest
    svg = draw_position(rules, rules.start(rules.read_options(()), 2, None), ("anna", "berta"))
    turned = svg.replace("icon light", "icon @").replace("icon dark", "icon light")
    shown = [
        BoardView(svg=Markup(each), moves="", check="", ply=0, turn="", game=game)
        for each in (svg, turned.replace("icon @", "icon dark"))
    ]
    assert [each.looks for each in shown] == [(0, 1), (1, 0)]


def test_what_the_rules_call_an_ending_is_no_sentence_in_a_list(api, pair):
    board = whole_match(pair, "powerdrain")
    api.caught_up()
    reason = load_state(api.parts, board).result.reason
    page = pair[0].page(f"/players/{pair[0].name}")
    assert f"by {reason}" not in page
    assert re.search(r"has won</td>|share the win</td>", page)


def test_options_and_times_of_the_form_are_those_of_the_match(api, pair):
    one, two = pair
    fields = {
        "pick-0": "-fast",
        "pick-1": "-exact",
        "time": "bank",
        "weekends": "off",
        "unrated": "1",
    }
    state = load_state(api.parts, start(one, two, **fields))
    assert state.options == ("-exact", "-fast")
    terms = state.clock.terms
    assert (terms.bank, terms.increment, terms.weekends, terms.rated) == (14, 1, False, False)
    fields = {"number-0": "5", "pick-1": "-keep_chosen", "pick-4": ""}
    state = load_state(api.parts, start(one, two, game="halves", **fields))
    assert state.options == ("-keep_chosen", "-tiles_each=5")


def test_home_shows_what_waits_for_whom(api, pair):
    one, two = pair
    board = start(one, two)
    api.caught_up()
    assert f'href="/m/{board}"' in one.page("/")
    assert "6 days 23 hours left" in one.page("/")
    assert f'{one.name} <span class="quiet">to move for' in two.page("/")
    until(lambda: f"with {one.name} has begun" in two.page("/"))


def test_a_match_in_which_much_happens_does_not_hide_the_others(api, pair):
    one, two = pair
    quiet, busy = start(one, two), start(one, two, game="torere")
    for _ in range(20):
        match = one.get(f"/api/matches/{busy}").json()
        userid = match["players"][match["at"]["to_move"]]["userid"]
        mover = one if one.name == userid else two
        mover.move(busy, match["at"]["legal"][0])
    api.caught_up()
    told = two.page("/").partition(">News<")[2]
    assert f'href="/m/{quiet}"' in told
    assert told.count(f'href="/m/{busy}"') == 1


def test_a_puzzle_is_played_with_its_score_and_bound(api, come):
    guest = come()
    guest.log_in(api.player().name)
    board = start(guest, game="one")
    guest.move(board, "c3")
    page = guest.page(f"/m/{board}")
    assert "Your puzzle" in page
    assert re.search(r'class="score">\d+ lines with exactly one stone', page)
    assert "40 of the 44" in page
    guest.move(board, "done")
    api.caught_up()
    assert guest.name in guest.page("/puzzles")
    assert guest.name in guest.page("/games/one")


def test_notes_are_seen_by_nobody_else_and_go_with_the_account(api, pair):
    one, two = pair
    board = start(one, two)
    fields = {"note": "watch m5,\r\nthen <i>e9</i>"}
    assert one.send(f"/m/{board}/note", fields, on=f"/m/{board}").status_code == 303
    assert ">watch m5,\nthen &lt;i&gt;e9&lt;/i&gt;</textarea>" in one.page(f"/m/{board}")
    assert "watch m5" not in two.page(f"/m/{board}")
    account = api.parts.accounts.id_of(one.name)
    assert one.send("/account/deletion", {"password": PASSWORD}).status_code == 303
    assert Notes(api.parts.data).get(account, board) == ""


# what can be chosen


@pytest.mark.parametrize("game", game_keys())
def test_what_can_be_chosen_is_what_is_legal(api, pair, game):
    one, two = pair
    rules = latest_rules(game)
    board = start(one, *([two] if rules.players != (1,) else []), game=game)
    chance = random.Random(game)
    for _ in range(6):
        state = load_state(api.parts, board)
        if state.over:
            break
        position = positions(state)[-1]
        found = moves(one, board)
        assert found == list(rules.legal_moves(position))[:MAX_MOVES]
        mover = one if state.next == 0 else two
        mover.move(board, chance.choice(found))


def test_a_move_is_looked_at_before_it_is_played(api, pair):
    one, two = pair
    board = start(one, two)
    json_ = {"headers": {"Accept": "application/json"}}
    found = one.get(f"/m/{board}/check?move=m13-m5:l4", **json_).json()
    assert found["legal"]
    kinds = {change["place"]: (change["kind"], change["now"]) for change in found["changes"]}
    assert kinds == {
        "m1": ("changes", "Light, aged"),
        "m13": ("goes", ""),
        "m5": ("comes", "Light, aged"),
        "l4": ("comes", "Light, fresh"),
    }
    assert found["said"] == f"then it is {two.name}'s turn"
    assert found["svg"].startswith("<svg")
    refused = one.get(f"/m/{board}/check?move=m13-k5", **json_).json()
    assert not refused["legal"]
    assert refused["said"] == "m13-k5: no line joins m13 and k5"
    assert "no line joins" in one.page(f"/m/{board}/check?move=m13-k5")
    assert "Play it" in one.page(f"/m/{board}/check?move=m13-m5:l4")
    assert "Play it" not in two.page(f"/m/{board}/check?move=m13-m5:l4")
    assert load_state(api.parts, board).ply == 0


def test_a_move_that_ends_the_match_is_said_to():
    rules = latest_rules("powerdrain")
    position = _initial_position(rules, rules.read_options(["-o1"]), 2, "x")
    while True:
        move = next(iter(rules.legal_moves(position)))
        after = rules.play(position, rules.check(position, rules.read(move)))
        if rules.outcome(after):
            break
        position = after
    found = preview_move(rules, position, move, ("ann", "bob"))
    assert found.said.startswith("this ends the match: ")
    assert not preview_move(rules, after, move, ()).legal


# replay and lines


def test_every_ply_has_a_page_and_no_other(pair):
    one, two = pair
    board = start(one, two)
    one.move(board, "m13-m5:l4")
    assert "The start" in one.page(f"/m/{board}/0")
    assert "After 1 of 1 moves: m13-m5:l4" in one.page(f"/m/{board}/1")
    assert one.get(f"/m/{board}/2").status_code == 404
    assert one.get(f"/m/{board + 10_000}/0").status_code == 404


def test_two_plies_are_compared_by_what_stands_where(pair):
    one, two = pair
    board = start(one, two)
    one.move(board, "m13-m5:l4")
    page = one.page(f"/m/{board}/compare?a=0&b=1")
    assert page.count("<svg viewBox=") + page.count('class="board"') >= 2
    assert re.search(r"<td>l4</td><td>nothing</td><td>Light, fresh</td>", page)
    assert re.search(r"<td>m1</td><td>Light, fresh</td><td>Light, aged</td>", page)
    assert "the boards are the same" in one.page(f"/m/{board}/compare?a=1&b=1")


def test_what_if_goes_on_from_any_ply_and_touches_nothing(api, come, pair):
    one, two = pair
    board = start(one, two)
    one.move(board, "m13-m5:l4")
    guest = come()
    answer = guest.get(f"/m/{board}/0/if?move=m1-m7")
    assert answer.headers["location"] == f"/m/{board}/0/if?line=m1-m7"
    answer = guest.get(f"/m/{board}/0/if?line=m1-m7&move=A13-C11")
    assert answer.headers["location"] == f"/m/{board}/0/if?line=m1-m7+a13-c11"
    assert ">a13-c11</a>" in guest.page(answer.headers["location"])
    later = guest.page(f"/m/{board}/1/if?line=a13-c11")
    assert '<ol class="moves" start="2">' in later  # its number in the match
    found = guest.get(f"/m/{board}/0/if/moves?line=m1-m7+a13-c11").json()
    assert found["ply"] == 2
    assert found["moves"]
    said = guest.get(f"/m/{board}/0/if/check?line=m1-m7&move=m7-m9").json()["said"]
    assert "it is Dark's turn" in said
    wrong = guest.get(f"/m/{board}/0/if?line=m1-m7+m7-m9")
    assert wrong.status_code == 422
    assert "Move 2: " in wrong.text
    assert guest.get(f"/m/{board}/0/if?line={'m1-m7+' * 2000}").status_code in (400, 413)
    assert load_state(api.parts, board).ply == 1


@pytest.mark.parametrize("game", game_keys())
def test_every_game_can_be_tried_to_its_end(come, game):
    guest, chance = come(), random.Random(game)
    where = (
        f"/games/{game}/try?seed=feed" if game in ("halves", "powerdrain") else f"/games/{game}/try"
    )
    mark = "&" if "?" in where else "?"
    line: list[str] = []
    for _ in range(12):
        query = f"{mark}line={'+'.join(line)}" if line else ""
        found = guest.get(f"{where}{query}".replace("/try", "/try/moves")).json()["moves"]
        if not found:
            break
        line.append(chance.choice([move for move in found if move != "done"] or found))
    page = guest.page(f"{where}{mark}line={'+'.join(line)}")
    assert (
        f">{line[-1]}</a>".replace(">", "&gt;", 0) in page or line[-1].replace(">", "&gt;") in page
    )


def test_chance_in_a_game_that_is_tried_stays_in_the_address(come):
    guest = come()
    page = guest.page("/games/powerdrain/try")
    (seed,) = set(re.findall(r"seed=([0-9a-f]{16})", page))
    one, two = (guest.get(f"/games/powerdrain/try?seed={seed}").text for _ in range(2))
    assert one.split("<svg")[2] == two.split("<svg")[2]
    other = guest.get("/games/powerdrain/try?seed=00").text
    assert one.split("<svg")[2] != other.split("<svg")[2]


# taking it away


def whole_match(pair, game: str, **fields) -> int:
    one, two = pair
    board = start(one, two, game=game, **fields)
    chance = random.Random(game)
    while found := moves(one, board):
        mover = one if turn(one, board) == "Your turn" else two
        mover.move(board, chance.choice(found))
    return board


@pytest.mark.parametrize("game", ["powerdrain", "halves", "torere"])
def test_the_referee_reads_a_match_that_was_taken_away(come, pair, game):
    one, two = pair
    if game == "torere":  # which may go on for ever
        board = start(one, two, game=game)
        one.move(board, moves(one, board)[0])
    else:
        board = whole_match(pair, game, **({"number-0": "4"} if game == "halves" else {}))
    told = come().get(f"/m/{board}/match.json")
    assert "attachment" in told.headers["content-disposition"]
    given = {key: value for key, value in told.json().items() if key in
             ("game", "players", "options", "rules", "setup", "moves")}  # fmt: skip
    given["rules"] = given["rules"].partition("/")[2] and given["rules"]
    asked = subprocess.run(
        [SCRIPT, "referee"], input=json.dumps(given), capture_output=True, text=True, check=True
    )
    answer = json.loads(asked.stdout)
    assert answer["ok"], answer
    assert answer["ply"] == len(given["moves"])
    result = told.json()["result"]
    assert (answer["result"] or {}).get("winners") == (result or {}).get("winners")


def test_a_match_as_text_has_every_board(come, pair):
    board = whole_match(pair, "powerdrain")
    text = come().get(f"/m/{board}/match.txt").text
    assert len(re.findall(r"^#\d+  ", text, re.MULTILINE)) == 16
    assert pair[0].name in text


@pytest.mark.parametrize("game", ["pow2", "powerdrain", "halves"])
def test_a_moving_picture_shows_at_each_time_what_a_board_shows(api, come, pair, game):
    one, two = pair
    board = start(one, two, game=game)
    chance = random.Random(3)
    for _ in range(5):
        mover = one if turn(one, board) == "Your turn" else two
        mover.move(board, chance.choice(moves(one, board)))
    answer = come().get(f"/m/{board}/film.svg")
    root = ET.fromstring(answer.text)
    state = load_state(api.parts, board)
    assert len(answer.text) < 6 * 25_000
    svg = "{http://www.w3.org/2000/svg}"
    moving = [part for part in root if part.find(f"{svg}animate") is not None]
    assert moving
    for part in moving:
        animate = part.find(f"{svg}animate")
        times = [float(at) for at in animate.get("keyTimes").split(";")]
        assert times == sorted(times)
        assert times[0] == 0
        assert len(times) == len(animate.get("values").split(";"))
    names = [one.name, two.name]
    for ply in range(state.ply + 1):
        shown = _shown_at(moving, (ply + 0.5) / (state.ply + 4), svg)
        alone = ET.fromstring(one.get(f"/m/{board}/{ply}/board.svg").text)
        wanted = {_plain(part) for part in alone}
        there = {_plain(part) for part in [*shown, *(p for p in root if p not in moving)]}
        missing = {
            part for part in wanted - there if "title" not in part[:60] and "desc" not in part[:60]
        }
        if game == "halves":  # whose last move only the board before it tells all of
            continue
        assert not missing, (ply, names)
    assert animate_match(state, names) == answer.text


def _shown_at(moving, time: float, svg: str):
    for part in moving:
        animate = part.find(f"{svg}animate")
        times = [float(at) for at in animate.get("keyTimes").split(";")]
        values = animate.get("values").split(";")
        now = [value for at, value in zip(times, values, strict=True) if at <= time][-1]
        if now == "inline":
            yield next(iter(part))


def _plain(part) -> str:
    return ET.tostring(part, encoding="unicode").strip()


# the account


def test_preferences_addresses_and_tokens_are_kept(api, come):
    guest = come()
    guest.log_in(api.player().name)
    fields = {"language": "de", "notify": "daily", "display-pow2": "small"}
    assert guest.send("/account/preferences", fields).status_code == 303
    answer = guest.send("/account/addresses", {"addresses": "a@example.org, b@example.org"})
    assert answer.status_code == 303
    profile = api.parts.accounts.record_of(api.parts.accounts.id_of(guest.name))
    assert (profile.language, profile.notify) == ("de", "daily")
    assert dict(profile.displays)["pow2"] == "small"
    assert [one.address for one in profile.addresses] == ["a@example.org", "b@example.org"]
    assert "DIE" in guest.page("/games/pow2").upper()
    before = {*re.findall(r"/account/tokens/([0-9a-f]{16})/revoke", guest.page("/account"))}
    made = guest.send("/account/tokens", {"label": "bot", "scope": ["read"], "days": "30"})
    (text,) = re.findall(r'value="(mp_[\w-]+)"', made.text)
    assert check_one(api.parts.tokens, text).scopes == ("read",)
    assert text not in guest.page("/account")
    listed = {*re.findall(r"/account/tokens/([0-9a-f]{16})/revoke", guest.page("/account"))}
    (id_,) = listed - before
    guest.send(f"/account/tokens/{id_}/revoke")
    assert check(api.parts.tokens, [text]) == [None]


def test_a_vacation_is_taken_without_the_password_because_who_takes_it_is_logged_in(api, pair):
    one, two = pair
    board = start(one, two)
    api.caught_up()
    answer = one.send("/account/vacation", {"days": "3"})
    assert "you are on vacation until" in answer.text.lower()
    until(lambda: load_state(api.parts, board).clock.stops)
    assert one.send("/account/vacation", {"days": "31"}).status_code == 422
    assert one.send("/account/vacation", {"days": "a b"}).status_code == 422
    assert one.send("/account/vacation", {"days": "back"}).status_code == 200


def test_what_others_write_is_news_until_the_match_is_looked_at(api, pair):
    one, two = pair
    board = start(one, two)
    account = api.parts.accounts.id_of(two.name)
    said = one.send(f"/m/{board}/chat", {"text": "hello - you"}, on=f"/m/{board}")
    assert said.status_code == 303
    api.parts.messages.send(api.parts.accounts.id_of(one.name), [account], "hi", bytes(16))
    assert api.parts.unread.counts(account) == UnreadCounts({board: 1}, 1)
    home = two.page("/")
    assert "here is new chat in the match with" in home
    assert "omebody has written to you" in home
    assert "/m/0" not in home
    assert "hello - you" in two.page(f"/m/{board}")
    assert api.parts.unread.counts(account) == UnreadCounts({}, 1)
