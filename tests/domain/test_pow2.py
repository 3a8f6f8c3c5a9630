"""The Power of Two: the source's examples, every option and sentence, and a slow second opinion."""

import random
from itertools import product
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domain.errors import Code, Refusal
from domain.rules import current, pack, unpack
from domain.rules.api import IllegalMove, UnreadableMove
from domain.rules.kadon import INDEX, NAMES
from domain.rules.pow2 import Ending, Pow2Move, Pow2Position, count_moves, moves
from domain.rules.pow2_turns import can_move
from tests.domain import pow2_reference as reference
from tests.domain.pow2_boards import FIGURE_3, NO_MOVE, WON, json, pieces

PATHS = Path(__file__).parents[1] / "golden" / "pow2-move-paths.txt"
RULES = current("pow2")
OPTION_SETS = [
    tuple(flag for flag in flags if flag)
    for flags in product(("", "-exact"), ("", "-fast", "-free", "-middle"), ("", "-noborder"))
]
LIGHT, DARK = 0, 1
FORM = "a move is written from-to or from-to:p1,p2, such as m13-j7 or m13-m5:l4"


def options(*flags):
    return RULES.read_options(flags)


def start(*flags):
    return RULES.start(options(*flags), 2, None)


def position(board, seat, *flags):
    return RULES.from_json(json(board), options(*flags), seat)


def play(before, *texts):
    for text in texts:
        before = RULES.play(before, RULES.check(before, RULES.read(text)))
    return before


def legal(at):
    return list(RULES.legal_moves(at))


def board(at):
    return RULES.to_json(at)["board"]


def refused(at, text):
    with pytest.raises(IllegalMove) as refusal:
        RULES.check(at, RULES.read(text))
    assert refusal.value.code is Code.ILLEGAL_MOVE
    return refusal.value.sentence


def random_game(flags, seed, longest=400):
    """Yield the positions and canonical moves of a game played at random."""
    rng = random.Random(f"{seed} {flags}")
    at = start(*flags)
    for _ in range(longest):
        if RULES.outcome(at) is not None:
            return
        text = RULES.write(rng.choice(moves(at)))
        yield at, text
        at = play(at, text)


@st.composite
def positions(draw):
    """Positions that come about by random play under any options."""
    flags = draw(st.sampled_from(OPTION_SETS))
    game = [at for at, _ in random_game(flags, draw(st.integers(0, 60)), 90)]
    return flags, draw(st.sampled_from(game))


# --- the examples of the source


def test_a_piece_that_meets_nobody_just_moves():
    after = play(start(), "m13-j7")
    assert board(after) == pieces(X="a1 a13", O="m1 j7")
    assert RULES.to_move(after) == DARK


def test_light_moving_m13_m5_has_to_place_at_l4():
    assert [text for text in legal(start()) if text.startswith("m13-m5")] == ["m13-m5:l4"]
    assert board(play(start(), "m13-m5:l4")) == pieces(X="a1 a13", O="l4", o="m1 m5")


def test_dark_moving_a1_e1_in_figure_3_may_place_at_d2_or_g1():
    """The source says a1 or g1; d2 lies between a1 and e3 on the board as drawn."""
    texts = legal(position(FIGURE_3, DARK))
    assert [text for text in texts if text.startswith("a1-e1")] == ["a1-e1:d2", "a1-e1:g1"]


def test_each_neighbour_needs_a_piece_of_its_own_and_the_vacated_origin_serves():
    texts = legal(position(FIGURE_3, DARK))
    assert [text for text in texts if text.startswith("a13-c11")] == ["a13-c11:a13,d10"]


def test_a_move_without_room_for_the_pieces_is_illegal():
    sentence = "m13-k11: no free intersection forms a triangle with j10"
    assert refused(position(FIGURE_3, LIGHT), "m13-k11") == sentence


def test_the_moved_piece_and_own_neighbours_age_once_each():
    """The source names a1-d3 and Figure 5; it fits a1-d4 in the position of Figure 3."""
    after = board(play(position(FIGURE_3, DARK), "a1-d4:b4,e5"))
    left = {at: letter for at, letter in FIGURE_3.items() if at not in ("a1", "c5")}
    assert after == left | {"d4": "x", "b4": "X", "e5": "X"}


