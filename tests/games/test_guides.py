"""The guides of the games: each picture is a real position, and shows what its caption says."""

import re
from importlib.resources import files

import pytest

from domain.drawing import illustrate
from domain.game.painter import WIDTH
from domain.game.protocol import GamePart, game_context
from domain.games.powerdrain.grid import volts_left
from domain.rules import game_by_key, game_keys, latest_rules
from domain.rules.guide import GameGuide, next_places, reach_position, read_guide
from infra.languages.wording import wording
from tests.helpers.catalogues import guide_texts

KEYS = game_keys()
PLACE = re.compile(r"\b[a-m]1?\d\b")


def guide_of(key: str) -> GameGuide:
    return read_guide(files(game_by_key(key).package).joinpath("guide.toml").read_text("utf-8"))


def texts_of(key: str) -> list[tuple[str, str]]:
    """Return the texts of a guide, each with its German words."""
    german, context = wording("de"), game_context(key, GamePart.GUIDE)
    return [(text, german.pgettext(context, text)) for text in guide_texts(guide_of(key))]


def reached(key: str, name: str):
    """Return the picture of this name, its position in the JSON form, and what follows on from it."""
    rules, picture = latest_rules(key), guide_of(key).picture(name)
    assert picture
    position = reach_position(rules, picture).position
    return picture, rules.to_json(position), next_places(rules, position, picture.chosen)


@pytest.mark.parametrize("key", KEYS)
def test_a_guide_is_in_both_languages_with_pictures_of_real_positions_and_notation_that_is_read(
    key,
):
    for english, german in texts_of(key):
        assert english != german
        assert not re.search(r"\b(Ihnen|Ihre[mnrs]?)\b", german), german
        assert set(PLACE.findall(english)) == set(PLACE.findall(german)), english
    guide, rules = guide_of(key), latest_rules(key)
    names = [picture.name for picture in guide.pictures]
    assert len({*names}) == len(names) >= 4
    assert guide.picture(guide.card)
    for line in guide.notation:
        assert rules.write(rules.read(line.move)) == line.move
    for picture in guide.pictures:
        assert re.fullmatch(r"(?!.*\. ).{,159}[.?]", picture.caption), "one short sentence"
        position, before, last = reach_position(rules, picture)
        for text in picture.moves.split():
            assert rules.write(rules.read(text)) == text
        assert last == (picture.moves.split() or [""])[-1]
        targets = next_places(rules, position, picture.chosen)
        drawn = illustrate(
            rules, position, last=last, before=before, chosen=picture.chosen, targets=targets
        )
        assert drawn.count('class="chosen') == len(picture.chosen)
        assert drawn.count('class="target') == len(targets)
        assert f'viewBox="0 0 {WIDTH} ' in drawn
        assert len(drawn) <= 48_000


@pytest.mark.parametrize(
    ("key", "name", "winners"),
    [
        ("pow2", "won", (0,)),
        ("goliath", "won", (1,)),
        ("line", "end", (1,)),
        ("torere", "won", (0,)),
        ("halves", "end", (1,)),
        ("powerdrain", "end", (1,)),
        ("breakthrough", "won", (0,)),
        ("connectfour", "won", (0,)),
        ("loa", "won", (0,)),
        ("oware", "won", (1,)),
        ("amazons", "won", (0,)),
    ],
)
def test_the_last_picture_of_a_game_is_won(key, name, winners):
    guide, rules = guide_of(key), latest_rules(key)
    assert guide.pictures[-1].name == name
    outcome = rules.outcome(reach_position(rules, guide.pictures[-1]).position)
    assert outcome
    assert outcome.winners == winners


