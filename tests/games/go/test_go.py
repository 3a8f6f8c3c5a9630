"""Go: rules, every sentence and ending, counting, the drawing, the help, robots, and two second opinions."""

import random
from functools import partial
from pathlib import Path

import pytest

from domain.drawing import draw_text
from domain.engine.robot_move import choose_move
from domain.game.engine import RobotLevel
from domain.games.go import choice
from domain.games.go.engine import candidates, evaluate
from domain.rules import latest_rules
from tests.games import playing
from tests.games.go import reference

RULES = latest_rules("go")
HERE = Path(__file__).parent
HELP = HERE.parents[2] / "domain/games/go"
WALLS = "c3 d3 c2 d2 c4 d4 c1 d1 c5 d5 e3 pass pass"
"""On five points a side: a wall of each, a black stone behind White's, and both have passed."""
KO = "e6 f6 d5 g5 e4 f4 b2 e5 f5"
"""Black has just taken on f5."""

legal = partial(playing.legal, RULES)
board = partial(playing.board, RULES)


def start(*flags):
    return RULES.start(RULES.read_options(flags), 2, None)


def played(texts, *flags):
    return playing.play(RULES, start(*flags), *texts.split())


def counting(texts=""):
    return played(f"{WALLS} {texts}", "-size=5")


def test_it_is_played_by_two_without_a_setup():
    options = RULES.read_options(["-size=13", "-komi=0"])
    playing.refuses_players_and_setup(RULES, options, 3, "go is played by two, not by 3")
    assert RULES.write_options(options) == ("-komi=0", "-size=13")


# --- refusals and notation


@pytest.mark.parametrize(
    ("at", "text", "sentence"),
    [
        (start(), "k1", "k1: this board ends at j9"),
        (played("e5"), "e5", "e5: a black stone is already there"),
        (played("a1 e5"), "e5", "e5: a white stone is already there"),
        (played("a2 e5 b1"), "a1", "a1: a stone there would have no liberty"),
        (played(KO), "e5", "e5: that would repeat an earlier position of the board"),
        (start(), "propose", "propose: you can only say that after two passes"),
        (played("pass"), "agree", "agree: you can only say that after two passes"),
        (counting(), "pass", "pass: both have passed: mark dead stones, or write propose"),
        (counting(), "agree", "agree: there is nothing to answer yet; write propose when all dead stones are marked"),
        (counting(), "a1", "a1: there is no stone to mark as dead"),
        (counting("e3"), "e3", "e3: that stone is already marked as dead"),
        (counting("e3 propose"), "pass", "pass: both have passed: write agree or resume, or mark more dead stones"),
        (counting("e3 propose"), "propose", "propose: answer what White has marked with agree or resume, or mark more dead stones"),
        (counting("e3 propose agree"), "a1", "a1: the match is over: the points have been counted"),
    ],
)  # fmt: skip
def test_an_illegal_move_is_refused_by_the_rule_it_breaks(at, text, sentence):
    assert playing.refused(RULES, at, text) == sentence


@pytest.mark.parametrize("text", ["", "e", "5e", "i5", "e0", "e16", "e05", "e5 d5", "again"])
def test_what_is_no_notation_is_refused_with_the_form(text):
    form = "a move is written as one point, such as e5, or pass; after two passes also propose, agree, resume"
    assert playing.unreadable(RULES, text) == f"{text!r} isn't a move; {form}"


# --- stones


def test_a_stone_may_take_where_it_would_have_no_liberty_of_its_own():
    assert board(played(KO)).get("e5") is None
    assert board(played(KO))["f5"] == "x"


def test_after_moves_elsewhere_a_ko_can_be_taken_back():
    at = played(f"{KO} a9 j9 e5")
    assert board(at)["e5"] == "o"
    assert "f5" not in board(at)


@pytest.mark.parametrize(("size", "games"), [(5, 12), (9, 4)])
def test_random_games_agree_with_the_reference(size, games):
    for seed in range(games):
        letters, letter, earlier = {}, "x", [{}]
        for at, move in playing.random_game(RULES, start(f"-size={size}"), random.Random(seed)):
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
    pyspiel = pytest.importorskip("pyspiel")
    theirs = pyspiel.load_game("go(board_size=9)")
    for seed in range(200):
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
            at = playing.play(RULES, at, text)
        if at.phase:
            outcome = RULES.outcome(playing.play(RULES, at, "propose", "agree"))
            assert state.returns()[outcome.winners[0]] == 1
        else:  # theirs has at most 162 moves
            black, white = RULES.to_json(at)["points"]
            assert (black > white + 7.5) == (state.returns()[0] == 1)


