"""Moves as sequences of places, one chosen after the other; what is written beside a board, and its marks."""

from random import Random
from typing import Any

import pytest
from rich.text import Text

from domain.fairness import DrawStream
from domain.rules import all_games
from services.tui.drawn_board import DrawnBoard, PlaceBox, PlaceMarks, paint
from services.tui.move_choice import choose, find_choices, list_move, move_with
from services.tui.shown_match import ShownMatch, clock_text

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


# what is written beside a board


PLAYERS = [
    {"seat": 0, "side": "Light", "userid": "alice", "playing": True},
    {"seat": 1, "side": "Dark", "userid": "bob", "playing": True},
]


def shown(userid: str = "alice", **changes: Any) -> ShownMatch:
    moves = changes.get("moves", ())
    match = {
        "board": 12,
        "title": "The Power of Two",
        "options": ["-fast"],
        "players": PLAYERS,
        "state": "active",
        "waits_for": [0],
        "ply": len(moves),
        "moves": moves,
        "at": {"to_move": 0, "legal": ["m13-j7"], "position": {}},
        "offer": None,
        "result": None,
        "clock": None,
    }
    return ShownMatch(match | changes, userid)


def test_whose_turn_it_is_depends_on_the_reader():
    assert shown().turn_sentence == "It is your turn."
    assert shown("bob").turn_sentence == "It is alice's turn."
    assert shown("").turn_sentence == "It is alice's turn."
    assert [move.text for move in shown().legal] == ["m13-j7"]
    assert (shown("bob").legal, shown("").seats) == ((), ())


def test_an_offer_is_put_to_those_who_have_not_answered():
    offer = {"kind": "draw", "seat": 1, "accepted": [1]}
    assert shown(offer=offer).foreign_offer == "draw"
    assert shown(offer=offer).offer_sentence == "bob offers a draw. a accepts, r rejects."
    assert shown("bob", offer=offer).offer_sentence == "You offered a draw."
    assert shown("", offer=offer).offer_sentence == "bob offers a draw."


def test_only_the_clock_of_the_player_to_move_runs():
    clock = {
        "deadline": 1,
        "paused_since": None,
        "seats": [{"seat": 0, "left_ms": 90_000}, {"seat": 1, "left_ms": 90_000}],
    }
    lines = [line for _, line in shown(clock=clock).player_lines(30, 40)]
    assert lines == ["> Light alice (you)", "    00:01:00", "  Dark bob", "    00:01:30"]
    paused = clock | {"deadline": None, "paused_since": 5}
    assert [line for _, line in shown(clock=paused).player_lines(30, 40)][1] == "    00:01:30"
    assert shown(clock=paused).turn_sentence == "The match is paused; o resumes it."


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "00:00:00"), (-5, "00:00:00"), (3_599.9, "00:59:59"), (183_845, "2d 03:04:05")],
)
def test_a_time_is_written_in_days_and_hours(seconds, text):
    assert clock_text(seconds) == text


def test_the_last_moves_are_listed_by_rounds():
    assert shown(moves=("m13-j7", "a1-a9", "m1-m3")).move_lines() == [
        "  1 m13-j7 a1-a9",
        "  2 m1-m3",
    ]
    many = shown(moves=tuple(f"a{number}" for number in range(61))).move_lines()
    assert many[-1] == " 31 a60"
    assert len(many) == 21


def test_news_say_what_has_changed():
    before = shown("bob", moves=("a1-a9",))
    played = shown(
        "bob", moves=("a1-a9", "m1-m3"), waits_for=[1], at=before.match["at"] | {"to_move": 1}
    )
    assert played.news_since(before) == "Played: m1-m3. It is your turn."
    assert before.news_since(before) == ""
    assert before.news_since(played) == "Moves were taken back; 1 move is left. It is alice's turn."
    offer = {"kind": "draw", "seat": 0, "accepted": [0]}
    proposed = shown("bob", moves=("a1-a9",), offer=offer)
    assert proposed.news_since(before) == "alice offers a draw. a accepts, r rejects."
    assert before.news_since(proposed) == "The offer is no longer open. It is alice's turn."
    over = shown("bob", state="over", result={"reason": "goal", "winners": [0]})
    assert over.news_since(before) == "Alice won. o starts a rematch."


def test_each_mark_can_be_seen_without_colour():
    boxes = tuple(PlaceBox(name, 0, 2 * at) for at, name in enumerate("abcd"))
    drawn = DrawnBoard(0, None, "", "* * * *", boxes, "large", ("large",), "")
    text = paint(drawn, PlaceMarks(targets=("b", "d"), chosen=("c",), cursor="d", last=("a",)))
    assert text.plain == "* *(*[*]"
    plain = _attributes(text)
    # a chosen place and the cursor differ in their brackets
    assert plain[4] == plain[6]
    assert len({plain[0], plain[2], plain[4], frozenset()}) == 4


def _attributes(text: Text) -> dict[int, frozenset[str]]:
    """The parts of each character's style that are no colour."""
    colours = {"cyan", "green", "magenta", "yellow"}
    return {
        at: frozenset(
            word
            for span in text.spans
            if span.start <= at < span.end
            for word in str(span.style).split()
            if word not in colours
        )
        for at in range(len(text))
    }
