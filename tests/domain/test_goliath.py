"""David and Goliath: rules, options, every sentence and ending, and a slow second opinion."""

import random
from itertools import product

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.errors import Code, Refusal
from domain.rules import current, pack, unpack
from domain.rules.api import IllegalMove, UnreadableMove
from domain.rules.goliath import Ending, GoliathMove, GoliathPosition
from domain.rules.kadon import INDEX, NAMES
from tests.domain import goliath_reference as reference
from tests.domain.pow2_reference import order

RULES = current("goliath")
DAVID, GOLIATH = 0, 1
FORM = (
    "a move is written from-to:target or, when all stones are used up, from-to:stone>target"
    " or from-to, such as m13-h8:i9"
)
OPTION_SETS = [
    tuple(flag for flag in flags if flag)
    for flags in product(("", "-count"), ("", "-goliath_first"))
]


def options(*flags):
    return RULES.read_options(flags)


def start(*flags):
    return RULES.start(options(*flags), 2, None)


def pieces(david, goliath, light="", dark=""):
    figures = {david: "D", goliath: "G"}
    return figures | dict.fromkeys(light.split(), "o") | dict.fromkeys(dark.split(), "x")


def json(board):
    letters = list(board.values())
    return {"board": board, "supply": [15 - letters.count("o"), 15 - letters.count("x")]}


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


def random_game(flags, seed):
    """Yield the positions and moves of a game played at random, the end with None."""
    rng = random.Random(f"{seed} {flags}")
    at = start(*flags)
    while RULES.outcome(at) is None:
        text = rng.choice(legal(at))
        yield at, text
        at = play(at, text)
    yield at, None


@st.composite
def positions(draw, *, over=True):
    """Positions that come about by random play under any options."""
    flags = draw(st.sampled_from(OPTION_SETS))
    game = [at for at, text in random_game(flags, draw(st.integers(0, 40))) if over or text]
    return flags, draw(st.sampled_from(game))


# fifteen light stones, of which c3 and g5 are off the outer edges
REUSING = pieces("m13", "h3", "c3 g5 a1 a5 a7 a9 a13 e1 e13 g1 i1 m1 m5 m7 g13")
EDGED = pieces("e5", "h3", "a1 a5 a7 a9 a13 e1 e13 g1 g13 i1 i13 m1 m5 m7 m9")
"""All fifteen light stones stand on the outer edges."""
WALLED = pieces("m13", "a1", "i13 j12 k11 l10", "k9 m7")
"""David is shut in with m9."""
SHUT = pieces("m13", "a1", "i13 j12 k11 l10 m9")
BOTH_SHUT = pieces("m13", "a1", "i13 j12 k11 l10 m9", "a5 b4 c3 d2 e1")
BESIEGED = pieces("m13", "m9", "i13 j12 k11 l10")
"""Goliath himself shuts David in; the figures are not separated."""


# --- the start


def test_the_figures_start_in_opposite_corners_with_fifteen_stones_each():
    assert RULES.to_json(start()) == {"board": {"a1": "G", "m13": "D"}, "supply": [15, 15]}
    assert RULES.to_move(start()) == DAVID


def test_goliath_may_go_first():
    at = start("-goliath_first")
    assert RULES.to_json(at) == RULES.to_json(start())
    assert RULES.to_move(at) == GOLIATH


def test_the_numbers_of_move_paths_are_those_on_record():
    at = start()
    assert RULES.count_moves(at) == 262
    assert sum(RULES.count_moves(RULES.play(at, move)) for move in RULES.moves(at)) == 38552


def test_goliath_is_played_by_two_without_a_setup():
    with pytest.raises(Refusal, match="goliath is played by two, not by 3") as players:
        RULES.start(options(), 3, None)
    with pytest.raises(Refusal, match="no setup that chance draws") as setup:
        RULES.start(options(), 2, {})
    assert (players.value.code, setup.value.code) == (Code.BAD_PLAYERS, Code.BAD_SETUP)


@pytest.mark.parametrize("flags", OPTION_SETS, ids=" ".join)
def test_options_are_recorded_sorted_and_read_without_hyphens(flags):
    plain = [flag.removeprefix("-") for flag in reversed(flags)]
    assert RULES.write_options(options(*plain)) == flags


# --- moving and throwing