# --- counting


def test_the_marks_of_both_are_counted_once_one_agrees():
    at = counting("e3 propose")
    assert RULES.to_json(at)["board"]["e3"] == "b"
    assert RULES.to_move(at) == 0
    outcome = playing.over(RULES, playing.play(RULES, at, "agree"))
    assert outcome.winners == (1,)
    assert outcome.reason == "more-points"
    assert outcome.detail == "White wins by 2.5 points: 15 for Black, 10 for White and 7.5 komi"


def test_black_wins_with_more_than_komi():
    outcome = RULES.outcome(played(f"{WALLS} e3 propose agree", "-size=5", "-komi=4"))
    assert outcome.detail == "Black wins by 0.5 points: 15 for Black, 10 for White and 4.5 komi"


def test_who_marks_more_asks_the_other_to_agree():
    at = counting("e3 propose c3")
    assert legal(at)[-1] == "propose"
    assert "b" in board(at).values()
    at = playing.play(RULES, at, "propose")
    assert RULES.to_move(at) == 1
    assert legal(at)[-2:] == ["agree", "resume"]


def test_after_resume_the_other_moves_and_two_passes_end_the_match_with_all_stones():
    at = counting("e3 propose resume")
    assert RULES.to_move(at) == 1
    assert board(at)["e3"] == "x"
    at = playing.play(RULES, at, "pass", "pass")
    outcome = playing.over(RULES, at)
    assert outcome.detail == "Black wins by 3.5 points: 16 for Black, 5 for White and 7.5 komi"


# --- robots and pages


def test_a_robot_fills_no_eye_and_passes_where_that_wins():
    at = played("b1 j9 a2 j8 b2 h9", "-size=9")
    assert "a1" not in [RULES.write(each) for each in candidates(at)]
    won = played(f"{WALLS} e3 propose resume e2 pass", "-size=5", "-komi=0")
    assert [RULES.write(each) for each in candidates(won)] != ["pass"]
    assert [RULES.write(each) for each in candidates(played("c3 pass", "-size=5"))] == ["pass"]


def test_a_robot_agrees_unless_its_stones_are_called_dead_and_it_loses():
    assert [RULES.write(each) for each in candidates(counting())] == ["propose"]
    assert [RULES.write(each) for each in candidates(counting("propose"))] == ["agree"]
    assert [RULES.write(each) for each in candidates(counting("e3 propose"))] == ["resume"]


def test_an_estimate_counts_what_is_near_and_stones_about_to_be_taken():
    assert evaluate(played("e5", "-komi=0"))[0] > 0.5
    at = played("e6 e5 e4 g7 d5 g3")  # Black can take e5, unless Black passes
    assert evaluate(at)[0] > evaluate(playing.play(RULES, at, "pass"))[0]


def test_an_easy_robot_beats_random_play():
    won = 0
    for seed in range(10):
        at, chosen, robot = start("-size=5", "-komi=0"), random.Random(seed), seed % 2
        while RULES.outcome(at) is None:
            if RULES.to_move(at) == robot:
                move = RULES.read(choose_move(RULES, at, RobotLevel.EASY, bytes([seed] * 32)))
            else:
                move = chosen.choice(RULES.moves(at))
            at = RULES.play(at, move)
        won += RULES.outcome(at).winners == (robot,)
    assert won >= 9


def test_pages_say_what_a_word_leads_to():
    words = choice(counting("e3 propose"), ("alice", "bob"))
    assert str(words.prompt) == "Agree with what bob has marked, or mark more dead stones"
    assert str(words.words["agree"].follows) == (
        "the match ends, and White wins by 2.5 points: 15 for Black, 10 for White and 7.5 komi"
    )
    assert [*choice(counting(), ("alice", "bob")).words] == ["propose"]
    assert str(choice(played("pass"), ("alice", "bob")).words["pass"].follows).startswith("both")


# --- the drawing and the help


@pytest.mark.parametrize("language", ["", ".de"])
def test_what_the_help_shows_and_says_is_so(language):
    text = (HELP / f"help{language}.txt").read_text(encoding="utf-8")
    atari = played("e6 e5 e4 g7 d5 g3")
    for at in (start(), atari, counting("e3 propose")):
        assert draw_text(RULES, at, "large") in text
    assert "e5" not in board(playing.play(RULES, atari, "f5"))
