"""That's My Line: rules, options, every sentence and ending, and a slow second opinion."""

import random
from contextlib import suppress
from itertools import pairwise

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.errors import Code, Refusal
from domain.rules import current, pack, unpack
from domain.rules.api import IllegalMove, UnreadableMove
from domain.rules.kadon import INDEX, NAMES
from domain.rules.line import Ending, LinePosition
from tests.domain import line_reference as reference

RULES = current("line")
LIGHT, DARK = 0, 1
FORM = "a move is written as one intersection, such as c3"
OPTION_SETS = [(), ("-stones=16",), ("-stones=7",), ("-stones=3",), ("-stones=1",), ("-stones=64",)]


def options(*flags):
    return RULES.read_options(flags)


def start(*flags):
    return RULES.start(options(*flags), 2, None)


def position(light, dark, seat, *flags):
    board = dict.fromkeys(light.split(), "o") | dict.fromkeys(dark.split(), "x")
    data = {"board": board, "stones": [len(light.split()), len(dark.split())]}
    return RULES.from_json(data, options(*flags), seat)


def play(before, *texts):
    for text in texts:
        before = RULES.play(before, RULES.check(before, RULES.read(text)))
    return before


def legal(at):
    return list(RULES.legal_moves(at))


def refused(at, text):
    with pytest.raises(IllegalMove) as refusal:
        RULES.check(at, RULES.read(text))
    assert refusal.value.code is Code.ILLEGAL_MOVE
    return refusal.value.sentence


def random_game(flags, seed):
    """Yield the positions and moves of a game played at random to its end, the end with None."""
    rng = random.Random(f"{seed} {flags}")
    at = start(*flags)
    while RULES.outcome(at) is None:
        text = rng.choice(legal(at))
        yield at, text
        at = play(at, text)
    yield at, None


@st.composite
def positions(draw):
    """Positions that come about by random play under any options, the last ones too."""
    flags = draw(st.sampled_from(OPTION_SETS))
    game = [at for at, _ in random_game(flags, draw(st.integers(0, 60)))]
    return flags, draw(st.sampled_from(game))


# --- start and moves


def test_the_board_is_empty_at_the_start_and_light_may_place_anywhere():
    assert RULES.to_json(start()) == {"board": {}, "stones": [0, 0]}
    assert RULES.to_move(start()) == LIGHT
    assert legal(start()) == list(NAMES)


def test_the_numbers_of_move_paths_are_those_on_record():
    at = start()
    assert RULES.count_moves(at) == 64
    assert sum(RULES.count_moves(RULES.play(at, move)) for move in RULES.moves(at)) == 3032


def test_all_lines_count_to_their_ends_and_no_further():
    barred = set(NAMES) - set(legal(play(start(), "a1")))
    # the left edge, the diagonal, the lines to the middles of the far sides, the upper edge
    on_lines = (
        "a1",
        "a5",
        "a7",
        "a13",
        "b4",
        "c3",
        "d2",
        "d4",
        "e5",
        "f6",
        "g1",
        "m1",
        "m7",
        "g13",
    )
    assert set(on_lines) <= barred
    assert barred == {other for line in reference.BOARD_LINES if "a1" in line for other in line}
    # beyond the end of the diagonal, across the centre
    assert {"h8", "i9", "m13"} & barred == set()


def test_own_stones_do_not_bar_a_line():
    at = position("a1", "h8", LIGHT)
    assert {"a5", "m1", "f6"} <= set(legal(at))
    assert "i9" not in legal(at)


def test_line_is_played_by_two_without_a_setup():
    with pytest.raises(Refusal, match="line is played by two, not by 3") as players:
        RULES.start(options(), 3, None)
    with pytest.raises(Refusal, match="no setup that chance draws") as setup:
        RULES.start(options(), 2, {})
    assert (players.value.code, setup.value.code) == (Code.BAD_PLAYERS, Code.BAD_SETUP)


# --- options