def places(at):
    return order({text.partition(":")[0].partition("-")[2] for text in legal(at)})


def test_david_moves_any_distance_and_goliath_one_or_two():
    along_edge = [name for name in places(start()) if name.startswith("m")]
    assert along_edge == ["m1", "m5", "m7", "m9"]
    along_edge = [name for name in places(start("-goliath_first")) if name.startswith("a")]
    assert along_edge == ["a5", "a7"]


def targets(at, movement):
    return [text.partition(":")[2] for text in legal(at) if text.startswith(f"{movement}:")]


def test_david_throws_one_or_two_far_and_goliath_up_to_seven():
    bare = position(pieces("a5", "m13"), DAVID)
    down = [name for name in targets(bare, "a5-a1") if name in ("g1", "i1", "m1", "e1", "d2", "e3")]
    assert down == ["d2", "e1", "e3", "g1"]
    bare = position(pieces("m13", "a5"), GOLIATH)
    ray = ["b4", "c5", "c6", "d7", "e9", "f11", "g13"]
    assert [name for name in targets(bare, "a5-a1") if name in ray] == ray


def test_the_place_just_left_may_be_thrown_at_and_over():
    found = targets(position(pieces("a5", "m13"), DAVID), "a5-a1")
    assert {"a5", "a7"} <= set(found)


def test_nothing_passes_over_figures_or_stones():
    at = position(pieces("m13", "m5", "i13"), DAVID)
    assert places(at) == places(position(pieces("m13", "m5", "", "i13"), DAVID))
    assert {"m7", "m9"} == {name for name in places(at) if name.startswith("m")}
    assert "g13" not in places(at)


def test_a_thrown_stone_stays_and_the_supply_goes_down():
    after = RULES.to_json(play(start(), "m13-h8:i9", "a1-c3:d4"))
    assert after == {"board": {"c3": "G", "d4": "x", "h8": "D", "i9": "o"}, "supply": [14, 14]}
    assert list(after["board"]) == ["c3", "d4", "h8", "i9"]


# --- with all stones used up


def test_with_all_stones_used_up_one_off_the_edges_is_picked_up_and_thrown():
    at = position(REUSING, DAVID)
    picked = {text.partition(":")[2].partition(">")[0] for text in legal(at)}
    assert picked == {"c3", "g5"}
    after = RULES.to_json(play(at, "m13-h8:c3>i9"))
    assert after["supply"] == [0, 15]
    assert after["board"] == {
        **{name: letter for name, letter in REUSING.items() if name not in ("c3", "m13")},
        "h8": "D",
        "i9": "o",
    }


def test_the_place_of_a_stone_picked_up_is_empty_for_the_throw_but_no_target():
    crowded = pieces("h8", "h3", "k11 g5 a1 a5 a7 a9 a13 e1 e13 g1 i1 m1 m5 m7 g13")
    at = position(crowded, DAVID)
    assert "h8-j10:k11>m13" in legal(at)
    assert "h8-j10:g5>m13" not in legal(at)
    assert "h8-j10:k11>k11" not in legal(at)
    assert refused(at, "h8-j10:g5>m13") == (
        "h8-j10:g5>m13: the way from j10 to m13 is blocked by o at k11"
    )


def test_the_turn_is_the_move_alone_when_all_stones_stand_on_the_edges():
    at = position(EDGED, DAVID)
    assert legal(at) == [f"e5-{name}" for name in places(at)]
    assert board(play(at, "e5-f6")) == {
        **{name: letter for name, letter in EDGED.items() if letter != "D"},
        "f6": "D",
    }


def test_the_other_players_stones_make_no_difference_to_picking_up():
    at = position(REUSING, GOLIATH)
    assert all(">" not in text and ":" in text for text in legal(at))


# --- counting


def regions(at):
    return [reference.region(board(at), seat)[0] for seat in (DAVID, GOLIATH)]


@pytest.mark.parametrize(
    ("shown", "sizes"), [(WALLED, (1, 55)), (SHUT, (0, 57)), (BOTH_SHUT, (0, 0))]
)
def test_a_count_can_be_proposed_while_stones_separate_the_figures(shown, sizes):
    for seat in (DAVID, GOLIATH):
        at = position(shown, seat)
        RULES.check_offer(at, "count")
        assert tuple(map(len, regions(at))) == sizes