def test_the_pictures_of_pow2_show_what_they_say():
    assert reached("pow2", "start")[1]["supply"] == [14, 14]
    assert {"g1", "m5", "a7"} <= set(reached("pow2", "move")[2])
    met = reached("pow2", "meet")[1]["board"]
    assert (met["m1"], met["m5"], met["l4"]) == ("o", "o", "O")
    assert "m1" not in reached("pow2", "leave")[1]["board"]
    two = reached("pow2", "two")[1]["board"]
    assert (two["d4"], two["c3"], two["e5"]) == ("x", "X", "X")
    assert (two["d2"], two["e3"]) == ("O", "x")
    won = reached("pow2", "won")[1]
    assert won["board"]["m9"] == "O"
    assert sum(letter in "oO" for letter in won["board"].values()) == 16


def test_the_pictures_of_goliath_show_what_they_say():
    start = reached("goliath", "start")[1]
    assert start == {"board": {"a1": "G", "m13": "D"}, "supply": [15, 15]}
    assert reached("goliath", "david")[0].chosen == ("m13",)
    assert {"g5", "i7", "m5", "i3"} <= set(reached("goliath", "throw")[2])
    assert len(reached("goliath", "goliath")[2]) < len(reached("goliath", "david")[2])
    board = reached("goliath", "won")[1]["board"]
    assert (board["c8"], board["a9"]) == ("D", "x")


def test_the_pictures_of_line_show_what_they_say():
    _, first, places = reached("line", "first")
    assert first["board"] == {"b4": "o"}
    assert 0 < len(places) < 63
    assert reached("line", "short")[1]["board"] == {"a1": "o", "h8": "x"}
    assert len(reached("line", "regions")[0].moves.split()) == 12
    assert reached("line", "end")[1]["stones"] == [16, 19]


def test_the_pictures_of_torere_show_what_they_say():
    assert reached("torere", "first")[2] == ("1", "4")
    assert reached("torere", "round")[2] == ("5",)
    assert reached("torere", "out")[2] == ("5",)
    assert "4" not in reached("torere", "won")[1]["board"]


def test_the_pictures_of_halves_show_what_they_say():
    whole = reached("halves", "whole")[1]["tiles"]
    assert [sum(tile[2] == colour for tile in whole) for colour in (0, 1)] == [12, 12]
    _, turn, places = reached("halves", "turn")
    assert {str(tile[3]) for tile in turn["tiles"] if tile[2] == 1} == set(places)
    left = {tile[3] for tile in reached("halves", "halved")[1]["tiles"]}
    # the upper part and tile 10 are gone
    assert not left & {*range(1, 9), 10, 11, 14}
    assert len(left) == 13
    assert all(tile[2] == 0 for tile in reached("halves", "end")[1]["tiles"])


def test_the_pictures_of_powerdrain_show_what_they_say():
    start = reached("powerdrain", "start")[1]
    assert [len(hand) for hand in start["hands"]] == [8, 8]
    assert len(reached("powerdrain", "choose")[2]) == 25
    value = reached("powerdrain", "value")[1]
    assert (value["grid"]["19"], volts_left(value)["19"]) == (["44", 0], 8)
    assert volts_left(reached("powerdrain", "drain")[1]) == {"11": 10, "19": 0, "73": -10, "99": -6}
    left = volts_left(reached("powerdrain", "end")[1]).values()
    assert (sum(volts < 0 for volts in left), sum(volts > 0 for volts in left)) == (4, 3)


def test_the_pictures_of_breakthrough_show_what_they_say():
    assert set(reached("breakthrough", "move")[2]) == {"c3", "d3", "e3"}
    assert set(reached("breakthrough", "capture")[2]) == {"c5", "e5"}
    board = reached("breakthrough", "captured")[1]["board"]
    assert (board["e5"], board["d5"]) == ("o", "x")


def test_the_pictures_of_connectfour_show_what_they_say():
    assert reached("connectfour", "fall")[1]["board"] == {"d1": "x", "d2": "o", "e1": "x"}
    open_ = reached("connectfour", "open")[1]["board"]
    assert [open_.get(name) for name in ("b1", "c1", "d1", "e1", "f1")] == [None, *"xxx", None]