@pytest.mark.parametrize(
    ("flag", "written"),
    [("-stones=16", ("-stones=16",)), ("stones=1", ("-stones=1",)), ("-stones=0", ())],
)
def test_the_number_of_stones_is_recorded_unless_it_is_the_default(flag, written):
    assert RULES.write_options(options(flag)) == written


@pytest.mark.parametrize("flags", [["-stones"], ["-stones=65"], ["-stones=08"], ["-stones=-1"]])
def test_a_number_of_stones_out_of_range_is_refused(flags):
    with pytest.raises(Refusal, match="with N from 0 to 64") as refusal:
        RULES.read_options(flags)
    assert refusal.value.code is Code.BAD_OPTION


def test_with_one_stone_each_the_second_to_place_wins():
    after = play(start("-stones=1"), "g1", "a9")
    outcome = RULES.outcome(after)
    assert (outcome.winners, outcome.reason) == ((DARK,), "last-stone")
    assert outcome.detail == "1 stone each, and Dark placed last"


# --- passes and endings


def pass_in(flags=(), *, first=0):
    """Give a game's position and move after which the same player is to move again."""
    for seed in range(first, first + 200):
        game = list(random_game(flags, seed))
        for (at, text), (after, _) in pairwise(game):
            if text and RULES.to_move(after) == RULES.to_move(at):
                return at, text, after
    raise AssertionError("nobody was passed")


def test_who_cannot_place_is_passed_and_the_other_goes_on():
    at, text, after = pass_in()
    seat = RULES.to_move(at)
    assert RULES.to_move(play(at, text)) == seat
    shown = RULES.to_json(after)["board"]
    assert reference.places(shown, "xo"[seat], 0) == []
    assert legal(after) == reference.places(shown, "ox"[seat], 0)


def test_who_has_no_stone_left_is_passed():
    at = position("a1 a5", "", DARK, "-stones=2")
    after = play(at, "i9")
    assert RULES.to_move(after) == DARK
    assert RULES.to_move(play(position("a1 a5", "", DARK, "-stones=3"), "i9")) == LIGHT
    assert RULES.outcome(play(after, "m13")).detail == "2 stones each, and Dark placed last"


def finished(condition):
    for seed in range(400):
        *_, (last, _) = random_game((), seed)
        light, dark = RULES.to_json(last)["stones"]
        if condition(light, dark):
            return last, light, dark
    raise AssertionError("no game ended so")


def test_more_stones_win():
    last, light, dark = finished(lambda light, dark: light > dark)
    outcome = RULES.outcome(last)
    assert (outcome.winners, outcome.reason) == ((LIGHT,), "more-stones")
    assert outcome.detail == f"Light placed {light} stones to {dark}"
    last, light, dark = finished(lambda light, dark: dark > light)
    outcome = RULES.outcome(last)
    assert (outcome.winners, outcome.detail) == ((DARK,), f"Dark placed {dark} stones to {light}")


def test_on_equal_stones_the_player_who_placed_last_wins():
    """After play from the start that is Dark: whoever is passed once never places again."""
    ties = 0
    for seed in range(300):
        *_, (before, _), (last, _) = random_game((), seed)
        light, dark = RULES.to_json(last)["stones"]
        if light == dark:
            outcome = RULES.outcome(last)
            assert (outcome.winners, outcome.reason) == ((before.turn,), "last-stone")
            assert outcome.winners == (DARK,)
            assert outcome.detail == f"{light} stones each, and Dark placed last"
            ties += 1
    assert ties > 0


def test_in_a_composed_position_light_may_have_placed_last_on_equal_stones():
    outcome = RULES.outcome(position("a5", "m9", DARK, "-stones=1"))
    assert (outcome.winners, outcome.detail) == ((LIGHT,), "1 stone each, and Light placed last")


def test_a_single_stone_is_told_as_one():
    alone = LinePosition(1 << INDEX["a1"], 0, DARK, 1)
    # nobody could place here if Dark had no stone to begin with
    assert RULES.outcome(alone) is None
    everywhere = LinePosition((1 << 64) - 1, 0, DARK, 64)
    assert RULES.outcome(everywhere).detail == "Light placed 64 stones to 0"