@pytest.mark.parametrize("shown", [pieces("m13", "a1"), BESIEGED, REUSING])
def test_a_count_is_refused_while_the_figures_are_not_separated(shown):
    with pytest.raises(Refusal) as refusal:
        RULES.check_offer(position(shown, DAVID), "count")
    assert refusal.value.code is Code.NO_OFFER
    assert refusal.value.sentence == (
        "a count can be proposed only while stones separate David and Goliath"
    )


def test_a_count_is_refused_with_the_option_that_counts_anyway():
    with pytest.raises(Refusal, match="with -count the regions are counted") as refusal:
        RULES.check_offer(position(BOTH_SHUT, DAVID, "-count"), "count")
    assert refusal.value.code is Code.NO_OFFER


def test_count_is_the_offer_the_game_has_of_its_own():
    assert RULES.offers == ("count",)


def test_a_count_agreed_to_is_won_by_the_larger_region():
    outcome = RULES.agreed(position(WALLED, DAVID), "count")
    assert (outcome.winners, outcome.reason) == ((GOLIATH,), "larger-region")
    assert outcome.detail == "Goliath has the larger region, 55 intersections to 1"


def test_a_region_of_one_intersection_is_told_as_one():
    walled = pieces("m13", "a1", "i13 j12 k11 l10", "k9 m7 a5 b4 c3 d2 e1")
    outcome = RULES.agreed(position(walled, DAVID), "count")
    assert (outcome.winners, outcome.detail) == (
        (DAVID,),
        "David has the larger region, 1 intersection to 0",
    )


def test_equal_regions_play_on():
    assert RULES.agreed(position(BOTH_SHUT, DAVID), "count") is None


def test_with_count_the_larger_region_wins_at_once():
    before = pieces("m13", "a5", "i13 j12 k11 l10", "k9")
    after = play(position(before, GOLIATH, "-count"), "a5-a1:m7")
    outcome = RULES.outcome(after)
    assert (outcome.winners, outcome.reason) == ((GOLIATH,), "larger-region")
    assert outcome.detail == "Goliath has the larger region, 55 intersections to 1"
    assert RULES.to_move(after) is None
    assert legal(after) == RULES.moves(after) == []
    assert RULES.count_moves(after) == 0
    same = play(position(before, GOLIATH), "a5-a1:m7")
    assert RULES.outcome(same) is None


def test_with_count_regions_are_judged_before_stuckness():
    """Goliath, to move, is shut in, but so is David, in the smaller region."""
    shown = pieces("m13", "a1", "i13 j12 k11 l10", "k9 m7 a5 b4 c3 d2 e1")
    assert RULES.outcome(position(shown, GOLIATH, "-count")).reason == "larger-region"
    assert RULES.outcome(position(shown, GOLIATH)).reason == "no-move"
    wide = RULES.outcome(position(SHUT, DAVID, "-count"))
    assert (wide.winners, wide.reason) == ((GOLIATH,), "larger-region")


def test_with_count_equal_regions_are_played_on():
    outcome = RULES.outcome(position(BOTH_SHUT, DAVID, "-count"))
    assert (outcome.winners, outcome.reason) == ((GOLIATH,), "no-move")


# --- endings


@pytest.mark.parametrize("flags", [(), ("-count",)])
def test_the_player_who_cannot_move_loses(flags):
    at = position(BESIEGED, DAVID, *flags)
    outcome = RULES.outcome(at)
    assert (outcome.winners, outcome.reason) == ((GOLIATH,), "no-move")
    assert outcome.detail == "David can't move"
    assert RULES.to_move(at) is None
    assert legal(at) == []
    stuck = position(BOTH_SHUT, GOLIATH)
    assert RULES.outcome(stuck).detail == "Goliath can't move"


def test_every_ending_is_a_kebab_case_word():
    assert [str(ending) for ending in Ending] == ["no-move", "larger-region"]


@pytest.mark.parametrize("flags", OPTION_SETS, ids=" ".join)
def test_random_games_come_to_an_end_under_all_options(flags):
    reasons = set()
    for seed in range(20):
        *_, (last, _) = random_game(flags, seed)
        outcome = RULES.outcome(last)
        assert len(outcome.winners) == 1
        assert legal(last) == []
        reasons.add(outcome.reason)
    assert reasons <= ({"no-move", "larger-region"} if "-count" in flags else {"no-move"})


