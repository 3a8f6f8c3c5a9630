"""Go: rules, every sentence and ending, counting, the drawing, the help, robots, and two second opinions."""

import random

import pytest

from domain.games.go import choice
from domain.games.go.engine import candidates, evaluate
from tests.games import openspiel, playing
from tests.games.go import reference

GO = playing.Game("go")
RULES, start, played = GO.rules, GO.start, GO.played
legal, board, ending = GO.legal, GO.board, GO.ending
WALLS = "c3 d3 c2 d2 c4 d4 c1 d1 c5 d5 e3 pass pass"
"""On five points a side: a wall of each, a black stone behind White's, and both have passed."""
KO = "e6 f6 d5 g5 e4 f4 b2 e5 f5"
"""Black has just taken on f5."""
ATARI = played("e6 e5 e4 g7 d5 g3")
"""Black can take e5."""


def counting(texts="", *flags):
    return played(f"{WALLS} {texts}", "-size=5", *flags)


class TestGo(playing.GameTests):
    key = "go"
    options = (("-size=13 -komi=0", "-komi=0 -size=13"),)
    illegal = (
        (start(), "k1", "this board ends at j9"),
        (played("e5"), "e5", "a black stone is already there"),
        (played("a1 e5"), "e5", "a white stone is already there"),
        (played("a2 e5 b1"), "a1", "a stone there would have no liberty"),
        (played(KO), "e5", "that would repeat an earlier position of the board"),
        (start(), "propose", "you can only say that after two passes"),
        (played("pass"), "agree", "you can only say that after two passes"),
        (counting(), "pass", "both have passed: mark dead stones, or write propose"),
        (counting(), "agree", "there is nothing to answer yet; write propose when all dead stones are marked"),
        (counting(), "a1", "there is no stone to mark as dead"),
        (counting("e3"), "e3", "that stone is already marked as dead"),
        (counting("e3 propose"), "pass", "both have passed: write agree or resume, or mark more dead stones"),
        (counting("e3 propose"), "propose", "answer what White has marked with agree or resume, or mark more dead stones"),
        (counting("e3 propose agree"), "a1", "the match is over: the points have been counted"),
    )  # fmt: skip
    unreadable = "", "e", "5e", "i5", "e0", "e16", "e05", "e5 d5", "again"
    form = "a move is written as one point, such as e5, or pass; after two passes also propose, agree, resume"
    shown = tuple((at, "large") for at in (start(), ATARI, counting("e3 propose")))


# --- stones


def test_a_ko_can_be_taken_back_after_moves_elsewhere():
    assert (board(played(KO)).get("e5"), board(played(KO))["f5"]) == (None, "x")
    after = board(played(f"{KO} a9 j9 e5"))
    assert (after["e5"], after.get("f5")) == ("o", None)
    assert "e5" not in board(played("f5", at=ATARI))


@pytest.mark.parametrize(("size", "games"), [(5, 8), (9, 2)])
def test_random_games_agree_with_the_reference(size, games):
    for game in GO.games(start(f"-size={size}"), range(games)):
        letters, letter, earlier = {}, "x", [{}]
        for at, move in game:
            if at.phase:
                break
            assert board(at) == letters
            assert RULES.to_move(at) == "xo".index(letter)
            found = reference.legal(letters, letter, size, earlier)
            assert sorted(legal(at)) == sorted([*found, "pass"])
            assert tuple(RULES.to_json(at)["points"]) == reference.points(letters, size)
            if move != "pass":
                letters = reference.placed(letters, letter, move, size)
                earlier.append(letters)
            letter = "xo"[letter == "x"]
        assert len(earlier) > size


def test_games_are_those_of_openspiel():
    """Its games end as a draw where ours forbid to repeat a board, and without marking dead stones."""
    theirs = pytest.importorskip("pyspiel").load_game("go(board_size=9)")
    for seed in openspiel.SEEDS[: len(openspiel.SEEDS) // 2]:
        chosen, at, state = random.Random(seed), start(), theirs.new_initial_state()
        while not state.is_terminal():
            player = state.current_player()
            moves = {state.action_to_string(player, action).split()[1].lower(): action
                     for action in state.legal_actions()}  # fmt: skip
            ours = legal(at)
            assert moves.keys() >= {*ours}
            for repeating in moves.keys() - {*ours}:
                after = state.child(moves[repeating])
                assert (after.is_terminal(), after.returns()) == (True, [0, 0])
            text = chosen.choice(sorted(ours))
            state.apply_action(moves[text])
            at = played(text, at=at)
        if at.phase:
            outcome = RULES.outcome(played("propose agree", at=at))
            assert state.returns()[outcome.winners[0]] == 1
        else:  # theirs has at most 162 moves
            black, white = RULES.to_json(at)["points"]
            assert (black > white + 7.5) == (state.returns()[0] == 1)


# --- counting


@pytest.mark.parametrize(
    ("at", "end"),
    [
        (counting("e3 propose agree"),
         ((1,), "more-points", "White wins by 2.5 points: 15 for Black, 10 for White and 7.5 komi")),
        (counting("e3 propose agree", "-komi=4"),
         ((0,), "more-points", "Black wins by 0.5 points: 15 for Black, 10 for White and 4.5 komi")),
        (counting("e3 propose resume pass pass"),
         ((0,), "more-points", "Black wins by 3.5 points: 16 for Black, 5 for White and 7.5 komi")),
    ],
)  # fmt: skip
def test_points_are_counted_once_one_agrees_or_both_pass_again(at, end):
    assert ending(at) == end


def test_who_marks_more_asks_the_other_to_agree_and_to_resume_is_to_unmark():
    proposed = counting("e3 propose")
    assert (board(proposed)["e3"], RULES.to_move(proposed)) == ("b", 0)
    more = played("c3", at=proposed)
    assert legal(more)[-1] == "propose"
    at = played("propose", at=more)
    assert (RULES.to_move(at), legal(at)[-2:]) == (1, ["agree", "resume"])
    resumed = played("resume", at=proposed)
    assert (RULES.to_move(resumed), board(resumed)["e3"]) == (1, "x")


# --- robots and pages


def test_a_robot_fills_no_eye_passes_where_that_wins_and_agrees_unless_it_loses():
    def robot(at):
        return [RULES.write(each) for each in candidates(at)]

    assert "a1" not in robot(played("b1 j9 a2 j8 b2 h9", "-size=9"))
    assert robot(counting("e3 propose resume e2 pass", "-komi=0")) != ["pass"]
    assert robot(played("c3 pass", "-size=5")) == ["pass"]
    assert robot(counting()) == ["propose"]
    assert robot(counting("propose")) == ["agree"]
    assert robot(counting("e3 propose")) == ["resume"]


def test_an_estimate_counts_what_is_near_and_stones_about_to_be_taken():
    assert evaluate(played("e5", "-komi=0"))[0] > 0.5
    assert evaluate(ATARI)[0] > evaluate(played("pass", at=ATARI))[0]


def test_pages_say_what_a_word_leads_to():
    words = choice(counting("e3 propose"), ("alice", "bob"))
    assert str(words.prompt) == "Agree with what bob has marked, or mark more dead stones"
    assert str(words.words["agree"].follows) == (
        "the match ends, and White wins by 2.5 points: 15 for Black, 10 for White and 7.5 komi"
    )
    assert [*choice(counting(), ("alice", "bob")).words] == ["propose"]
    assert str(choice(played("pass"), ("alice", "bob")).words["pass"].follows).startswith("both")
