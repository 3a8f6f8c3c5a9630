"""Disputes as people type them: claims, appeals, rulings, and what is read of them."""

from collections.abc import Iterator

import pytest

from domain.errors import Code
from domain.match.events import Claimed, Ruled
from domain.match.history import decode_event
from infra.people.statements import MOST_STATEMENTS
from infra.people.texts import TEXT_LIMIT
from tests.fakes.app import PASSWORDS, FakeApp, Terminal

OTHER = "dave"
"""A second arbiter."""


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    app = FakeApp()
    terminal = Terminal(app)
    app.accounts.signup(OTHER, "marco-polo")
    for name in ("carol", OTHER):
        app.accounts.set_arbiter(name, True)
    yield terminal
    app.close()


@pytest.fixture
def board(terminal: Terminal) -> int:
    """A match of alice and bob, in which one move was played."""
    board = terminal.challenge()
    assert not terminal.move(board, "alice", "m13-j7").code
    return board


def last_event(terminal: Terminal, board: int):
    return decode_event(terminal.app.store.events(board)[-1])


def claim(terminal: Terminal, board: int, text: str = "he cheats", key: str | None = None):
    return terminal.do(f"claim {board} alice mad-hatter #1 {text}", key)


def test_a_claim_goes_into_the_log_by_its_salted_hash_alone(terminal, board):
    answer = claim(terminal, board, "my clock ran\non in the pause")
    assert answer.code == ""
    assert "Light (alice) made a claim about move 1" in answer.sentence
    event = last_event(terminal, board)
    (statement,) = terminal.app.statements.of_match(board)
    assert event.body == Claimed(seat=0, ply=1, text=statement.digest)
    assert statement.text == "my clock ran\non in the pause"
    assert not any(b"clock" in leaf for leaf in terminal.app.store.events(board))


def test_a_repeated_claim_is_the_same_claim(terminal, board):
    first = claim(terminal, board, key="k")
    seq = last_event(terminal, board).seq
    assert claim(terminal, board, key="k") == first
    assert last_event(terminal, board).seq == seq
    assert len(terminal.app.statements.of_match(board)) == 1
    assert claim(terminal, board, "something else", key="k").code == Code.ID_REUSED
    assert len(terminal.app.statements.of_match(board)) == 1


def test_a_refused_claim_leaves_no_text_and_is_refused_again_alike(terminal, board):
    claim(terminal, board)
    line = f"claim {board} bob yes-we-can #1 I object"
    refused = terminal.do(line, "k")
    assert refused.code == Code.CLAIM_STANDS
    assert len(terminal.app.statements.of_match(board)) == 1
    assert not terminal.do(f"rule {board} carol sing-along dismissed no ground").code
    assert terminal.do(line, "k") == refused
    assert len(terminal.app.statements.of_match(board)) == 2


def test_texts_that_a_killed_process_left_make_room_for_new_ones(terminal, board):
    app = terminal.app
    alice = app.accounts.id_of("alice")
    left = [
        app.statements.put(board, alice, f"left {number}", number.to_bytes(16))
        for number in range(MOST_STATEMENTS)
    ]
    # the clock of the matches is an older one in these tests
    assert claim(terminal, board).code == Code.TOO_MANY
    app.store.now = lambda: left[-1].at + 3_600_001
    assert claim(terminal, board).code == ""
    assert [one.text for one in app.statements.of_match(board)] == ["he cheats"]


def test_a_claim_is_made_by_players_and_arbiters_only(terminal, board):
    terminal.app.accounts.signup("erin", "mad-hatter")
    refused = terminal.do(f"claim {board} erin mad-hatter #0 text")
    assert refused.code == Code.NOT_A_PLAYER
    assert len(terminal.app.statements.of_match(board)) == 0
    answer = terminal.do(f"claim {board} carol sing-along #0 looks odd")
    assert "an arbiter made a claim about the start" in answer.sentence


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("claim {} alice mad-hatter #9 text", Code.UNKNOWN_PLY),
        ("claim {} alice mad-hatter #x text", Code.UNKNOWN_PLY),
        ("claim {} alice mad-hatter text", Code.USAGE),
        ("claim {} alice mad-hatter #1 " + "x" * (TEXT_LIMIT + 1), Code.TOO_LONG),
        ("claim {} alice mad-hatter #1 my password is mad-hatter", Code.BAD_REQUEST),
        ("claim 999 alice mad-hatter #1 text", Code.UNKNOWN_BOARD),
        ("appeal {} alice mad-hatter text", Code.UNKNOWN_CLAIM),
        ("rule {} carol sing-along dismissed text", Code.UNKNOWN_CLAIM),
        ("rule {} alice mad-hatter dismissed text", Code.NOT_AN_ARBITER),
        ("rule {} carol sing-along --own-motion result nobody text", Code.BAD_RULING),
        ("rule {} carol sing-along --own-motion back #7 text", Code.UNKNOWN_PLY),
        ("rule {} carol sing-along --own-motion dismissed text", Code.BAD_RULING),
        ("case {} alice mad-hatter", ""),
        ("cases alice mad-hatter", Code.NOT_AN_ARBITER),
        ("cases carol sing-along", ""),
    ],
)
def test_what_can_not_be_done_is_refused_with_its_code_and_stores_no_text(
    terminal, board, line, code
):
    answer = terminal.do(line.format(board))
    assert answer.code == code, answer
    assert "mad-hatter" not in answer.text
    assert len(terminal.app.statements.of_match(board)) == 0