def test_a_moved_piece_that_was_aged_returns_to_the_supply():
    after = RULES.to_json(play(position(pieces(x="a1", O="a9 m1"), DARK), "a1-a7:c9"))
    assert after == json({"a9": "O", "c9": "X", "m1": "O"})


def test_nothing_ages_where_nothing_was_placed():
    assert board(play(position(pieces(x="a1", O="m1"), DARK), "a1-a7")) == pieces(x="a7", O="m1")


def test_no_piece_can_be_placed_where_ageing_will_make_room():
    at = position(pieces(O="a1 m1", o="b4", X="m13"), LIGHT)
    assert refused(at, "a1-a5:b4") == "a1-a5: b4 is occupied by o"


@pytest.mark.parametrize("line", PATHS.read_text().splitlines()[1:])
def test_the_numbers_of_move_paths_are_those_on_record(line):
    flags, *expected = line.split()
    at = start(*flags.split("+")) if flags != "-" else start()
    for length, number in enumerate(expected, start=1):
        assert paths(at, length) == int(number)


def paths(at, length):
    if length == 1:
        return count_moves(at)
    return sum(paths(RULES.play(at, move), length - 1) for move in moves(at))


# --- starts and options


@pytest.mark.parametrize(
    ("flag", "light", "dark"),
    [
        ("", "m1 m13", "a1 a13"),
        ("-fast", "m1 i5 i9 m13", "a1 e5 e9 a13"),
        ("-middle", "m7 g13", "g1 a7"),
        ("-free", "", ""),
    ],
)
def test_each_start_has_its_pieces_fresh_and_light_to_move(flag, light, dark):
    at = start(flag) if flag else start()
    assert RULES.to_json(at) == json(pieces(O=light, X=dark))
    assert RULES.to_move(at) == LIGHT


def test_pow2_is_played_by_two_without_a_setup():
    with pytest.raises(Refusal, match="pow2 is played by two, not by 3") as players:
        RULES.start(options(), 3, None)
    with pytest.raises(Refusal, match="no setup that chance draws") as setup:
        RULES.start(options(), 2, {})
    assert (players.value.code, setup.value.code) == (Code.BAD_PLAYERS, Code.BAD_SETUP)


def test_noborder_bars_the_outer_edges_but_counts_them_for_triangles():
    at = start("-noborder")
    assert not any(text.startswith("m13-m") for text in legal(at))
    sentence = "m13-m5: the four outer edges can't be travelled (-noborder)"
    assert refused(at, "m13-m5:l4") == sentence
    # a9 and a13 are adjacent by the left edge, and form a triangle with b10
    assert "a1-a9:b10" not in legal(position(pieces(X="a1 a13", O="m1"), DARK, "-noborder"))
    assert "e9-a9:b10" in legal(position(pieces(X="e9 a13", O="m1"), DARK, "-noborder"))


FIFTEEN = pieces(O="e7 g1 g5 g9 g13 i1 i5 i9 i13 m1 m5 m9 m13 k8 k6", X="c5 a9")


def test_with_too_few_pieces_left_all_that_are_left_are_placed():
    texts = legal(position(FIFTEEN, LIGHT))
    here = [text for text in texts if text.startswith("e7-a7")]
    assert here == ["e7-a7:a5", "e7-a7:c6", "e7-a7:c9"]


def test_each_part_of_a_complete_assignment_may_be_placed_once():
    """Two left for three neighbours; a5 and c6 both serve c5 alone and can't go together."""
    fourteen = {at: letter for at, letter in FIFTEEN.items() if at != "k8"} | {"c8": "X"}
    texts = legal(position(fourteen, LIGHT))
    here = {text.partition(":")[2] for text in texts if text.startswith("e7-a7")}
    assert here == {"a5,c9", "a5,d7", "c6,c9", "c6,d7", "c9,d7"}


