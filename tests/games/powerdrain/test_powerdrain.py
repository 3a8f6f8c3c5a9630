"""Powerdrain: the printed game, its moves, endings, drawings and every sentence.

Powerdrain: its options, and what chance draws under each.

Powerdrain against a slow second opinion, and its positions as values.
"""

import random

import pytest
from hypothesis import given, settings

from domain.drawing import draw_text
from domain.errors import Code, Refusal
from domain.games.powerdrain.grid import PLUGS, SECTIONS, plug_value, remaining_volts
from domain.games.powerdrain.rules import Ending
from tests.games import playing
from tests.games.powerdrain import reference
from tests.games.powerdrain.given import (
    COUNTING,
    GOLDEN,
    HANDS,
    MIXED,
    NEGATIVE,
    OPTION_SETS,
    POSITIVE,
    PRINTED,
    RULES,
    SETUP,
    dealt,
    legal,
    options,
    play,
    position,
    positions,
    printed,
    random_game,
    refused,
    start,
)
from tests.golden.make_games import RandomChance

FORM = "a move is written plug-section, two even digits and two odd ones, such as 24-57"


# --- the printed game


def test_the_printed_game_is_drawn_as_it_is_printed():
    figure = (GOLDEN / "figure.txt").read_text().removesuffix("\n")
    ended = "\n\n4 active plugs to 2"
    assert draw_text(RULES, printed(), "grid", ("player1", "player2")) == figure + ended


@pytest.mark.parametrize("section", PRINTED)
def test_every_section_of_the_printed_game_has_its_value_and_what_is_left(section):
    at = printed()
    plug, full, left = PRINTED[section]
    assert plug_value(plug, section) == abs(int(full))
    assert remaining_volts(at.left, at.top, at.grid)[SECTIONS.index(section)] == int(left)


def test_the_printed_game_is_won_by_the_positive_player_four_to_two():
    outcome = playing.over(RULES, printed())
    assert (outcome.winners, outcome.reason) == ((POSITIVE,), "more-active")
    assert outcome.detail == "4 active plugs to 2"


def test_the_plug_24_in_section_75_has_six_volts():
    assert plug_value("24", "75") == 6


def test_the_two_plugs_of_the_illustration_drain_each_other():
    grid = {"75": ["24", 0], "95": ["82", 1]}
    left = [plug for plug in PLUGS if plug not in ("24", "82")]
    data = {"left": [7, 9, 1, 3, 5], "top": [5, 1, 3, 7, 9], "grid": grid, "pool": left}
    at = position(data)
    drawn = draw_text(RULES, at, "grid").split("\n")
    assert drawn[2:4] == ["7  | <2 4^ |       |       |       |       |",
                          "   |+6  +2 |       |       |       |       |"]  # fmt: skip
    assert drawn[5].startswith("9  | <8 2^ |")
    assert drawn[6].startswith("   |-4   0 |")


# --- moves


def test_a_plug_of_the_own_hand_goes_into_any_empty_section():
    assert legal(dealt()) == [f"{plug}-{section}" for plug in HANDS[0] for section in SECTIONS]
    after = play(dealt(), "22-11")
    assert legal(after) == [f"{plug}-{at}" for plug in HANDS[1] for at in SECTIONS[1:]]
    assert RULES.to_json(after)["grid"] == {"11": ["22", POSITIVE]}
    assert RULES.to_json(after)["hands"] == [HANDS[0][1:], HANDS[1]]
    assert RULES.to_move(after) == NEGATIVE


def test_with_p_both_choose_from_the_pool():
    after = play(start("-o1", "-p"), "22-11", "24-13")
    assert RULES.to_json(after)["pool"] == list(PLUGS[2:])
    assert RULES.to_json(after)["grid"] == {"11": ["22", POSITIVE], "13": ["24", NEGATIVE]}
    assert RULES.count_moves(after) == 14 * 23


