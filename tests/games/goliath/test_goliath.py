"""David and Goliath: starts, moves, throws and endings.

David and Goliath: regions, and when they are counted.

David and Goliath: every sentence of a refusal, of moves and of notation.
"""

import pytest

from domain.errors import Code, Refusal
from tests.games import playing
from tests.games.goliath import reference
from tests.games.goliath.given import (
    BESIEGED,
    BOTH_SHUT,
    DAVID,
    EDGED,
    GOLIATH,
    OPTION_SETS,
    REUSING,
    RULES,
    SHUT,
    WALLED,
    board,
    legal,
    options,
    pieces,
    play,
    position,
    random_game,
    refused,
    start,
)

# --- the start


def test_goliath_is_played_by_two_without_a_setup():
    sentence = "goliath is played by two, not by 3"
    playing.refuses_players_and_setup(RULES, options(), 3, sentence)


# --- moving and throwing


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


# --- endings


def regions(at):
    return [reference.region(board(at), seat)[0] for seat in (DAVID, GOLIATH)]


@pytest.mark.parametrize("shown", [pieces("m13", "a1"), BESIEGED, REUSING])
def test_a_count_is_refused_while_the_figures_are_not_separated(shown):
    with pytest.raises(Refusal) as refusal:
        RULES.check_offer(position(shown, DAVID), "count")
    assert refusal.value.code is Code.NO_OFFER
    assert refusal.value.sentence == (
        "a count can only be proposed while stones separate David and Goliath"
    )


def test_a_count_is_refused_with_the_option_that_counts_anyway():
    with pytest.raises(Refusal, match="with -count the regions are counted") as refusal:
        RULES.check_offer(position(BOTH_SHUT, DAVID, "-count"), "count")
    assert refusal.value.code is Code.NO_OFFER


def test_a_count_agreed_to_is_won_by_the_larger_region():
    outcome = RULES.outcome_by_offer(position(WALLED, DAVID), "count")
    assert (outcome.winners, outcome.reason) == ((GOLIATH,), "larger-region")
    assert outcome.detail == "Goliath has the larger region, 55 intersections to 1"


FORM = (
    "a move is written from-to:target or, when all stones are used up, from-to:stone>target"
    " or from-to, such as m13-h8:i9"
)


# --- refusals


@pytest.mark.parametrize(
    ("at", "text", "sentence"),
    [
        (start(), "c3-d4:c3", "David stands at m13, not at c3"),
        (start(), "a1-a5:a1", "Goliath stands at a1, and it is David's turn"),
        (start("-goliath_first"), "m13-m9:m13", "David stands at m13, and it is Goliath's turn"),
        (position(WALLED, DAVID), "i13-g13:i13", "David stands at m13, not at i13"),
        (start(), "m13-m13:m9", "David has to move"),
        (start(), "m13-c5:a1", "no line connects m13 and c5"),
        (start("-goliath_first"), "a1-a9:a7",
         "Goliath moves one or two intersections, and a9 is 3 away"),
        (position(WALLED, DAVID), "m13-m1:m5", "a dark stone at m7 blocks the way from m13 to m1"),
        (position(BESIEGED, GOLIATH), "m9-m13:m9", "m13 is occupied by David"),
        (position(WALLED, DAVID), "m13-m7:m9", "m7 is occupied by a dark stone"),
        (start(), "m13-h8",
         "a stone has to be thrown after the move, such as m13-h8:g9"),
        (start(), "m13-h8:a1>i9",
         "a stone is picked up only when all 15 are used up; 15 left to throw"),
        (start(), "m13-h8:h8", "David stands at h8 now"),
        (start(), "m13-h8:a1", "no line connects h8 and a1"),
        (start(), "m13-h8:k11",
         "David throws one or two intersections, and k11 is 3 away"),
        (position(pieces("m13", "a1", "i9"), DAVID), "m13-j10:i9", "i9 is occupied by a light stone"),
        (position(pieces("m13", "i9"), DAVID), "m13-j10:h8",
         "Goliath at i9 blocks the way from j10 to h8"),
        (position(REUSING, DAVID), "m13-h8",
         "all 15 stones are used up; one has to be picked up and thrown, such as m13-h8:c3>g9"),
        (position(REUSING, DAVID), "m13-h8:i9",
         "all 15 stones are used up; name the one to throw, such as m13-h8:c3>i9"),
        (position(REUSING, DAVID), "m13-h8:d4>i9", "there is no stone at d4"),
        (position(REUSING, DAVID), "m13-h8:m13>i9", "there is no stone at m13"),
        (position(REUSING, DAVID), "m13-h8:h3>i9", "there is no stone at h3"),
        (position(REUSING | {"k8": "x"}, DAVID), "m13-h8:k8>i9",
         "the stone at k8 is Goliath's; you can only pick up your own"),
        (position(REUSING, DAVID), "m13-h8:a5>i9",
         "the stone at a5 stands on an outer edge and can't be picked up"),
        (position(REUSING, DAVID), "m13-h8:g5>g5",
         "the stone picked up at g5 may not return there in the same turn"),
        (position(REUSING, DAVID), "m13-h8:c3>h8", "David stands at h8 now"),
        (position(REUSING, DAVID), "m13-h8:c3>k11",
         "David throws one or two intersections, and k11 is 3 away"),
        (position(EDGED, DAVID), "e5-f6:e5",
         "all 15 stones are on the outer edges for good, so nothing is thrown"),
        (position(EDGED, DAVID), "e5-f6:a1>e5",
         "all 15 stones are on the outer edges for good, so nothing is thrown"),
        (position(BESIEGED, DAVID), "m13-m7:m9", "the match is over: David can't move"),
        (position(WALLED, DAVID, "-count"), "m13-m9:m13",
         "the match is over: Goliath has the larger region, 55 intersections to 1"),
    ],
)  # fmt: skip
def test_an_illegal_move_is_refused_by_the_rule_it_breaks(at, text, sentence):
    assert refused(at, text) == f"{text}: {sentence}"


# --- notation


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "'' isn't a move"),
        ("m13", "'m13' isn't a move"),
        ("m13:h8", "'m13:h8' isn't a move"),
        ("\u212a11-j7", "'\u212a11-j7' isn't a move"),
        ("a1\u2013a5", "'a1\u2013a5' isn't a move"),
        ("m13-", "an intersection is missing"),
        ("-m13:h8", "an intersection is missing"),
        ("m13-h8:", "an intersection is missing"),
        ("m13-h8:>i9", "an intersection is missing"),
        ("m13-h8:c3>", "an intersection is missing"),
        ("m13-h08:i9", "'h08' isn't an intersection"),
        ("m13-h8-i9", "'h8-i9' isn't an intersection"),
        ("m13-h8:i9,j10", "'i9,j10' isn't an intersection"),
        ("m13-h8:c3>i9>j10", "'c3>i9' isn't an intersection"),
        ("m13-h8:i9:c3", "'i9:c3' isn't an intersection"),
        ("m13-h8>i9", "'h8>i9' isn't an intersection"),
        ("x" * 9000, f"'{'x' * 24}' isn't a move"),
        ("m13-" + "x" * 9000, f"'{'x' * 24}' isn't an intersection"),
    ],
)
def test_what_is_no_notation_is_refused_with_the_form(text, problem):
    assert playing.unreadable(RULES, text) == f"{problem}; {FORM}"


# --- david and Goliath against a slow second opinion, and its positions as values


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
        agreed = RULES.outcome_by_offer(at, "count")
        assert set(legal(at)) == reference.legal(shown, seat)
        assert (agreed.winners[0] if agreed else None) == reference.counted(shown)