def test_exact_bars_moves_that_lack_pieces_to_place():
    at = position(FIFTEEN, LIGHT, "-exact")
    sentence = "e7-a7: 2 pieces would have to be placed, with 1 left (-exact)"
    assert refused(at, "e7-a7:a5") == sentence
    assert not any(text.startswith("e7-a7") for text in legal(at))


def test_a_move_that_lacks_room_is_illegal_even_with_too_few_pieces_left():
    crowded = FIFTEEN | {"a5": "X", "c6": "X"}
    assert refused(position(crowded, LIGHT), "e7-a7:c9") == (
        "e7-a7: no free intersection forms a triangle with a5 or c5"
    )


# --- the placing phase of -free


def test_free_begins_with_four_pieces_each_placed_in_turn():
    at = start("-free")
    for ply, text in enumerate(["a1", "m1", "a13", "m13", "e5", "i5", "e9", "i9"]):
        assert RULES.to_move(at) == ply % 2
        assert all("-" not in choice for choice in legal(at))
        at = play(at, text)
    assert board(at) == board(position(pieces(O="a1 a13 e5 e9", X="m1 m13 i5 i9"), LIGHT))
    assert RULES.to_json(at)["supply"] == [12, 12]
    assert "a1-a5" in legal(at)


def test_after_the_placing_phase_a_position_is_like_any_other():
    after = play(start("-free"), "m1", "a1", "i5", "e5", "i9", "e9", "m13", "a13")
    assert after == start("-fast")


def test_free_offers_every_place_not_next_to_a_piece():
    assert legal(start("-free")) == list(NAMES)
    taken = {"c3", *reference.NEAR["c3"]}
    assert legal(play(start("-free"), "c3")) == [name for name in NAMES if name not in taken]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a1", "a1: a1 is occupied by O"),
        ("c3", "c3: c3 is adjacent to a1; no piece is placed next to another (-free)"),
        (
            "a1-a5",
            "a1-a5: the players first place four pieces each (-free); name one intersection, as in c3",
        ),
    ],
)
def test_placing_is_refused_by_sentence(text, sentence):
    assert refused(play(start("-free"), "a1"), text) == sentence


def test_placing_between_pieces_names_them_all():
    at = play(start("-free"), "a5", "e1")
    assert refused(at, "a1").startswith("a1: a1 is adjacent to a5 and e1;")


# --- refusals


@pytest.mark.parametrize(
    ("at", "text", "sentence"),
    [
        (start(), "c3",
         f"c3: single pieces are placed only before the first turn of -free; {FORM}"),
        (start(), "c3-d4", "c3-d4: there is no piece at c3"),
        (start(), "a1-a5", "a1-a5: the piece at a1 is Dark's, and it is Light's turn"),
        (start(), "m1-m1", "m1-m1: the piece at m1 has to move"),
        (start(), "m1-c5", "m1-c5: no line joins m1 and c5"),
        (position(pieces(O="m7", X="a1"), LIGHT), "m7-a7", "m7-a7: no line joins m7 and a7"),
        (position(pieces(O="m1", X="m9 m7"), LIGHT), "m1-m13",
         "m1-m13: the way is blocked by X at m7"),
        (position(pieces(O="m13", x="m9 m7"), LIGHT), "m13-m5",
         "m13-m5: the way is blocked by x at m9"),
        (start(), "m1-a1", "m1-a1: a1 is occupied by X"),
        (start(), "m1-m13", "m1-m13: m13 is occupied by O"),
        (start(), "m13-j7:j4", "m13-j7: j7 has no occupied neighbour, so nothing is placed"),
        (start(), "m13-m5",
         "m13-m5: 1 piece has to be placed for m1, and none is named; such as m13-m5:l4"),
        (start(), "m13-m5:l4,k3", "m13-m5: k3 forms no triangle with m5 and m1"),
        (position(FIGURE_3, DARK), "a1-e1:d2,g1",
         "a1-e1: 1 piece has to be placed for e3, and 2 are named; such as a1-e1:d2"),
        (position(FIGURE_3, DARK), "a1-e1:a1", "a1-e1: a1 forms no triangle with e1 and e3"),
        (position(FIGURE_3, DARK), "a1-d4:b4",
         "a1-d4: 2 pieces have to be placed for c5 and e3, and 1 is named; such as a1-d4:b4,d2"),
        (position(FIGURE_3, DARK), "a1-d4:c5,e5", "a1-d4: c5 is occupied by x"),
        (position(FIGURE_3, DARK), "a1-d4:d4,e5",
         "a1-d4: d4 is taken by the piece that moves there"),
        (position(FIGURE_3, DARK), "a1-d4:b4,g1",
         "a1-d4: g1 forms no triangle with d4 and c5 or e3"),
        (position(pieces(O="e7", X="c5 a9"), LIGHT), "e7-a7:a5,c6",
         "e7-a7: a5 and c6 can't serve a9 and c5 with an intersection each; such as e7-a7:a5,c9"),
        (position(pieces(O="c5", X="a5 c3 e1"), LIGHT), "c5-a1:b4,d2",
         "c5-a1: a5, c3 and e1 need an intersection each, and have only b4 and d2"),
    ],
)  # fmt: skip
def test_an_illegal_move_is_refused_by_the_rule_it_breaks(at, text, sentence):
    assert refused(at, text) == sentence