def test_every_ending_is_a_kebab_case_word():
    assert [str(ending) for ending in Ending] == ["more-stones", "last-stone"]


@pytest.mark.parametrize("flags", OPTION_SETS, ids=" ".join)
def test_random_games_come_to_an_end_under_all_options(flags):
    limit = options(*flags).stones or 64
    for seed in range(20):
        *_, (last, _) = random_game(flags, seed)
        outcome = RULES.outcome(last)
        assert outcome.reason in set(Ending)
        assert len(outcome.winners) == 1
        assert max(RULES.to_json(last)["stones"]) <= limit
        assert RULES.to_move(last) is None
        assert legal(last) == RULES.moves(last) == []
        assert RULES.count_moves(last) == 0


# --- refusals and notation


@pytest.mark.parametrize(
    ("at", "text", "sentence"),
    [
        (play(start(), "c3"), "c3", "c3: it is occupied by o"),
        (position("c3", "g9", LIGHT), "g9", "g9: it is occupied by x"),
        (play(start(), "a1"), "c3", "c3: Light's stone at a1 stands on a line through it"),
        (
            position("a1", "h8", LIGHT),
            "m13",
            "m13: Dark's stone at h8 stands on a line through it",
        ),
        (
            position("a1 c3", "g9", DARK),
            "f6",
            "f6: Light's stones at a1 and c3 stand on lines through it",
        ),
        (
            position("a1 a5 c3", "g9 h8", DARK),
            "e5",
            "e5: Light's stones at a1, a5 and c3 stand on lines through it",
        ),
    ],
)
def test_an_illegal_move_is_refused_by_the_rule_it_breaks(at, text, sentence):
    assert refused(at, text) == sentence


def test_no_move_is_legal_after_the_end():
    over = play(start("-stones=1"), "g1", "a9")
    assert refused(over, "m13") == "m13: the match is over: neither player can place a stone"


@pytest.mark.parametrize("text", ["c3", "C3", " c 3\n"])
def test_case_and_blanks_are_free(text):
    assert RULES.write(RULES.read(text)) == "c3"


@pytest.mark.parametrize(
    "text", ["", "c", "c03", "c4", "n1", "c3-d4", "c3,", "-c3", "c3:d4", "\u212a6", "c\u0663"]
)
def test_what_is_no_notation_is_refused_with_the_form(text):
    with pytest.raises(UnreadableMove) as refusal:
        RULES.read(text)
    assert refusal.value.code is Code.UNREADABLE_MOVE
    assert refusal.value.sentence == f"{text!r} is no intersection; {FORM}"


def test_a_long_text_is_not_quoted_in_full():
    with pytest.raises(UnreadableMove) as refusal:
        RULES.read("x" * 9000)
    assert refusal.value.sentence.startswith(f"'{'x' * 24}' is no")


@given(st.text("abcdm123457890- AM", max_size=4))
def test_any_text_is_read_to_a_move_that_writes_and_reads_alike_or_refused(text):
    try:
        move = RULES.read(text)
    except UnreadableMove:
        assert "".join(text.split()).lower() not in NAMES
        return
    assert RULES.read(RULES.write(move)) == move


def test_reading_gives_back_every_move_that_was_written():
    for move in range(64):
        assert RULES.read(RULES.write(move)) == move


# --- against the slow reference


@pytest.mark.parametrize("flags", OPTION_SETS, ids=" ".join)
def test_moves_passes_and_ends_agree_with_the_reference(flags):
    for seed in range(6):
        told = reference.Game(options(*flags).stones)
        for at, text in random_game(flags, seed):
            assert legal(at) == told.legal
            assert RULES.to_json(at)["board"] == told.board
            turn = RULES.to_move(at)
            assert told.turn == (None if turn is None else "ox"[turn])
            if text is None:
                assert RULES.outcome(at).winners == ("ox".index(told.winner),)
            else:
                told.place(text)


