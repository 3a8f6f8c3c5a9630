"""Get a Jump On: every sentence of a refusal, of moves and of notation."""

import pytest

from tests.games import playing
from tests.games.jump.given import RULES, play, position, refused, start

FORM = "a move is a corner such as a1, a step c3:d4 or c3:d4-g1, a jump a1-a7, or done"


# --- refusals


EACH_STEP = "each step sets a new stone until all 32 are set, and the jumper at"


@pytest.mark.parametrize(
    ("texts", "text", "sentence"),
    [
        ([], "c3", "the first stone goes on a corner: a1, a13, m1 or m13"),
        ([], "c3:d4",
         "first name the corner on which the first stone is set: a1, a13, m1 or m13"),
        ([], "a1-a7",
         "first name the corner on which the first stone is set: a1, a13, m1 or m13"),
        (["a1"], "m1",
         f"{EACH_STEP} a1 jumps over it; it is written c3:d4"),
        (["a1", "c3:d4"], "c3-e5",
         f"{EACH_STEP} d4 jumps over it; it is written c3:d4"),
        (["a1", "c3:d4"], "c3:a1", "c3 is occupied; a new stone is set on an empty intersection"),
        (["a1", "c3:d4"], "d4:e5", "d4 is occupied; a new stone is set on an empty intersection"),
        (["a1"], "e5:f6", "e5 is not adjacent to the jumper at a1"),
        (["a1", "e1:g1"], "a5:a7", "a5 is not adjacent to the jumper at g1"),
        (["a1", "c3:d4"], "b4:a5", "the line from d4 ends at b4, so it can't be jumped over"),
        (["a1"], "c3:e5", "a jump over c3 lands on d4, not on e5"),
        (["a1"], "c3:d4-m13", "no line leads from d4 over one intersection to m13"),
        (["a1"], "c3:d4-g1", "there is no stone at e3 to jump over from d4 to g1"),
        (["a1", "e1:g1"], "e3:d4-g1-a1-g1", "g1 is landed on twice in one chain"),
        (["a1", "e1:g1", "e3:d4"], "c3:a1-g1-m1",
         "there is no stone at i1 to jump over from g1 to m1"),
    ],
)  # fmt: skip
def test_an_illegal_step_is_refused_by_the_rule_it_breaks(texts, text, sentence):
    assert refused(play(start(), *texts), text) == f"{text}: {sentence}"


def test_a_landing_must_be_empty():
    assert refused(position({"a7": "o", "a1": "O"}), "a5:a7") == (
        "a5:a7: a7 is occupied; a jump lands on an empty intersection"
    )


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a1", "no more stones are set; now a stone jumps and removes others, written a1-a7"),
        ("c3:d4", "no more stones are set; now a stone jumps and removes others, written a1-a7"),
        ("b4-d4", "there is no stone at b4"),
        ("a1-e5", "no line leads from a1 over one intersection to e5"),
        ("a1-d4", "there is no stone at c3 to jump over from a1 to d4"),
        ("a9-a5", "there is no stone at a7 to jump over from a9 to a5"),
        ("g1-a1", "a1 is occupied; a jump lands on an empty intersection"),
        ("a1-a1", "no line leads from a1 over one intersection to a1"),
    ],
)
def test_an_illegal_jump_is_refused_by_the_rule_it_breaks(text, sentence):
    at = start("-solitaire=a1,a5,a9,e1,g1")
    assert refused(at, text) == f"{text}: {sentence}"


# --- notation


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "'' isn't a move"),
        ("  ", "'  ' isn't a move"),
        ("\u212a3", "'\u212a3' isn't a move"),
        ("resign", "'resign' isn't an intersection"),
        ("a01", "'a01' isn't an intersection"),
        ("c3:", "an intersection is missing"),
        (":d4", "an intersection is missing"),
        ("c3:d4-", "an intersection is missing"),
        ("-a1", "an intersection is missing"),
        ("c3:d4:e5", "'c3:d4' isn't an intersection"),
        ("c3-d4:e5", "'c3-d4' isn't an intersection"),
        ("e3-d5", "'d5' isn't an intersection"),
        ("e3,d4", "'e3,d4' isn't an intersection"),
        ("x" * 9000, f"'{'x' * 24}' isn't an intersection"),
    ],
)
def test_what_is_no_notation_is_refused_with_the_form(text, problem):
    assert playing.unreadable(RULES, text) == f"{problem}; {FORM}"
