"""Moves as sequences of places, one chosen after the other."""

from random import Random

import pytest

from domain.fairness import DrawStream
from domain.rules import all_games
from services.tui.drawn_board import DrawnBoard, PlaceBox
from services.tui.move_choice import MoveChoice, choose, find_choices, list_move, move_with

POW2 = [
    list_move(text) for text in ("m13-j7", "m13-k8", "m1-a7:b4", "m1-a7", "m1-b4", "m1-a7:b4,c3")
]


def board(*boxes: PlaceBox, text: str = "") -> DrawnBoard:
    return DrawnBoard(0, None, "", text, boxes, "large", ("large",), "Choose.")


@pytest.mark.parametrize("game", all_games(), ids=lambda game: game.key)
def test_every_legal_move_can_be_chosen_place_by_place(game):
    rules, chance = game.latest, DrawStream(bytes(32), "test/1")
    options, players = rules.read_options(()), rules.players[0]
    position = rules.start(options, players, rules.draw(options, players, chance))
    for number in range(8):
        texts = list(rules.legal_moves(position))
        if not texts:
            return
        moves = [list_move(text) for text in texts]
        for move in Random(number).sample(moves, min(20, len(moves))):
            chosen: tuple[str, ...] = ()
            for place in move.places:
                assert place in find_choices(moves, chosen).next, (move, chosen)
                chosen = (*chosen, place)
            assert find_choices(moves, chosen).whole == move
        played = rules.read(Random(number).choice(texts))
        position = rules.play(position, rules.check(position, played))


def test_places_whose_order_is_free_can_be_chosen_in_any_order():
    moves = [list_move("m13-m5:l4,k3"), list_move("m13-m5:l4,j7")]
    assert set(find_choices(moves, ("m13", "m5")).next) == {"l4", "k3", "j7"}
    assert find_choices(moves, ("m13", "m5", "k3", "l4")).whole == moves[0]
    assert find_choices(moves, ("m5",)).fitting == ()


def test_places_without_an_alternative_follow_by_themselves():
    assert choose(POW2, (), "m13") == ("m13",)
    assert choose(POW2, ("m13",), "k8") == ("m13", "k8")
    # m1-a7 is a whole move, which can go on
    assert choose(POW2, (), "m1") == ("m1",)
    assert choose([list_move("5-4")], (), "5") == ("5", "4")


def test_a_chosen_place_is_dropped_and_another_piece_can_be_meant():
    assert choose(POW2, ("m13", "k8"), "k8") == ("m13",)
    assert choose(POW2, ("m13",), "m1") == ("m1",)
    assert choose(POW2, ("m13",), "a13") is None


def test_an_impossible_move_is_written_with_the_place_that_was_meant():
    assert move_with(POW2, ("m13",), "a1") == "m13-a1"
    assert move_with(POW2, ("m1", "a7"), "d2") == "m1-a7:d2"
    assert move_with([list_move("a1-b4:c3,d2")], ("a1", "b4", "d2"), "e1") == "a1-b4:d2,e1"
    assert move_with([], (), "a1") == "a1"


def test_back_drops_places_until_there_was_a_choice():
    choice = MoveChoice([list_move("a1-b4-c3"), list_move("d2-e1-f3"), list_move("d2-e1-g4")])
    assert choice.choose("a1")
    assert choice.chosen == ("a1", "b4", "c3")
    choice.back()
    assert choice.chosen == ()
    assert choice.cursor == "a1"
    assert choice.choose("d2")
    assert choice.chosen == ("d2", "e1")
    assert choice.choose("g4")
    choice.back()
    assert (choice.chosen, choice.cursor) == (("d2", "e1"), "g4")
    assert not choice.choose("h9")
    assert choice.chosen == ("d2", "e1")


def test_the_cursor_goes_to_the_nearest_place_in_a_direction():
    shown = board(
        PlaceBox("a", 0, 0), PlaceBox("b", 0, 8), PlaceBox("c", 4, 0), PlaceBox("d", 5, 9)
    )
    names = ["a", "b", "c", "d"]
    assert shown.nearest("a", "right", names) == "b"
    assert shown.nearest("a", "down", names) == "c"
    assert shown.nearest("b", "down", names) == "d"
    assert shown.nearest("d", "left", names) == "c"
    assert shown.nearest("a", "up", names) is None
    assert shown.nearest("a", "right", ["c"]) is None


def test_names_that_are_not_drawn_are_listed_below_and_can_be_clicked():
    shown = board(PlaceBox("3", 0, 2), text="  *").with_list(["3", "keep", "swap"])
    assert shown.text == "  *\n\n keep  swap"
    assert shown.place_at(2, 2) == "keep"
    assert shown.place_at(2, 7) == "swap"
    assert shown.place_at(2, 5) is None
    assert shown.place_at(0, 2) == "3"


def test_the_places_that_differ_are_found():
    before = board(PlaceBox("a", 0, 0, 2, 2), PlaceBox("b", 0, 3), text="xx o\nyy")
    after = board(PlaceBox("a", 0, 0, 2, 2), PlaceBox("b", 0, 3), text="xx o\nyz")
    assert after.changed(before) == {"a"}
    assert before.changed(before) == set()