@given(positions())
def test_exactly_the_legal_moves_are_accepted(drawn):
    _, at = drawn
    accepted = []
    for name in NAMES:
        with suppress(IllegalMove):
            accepted.append(RULES.write(RULES.check(at, RULES.read(name))))
    assert accepted == legal(at)
    assert len(accepted) == RULES.count_moves(at)
    for name in set(NAMES) - set(accepted):
        assert refused(at, name).startswith(f"{name}: ")


SYMMETRIES = [
    lambda x, y: (y, x),
    lambda x, y: (14 - x, y),
    lambda x, y: (x, 14 - y),
    lambda x, y: (14 - y, x),
    lambda x, y: (14 - x, 14 - y),
]


def turned(name, symmetry):
    column, row = symmetry("abcdefghijklm".index(name[0]) + 1, int(name[1:]))
    return f"{'abcdefghijklm'[column - 1]}{row}"


@given(positions(), st.sampled_from(SYMMETRIES))
def test_a_turned_or_mirrored_board_has_the_turned_or_mirrored_moves(drawn, symmetry):
    flags, at = drawn
    shown = RULES.to_json(at)
    other = {turned(name, symmetry): letter for name, letter in shown["board"].items()}
    mirrored = RULES.from_json(shown | {"board": other}, options(*flags), at.turn)
    assert set(legal(mirrored)) == {turned(text, symmetry) for text in legal(at)}


@given(positions())
def test_colours_exchanged_have_the_same_moves(drawn):
    _, at = drawn
    assert legal(LinePosition(at.dark, at.light, 1 - at.turn, at.limit)) == legal(at)


# --- positions as values


@given(positions())
def test_positions_pass_through_json_and_messagepack_unchanged(drawn):
    flags, at = drawn
    text = msgspec.json.encode(RULES.to_json(at))
    again = RULES.from_json(msgspec.json.decode(text), options(*flags), at.turn)
    unpacked = unpack("line/1", pack(at))
    assert again == unpacked == at
    assert hash(again) == hash(unpacked) == hash(at)
    assert len(pack(at)) <= 24


@given(positions())
def test_json_lists_the_stones_in_sorting_order(drawn):
    names = list(RULES.to_json(drawn[1])["board"])
    assert names == reference.order(names)


PASSED = {"board": {"a1": "o"}, "stones": [1, 0]}


@pytest.mark.parametrize(
    ("data", "flags", "to_move", "problem"),
    [
        (None, [], 0, "Expected `object`, got `null`"),
        ({"board": {}}, [], 0, "missing required field `stones`"),
        ({"board": {}, "stones": [0, 0], "more": 1}, [], 0, "unknown field `more`"),
        ({"board": {"a1": "O"}, "stones": [1, 0]}, [], 1, "Invalid enum value 'O'"),
        ({"board": {"a2": "o"}, "stones": [1, 0]}, [], 1, "'a2' is no intersection"),
        ({"board": {"a1": "o"}, "stones": [1]}, [], 1, "Expected `array` of length 2"),
        ({"board": {"a1": "o"}, "stones": [0, 1]}, [], 1, "stones are not as many as on the"),
        (
            {"board": {"a1": "o", "c3": "x"}, "stones": [1, 1]},
            [],
            0,
            "a1 and c3 are opposing stones on one line",
        ),
        (
            {"board": {"a1": "o", "a5": "o"}, "stones": [2, 0]},
            ["-stones=1"],
            1,
            "a player has more stones than 1 (-stones)",
        ),
        (PASSED, ["-stones=1"], 0, "it can't be the turn of seat 0"),
        (PASSED, [], 2, "it can't be the turn of seat 2"),
    ],
)
def test_what_is_no_position_is_refused(data, flags, to_move, problem):
    with pytest.raises(Refusal) as refusal:
        RULES.from_json(data, options(*flags), to_move)
    assert refusal.value.code is Code.BAD_SETUP
    assert refusal.value.sentence.startswith("this is no position of line: ")
    assert problem in refusal.value.sentence