def test_no_move_is_legal_after_the_end():
    won = RULES.from_json(WON, options(), DARK)
    assert legal(won) == moves(won) == []
    assert count_moves(won) == 0
    assert not can_move(won)
    sentence = "a1-a5: the match is over: Light has all 16 pieces on the board"
    assert refused(won, "a1-a5") == sentence


# --- notation


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("m13-j7", "m13-j7"),
        ("M13-J7", "m13-j7"),
        (" m13 - j7\n", "m13-j7"),
        ("a13-c11:d10,a13", "a13-c11:a13,d10"),
        ("A13 - C11 : D10 , A13", "a13-c11:a13,d10"),
        ("C3", "c3"),
    ],
)
def test_case_blanks_and_order_of_placements_are_free(text, canonical):
    assert RULES.write(RULES.read(text)) == canonical


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "'' is no move"),
        ("resign", "'resign' is no move"),
        ("m2", "'m2' is no move"),
        ("a1:m5", "'a1:m5' is no move"),
        ("m13j7", "'m13j7' is no move"),
        ("\u212a11-j7", "'\u212a11-j7' is no move"),  # the sign for kelvin lowers to a k
        ("a1\u2013a5", "'a1\u2013a5' is no move"),
        ("m13-", "an intersection is missing"),
        ("-m13", "an intersection is missing"),
        ("m13-m5:", "an intersection is missing"),
        ("m13-m5:l4,", "an intersection is missing"),
        ("m13-m05", "'m05' is no intersection"),
        ("m13-n5", "'n5' is no intersection"),
        ("m13-m5-m1", "'m5-m1' is no intersection"),
        ("m13-m5:l4:k3", "'l4:k3' is no intersection"),
        ("m13-m5;l4", "'m5;l4' is no intersection"),
        ("m13-m5:l4,l4", "l4 is named twice"),
        ("x" * 9000, f"'{'x' * 24}' is no move"),
    ],
)
def test_what_is_no_notation_is_refused_with_the_form(text, problem):
    with pytest.raises(UnreadableMove) as refusal:
        RULES.read(text)
    assert refusal.value.code is Code.UNREADABLE_MOVE
    assert refusal.value.sentence == f"{problem}; {FORM}"


@given(st.text("abcdm123457890-:, AM", max_size=16))
def test_any_text_is_read_to_a_move_that_writes_and_reads_alike_or_refused(text):
    try:
        move = RULES.read(text)
    except UnreadableMove:
        return
    assert RULES.read(RULES.write(move)) == move


@given(st.integers(0, 63), st.integers(0, 63), st.integers(0, 2**64 - 1))
def test_reading_gives_back_every_move_that_was_written(origin, target, placed):
    move = Pow2Move(origin, target, placed)
    assert RULES.read(RULES.write(move)) == move
    assert hash(RULES.read(RULES.write(move))) == hash(move)


# --- endings