# --- refusals


@pytest.mark.parametrize(
    ("at", "text", "sentence"),
    [
        (start(), "c3-d4:c3", "David stands at m13, not at c3"),
        (start(), "a1-a5:a1", "Goliath stands at a1, and it is David's turn"),
        (start("-goliath_first"), "m13-m9:m13", "David stands at m13, and it is Goliath's turn"),
        (position(WALLED, DAVID), "i13-g13:i13", "David stands at m13, not at i13"),
        (start(), "m13-m13:m9", "David has to move"),
        (start(), "m13-c5:a1", "no line joins m13 and c5"),
        (start("-goliath_first"), "a1-a9:a7",
         "Goliath moves one or two intersections far, and a9 is 3 away"),
        (position(WALLED, DAVID), "m13-m1:m5", "the way from m13 to m1 is blocked by x at m7"),
        (position(BESIEGED, GOLIATH), "m9-m13:m9", "m13 is occupied by D"),
        (position(WALLED, DAVID), "m13-m7:m9", "m7 is occupied by x"),
        (start(), "m13-h8",
         "a stone has to be thrown after the move, such as m13-h8:g9"),
        (start(), "m13-h8:a1>i9",
         "a stone is picked up only when all 15 are used up; 15 left to throw"),
        (start(), "m13-h8:h8", "David stands at h8 now"),
        (start(), "m13-h8:a1", "no line joins h8 and a1"),
        (start(), "m13-h8:k11",
         "David throws one or two intersections far, and k11 is 3 away"),
        (position(pieces("m13", "a1", "i9"), DAVID), "m13-j10:i9", "i9 is occupied by o"),
        (position(pieces("m13", "i9"), DAVID), "m13-j10:h8",
         "the way from j10 to h8 is blocked by G at i9"),
        (position(REUSING, DAVID), "m13-h8",
         "all 15 stones are used up; one has to be picked up and thrown, such as m13-h8:c3>g9"),
        (position(REUSING, DAVID), "m13-h8:i9",
         "all 15 stones are used up; name the one to throw, such as m13-h8:c3>i9"),
        (position(REUSING, DAVID), "m13-h8:d4>i9", "there is no stone at d4"),
        (position(REUSING, DAVID), "m13-h8:m13>i9", "there is no stone at m13"),
        (position(REUSING, DAVID), "m13-h8:h3>i9", "there is no stone at h3"),
        (position(REUSING | {"k8": "x"}, DAVID), "m13-h8:k8>i9",
         "the stone at k8 is Goliath's; only own ones are picked up"),
        (position(REUSING, DAVID), "m13-h8:a5>i9",
         "the stone at a5 stands on an outer edge and can't be picked up"),
        (position(REUSING, DAVID), "m13-h8:g5>g5",
         "the stone picked up at g5 may not return there in the same turn"),
        (position(REUSING, DAVID), "m13-h8:c3>h8", "David stands at h8 now"),
        (position(REUSING, DAVID), "m13-h8:c3>k11",
         "David throws one or two intersections far, and k11 is 3 away"),
        (position(EDGED, DAVID), "e5-f6:e5",
         "all 15 stones stand on the outer edges for good, so nothing is thrown"),
        (position(EDGED, DAVID), "e5-f6:a1>e5",
         "all 15 stones stand on the outer edges for good, so nothing is thrown"),
        (position(BESIEGED, DAVID), "m13-m7:m9", "the match is over: David can't move"),
        (position(WALLED, DAVID, "-count"), "m13-m9:m13",
         "the match is over: Goliath has the larger region, 55 intersections to 1"),
    ],
)  # fmt: skip
def test_an_illegal_move_is_refused_by_the_rule_it_breaks(at, text, sentence):
    assert refused(at, text) == f"{text}: {sentence}"


