"""Taking moves back and breaking a match off, as the players agree on it at the table."""

from collections.abc import Iterator

import pytest

from domain.errors import Code
from domain.match.history import unpack_snapshot
from domain.match.state import position_of
from domain.rules import rules_by_id
from infra.audit.stored_match import check
from services.language import Answer
from tests.fakes.app import FakeApp, Terminal


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    app = FakeApp()
    yield Terminal(app)
    app.close()


@pytest.fixture
def board(terminal: Terminal) -> int:
    """A match of alice and bob after two moves."""
    board = terminal.challenge()
    terminal.move(board, "alice", "m13-j7")
    terminal.move(board, "bob", "a13-d7")
    return board


@pytest.fixture
def three(terminal: Terminal) -> int:
    """A match of three after seven moves, alice's, bob's and carol's in turn; bob is to move."""
    line = "halves challenge alice bob carol -manual_start -tiles_each=3 -no_contract"
    assert terminal.do(line).code == ""
    for number in range(7):
        any_move(terminal, 1, ["alice", "bob", "carol"][number % 3])
    return 1


def any_move(terminal: Terminal, board: int, name: str) -> None:
    """Play the first legal move of Halves."""
    (data,) = terminal.app.store.snapshots([board])
    state = unpack_snapshot(data).state
    text = next(iter(rules_by_id(state.rules).legal_moves(position_of(state))))
    assert terminal.move_in("halves", board, name, text).code == ""


def at(terminal: Terminal, board: int, game: str = "pow2") -> str:
    """The line of a board that says where the match stands."""
    return terminal.do(f"{game} show {board}").page.splitlines()[2]


def said(answer: Answer) -> str:
    assert answer.code == "", answer
    return answer.sentence


# two players


@pytest.mark.parametrize("words", ["undo", "UNDO", "propose undo", "Propose Undo"])
@pytest.mark.parametrize("consent", ["accept", "propose undo", "undo"])
def test_the_last_move_is_taken_back_when_the_other_agrees(terminal, board, words, consent):
    start = terminal.do(f"pow2 show {board}#1").page.split("\n\n", 1)[1]
    proposed = said(terminal.move(board, "bob", words))
    assert proposed == "match 1, #2: Dark (bob) asks for a takeback"
    shown = terminal.do(f"pow2 show {board}").page
    assert "Dark (bob) asks for a takeback; Light (alice) can accept" in shown
    answer = terminal.move(board, "alice", consent)
    assert said(answer) == (
        "match 1, #1: Light (alice) accepted the takeback; it was taken back to the position after 1 move; "
        "it is Dark's turn (bob)"
    )
    assert answer.page == start
    assert at(terminal, board) == "#1: it is Dark's turn (bob); the last move was m13-j7"
    assert "holds" in check(terminal.app.store, board)


def test_with_ones_own_last_move_the_reply_to_it_is_taken_back_too(terminal, board):
    terminal.move(board, "alice", "undo")
    assert "taken back to the start" in said(terminal.move(board, "bob", "accept"))
    assert at(terminal, board) == "#0: it is Light's turn (alice)"
    assert terminal.do(f"pow2 show {board}#1").code == Code.UNKNOWN_PLY
    assert said(terminal.move(board, "alice", "m1-i1")) == (
        "match 1, #1: Light (alice) played m1-i1; it is Dark's turn (bob)"
    )
    assert "holds" in check(terminal.app.store, board)


def test_moves_can_be_taken_back_one_after_the_other_to_the_start(terminal, board):
    for ply in (1, 0):
        name = ["alice", "bob"][ply]
        terminal.move(board, name, "undo")
        other = ["alice", "bob"][1 - ply]
        where = ["the start", "the position after 1 move"][ply]
        assert f"taken back to {where}; " in said(terminal.move(board, other, "accept"))
    answer = terminal.move(board, "alice", "undo")
    assert answer.code == Code.UNKNOWN_OFFER
    assert answer.sentence == "you have no move to take back"
    assert "holds" in check(terminal.app.store, board)


def test_a_move_taken_back_can_be_played_again(terminal, board):
    before = terminal.do(f"pow2 show {board}").page
    for _ in range(3):
        terminal.move(board, "bob", "undo")
        terminal.move(board, "alice", "accept")
        assert terminal.move(board, "bob", "a13-d7").code == ""
    after = terminal.do(f"pow2 show {board}").page
    assert after.split("\n\n")[-1] == before.split("\n\n")[-1]
    assert "holds" in check(terminal.app.store, board)


def test_what_is_rejected_or_played_past_is_not_taken_back(terminal, board):
    terminal.move(board, "bob", "undo")
    assert said(terminal.move(board, "alice", "reject")) == (
        "match 1, #2: Light (alice) declined the takeback"
    )
    assert terminal.move(board, "alice", "accept").code == Code.NO_OFFER
    terminal.move(board, "bob", "undo")
    assert terminal.move(board, "alice", "m1-i1").code == ""
    assert terminal.move(board, "alice", "accept").code == Code.NO_OFFER
    assert at(terminal, board).startswith("#3: ")


def test_who_proposes_does_not_agree_alone_and_strangers_have_no_say(terminal, board):
    terminal.move(board, "bob", "undo")
    assert terminal.move(board, "bob", "accept").code == Code.NO_OFFER
    assert terminal.move(board, "bob", "undo").code == Code.OFFER_STANDS
    assert terminal.move(board, "alice", "propose abort").code == Code.OFFER_STANDS
    assert terminal.move(board, "carol", "accept").code == Code.NOT_A_PLAYER
    assert at(terminal, board).startswith("#2: ")


