from collections.abc import Iterator

import pytest

from domain.errors import Code
from infra.audit.stored_match import check
from tests.fakes.app import PASSWORDS, FakeApp, Terminal

LINE = "m13-j7 a13-d7 j7-m13 d7-a13"


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    app = FakeApp()
    yield Terminal(app)
    app.close()


def queue(terminal: Terminal, name: str, steps: str, board: int = 1):
    return terminal.do(f"pow2 queue {board} {name} {PASSWORDS[name]} {steps}")


def test_a_reply_is_played_at_once_when_its_move_was_played(terminal):
    terminal.challenge()
    assert queue(terminal, "bob", "m13-j7 a13-d7").text == (
        "match 1: only you can see this\n\nconditional move at #1, after m13-j7: a13-d7"
    )
    answer = terminal.move(1, "alice", "m13-j7")
    assert answer.sentence == (
        "match 1, #2: Light (alice) played m13-j7; Dark (bob) played the conditional move a13-d7; "
        "it is Light's turn (alice)"
    )
    assert check(terminal.app.store, 1).startswith("match 1 holds")
    assert "no conditional moves" in queue(terminal, "bob", "").text


def test_another_move_plays_no_reply_and_drops_what_depended_on_it(terminal):
    terminal.challenge()
    queue(terminal, "bob", LINE)
    assert terminal.move(1, "alice", "m13-i11").sentence.startswith("match 1, #1: ")
    assert "no conditional moves" in queue(terminal, "bob", "").text


def test_a_whole_line_is_played_reply_by_reply_and_branches_stand_beside_each_other(terminal):
    terminal.challenge()
    queue(terminal, "bob", LINE)
    assert len(queue(terminal, "bob", "m13-i11 a13-d7").page.splitlines()) == 3
    assert terminal.move(1, "alice", "m13-j7").sentence.startswith("match 1, #2: ")
    assert queue(terminal, "bob", "").page == (
        "conditional move at #3, after m13-j7 a13-d7 j7-m13: d7-a13"
    )
    assert terminal.move(1, "alice", "j7-m13").sentence.startswith("match 1, #4: ")


def test_one_branch_is_dropped_and_the_others_stay(terminal):
    terminal.challenge()
    queue(terminal, "bob", LINE)
    queue(terminal, "bob", "m13-j7 a13-d7 m1-i3 a1-a5")
    queue(terminal, "bob", "m13-i11 a13-d7")
    assert len(queue(terminal, "bob", "drop m13-j7 a13-d7 j7-m13").page.splitlines()) == 3
    assert queue(terminal, "bob", "drop m13-j7").page == (
        "conditional move at #1, after m13-i11: a13-d7"
    )
    assert queue(terminal, "bob", "drop m13-k8").page.count("\n") == 0
    assert "no conditional moves" in queue(terminal, "bob", "drop M13-I11 A13-D7").text


def test_a_move_for_a_later_ply_is_dropped_by_its_ply(terminal):
    terminal.challenge()
    queue(terminal, "bob", "a13-d7#1 d7-a13#3")
    left = "conditional move at #3, whatever is played: d7-a13"
    assert queue(terminal, "bob", "drop a13-d7#1").page == left
    assert queue(terminal, "bob", "drop d7-a13").page == left


def test_a_branch_is_dropped_by_the_moves_that_are_still_to_come(terminal):
    terminal.challenge()
    queue(terminal, "bob", LINE)
    terminal.move(1, "alice", "m13-j7")
    assert "no conditional moves" in queue(terminal, "bob", "drop j7-m13").text


def test_both_players_may_lay_replies_ready(terminal):
    terminal.challenge()
    queue(terminal, "bob", LINE)
    terminal.move(1, "alice", "m13-i11")
    terminal.move(1, "bob", "a13-d7")
    # alice waits for nobody here: it is her turn
    assert queue(terminal, "alice", "i11-m13").code == Code.NOT_YOUR_TURN


def test_a_move_for_a_later_ply_is_played_whatever_comes_before(terminal):
    terminal.challenge()
    assert queue(terminal, "bob", "a13-d7#1").page == (
        "conditional move at #1, whatever is played: a13-d7"
    )
    assert terminal.move(1, "alice", "m13-i11").sentence.startswith("match 1, #2: ")