@pytest.mark.parametrize(
    ("flags", "numbers"), [(("-o1",), [200, 38400]), (("-o1", "-p"), [400, 144000])]
)
def test_the_numbers_of_move_paths_are_those_on_record(flags, numbers):
    at = start(*flags)
    after = (RULES.count_moves(RULES.play(at, move)) for move in RULES.moves(at))
    assert [RULES.count_moves(at), sum(after)] == numbers


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("24-57", "24-57: plug 24 is Negative's, and it is Positive's turn"),
        ("26-11", "26-11: section 11 already holds plug 22"),
        ("22-13", "22-13: plug 22 is already in section 11"),
        ("24-13", "24-13: plug 24 is already in section 99"),
    ],
)
def test_an_illegal_move_is_refused_by_the_rule_it_breaks(text, sentence):
    at = dealt() if text == "24-57" else play(dealt(), "22-11", "24-99")
    assert refused(at, text) == sentence


def test_no_move_is_legal_after_the_end():
    assert refused(printed(), "24-57") == "24-57: the match is over: all 16 plugs are in"


# --- notation


@pytest.mark.parametrize(
    "text", ["24-57", "2457", "57-24", "5724", " 24 - 57\n", "24 57", "5 7 2 4"]
)
def test_plug_and_section_come_in_any_order_with_or_without_hyphen(text):
    assert RULES.write(RULES.read(text)) == "24-57"


@pytest.mark.parametrize(
    "text",
    ["", "24", "2424", "5757", "2557", "24-5", "24-577", "24--57", "24:57", "-2457", "2-457",
     "0457", "2450", "resign", "24-57x", "\u0662\u0664-57", "24\u201357", "1" * 9000],
)  # fmt: skip
def test_what_is_no_notation_is_refused_with_the_form(text):
    assert playing.unreadable(RULES, text) == f"{text[:24]!r} isn't a move; {FORM}"


# --- endings


def endings():
    """Yield outcomes of random games, from pools on the edges of -o1."""
    for seed in range(2000):
        game = random_game(("-o1", "-p"), seed)
        yield RULES.outcome(game[-1]), RULES.to_json(game[-1])


def test_every_ending_comes_about_and_is_as_the_reference_has_it():
    seen = set()
    for outcome, shown in endings():
        seen.add(outcome.reason)
        assert outcome.winners == reference.result(shown)
        assert outcome.detail == detail(shown, outcome)
        if len(seen) == len(Ending):
            return
    raise AssertionError(f"only {seen} came about")


def detail(shown, outcome):
    left = reference.drained(shown)
    active = [[v for at, v in left.items() if v and shown["grid"][at][1] == s] for s in (0, 1)]
    if outcome.winners == (1,):
        active.reverse()
    more, less = active
    plugs = f"{len(more)} active plug" + ("" if len(more) == 1 else "s")
    match outcome.reason:
        case "more-active":
            return f"{plugs} to {len(less)}"
        case "more-power":
            return f"{plugs} each, {sum(more)} volts to {sum(less)}"
        case _:
            return f"{plugs} each, {sum(more)} volts each"


# --- drawing


def test_hands_or_pool_stand_below_the_grid_until_they_are_used_up():
    drawn = draw_text(RULES, play(dealt(), "22-11"), "grid").split("\n")
    assert drawn[-3:] == [
        "",
        "Positive +  26 42 46 62 66 82 86",
        "Negative -  24 28 44 48 64 68 84 88",
    ]
    drawn = draw_text(RULES, play(start("-o1", "-p"), "22-11"), "grid").split("\n")
    assert drawn[-2:] == ["", f"Pool  {' '.join(PLUGS[1:])}"]


def test_without_names_the_players_are_called_by_their_sides():
    drawn = draw_text(RULES, dealt(), "grid").split("\n")
    assert drawn[1].endswith("---   Positive +")
    assert drawn[5].endswith("|   Negative -")


@settings(max_examples=30)
@given(positions())
def test_every_drawing_is_a_grid_without_trailing_blanks(drawn):
    lines = draw_text(RULES, drawn[1], "grid", ("ann", "bob")).split("\n")
    assert all(line == line.rstrip() for line in lines)
    assert all(len(line) == 44 for line in lines[2:17] if not line.endswith("bob"))


def test_an_unknown_display_is_refused():
    with pytest.raises(Refusal, match="powerdrain has no display 'large'; known are grid"):
        draw_text(RULES, dealt(), "large")