# --- notation


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("m13-h8:i9", "m13-h8:i9"),
        ("M13-H8:I9", "m13-h8:i9"),
        (" m13 - h8 : c3 > i9\n", "m13-h8:c3>i9"),
        ("m13-h8", "m13-h8"),
    ],
)
def test_case_and_blanks_are_free(text, canonical):
    assert RULES.write(RULES.read(text)) == canonical


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "'' is no move"),
        ("m13", "'m13' is no move"),
        ("m13:h8", "'m13:h8' is no move"),
        ("\u212a11-j7", "'\u212a11-j7' is no move"),
        ("a1\u2013a5", "'a1\u2013a5' is no move"),
        ("m13-", "an intersection is missing"),
        ("-m13:h8", "an intersection is missing"),
        ("m13-h8:", "an intersection is missing"),
        ("m13-h8:>i9", "an intersection is missing"),
        ("m13-h8:c3>", "an intersection is missing"),
        ("m13-h08:i9", "'h08' is no intersection"),
        ("m13-h8-i9", "'h8-i9' is no intersection"),
        ("m13-h8:i9,j10", "'i9,j10' is no intersection"),
        ("m13-h8:c3>i9>j10", "'c3>i9' is no intersection"),
        ("m13-h8:i9:c3", "'i9:c3' is no intersection"),
        ("m13-h8>i9", "'h8>i9' is no intersection"),
        ("x" * 9000, f"'{'x' * 24}' is no move"),
        ("m13-" + "x" * 9000, f"'{'x' * 24}' is no intersection"),
    ],
)
def test_what_is_no_notation_is_refused_with_the_form(text, problem):
    with pytest.raises(UnreadableMove) as refusal:
        RULES.read(text)
    assert refusal.value.code is Code.UNREADABLE_MOVE
    assert refusal.value.sentence == f"{problem}; {FORM}"


@given(st.text("abcdm123457890-:> AM", max_size=16))
def test_any_text_is_read_to_a_move_that_writes_and_reads_alike_or_refused(text):
    try:
        move = RULES.read(text)
    except UnreadableMove:
        return
    assert RULES.read(RULES.write(move)) == move


AT = st.integers(0, 63)


@given(
    st.builds(GoliathMove, AT, AT)
    | st.builds(GoliathMove, AT, AT, AT)
    | st.builds(GoliathMove, AT, AT, AT, AT)
)
def test_reading_gives_back_every_move_that_was_written(move):
    assert RULES.read(RULES.write(move)) == move
    assert hash(RULES.read(RULES.write(move))) == hash(move)


# --- against the slow reference


@pytest.mark.parametrize("flags", OPTION_SETS, ids=" ".join)
def test_moves_their_effect_and_the_end_agree_with_the_reference(flags):
    count = "-count" in flags
    for seed in range(8):
        for at, text in random_game(flags, seed):
            now = board(at)
            outcome = RULES.outcome(at)
            won = reference.winner(now, at.turn, count=count)
            assert (outcome.winners[0] if outcome else None) == won
            if text is not None:
                assert set(legal(at)) == reference.legal(now, at.turn)
                assert board(play(at, text)) == reference.play(now, at.turn, text)


@pytest.mark.parametrize("shown", [REUSING, EDGED, WALLED, SHUT, BOTH_SHUT, BESIEGED])
def test_composed_positions_agree_with_the_reference(shown):
    for seat in (DAVID, GOLIATH):
        at = position(shown, seat)
        agreed = RULES.agreed(at, "count")
        assert set(legal(at)) == reference.legal(shown, seat)
        assert (agreed.winners[0] if agreed else None) == reference.counted(shown)


def sort_key(text):
    movement, _, throw = text.partition(":")
    stone, _, target = throw.rpartition(">")
    return [INDEX[name] for name in (*movement.split("-"), stone, target) if name]


@given(positions())
def test_legal_moves_come_sorted_each_once_and_are_counted(drawn):
    _, at = drawn
    texts = legal(at)
    assert texts == sorted(texts, key=sort_key)
    assert len(set(texts)) == len(texts) == RULES.count_moves(at) == len(list(RULES.moves(at)))


@given(positions(over=False), st.data())
def test_legal_moves_are_accepted_as_they_are_and_nothing_else_is(drawn, data):
    _, at = drawn
    texts = legal(at)
    text = data.draw(st.sampled_from(texts))
    assert RULES.write(RULES.check(at, RULES.read(text))) == text
    move = RULES.read(mutate(text, data.draw))
    if RULES.write(move) in texts:
        assert RULES.check(at, move) == move
    else:
        assert refused(at, RULES.write(move)).startswith(f"{RULES.write(move)}: ")