def test_the_player_with_all_sixteen_on_the_board_at_the_end_of_the_turn_wins():
    after = play(position(FIFTEEN, LIGHT), "e7-a7:a5")
    outcome = RULES.outcome(after)
    assert (outcome.winners, outcome.reason) == ((LIGHT,), "all-placed")
    assert outcome.detail == "Light has all 16 pieces on the board"
    assert RULES.to_move(after) is None
    assert legal(after) == []


def test_sixteen_pieces_before_ageing_do_not_win():
    aged = FIFTEEN | {"e7": "o"}
    after = play(position(aged, LIGHT), "e7-a7:a5")
    assert RULES.outcome(after) is None
    assert RULES.to_json(after)["supply"] == [1, 14]


def test_the_player_who_cannot_move_loses():
    at = RULES.from_json(NO_MOVE, options(), DARK)
    outcome = RULES.outcome(at)
    assert (outcome.winners, outcome.reason) == ((LIGHT,), "no-move")
    assert outcome.detail == "Dark has no legal move"
    assert RULES.to_move(at) is None
    assert legal(at) == []


def test_a_player_without_pieces_cannot_move_and_loses():
    outcome = RULES.outcome(position(pieces(O="a1"), DARK))
    assert (outcome.winners, outcome.detail) == ((LIGHT,), "Dark has no legal move")


def test_every_ending_is_a_kebab_case_word():
    assert [str(ending) for ending in Ending] == ["all-placed", "no-move"]


@pytest.mark.parametrize("flags", OPTION_SETS, ids=" ".join)
def test_random_games_come_to_an_end_under_all_options(flags):
    for seed in range(10):
        last, text = list(random_game(flags, seed))[-1]
        outcome = RULES.outcome(play(last, text))
        assert outcome is not None
        assert outcome.winners == (last.turn,)
        assert outcome.reason in set(Ending)


# --- against the slow reference


@pytest.mark.parametrize("flags", OPTION_SETS, ids=" ".join)
def test_legal_moves_and_their_effect_agree_with_the_reference(flags):
    how = {"exact": "-exact" in flags, "noborder": "-noborder" in flags}
    skipped = 8 if "-free" in flags else 0
    for seed in range(5):
        for at, text in list(random_game(flags, seed))[skipped:]:
            now = board(at)
            assert set(legal(at)) == reference.legal(now, at.turn, **how)
            assert board(play(at, text)) == reference.play(now, at.turn, text)


def sort_key(text):
    movement, _, placed = text.partition(":")
    parts = [*movement.split("-"), *(placed.split(",") if placed else ())]
    return [INDEX[name] for name in parts]


@given(positions())
def test_legal_moves_come_sorted_each_once_and_are_counted(drawn):
    _, at = drawn
    texts = legal(at)
    assert texts == sorted(texts, key=sort_key)
    assert len(set(texts)) == len(texts) == count_moves(at) == len(moves(at))


@given(positions(), st.data())
def test_legal_moves_are_accepted_as_they_are_and_nothing_else_is(drawn, data):
    _, at = drawn
    texts = legal(at)
    text = data.draw(st.sampled_from(texts))
    assert RULES.write(RULES.check(at, RULES.read(text))) == text
    try:
        move = RULES.read(mutate(text, data.draw))
    except UnreadableMove:
        return
    if RULES.write(move) in texts:
        assert RULES.check(at, move) == move
    else:
        movement = RULES.write(Pow2Move(move.origin, move.target))
        assert refused(at, RULES.write(move)).startswith(f"{movement}: ")


def mutate(text, draw):
    """Replace a name of a move, or drop or add a placement."""
    movement, _, listed = text.partition(":")
    names, placed = movement.split("-"), listed.split(",") if listed else []
    match draw(st.sampled_from(("name", "drop", "add", "swap"))):
        case "name":
            (placed or names)[-1] = draw(st.sampled_from(NAMES))
        case "drop":
            placed = placed[1:]
        case "add":
            placed = [*placed, draw(st.sampled_from(NAMES))]
        case "swap":
            names = [draw(st.sampled_from(NAMES)), names[-1]]
    return "-".join(names) + (":" + ",".join(placed) if placed else "")


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