def test_an_agreement_repeated_with_its_key_takes_back_once_and_is_answered_alike(terminal, board):
    terminal.move(board, "bob", "undo")
    first = terminal.move(board, "alice", "accept", "key-1")
    assert terminal.move(board, "bob", "a13-d7").code == ""
    assert {terminal.move(board, "alice", "accept", "key-1") for _ in range(3)} == {first}
    assert at(terminal, board).startswith("#2: ")


def test_a_move_meant_for_what_was_taken_back_is_stale(terminal, board):
    terminal.move(board, "alice", "undo")
    terminal.move(board, "bob", "accept")
    assert terminal.move(board, "alice", "m1-i1#2").code == Code.STALE_PLY
    assert terminal.move(board, "alice", "m1-i1#0").code == ""


@pytest.mark.parametrize("consent", ["accept", "propose abort"])
def test_a_match_that_all_break_off_counts_for_nothing(terminal, board, consent):
    proposed = said(terminal.move(board, "alice", "propose Abort"))
    assert proposed == "match 1, #2: Light (alice) offers to call the match off"
    ended = "the match is over: called off by agreement; the match doesn’t count"
    assert said(terminal.move(board, "bob", consent)).endswith(
        f"agreed to call the match off; {ended}"
    )
    assert at(terminal, board) == f"#2: {ended}; the last move was a13-d7"
    assert terminal.move(board, "alice", "undo").code == Code.MATCH_OVER
    assert "holds" in check(terminal.app.store, board)


def test_a_match_of_one_has_nobody_to_agree_with(terminal):
    terminal.do("one challenge alice")
    terminal.move_in("one", 1, "alice", "a5")
    for text in ("undo", "propose undo", "propose abort"):
        answer = terminal.move_in("one", 1, "alice", text)
        assert answer.code == Code.UNKNOWN_OFFER
        assert answer.sentence == "there is nobody to propose anything to"


# three players


def test_of_three_all_must_agree(terminal, three):
    proposed = said(terminal.move_in("halves", three, "bob", "undo"))
    assert proposed.endswith("B (bob) asks for a takeback")
    assert "taken back" not in said(terminal.move_in("halves", three, "alice", "accept"))
    assert terminal.move_in("halves", three, "alice", "accept").code == Code.OFFER_STANDS
    assert at(terminal, three, "halves").startswith("#7: ")
    answer = terminal.move_in("halves", three, "carol", "accept")
    assert "it was taken back to the position after 4 moves; it is B's turn (bob)" in said(answer)
    assert at(terminal, three, "halves").startswith("#4: it is B's turn (bob)")
    any_move(terminal, three, "bob")
    assert "holds" in check(terminal.app.store, three)


def test_of_three_one_can_refuse(terminal, three):
    terminal.move_in("halves", three, "bob", "propose abort")
    said(terminal.move_in("halves", three, "alice", "accept"))
    said(terminal.move_in("halves", three, "carol", "reject"))
    assert terminal.move_in("halves", three, "alice", "accept").code == Code.NO_OFFER
    assert at(terminal, three, "halves").startswith("#7: it is B's turn")


def test_three_break_a_match_off_together(terminal, three):
    terminal.move_in("halves", three, "carol", "propose abort")
    terminal.move_in("halves", three, "alice", "propose abort")
    ended = said(terminal.move_in("halves", three, "bob", "accept"))
    assert "called off by agreement" in ended
    assert "holds" in check(terminal.app.store, three)


@pytest.mark.parametrize("kind", ["undo", "abort", "draw"])
@pytest.mark.parametrize("gone", ["alice", "carol"])
def test_an_offer_lapses_when_one_of_three_leaves(terminal, three, kind, gone):
    terminal.move_in("halves", three, "alice", f"propose {kind}")
    terminal.move_in("halves", three, "bob", "accept")
    terminal.move_in("halves", three, gone, "resign")
    (other,) = {"alice", "carol"} - {gone}
    assert terminal.move_in("halves", three, "bob", "accept").code == Code.NO_OFFER
    said(terminal.move_in("halves", three, other, f"propose {kind}"))
    said(terminal.move_in("halves", three, "bob", "accept"))
    assert "holds" in check(terminal.app.store, three)


@pytest.mark.parametrize("gone", ["alice", "bob", "carol"])
def test_who_resigned_has_no_say_and_stays_out_when_moves_are_taken_back(terminal, three, gone):
    assert "resigned" in said(terminal.move_in("halves", three, gone, "resign"))
    one, other = [name for name in ("alice", "bob", "carol") if name != gone]
    terminal.move_in("halves", three, one, "undo")
    assert terminal.move_in("halves", three, gone, "accept").code == Code.NOT_A_PLAYER
    answer = terminal.move_in("halves", three, other, "accept")
    ply = {"alice": 6, "bob": 4}[one]
    assert f"it was taken back to the position after {ply} moves;" in said(answer)
    assert at(terminal, three, "halves").startswith(f"#{ply}: ")
    assert terminal.do(f"halves show {three}#{ply - 1}").code == ""
    any_move(terminal, three, one)
    assert f"'s turn ({other})" in at(terminal, three, "halves")
    assert terminal.move_in("halves", three, gone, "1").code == Code.NOT_A_PLAYER
    assert "holds" in check(terminal.app.store, three)


def test_the_last_moves_of_all_are_taken_back_past_a_resignation(terminal, three):
    terminal.move_in("halves", three, "carol", "resign")
    for _ in range(2):
        terminal.move_in("halves", three, "alice", "undo")
        assert "taken back" in said(terminal.move_in("halves", three, "bob", "accept"))
    assert at(terminal, three, "halves").startswith("#3: it is A's turn (alice)")
    for name in ("alice", "bob", "alice"):
        any_move(terminal, three, name)
    assert "holds" in check(terminal.app.store, three)