def test_an_arbiter_who_plays_does_not_rule(terminal, board):
    terminal.app.accounts.set_arbiter("bob", True)
    claim(terminal, board)
    refused = terminal.do(f"rule {board} bob yes-we-can dismissed I was right")
    assert refused.code == Code.NOT_AN_ARBITER
    assert len(terminal.app.statements.of_match(board)) == 1


@pytest.mark.parametrize(
    ("verdict", "expected"),
    [
        ("dismissed", "an arbiter dismissed claim 4"),
        ("back #0", "the match goes back to the start"),
        ("back #0 time alice=3d,Dark=12h", "Light (alice) gets 3 days more"),
        ("result Dark", "Dark (bob)"),
        ("result ALICE", "Light (alice)"),
        ("draw", "the match is over"),
        ("annul", "annulled"),
        ("time Light=2", "Light (alice) gets 2 days more"),
    ],
)
def test_each_ruling_does_what_it_says(terminal, board, verdict, expected):
    claim(terminal, board)
    answer = terminal.do(f"rule {board} carol sing-along {verdict} because of this\nand that")
    assert answer.code == "", answer
    assert expected in answer.sentence
    ruling = [decode_event(data).body for data in terminal.app.store.events(board)][4]
    assert ruling == Ruled(
        claim=4,
        upheld=verdict != "dismissed",
        text=terminal.app.statements.of_match(board)[1].digest,
    )


def test_a_repeated_ruling_is_answered_alike_though_no_case_waits(terminal, board):
    claim(terminal, board)
    line = f"rule {board} carol sing-along back #0 play on"
    first = terminal.do(line, "k")
    assert first.code == ""
    assert terminal.do(line, "k") == first


def test_reasons_may_begin_with_the_word_time(terminal, board):
    claim(terminal, board)
    assert not terminal.do(f"rule {board} carol sing-along back #0 time was not over").code
    assert terminal.app.statements.of_match(board)[1].text == "time was not over"


def test_the_ruling_on_an_appeal_is_another_arbiters_and_final(terminal, board):
    claim(terminal, board)
    terminal.do(f"rule {board} carol sing-along result bob Light cheated")
    assert not terminal.do(f"appeal {board} alice mad-hatter I did not").code
    assert terminal.do(f"rule {board} carol sing-along dismissed no").code == Code.NOT_AN_ARBITER
    assert not terminal.do(f"rule {board} {OTHER} marco-polo back #1 it was not shown").code
    assert terminal.do(f"appeal {board} bob yes-we-can but").code == Code.ALREADY_APPEALED
    page = terminal.do(f"case {board} bob yes-we-can").page
    assert "case 4, about move 1: an arbiter has ruled on the appeal; that is final" in page
    for text in ("he cheats", "Light cheated", "I did not", "it was not shown"):
        assert f"\n    {text}" in page


def test_a_case_is_shown_to_its_players_and_to_arbiters_only(terminal, board):
    claim(terminal, board)
    terminal.app.accounts.signup("erin", "mad-hatter")
    for name, password in (*PASSWORDS.items(), (OTHER, "marco-polo")):
        assert "he cheats" in terminal.do(f"case {board} {name} {password}").page
    refused = terminal.do(f"case {board} erin mad-hatter")
    assert refused.code == Code.NOT_A_PLAYER
    assert "cheats" not in refused.text


def test_the_text_of_a_deleted_account_is_gone_and_the_claim_stays(terminal, board):
    claim(terminal, board)
    assert not terminal.do("delete alice mad-hatter").code
    assert terminal.app.statements.of_match(board) == []
    page = terminal.do(f"case {board} bob yes-we-can").page
    assert "a former player made a claim:\n    (the text was erased)" in page


def test_the_queue_has_the_cases_that_wait_the_oldest_first(terminal):
    boards = [terminal.challenge() for _ in range(3)]
    for board in reversed(boards):
        assert not terminal.do(f"claim {board} alice mad-hatter #0 about {board}").code
    answer = terminal.do("cases carol sing-along")
    assert answer.sentence == "3 cases are waiting for a ruling"
    assert [
        f"about {board}" in line
        for board, line in zip(reversed(boards), answer.page.splitlines(), strict=True)
    ] == [True] * 3
    terminal.do(f"rule {boards[1]} carol sing-along dismissed no")
    assert terminal.do("cases carol sing-along").sentence == "2 cases are waiting for a ruling"
    terminal.do(f"appeal {boards[1]} bob yes-we-can yes")
    lines = terminal.do("cases dave marco-polo").page.splitlines()
    assert "bob’s appeal: yes" in lines[-1]
    assert len(terminal.do("cases carol sing-along 3").page.splitlines()) == 1


def test_what_was_decided_is_the_same_in_a_rebuild(terminal):
    board = terminal.challenge()
    terminal.do(f"claim {board} alice mad-hatter #0 text")
    (before,) = terminal.app.cases.of(0, 10)
    terminal.app.client.delete(*terminal.app.client.keys("{p:cases*"))
    assert terminal.app.cases.of(0, 10) == [before]