def turned_move(text, symmetry):
    movement, _, listed = text.partition(":")
    names = [turned(name, symmetry) for name in movement.split("-")]
    placed = reference.order(turned(name, symmetry) for name in listed.split(",") if name)
    return "-".join(names) + (":" + ",".join(placed) if placed else "")


@given(positions(), st.sampled_from(SYMMETRIES))
def test_a_turned_or_mirrored_board_has_the_turned_or_mirrored_moves(drawn, symmetry):
    flags, at = drawn
    other = {turned(name, symmetry): letter for name, letter in board(at).items()}
    expected = {turned_move(text, symmetry) for text in legal(at)}
    assert set(legal(position(other, at.turn, *flags))) == expected


@given(positions())
def test_colours_exchanged_have_the_same_moves(drawn):
    flags, at = drawn
    swapped = Pow2Position(
        at.dark_fresh, at.dark_aged, at.light_fresh, at.light_aged, 1 - at.turn, at.flags
    )
    assert legal(swapped) == legal(at)
    assert flags in OPTION_SETS


# --- positions as values


@given(positions())
def test_positions_pass_through_json_and_messagepack_unchanged(drawn):
    flags, at = drawn
    text = msgspec.json.encode(RULES.to_json(at))
    again = RULES.from_json(msgspec.json.decode(text), options(*flags), at.turn)
    unpacked = unpack("pow2/1", pack(at))
    assert again == unpacked == at
    assert hash(again) == hash(unpacked) == hash(at)
    assert len(pack(at)) <= 45


@given(positions())
def test_json_lists_the_pieces_in_sorting_order(drawn):
    names = list(board(drawn[1]))
    assert names == reference.order(names)


@pytest.mark.parametrize(
    ("data", "flags", "to_move", "problem"),
    [
        (None, [], 0, "Expected `object`, got `null`"),
        ({"board": {}}, [], 0, "missing required field `supply`"),
        ({"board": {}, "supply": [16, 16], "more": 1}, [], 0, "unknown field `more`"),
        ({"board": {"a1": "D"}, "supply": [16, 15]}, [], 0, "Invalid enum value 'D'"),
        ({"board": {"a2": "X"}, "supply": [16, 15]}, [], 0, "'a2' is no intersection"),
        ({"board": {"A1": "X"}, "supply": [16, 15]}, [], 0, "'A1' is no intersection"),
        ({"board": {"a1": "X"}, "supply": [15, 16]}, [], 0, "don't make 16 pieces each"),
        ({"board": {"a1": "X"}, "supply": [16]}, [], 0, "Expected `array` of length 2"),
        ({"board": dict.fromkeys(NAMES[:17], "X"), "supply": [16, -1]}, [], 0, "16 pieces each"),
        ({"board": {}, "supply": [16, 16]}, [], 2, "it can't be the turn of seat 2"),
        (WON, [], 0, "it can't be the turn of seat 0"),
        (json({"a1": "O"}), ["-free"], 0, "while the first pieces are placed (-free)"),
        (json({"a1": "o"}), ["-free"], 1, "while the first pieces are placed (-free)"),
        (json({"a1": "O", "a5": "X"}), ["-free"], 0, "while the first pieces are placed (-free)"),
    ],
)
def test_what_is_no_position_is_refused(data, flags, to_move, problem):
    with pytest.raises(Refusal) as refusal:
        RULES.from_json(data, options(*flags), to_move)
    assert refusal.value.code is Code.BAD_SETUP
    assert refusal.value.sentence.startswith("this is no position of pow2: ")
    assert problem in refusal.value.sentence


@settings(max_examples=30)
@given(st.sampled_from(OPTION_SETS), st.integers(0, 10**6))
def test_nobody_comes_below_the_lives_of_the_start_so_the_placing_phase_is_known(flags, seed):
    """A fresh piece has two lives, an aged one has one."""
    least = 0
    for at, _ in random_game(flags, seed, 150):
        lives = [2 * at.light_fresh.bit_count() + at.light_aged.bit_count(),
                 2 * at.dark_fresh.bit_count() + at.dark_aged.bit_count()]  # fmt: skip
        assert min(lives) >= least
        least = min(8, *lives)