def test_one_move_of_ones_own_is_played_at_the_next_turn_whatever_was_played_before(terminal):
    terminal.challenge()
    for move in ("a13-c11:d10", "a13-d7"):  # the second in place of the first
        shown = queue(terminal, "bob", move).page
        assert shown == f"conditional move for your next turn: {move}"
    assert queue(terminal, "bob", "drop a13-d7").text == "match 1: you have no conditional moves"
    queue(terminal, "bob", "a13-d7")
    answer = terminal.move(1, "alice", "m13-i11")
    assert "Dark (bob) played the conditional move a13-d7" in answer.sentence
    assert "no conditional moves" in queue(terminal, "bob", "").text
    queue(terminal, "bob", "a13-k11")  # no longer there when the turn comes
    assert "match 1, #3: Light (alice) played" in terminal.move(1, "alice", "m1-i3").sentence
    assert queue(terminal, "bob", "").page.startswith("a13-k11 at #3 was dropped: ")
    assert queue(terminal, "bob", "d7-a13").code == Code.NOT_YOUR_TURN  # it is bob's turn: `move`


def test_a_reply_that_has_become_illegal_is_dropped_with_a_note_for_its_player_only(terminal):
    terminal.challenge()
    queue(terminal, "bob", "m1-i1#1")
    answer = terminal.move(1, "alice", "m13-j7")
    assert answer.sentence.startswith("match 1, #1: ")
    assert "m1-i1" not in answer.text
    own = queue(terminal, "bob", "").page
    assert own.startswith("m1-i1 at #1 was dropped: ")
    assert queue(terminal, "bob", "clear").text == "match 1: you have no conditional moves"


def test_nobody_else_sees_what_is_laid_ready(terminal):
    terminal.challenge()
    queue(terminal, "bob", "m13-j7 a13-d7")
    lines = [
        "pow2 show 1",
        "pow2 showas alice mad-hatter 1",
        "pow2 queue 1 alice mad-hatter",
        "pow2 preview 1 m13-j7",
        "pow2 chat 1 alice mad-hatter",
    ]
    assert not [line for line in lines if "a13-d7" in terminal.do(line).text]
    assert "a13-d7" in terminal.do("pow2 showas bob yes-we-can 1").text
    assert terminal.do("pow2 queue 1 carol sing-along").code == Code.NOT_A_PLAYER
    assert not any(b"a13-d7" in event for event in terminal.app.store.events(1))
    assert not any(b"a13-d7" in leaf for _, leaf in terminal.app.store.leaves(1, 0, 99))


@pytest.mark.parametrize(
    ("steps", "code", "sentence"),
    [
        ("m13-z9 a13-d7", Code.UNREADABLE_MOVE, "move 1: "),
        ("m13-z9", Code.UNREADABLE_MOVE, "z9"),
        ("m13-j7 a13-a13", Code.ILLEGAL_MOVE, "move 2: "),
        ("m13-j7#0", Code.USAGE, "no move of yours"),
        ("m13-j7#1 a13-d7", Code.USAGE, "every move needs one"),
        ("m13-j7#0 a13-d7#3", Code.STALE_PLY, "a13-d7 would be played at #1, not at #3"),
        ("m13-j7#x", Code.USAGE, "'#x' isn't a ply"),
    ],
)
def test_a_line_that_makes_no_sense_is_refused_and_lays_nothing(terminal, steps, code, sentence):
    terminal.challenge()
    answer = queue(terminal, "bob", steps)
    assert (answer.code, sentence in answer.sentence) == (code, True), answer
    assert "no conditional moves" in queue(terminal, "bob", "").text


def test_there_is_an_end_to_what_can_be_laid_ready(terminal):
    terminal.challenge()
    plies = list(range(1, 220, 2))
    for start in range(0, 100, 20):
        steps = " ".join(f"a13-d7#{ply}" for ply in plies[start : start + 20])
        assert queue(terminal, "bob", steps).code == ""
    assert queue(terminal, "bob", "a13-d7#999").code == Code.TOO_LONG
    assert queue(terminal, "bob", "clear").code == ""


def test_nothing_is_laid_ready_in_a_match_that_is_over_or_waits_for_consent(terminal):
    terminal.challenge()
    terminal.move(1, "alice", "resign")
    assert queue(terminal, "bob", "m13-j7 a13-d7").code == Code.MATCH_OVER
    terminal.do("halves challenge alice bob --gather")
    assert terminal.do("halves queue 2 bob yes-we-can keep").code == Code.NOT_STARTED


def test_an_undo_leaves_no_reply_that_depended_on_what_is_taken_back(terminal):
    terminal.challenge()
    terminal.move(1, "alice", "m13-j7")
    terminal.do("pow2 queue 1 alice mad-hatter a13-d7 j7-m13")
    terminal.move(1, "alice", "undo")
    terminal.move(1, "bob", "accept")
    assert "no conditional moves" in queue(terminal, "alice", "").text