@pytest.mark.parametrize(("flags", "edge"), [(("-o1",), COUNTING), (("-o2",), MIXED)])
def test_o1_and_o2_fix_both_edges(flags, edge):
    for more in ((), ("-p",)):
        shown = RULES.to_json(start(*flags, *more))
        assert shown["left"] == shown["top"] == edge


def test_o1_and_o2_exclude_each_other():
    with pytest.raises(Refusal, match="-o1 and -o2 exclude each other") as refusal:
        options("-o1", "-o2")
    assert refusal.value.code is Code.BAD_OPTION


@pytest.mark.parametrize("flags", OPTION_SETS)
def test_options_are_recorded_sorted_with_hyphens(flags):
    assert RULES.write_options(options(*(flag[1:] for flag in reversed(flags)))) == flags


class Recording(RandomChance):
    """A chance that keeps what it was asked for."""

    def __init__(self, rng):
        super().__init__(rng)
        self.asked = []

    def shuffled(self, purpose, items):
        self.asked.append((purpose, list(items)))
        return super().shuffled(purpose, items)


POTENTIALS = ("powerdrain/potentials", COUNTING)


DEAL = ("powerdrain/plugs", list(PLUGS))


@pytest.mark.parametrize(
    ("flags", "asked"),
    [
        ((), [POTENTIALS, POTENTIALS, DEAL]),
        (("-o1",), [DEAL]),
        (("-o2",), [DEAL]),
        (("-p",), [POTENTIALS, POTENTIALS]),
        (("-o1", "-p"), []),
        (("-o2", "-p"), []),
    ],
)
def test_only_what_the_options_leave_open_is_drawn(flags, asked):
    chance = Recording(random.Random(1))
    setup = RULES.draw(options(*flags), 2, chance)
    assert chance.asked == asked
    assert RULES.needs_draw(options(*flags), 2) == bool(asked)
    assert (setup is None) == (not asked)


def test_the_first_eight_plugs_drawn_are_the_first_players_and_hands_are_sorted():
    class Backwards:
        def shuffled(self, purpose, items):
            del purpose
            return list(reversed(items))

    assert RULES.draw(options(), 2, Backwards()) == {
        "left": [9, 7, 5, 3, 1],
        "top": [9, 7, 5, 3, 1],
        "hands": [list(PLUGS[8:]), list(PLUGS[:8])],
    }


def test_the_plugs_are_in_order_of_their_digits():
    assert " ".join(PLUGS) == "22 24 26 28 42 44 46 48 62 64 66 68 82 84 86 88"


def test_with_p_the_drawn_setup_has_all_plugs_in_a_pool():
    setup = RULES.draw(options("-p"), 2, RandomChance(random.Random(1)))
    assert list(setup) == ["left", "top", "pool"]
    assert setup["pool"] == list(PLUGS)


@pytest.mark.parametrize("flags", OPTION_SETS)
def test_what_is_drawn_is_a_setup_and_the_first_position_shows_it(flags):
    for seed in range(30):
        setup = RULES.draw(options(*flags), 2, RandomChance(random.Random(seed)))
        at = RULES.start(options(*flags), 2, setup)
        shown = RULES.to_json(at)
        assert shown.pop("grid") == {}
        assert shown == setup or (setup is None and shown["pool"] == list(PLUGS))
        assert RULES.to_move(at) == POSITIVE
        assert RULES.option_warning(options(*flags)) == ""


def test_powerdrain_is_played_by_two():
    with pytest.raises(Refusal, match="powerdrain is played by two, not by 3") as players:
        RULES.start(options(), 3, SETUP)
    assert players.value.code is Code.BAD_PLAYERS


