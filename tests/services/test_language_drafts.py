"""Moves looked at before they are played: submit, confirm, preview."""

import itertools
from collections.abc import Iterator

import pytest

from domain.errors import Code
from infra.audit.stored_match import check
from infra.people.rate_limits import CommandRateLimit
from tests.fakes.app import PASSWORDS, FakeApp, Terminal
from tests.helpers.games import whole_game


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    app = FakeApp()
    yield Terminal(app)
    app.close()


@pytest.fixture
def board(terminal: Terminal) -> int:
    """A match in which alice is to move."""
    return terminal.challenge()


def submit(terminal, board, name, text, key=None):
    return terminal.do(f"pow2 submit {board} {name} {PASSWORDS[name]} {text}", key)


def confirm(terminal, board, name, key=None):
    return terminal.do(f"pow2 confirm {board} {name} {PASSWORDS[name]}", key)


def ply(terminal, board) -> int:
    page = terminal.do(f"pow2 show {board}").page
    return int(page.splitlines()[2].removeprefix("#").partition(":")[0])


# the whole way


def test_what_is_submitted_is_shown_and_played_only_when_it_is_confirmed(terminal, board):
    before = terminal.app.store.events(board)
    shown = submit(terminal, board, "alice", "M13 - J7")
    assert shown.code == ""
    assert shown.sentence == (
        "match 1, #0: m13-j7 is not played yet; `pow2 confirm 1 userid password` plays it"
    )
    assert terminal.app.store.events(board) == before
    assert shown.page == terminal.do(f"pow2 preview {board} m13-j7").page
    played = terminal.do("POW2 Confirm 1 ALICE mad-hatter")
    assert played.sentence == "match 1, #1: Light (alice) played m13-j7; it is Dark's turn (bob)"
    assert played.page == shown.page
    assert "holds" in check(terminal.app.store, board)


def test_a_move_may_be_submitted_for_the_ply_that_it_is_seen_at(terminal, board):
    assert submit(terminal, board, "alice", "m13-j7#0").code == ""
    answer = submit(terminal, board, "alice", "m13-j7#1")
    assert answer.code == Code.STALE_PLY
    assert answer.sentence == "the match is at #0, not at #1"
    assert submit(terminal, board, "alice", "m13-j7#x").code == Code.USAGE


def test_what_is_submitted_is_drawn_as_the_player_likes_it(terminal, board):
    terminal.do("pow2 set alice mad-hatter small")
    answer = submit(terminal, board, "alice", "m13-j7")
    assert answer.page.splitlines()[2] == "   a b c d e f g h i j k l m"


def test_the_last_move_submitted_is_the_one_that_is_played(terminal, board):
    for text in ("m13-j7", "m1-j7", "m1-i1"):
        assert submit(terminal, board, "alice", text).code == ""
    assert "played m1-i1;" in confirm(terminal, board, "alice").sentence


def test_only_its_player_sees_what_is_submitted(terminal, board):
    submit(terminal, board, "alice", "m13-j7")
    line = "submitted but not played yet: m13-j7"
    assert terminal.do(f"pow2 showas alice mad-hatter {board}").page.endswith(f"\n\n{line}")
    for other in ("showas bob yes-we-can", "showas carol sing-along", "show"):
        assert line not in terminal.do(f"pow2 {other} {board}").page
    confirm(terminal, board, "alice")
    assert line not in terminal.do(f"pow2 showas alice mad-hatter {board}").page


def test_each_player_has_a_move_of_their_own_laid_ready_in_each_match(terminal, board):
    other = terminal.challenge()
    submit(terminal, board, "alice", "m13-j7")
    assert confirm(terminal, other, "alice").code == Code.NO_DRAFT
    confirm(terminal, board, "alice")
    assert submit(terminal, board, "bob", "a13-d7").code == ""
    assert "Dark (bob) played a13-d7" in confirm(terminal, board, "bob").sentence


def test_a_game_is_played_to_its_end_by_submitting_and_confirming(terminal, board):
    moves, players = whole_game(), itertools.cycle(["alice", "bob"])
    for text, name in zip(moves, players, strict=False):
        assert submit(terminal, board, name, text).code == ""
        answer = confirm(terminal, board, name)
        assert answer.code == ""
    assert "the match is over: " in answer.sentence
    assert "holds" in check(terminal.app.store, board)


def test_what_was_submitted_after_moves_that_were_taken_back_is_not_played(terminal, board):
    for name, text in (("alice", "m13-j7"), ("bob", "a13-d7")):
        terminal.move(board, name, text)
    submit(terminal, board, "alice", "m1-i1")
    terminal.move(board, "bob", "undo")
    terminal.move(board, "alice", "accept")
    terminal.move(board, "bob", "a1-e1")
    assert "submitted" not in terminal.do(f"pow2 showas alice mad-hatter {board}").page
    answer = confirm(terminal, board, "alice")
    assert answer.code == Code.STALE_PLY
    assert answer.sentence == "the moves up to #2 have changed since you submitted it; look again"
    assert submit(terminal, board, "alice", "m1-i1").code == ""
    assert "played m1-i1" in confirm(terminal, board, "alice").sentence


