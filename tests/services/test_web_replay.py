"""Replay, lines that are only tried, and a match that is taken away as a file or picture."""

import json
import random
import re
import subprocess
import sys
from pathlib import Path

import pytest

from services.app.games import game_keys
from services.app.matches import load_state
from tests.services.matches_by_form import moves, start, whole_match

SCRIPT = Path(sys.executable).with_name("matchpost")


# replay and lines


def test_every_ply_has_a_page_and_no_other(pair):
    one, two = pair
    board = start(one, two)
    one.move(board, "m13-m5:l4")
    assert "The start" in one.page(f"/m/{board}/0")
    assert "After move 1 of 1: m13-m5:l4." in one.page(f"/m/{board}/1")
    assert one.get(f"/m/{board}/2").status_code == 404
    assert one.get(f"/m/{board + 10_000}/0").status_code == 404


def test_two_plies_are_compared_by_what_stands_where(pair):
    one, two = pair
    board = start(one, two)
    one.move(board, "m13-m5:l4")
    page = one.page(f"/m/{board}/compare?a=0&b=1")
    assert page.count("<svg viewBox=") + page.count('class="board"') >= 2
    assert "spaces differ" in page
    assert page.count('class="differs-ring"') == 8  # four on each board
    assert re.search(r"<td>l4</td><td>nothing</td><td>Light, fresh</td>", page)
    assert re.search(r"<td>m1</td><td>Light, fresh</td><td>Light, aged</td>", page)
    assert "The boards are identical." in one.page(f"/m/{board}/compare?a=1&b=1")


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


def test_the_script_gets_the_board_of_each_position_and_of_each_line(come, pair):
    one, two = pair
    board = start(one, two)
    one.move(board, "m13-m5:l4")
    guest = come()
    found = guest.get(f"/m/{board}/1/if/board").json()
    assert found["says"] == f"After move 1 of 1: m13-m5:l4. {two.name} is to move."
    assert (found["moves"], found["over"]) == ([], False)
    assert 'class="player' not in found["svg"]
    assert "13 left to place" in found["plates"]["below"]
    assert "to-move" in found["plates"]["above"]
    tried = guest.get(f"/m/{board}/0/if/board?line=M1-M7+a13-c11").json()
    assert tried["moves"] == ["m1-m7", "a13-c11"]
    assert tried["seats"] == [0, 1]
    assert 'class="clock' in found["plates"]["above"]
    assert 'class="clock' not in tried["plates"]["above"]  # nothing ran
    assert tried["says"] == f"{one.name} is to move."
    assert guest.get(f"/m/{board}/2/if/board").status_code == 404


def test_an_earlier_position_has_the_clocks_of_then(pair, come):
    one, two = pair
    board = start(one, two, **{"time": "own", "own-bank": "5", "own-more": "1"})
    one.move(board, "m13-m5:l4")
    clocks = [
        re.findall(r'class="clock still"[^>]*>([^<]*)<', come().page(f"/m/{board}/{ply}"))
        for ply in (0, 1)
    ]
    assert clocks == [["5 d 0 h", "5 d 0 h"], ["5 d 0 h", "5 d 23 h"]]
    one.act(board, "resign")
    assert 'class="clock' not in come().page(f"/m/{board}/1")


def test_a_replay_has_the_tools_of_the_board(pair):
    one, two = pair
    page = one.page(f"/m/{start(one, two)}/0")
    assert 'id="flip"' in page
    assert 'class="looks"' in page
    assert 'data-legend="pow2"' in page


def test_moves_stand_in_the_columns_of_those_who_made_them(pair):
    one, two = pair
    board = start(one, two)
    one.move(board, "m13-m5:l4")
    two.move(board, "a13-c11")
    page = one.page(f"/m/{board}")
    assert re.findall(r'<li class="column-(\d)', page) == ["0", "1"]
    assert re.search(r"<span>Light</span><span>Dark</span>", page)


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

    def board(seed: str) -> str:
        text = guest.get(f"/games/powerdrain/try?seed={seed}").text
        return text.partition('<svg class="board"')[2].partition("</svg>")[0]

    assert board(seed) == board(seed) != board("00")


# taking it away


@pytest.mark.parametrize("game", ["powerdrain", "halves", "torere"])
def test_the_referee_reads_a_match_that_was_taken_away(come, pair, game):
    one, two = pair
    if game == "torere":  # which may never end
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


def test_a_match_as_text_is_a_download(pair, come):
    one, two = pair
    board = start(one, two)
    one.move(board, "m13-m5:l4")
    text = come().get(f"/m/{board}/match.txt")
    assert text.headers["content-disposition"].startswith("attachment")


def test_a_match_as_text_has_every_board(come, pair):
    board = whole_match(pair, "powerdrain")
    text = come().get(f"/m/{board}/match.txt").text
    assert len(re.findall(r"^#\d+  ", text, re.MULTILINE)) == 16
    assert pair[0].name in text
