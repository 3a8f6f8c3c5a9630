"""Get a Jump On: its options, and its positions as values."""

import pytest
from hypothesis import given

from domain.boards.pow2_board import INDEX, NAMES
from domain.errors import Code, Refusal
from tests.games import playing
from tests.games.jump.given import RULES, board, positions, start


def test_the_stones_of_solitaire_are_recorded_in_sorting_order():
    options = RULES.read_options(["solitaire=M13,a5, a13"])
    assert RULES.write_options(options) == ("-solitaire=a5,a13,m13",)
    assert RULES.read_options(RULES.write_options(options)) == options


@pytest.mark.parametrize(
    ("flag", "sentence"),
    [
        ("-solitaire=a1", "-solitaire has 1 names: -solitaire=a1,a5,... with 2 to 32 names"),
        (f"-solitaire={','.join(NAMES[:33])}",
         "-solitaire has 33 names: -solitaire=a1,a5,... with 2 to 32 names"),
        ("-solitaire=a1,b2", "-solitaire can't name 'b2': -solitaire=a1,a5,... with 2 to 32 names"),
        ("-solitaire=a1,a5,a1", "-solitaire names a1 twice; name it once"),
        ("-solitaire", "'-solitaire' needs names: -solitaire=a1,a5,... with 2 to 32 names"),
    ],
)  # fmt: skip
def test_a_set_that_does_not_fit_is_refused(flag, sentence):
    with pytest.raises(Refusal) as refusal:
        RULES.read_options([flag])
    assert (refusal.value.code, refusal.value.sentence) == (Code.BAD_OPTION, sentence)


def test_jump_is_solved_by_one_without_a_setup():
    sentence = "jump is solved by one, not by 2"
    playing.refuses_players_and_setup(RULES, RULES.read_options([]), 2, sentence)


@given(positions())
def test_json_lists_the_stones_in_sorting_order(drawn):
    names = list(board(drawn[1]))
    assert names == sorted(names, key=INDEX.get)


def test_nobody_leaves_or_offers_anything_in_a_puzzle():
    assert RULES.offers == ()
    with pytest.raises(ValueError, match="seat 0 left"):
        RULES.remove_seat(start(), 0)
    with pytest.raises(ValueError, match="no offer"):
        RULES.check_offer(start(), "count")
    with pytest.raises(ValueError, match="no offer"):
        RULES.outcome_by_offer(start(), "count")
    assert not RULES.needs_draw(RULES.read_options([]), 1)