# repetitions


def test_a_confirmation_repeated_with_its_key_is_one_move_and_one_answer(terminal, board):
    submit(terminal, board, "alice", "m13-j7")
    answers = {confirm(terminal, board, "alice", "key-1") for _ in range(3)}
    assert ply(terminal, board) == 1
    assert terminal.move(board, "bob", "a13-d7").code == ""
    answers.add(confirm(terminal, board, "alice", "key-1"))
    assert len(answers) == 1
    assert ply(terminal, board) == 2


def test_a_confirmation_with_another_key_comes_too_late(terminal, board):
    submit(terminal, board, "alice", "m13-j7")
    assert confirm(terminal, board, "alice", "key-1").code == ""
    assert confirm(terminal, board, "alice", "key-2").code == Code.STALE_PLY
    assert ply(terminal, board) == 1


def test_a_key_that_confirmed_one_move_does_not_confirm_the_next(terminal, board):
    submit(terminal, board, "alice", "m13-j7")
    confirm(terminal, board, "alice", "key-1")
    terminal.move(board, "bob", "a13-d7")
    submit(terminal, board, "alice", "m1-i1")
    assert confirm(terminal, board, "alice", "key-1").code == Code.ID_REUSED
    assert confirm(terminal, board, "alice", "key-2").code == ""


def test_a_submission_repeated_late_does_not_replace_a_later_one(terminal, board):
    first = submit(terminal, board, "alice", "m13-j7", "key-1")
    submit(terminal, board, "alice", "m1-i1", "key-2")
    assert submit(terminal, board, "alice", "m13-j7", "key-1") == first
    assert "played m1-i1;" in confirm(terminal, board, "alice").sentence


# what can't be submitted or confirmed


def test_a_move_that_came_between_makes_the_submitted_one_stale(terminal, board):
    submit(terminal, board, "alice", "m13-j7")
    terminal.move(board, "alice", "m1-i1")
    terminal.move(board, "bob", "a13-d7")
    answer = confirm(terminal, board, "alice")
    assert answer.code == Code.STALE_PLY
    assert (
        answer.sentence
        == "the match has moved on in the meantime; `#0` was meant, and it is now at `#2`"
    )


def test_one_submits_in_ones_own_turn(terminal, board):
    answer = submit(terminal, board, "bob", "a13-d7")
    assert answer.code == Code.NOT_YOUR_TURN
    assert answer.sentence == "it is Light's turn (alice); submit a move when it is your turn"
    assert confirm(terminal, board, "bob").code == Code.NO_DRAFT


def test_nothing_is_submitted_or_confirmed_in_a_match_that_is_over(terminal, board):
    submit(terminal, board, "alice", "m13-j7")
    terminal.move(board, "bob", "resign")
    for answer in (submit(terminal, board, "alice", "m13-j7"), confirm(terminal, board, "alice")):
        assert answer.code == Code.MATCH_OVER
        assert answer.sentence == "the match is over"


def test_nothing_is_submitted_in_a_match_that_has_no_position_yet(terminal, board):
    assert terminal.do("powerdrain challenge alice bob --gather").code == ""
    answer = terminal.do(f"powerdrain submit {board + 1} alice mad-hatter 24-57")
    assert answer.code == Code.NOT_STARTED
    answer = terminal.do(f"powerdrain confirm {board + 1} alice mad-hatter")
    assert answer.code == Code.NO_DRAFT
    terminal.do(f"powerdrain decline {board + 1} bob yes-we-can")
    answer = terminal.do(f"powerdrain submit {board + 1} alice mad-hatter 24-57")
    assert answer.code == Code.MATCH_OVER


REFUSED = [
    ("pow2 submit {} alice mad-hatter m13-m5", Code.ILLEGAL_MOVE, "m13-m5: "),
    ("pow2 submit {} alice mad-hatter z99", Code.UNREADABLE_MOVE, "'z99' isn't a move"),
    ("pow2 submit {} alice mad-hatter resign", Code.UNREADABLE_MOVE, "'resign' isn't a move"),
    ("pow2 submit {} alice mad-hatter", Code.USAGE, "the form is `pow2 submit BOARD userid"),
    ("pow2 submit {} alice mad-hatter m13-j7\nm1-i1", Code.USAGE, "the form is `pow2 submit"),
    ("pow2 submit {} alice guessing m13-j7", Code.WRONG_PASSWORD, "password of alice"),
    ("pow2 submit {} zoe mad-hatter m13-j7", Code.UNKNOWN_USER, "no user 'zoe'"),
    ("pow2 submit {} carol sing-along m13-j7", Code.NOT_A_PLAYER, "only its players"),
    ("pow2 submit 9{} alice mad-hatter m13-j7", Code.UNKNOWN_BOARD, "there is no match 91"),
    ("line submit {} alice mad-hatter a1", Code.WRONG_GAME, "is a match of pow2, not line"),
    ("pow2 confirm {} alice mad-hatter", Code.NO_DRAFT, "you have submitted nothing in match 1"),
    ("pow2 confirm {} alice mad-hatter m13-j7", Code.USAGE, "the form is `pow2 confirm BOARD use"),
    ("pow2 confirm {} alice guessing", Code.WRONG_PASSWORD, "password of alice"),
    ("pow2 confirm {} carol sing-along", Code.NOT_A_PLAYER, "only its players"),
    ("pow2 confirm 9{} alice mad-hatter", Code.UNKNOWN_BOARD, "there is no match 91"),
    ("line confirm {} alice mad-hatter", Code.WRONG_GAME, "is a match of pow2, not line"),
]


