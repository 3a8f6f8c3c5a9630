"""What can be chosen on a board, and a move that is looked at before it is played."""

import random
import re

import pytest

from domain.match.state import positions
from domain.rules import latest_rules
from services.app.games import game_keys
from services.app.matches import load_state
from services.http.web.boards.board_view import MAX_MOVES, preview_move
from services.http.web.boards.live_try import start_of_try
from tests.services.matches_by_form import moves, start


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
    assert found["said"] == f"It will be {two.name}'s turn."
    assert found["svg"].startswith("<svg")
    refused = one.get(f"/m/{board}/check?move=m13-k5", **json_).json()
    assert not refused["legal"]
    assert refused["said"] == "m13-k5: no line connects m13 and k5"
    assert "no line connects" in one.page(f"/m/{board}/check?move=m13-k5")
    assert "Play it" in one.page(f"/m/{board}/check?move=m13-m5:l4")
    assert "Play it" not in two.page(f"/m/{board}/check?move=m13-m5:l4")
    # a board that is shown beside a refusal is turned as on the page of the match
    refused = two.page(f"/m/{board}/check?move=m13-m1")
    assert "m1 is occupied by a light piece" in refused
    of_match = two.page(f"/m/{board}")
    assert (
        re.search("<svg.*?</svg>", refused[refused.index("board-frame check") :], re.DOTALL)[0]
        in of_match
    )
    assert load_state(api.parts, board).ply == 0


def test_a_move_that_ends_the_match_is_said_to():
    rules = latest_rules("powerdrain")
    position = start_of_try(rules, rules.read_options(["-o1"]), 2, "x")
    while True:
        move = next(iter(rules.legal_moves(position)))
        after = rules.play(position, rules.check(position, rules.read(move)))
        if rules.outcome(after):
            break
        position = after
    found = preview_move(rules, position, move, ("ann", "bob"))
    assert found.said.startswith("This ends the match: ")
    assert not preview_move(rules, after, move, ()).legal


def test_who_chooses_a_colour_in_halves_reads_its_name_and_what_follows(pair):
    one, two = pair
    board = start(one, two, game="halves")
    found = one.get(f"/m/{board}/moves").json()
    assert found["moves"] == ["keep", "swap"]
    assert found["prompt"] == "Which colour do you want?"
    assert found["words"] == {"keep": "Play the light tiles", "swap": "Play the dark tiles"}
    said = one.get(f"/m/{board}/check?move=swap", headers={"accept": "application/json"}).json()
    assert (said["label"], said["changes"]) == ("Play the dark tiles", [])
    assert said["said"] == f"the light ones go to {two.name}, who removes the first tile"
    tried = one.get("/games/halves/try/check?seed=00&move=keep").json()
    assert tried["said"] == "the dark ones go to B, who removes the first tile"
    page = one.page(f"/m/{board}/check?move=swap")
    assert "<h1>Play the dark tiles</h1>" in page
    assert f"The light ones go to {two.name}, who removes the first tile." in page
    assert "You’re playing Light." in one.page(f"/m/{board}")
    one.move(board, "swap")
    assert "You’re playing Dark." in one.page(f"/m/{board}")
    assert "You’re playing Light." in two.page(f"/m/{board}")
    assert two.get(f"/m/{board}/moves").json()["prompt"] == "Choose a tile to remove"


def test_a_free_cell_that_gets_another_number_is_no_change():
    rules = latest_rules("halves")
    position = start_of_try(rules, rules.read_options(["-manual_start"]), 3, "x")
    for _ in range(8):
        moves_of = list(rules.legal_moves(position))
        changes = preview_move(rules, position, moves_of[0], ("ann", "bob", "cid")).changes
        assert not [one for one in changes if "free" in (one.was, one.now)]
        position = rules.play(position, rules.check(position, rules.read(moves_of[0])))