@pytest.mark.parametrize(
    ("flags", "change", "problem"),
    [
        ((), None, "Expected `object`, got `null`"),
        ((), {"left": [1, 3, 5, 7]}, "Expected `array` of length 5, got 4"),
        ((), {"left": [1, 3, 5, 7, "9"]}, "Expected `int`, got `str`"),
        ((), {"left": [1, 3, 5, 7, 7]}, "the left edge is not 1 3 5 7 9 in some order"),
        ((), {"top": [1, 3, 5, 7, 8]}, "the top edge is not 1 3 5 7 9 in some order"),
        (("-o1",), {}, "with -o1 the left edge is 1 3 5 7 9"),
        (("-o2",), {"left": MIXED}, "with -o2 the top edge is 7 9 1 3 5"),
        ((), {"grid": {}}, "Object contains unknown field `grid`"),
        ((), {"hands": [HANDS[0]]}, "Expected `array` of length 2, got 1"),
        ((), {"hands": [HANDS[0], HANDS[1][1:]]}, "plug 24 is missing"),
        ((), {"hands": [HANDS[0], [*HANDS[1], "22"]]}, "plug 22 is there twice"),
        ((), {"hands": [HANDS[0], [*HANDS[1], "24"]]}, "plug 24 is there twice"),
        ((), {"hands": [HANDS[0], [*HANDS[1][1:], "23"]]}, "'23' is no plug"),
        ((), {"hands": [HANDS[0][1:], [*HANDS[1], "22"]]}, "Positive does not have 8 plugs"),
        ((), {"hands": None}, "without -p there are two hands, and there is no pool"),
        ((), {"pool": []}, "without -p there are two hands, and there is no pool"),
        (("-p",), {}, "with -p there is a pool, and there are no hands"),
        (("-p",), {"hands": None, "pool": list(PLUGS[1:])}, "plug 22 is missing"),
        (("-o1", "-p"), {}, "with -o1 and -p chance draws no setup"),
    ],
)
def test_a_setup_that_does_not_fit_is_refused(flags, change, problem):
    setup = None if change is None else SETUP | change
    sentence = playing.bad_setup(RULES.start, options(*flags), 2, setup)
    assert sentence.startswith("this does not fit powerdrain: ")
    assert problem in sentence


# --- against the slow reference


@pytest.mark.parametrize("flags", OPTION_SETS, ids=" ".join)
def test_moves_their_effect_and_the_drain_agree_with_the_reference(flags):
    for seed in range(15):
        rng, at = random.Random(seed), start(*flags, seed=seed)
        while RULES.outcome(at) is None:
            shown = RULES.to_json(at)
            turn = RULES.to_move(at)
            assert turn == len(shown["grid"]) % 2
            assert legal(at) == reference.legal(shown, turn)
            assert RULES.count_moves(at) == len(RULES.moves(at)) == len(legal(at))
            text = rng.choice(legal(at))
            at = play(at, text)
            after = RULES.to_json(at)
            assert after == reference.play(shown, turn, text)
            assert list(after["grid"]) == sorted(after["grid"])
            left = remaining_volts(at.left, at.top, at.grid)
            assert {SECTIONS[s]: abs(v) for s, v in left.items()} == reference.drained(after)
        assert RULES.outcome(at).winners == reference.result(RULES.to_json(at))


def turned(shown):
    """Return a position with left and top exchanged, so plugs and sections are reversed."""

    def back(plugs):
        return sorted(plug[::-1] for plug in plugs)

    grid = {at[::-1]: [plug[::-1], seat] for at, (plug, seat) in shown["grid"].items()}
    after = {"left": shown["top"], "top": shown["left"], "grid": dict(sorted(grid.items()))}
    if "pool" in shown:
        return after | {"pool": back(shown["pool"])}
    return after | {"hands": [back(hand) for hand in shown["hands"]]}


@given(positions())
def test_a_turned_grid_has_the_turned_moves_and_the_same_end(drawn):
    _, at = drawn
    other = position(turned(RULES.to_json(at)))
    assert set(legal(other)) == {f"{text[1::-1]}-{text[:2:-1]}" for text in legal(at)}
    assert RULES.outcome(other) == RULES.outcome(at)


@given(positions())
def test_edges_read_backwards_drain_alike(drawn):
    """Nothing depends on which end of an edge comes first."""
    flags, at = drawn
    if not any(flag.startswith("-o") for flag in flags):
        shown = RULES.to_json(at)
        shown["left"].reverse()
        other = position(shown)
        assert remaining_volts(other.left, other.top, other.grid) == remaining_volts(
            at.left, at.top, at.grid
        )