@pytest.mark.parametrize(("line", "code", "said"), REFUSED)
def test_what_can_not_be_submitted_lays_nothing_ready(terminal, board, line, code, said):
    answer = terminal.do(line.format(board))
    assert (answer.code, said in answer.sentence) == (code, True), answer
    assert not answer.page
    assert confirm(terminal, board, "alice").code == Code.NO_DRAFT
    assert ply(terminal, board) == 0


def test_who_submits_too_often_in_a_minute_is_asked_to_wait(terminal, board):
    terminal.app.pace = CommandRateLimit(2)
    codes = [submit(terminal, board, "alice", "m13-j7").code for _ in range(3)]
    assert codes == ["", "", Code.TOO_FAST]
    assert confirm(terminal, board, "alice").code == Code.TOO_FAST


# previews


def test_several_moves_are_previewed_with_the_words_in_either_order(terminal, board):
    lines = (
        f"pow2 previewas {board} alice mad-hatter m13-j7 a13-d7",
        f"pow2 previewas ALICE mad-hatter {board} M13-J7 A13-D7",
        f"POW2 PreviewAs {board} carol sing-along m13-j7 a13-d7",
        f"pow2 preview {board} m13-j7 a13-d7",
    )
    answers = [terminal.do(line) for line in lines]
    assert len({answer.text for answer in answers}) == 1
    assert answers[0].sentence == (
        "match 1, only a preview of m13-j7 a13-d7: it would be Light's turn (alice)"
    )
    assert ply(terminal, board) == 0
    assert confirm(terminal, board, "alice").code == Code.NO_DRAFT


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("pow2 previewas 1 alice guessing m13-j7", Code.WRONG_PASSWORD),
        ("pow2 previewas alice guessing 1 m13-j7", Code.WRONG_PASSWORD),
        ("pow2 previewas alice mad-hatter one m13-j7", Code.USAGE),
        ("pow2 previewas alice mad-hatter 1", Code.USAGE),
        ("pow2 previewas alice mad-hatter m13-j7", Code.USAGE),
        ("pow2 previewas alice mad-hatter 9 m13-j7", Code.UNKNOWN_BOARD),
        ("pow2 previewas alice mad-hatter 1 m13-m5", Code.ILLEGAL_MOVE),
        ("pow2 previewas 1 alice mad-hatter m13-j7 z9", Code.UNREADABLE_MOVE),
        ("line previewas 1 alice mad-hatter m13", Code.WRONG_GAME),
    ],
)
def test_what_can_not_be_previewed_is_refused_in_either_order(terminal, board, line, code):
    assert board == 1
    assert terminal.do(line).code == code


def test_there_is_nothing_to_preview_before_a_match_has_a_position(terminal, board):
    terminal.do("powerdrain challenge alice bob --gather")
    for who in ("", "as"):
        words = "alice mad-hatter " * bool(who)
        answer = terminal.do(f"powerdrain preview{who} {board + 1} {words}24-57")
        assert answer.code == Code.NOT_STARTED
        assert answer.sentence == "the match is waiting for all players to accept"


@pytest.mark.parametrize("line", ["pow2 show {}", "pow2 showas alice mad-hatter {}"])
def test_twenty_boards_are_shown_at_once_and_not_more(terminal, board, line):
    words = [str(board)] * 20
    assert terminal.do(line.format(" ".join(words))).page.count("match 1: ") == 20
    answer = terminal.do(line.format(" ".join([*words, f"{board}#0"])))
    assert answer.code == Code.TOO_LONG
    assert answer.sentence == "that's 21 boards; the limit is 20"


def test_a_preview_ends_with_the_match(terminal, board):
    *moves, last = whole_game()
    for text, name in zip(moves, itertools.cycle(["alice", "bob"]), strict=False):
        terminal.move(board, name, text)
    answer = terminal.do(f"pow2 previewas {board} bob yes-we-can {last}")
    assert answer.sentence.endswith("the match would be over")
    answer = terminal.do(f"pow2 previewas {board} bob yes-we-can {last} m13-j7")
    assert answer.code == Code.MATCH_OVER
    assert answer.sentence.startswith("move 2: the match would be over")