def test_the_pictures_of_loa_show_what_they_say():
    assert set(reached("loa", "count")[2]) == {"a3", "c3", "e3"}
    assert reached("loa", "jump")[1]["board"]["h1"] == "x"
    assert set(reached("loa", "blocked")[2]) == {"c1", "c5"}


@pytest.mark.parametrize(
    ("key", "name", "detail"),
    [
        ("one", "stone", "3 lines with exactly one stone, by 1 stone"),
        ("one", "over", "14 lines with exactly one stone, by 4 stones"),
        ("one", "eight", "32 lines with exactly one stone, by 8 stones"),
        ("two", "pair", "1 line with exactly two stones, by 2 stones"),
        ("two", "three", "3 lines with exactly two stones, by 3 stones"),
        ("two", "twelve", "30 lines with exactly two stones, by 12 stones"),
        ("duo", "many", "28 stones placed, 14 light and 14 dark"),
        ("jump", "all", "all 32 stones set, 32 left after 0 plies"),
        ("jump", "left", "all 32 stones set, 4 left after 6 plies"),
    ],
)
def test_the_pictures_of_puzzles_have_the_scores_that_they_say(key, name, detail):
    rules, picture = latest_rules(key), guide_of(key).picture(name)
    assert picture
    score = rules.score(reach_position(rules, picture).position)
    assert score
    assert str(score.detail) == detail


def test_a_colour_is_passed_and_nothing_can_jump_where_the_captions_say_so():
    rules, passed = latest_rules("duo"), guide_of("duo").picture("passed")
    assert passed
    position = reach_position(rules, passed).position
    after = rules.play(position, rules.read(next(iter(rules.legal_moves(position)))))
    count = rules.to_json(after)["board"]
    assert sum(letter == "x" for letter in count.values()) == 4
    assert reached("duo", "many")[2], "there is still room"
    jump, left = latest_rules("jump"), guide_of("jump").picture("left")
    assert left
    assert set(jump.legal_moves(reach_position(jump, left).position)) <= {"done"}


def test_the_first_page_tries_one_game():
    assert sum(guide_of(key).welcome for key in KEYS) == 1


def test_a_guide_with_an_unknown_part_is_refused():
    with pytest.raises(ValueError, match="unknown"):
        read_guide('card = "a"\nabout = "a"\nunknown = 1')


def test_the_pictures_of_oware_show_what_they_say():
    first = reached("oware", "first")[1]["board"]
    assert [first[name] for name in ("d1", "e1", "f1", "f2", "e2", "d2")] == [0, 5, 5, 5, 5, 4]
    before, after = (reached("oware", name)[1] for name in ("before", "capture"))
    assert (before["board"]["c2"], before["board"]["e1"]) == (7, 1)
    assert after["captured"][1] - before["captured"][1] == 2 + 2 + 3
    assert [after["board"][name] for name in ("e1", "d1", "c1", "b1")] == [0, 0, 0, 1]
    left = {name: seeds for name, seeds in reached("oware", "all")[1]["board"].items() if seeds}
    assert {name: seeds for name, seeds in left.items() if name[1] == "2"} == {
        "f2": 2,
        "e2": 2,
        "d2": 2,
    }
    picture, shown, _ = reached("oware", "feeding")
    assert not any(seeds for name, seeds in shown["board"].items() if name[1] == "1")
    assert picture.choices
    assert shown["board"]["f2"] == 5
    assert reached("oware", "won")[1]["captured"][1] == 25


def test_the_pictures_of_amazons_show_what_they_say():
    assert "d1" in reached("amazons", "shooting")[2]
    board = reached("amazons", "first")[1]["board"]
    assert (board["d7"], board["g7"], "d1" in board) == ("o", "#", False)
    column = {place for place in reached("amazons", "blocked")[2] if place[0] == "g"}
    assert column == {"g8", "g9"}
    won = reached("amazons", "won")[1]["board"]
    assert {name for name, there in won.items() if there == "x"} == {"a5", "c1", "d5", "f5"}
