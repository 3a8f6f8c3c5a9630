"""The cooperative That's My Line: turns, passes, every sentence, and a slow second opinion."""

import pytest

from tests.games import playing
from tests.games.duo import reference

DUO = playing.Game("duo", players=1)
RULES, start, played, legal = DUO.rules, DUO.start, DUO.played, DUO.legal


def colour(at):
    return RULES.to_json(at)["colour"]


def split(at):
    """Return the stones of both colours as the reference has them."""
    shown = DUO.board(at)
    return [{name for name, letter in shown.items() if letter == one} for one in "ox"]


class TestDuo(playing.GameTests):
    key = "duo"
    wrong_players = 3, "is solved by one, not by 3"
    illegal = (
        (played("a1"), "a13", "the light stone at a1 stands on a line through it"),
        (played("a1"), "a1", "a light stone is already there"),
        (played("a1 done"), "c3", "the match is over: the puzzle has been submitted"),
    )
    unreadable = ("", "c2", "c03", "-c3", "c3,c5", "pass", "\u212a3", "x" * 99)
    form = "a move is written as one intersection, such as c3, or done"


@pytest.mark.parametrize(
    ("texts", "detail"),
    [
        ("", "0 stones placed, 0 light and 0 dark"),
        ("a1", "1 stone placed, 1 light and 0 dark"),
        ("a1 j10", "2 stones placed, 1 light and 1 dark"),
    ],
)
def test_done_ends_the_match_with_the_score_as_its_sentence(texts, detail):
    assert DUO.ending(played(f"{texts} done")) == ((0,), "done", detail)


def test_legal_moves_and_turns_agree_with_the_reference():
    for seed in range(8):
        stones, turn = [set(), set()], 0
        for at, text in playing.random_puzzle(DUO, start(), seed):
            assert split(at) == stones
            assert colour(at) == ("light", "dark", None)[turn]
            assert set(legal(at)) == reference.places(stones[turn], stones[1 - turn]) | {"done"}
            stones[turn].add(text)
            turn = reference.next_colour(stones, turn)
        assert turn is None