def mutate(text, draw):
    """Replace a name of a move, or drop or add a part."""
    movement, _, throw = text.partition(":")
    names = movement.split("-")
    thrown = throw.split(">") if throw else []
    name = draw(st.sampled_from(NAMES))
    match draw(st.sampled_from(("from", "to", "target", "stone", "drop"))):
        case "from":
            names[0] = name
        case "to":
            names[1] = name
        case "target":
            thrown[-1:] = [name]
        case "stone":
            thrown = [name, *thrown[-1:]]
        case "drop":
            thrown = thrown[1:]
    return "-".join(names) + (":" + ">".join(thrown) if thrown else "")


@given(positions(), st.data())
def test_any_move_is_legal_or_refused_with_a_sentence(drawn, data):
    _, at = drawn
    end = st.integers(0, 64)
    move = GoliathMove(at.figure, data.draw(AT), data.draw(end))
    if move in list(RULES.moves(at)):
        assert RULES.check(at, move) == move
    else:
        with pytest.raises(IllegalMove):
            RULES.check(at, move)


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
    movement, _, throw = text.partition(":")
    names = [turned(name, symmetry) for name in movement.split("-")]
    thrown = [turned(name, symmetry) for name in throw.split(">") if name]
    return "-".join(names) + (":" + ">".join(thrown) if thrown else "")


@given(positions(), st.sampled_from(SYMMETRIES))
def test_a_turned_or_mirrored_board_has_the_turned_or_mirrored_moves(drawn, symmetry):
    flags, at = drawn
    other = {turned(name, symmetry): letter for name, letter in board(at).items()}
    mirrored = position(other, at.turn, *flags)
    assert set(legal(mirrored)) == {turned_move(text, symmetry) for text in legal(at)}
    assert RULES.outcome(mirrored) == RULES.outcome(at)


# --- positions as values


@given(positions())
def test_positions_pass_through_json_and_messagepack_unchanged(drawn):
    flags, at = drawn
    text = msgspec.json.encode(RULES.to_json(at))
    again = RULES.from_json(msgspec.json.decode(text), options(*flags), at.turn)
    unpacked = unpack("goliath/1", pack(at))
    assert again == unpacked == at
    assert hash(again) == hash(unpacked) == hash(at)
    assert len(pack(at)) <= 23


@given(positions())
def test_json_lists_the_pieces_in_sorting_order(drawn):
    names = list(board(drawn[1]))
    assert names == order(names)


def test_who_is_to_move_and_whether_regions_count_tell_positions_apart():
    assert start() != start("-goliath_first")
    assert start() != start("-count")
    assert start() == GoliathPosition(INDEX["m13"], INDEX["a1"], 0, 0, DAVID, counting=False)


TWO = {"a1": "G", "m13": "D"}


@pytest.mark.parametrize(
    ("data", "to_move", "problem"),
    [
        (None, 0, "Expected `object`, got `null`"),
        ({"board": TWO}, 0, "missing required field `supply`"),
        ({"board": TWO, "supply": [15, 15], "more": 1}, 0, "unknown field `more`"),
        ({"board": {**TWO, "a5": "O"}, "supply": [14, 15]}, 0, "Invalid enum value 'O'"),
        ({"board": {**TWO, "a2": "o"}, "supply": [14, 15]}, 0, "'a2' is no intersection"),
        ({"board": {"a1": "G"}, "supply": [15, 15]}, 0, "there has to be one D and one G"),
        ({"board": {**TWO, "a5": "D"}, "supply": [15, 15]}, 0, "one D and one G"),
        ({"board": {**TWO, "a5": "o"}, "supply": [15, 15]}, 0, "don't make 15 stones each"),
        ({"board": TWO, "supply": [15]}, 0, "Expected `array` of length 2"),
        (
            {"board": {**dict.fromkeys(NAMES[1:17], "o"), **TWO}, "supply": [-1, 15]},
            0,
            "don't make 15 stones each",
        ),
        ({"board": TWO, "supply": [15, 15]}, 2, "it can't be the turn of seat 2"),
    ],
)
def test_what_is_no_position_is_refused(data, to_move, problem):
    with pytest.raises(Refusal) as refusal:
        RULES.from_json(data, options(), to_move)
    assert refusal.value.code is Code.BAD_SETUP
    assert refusal.value.sentence.startswith("this is no position of goliath: ")
    assert problem in refusal.value.sentence
