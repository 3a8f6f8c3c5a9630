"""Drafts, conditional moves, draws, disputes and vacations, as they are typed and shown."""

from hashlib import sha256

import pytest

from domain.clocks import match_clock
from domain.clocks.time_control import DAY
from domain.errors import Code
from domain.match.events import Ruled
from domain.match.history import decode_event, unpack_snapshot
from infra.audit.stored_match import check
from infra.people.accounts import AccountRole
from infra.people.statements import MOST_STATEMENTS
from infra.projections.match_lists import MatchFilter, MatchLists
from tests.fakes.app import PASSWORDS, FakeApp, Terminal
from tests.helpers.examples import next_millisecond
from tests.helpers.side import catch_up


@pytest.fixture
def board(terminal: Terminal) -> int:
    """A match in which alice is to move."""
    return terminal.challenge()


def bodies(terminal: Terminal, board: int) -> list:
    return [decode_event(data).body for data in terminal.app.store.events(board)]


# drafts


def submit(terminal, name, text):
    return terminal.do(f"pow2 submit 1 {name} {PASSWORDS[name]} {text}")


def confirm(terminal, name):
    return terminal.do(f"pow2 confirm 1 {name} {PASSWORDS[name]}")


@pytest.mark.usefixtures("board")
def test_what_was_submitted_last_is_shown_to_its_player_and_played_when_it_is_confirmed(terminal):
    assert submit(terminal, "alice", "m1-j7").code == ""
    shown = submit(terminal, "alice", "M13 - J7#0")
    assert shown.sentence == (
        "match 1, #0: m13-j7 is not played yet; `pow2 confirm 1 userid password` plays it"
    )
    assert shown.page == terminal.do("pow2 preview 1 m13-j7").page
    line = "submitted but not played yet: m13-j7"
    assert terminal.do("pow2 showas alice mad-hatter 1").page.endswith(f"\n\n{line}")
    for others in ("showas bob yes-we-can", "showas carol sing-along", "show"):
        assert line not in terminal.do(f"pow2 {others} 1").page
    played = terminal.do("POW2 Confirm 1 ALICE mad-hatter")
    assert played.sentence == "match 1, #1: Light (alice) played m13-j7; it is Dark's turn (bob)"
    assert played.page == shown.page
    assert line not in terminal.do("pow2 showas alice mad-hatter 1").page


@pytest.mark.usefixtures("board")
def test_a_draft_that_other_moves_have_made_stale_is_not_played(terminal):
    submit(terminal, "alice", "m13-j7")
    terminal.move(1, "alice", "m1-i1")
    terminal.move(1, "bob", "a13-d7")
    found = [confirm(terminal, "alice")]
    submit(terminal, "alice", "i1-m1")
    terminal.move(1, "bob", "undo")
    terminal.move(1, "alice", "accept")
    terminal.move(1, "bob", "a1-e1")
    assert "submitted" not in terminal.do("pow2 showas alice mad-hatter 1").page
    found.append(confirm(terminal, "alice"))
    assert submit(terminal, "alice", "i1-m1").code == ""
    terminal.move(1, "bob", "resign")
    found.append(confirm(terminal, "alice"))
    assert [(one.code, one.sentence) for one in found] == [
        (Code.STALE_PLY, "the match has moved on in the meantime; `#0` was meant, and it is now at `#2`"),
        (Code.STALE_PLY, "the moves up to #2 have changed since you submitted it; look again"),
        (Code.MATCH_OVER, "the match is over"),
    ]  # fmt: skip


# conditional moves


LINE = "m13-j7 a13-d7 j7-m13 d7-a13"


def queue(terminal: Terminal, steps: str = ""):
    return terminal.do(f"pow2 queue 1 bob yes-we-can {steps}")


def has_none(terminal: Terminal) -> bool:
    return queue(terminal).text == "match 1: you have no conditional moves"


@pytest.mark.usefixtures("board")
def test_a_reply_is_shown_to_its_player_and_played_at_once_when_its_move_was_played(terminal):
    queue(terminal, LINE)
    assert queue(terminal, "m13-i11 a13-c11").page.count("\n") == 2
    for line in ("show 1", "showas alice mad-hatter 1", "queue 1 alice mad-hatter"):
        assert "a13-d7" not in terminal.do(f"pow2 {line}").text
    assert "a13-d7" in terminal.do("pow2 showas bob yes-we-can 1").text
    assert terminal.move(1, "alice", "m13-j7").sentence == (
        "match 1, #2: Light (alice) played m13-j7; Dark (bob) played the conditional move a13-d7; "
        "it is Light's turn (alice)"
    )
    assert queue(terminal).text == (
        "match 1: only you can see this\n\nconditional move at #3, after m13-j7 a13-d7 j7-m13: d7-a13"
    )
    assert terminal.move(1, "alice", "m1-i3").sentence.startswith("match 1, #3: ")
    assert has_none(terminal)


@pytest.mark.usefixtures("board")
def test_branches_are_dropped_by_their_moves_and_plies(terminal):
    for steps in (LINE, "m13-j7 a13-d7 m1-i3 a1-a5", "m13-i11 a13-d7"):
        queue(terminal, steps)
    assert queue(terminal, "drop m13-j7 a13-d7 j7-m13").page.count("\n") == 2
    left = "conditional move at #1, after m13-i11: a13-d7"
    assert queue(terminal, "drop m13-j7").page == left
    assert queue(terminal, "drop m13-k8").page == left
    queue(terminal, "drop M13-I11 A13-D7")
    assert has_none(terminal)
    queue(terminal, "a13-d7#1 d7-a13#3")
    left = "conditional move at #3, whatever is played: d7-a13"
    assert queue(terminal, "drop a13-d7#1").page == left
    assert queue(terminal, "drop d7-a13").page == left
    queue(terminal, "clear")
    assert has_none(terminal)
    queue(terminal, LINE)
    terminal.move(1, "alice", "m13-j7")
    queue(terminal, "drop j7-m13")
    assert has_none(terminal)


# draws


TEXT = b"bob's text"
DIGEST = sha256(TEXT).hexdigest()


def called(terminal: Terminal, words: str = "--gather", key: str | None = None) -> int:
    answer = terminal.do(f"powerdrain challenge alice bob {words}", key)
    assert answer.code == "", answer
    return int(answer.sentence.split()[1].rstrip(","))


def bob(terminal: Terminal, board: int, said: str, key: str | None = None):
    return terminal.do(f"powerdrain move {board} bob yes-we-can {said}", key)


def test_a_player_commits_and_reveals_by_hand_and_a_repetition_is_answered_alike(terminal):
    board = called(terminal, key="call")
    accepted = bob(terminal, board, f"accept --commitment={DIGEST}", "accept")
    assert "accepted and committed to a text for the deal" in accepted.sentence
    assert "waiting for Negative (bob) to reveal their texts" in accepted.sentence
    assert "the server keeps" not in accepted.sentence
    shown = terminal.do(f"powerdrain show {board}").text
    assert "waiting for Negative (bob) to reveal their texts" in shown
    assert "\nwaiting until " in shown
    waits = terminal.app.lists.of(terminal.app.accounts.id_of("bob"), MatchFilter.NEXT)
    assert [row.board for row in waits] == [board]
    assert bob(terminal, board, "reveal").code == "usage"
    started = bob(terminal, board, f"reveal {TEXT.hex()}", "reveal")
    assert "Negative (bob)'s text has been revealed; Powerdrain has started" in started.sentence
    shown = terminal.do(f"powerdrain show {board}").text
    assert "\ndeal: all players had committed to their texts before its seed was sealed" in shown
    assert called(terminal, key="call") == board
    assert bob(terminal, board, f"accept --commitment={DIGEST}", "accept") == accepted
    assert bob(terminal, board, f"reveal {TEXT.hex()}", "reveal") == started
    assert "holds" in check(terminal.app.store, board)


# disputes


@pytest.fixture
def judged(terminal: Terminal) -> int:
    """A match in which alice has moved; carol and dave are arbiters."""
    terminal.app.accounts.signup("dave", "marco-polo")
    for name in ("carol", "dave"):
        terminal.app.accounts.set_role(name, AccountRole.ARBITER, held=True)
    board = terminal.challenge()
    assert not terminal.move(board, "alice", "m13-j7").code
    return board


def claim(terminal: Terminal, board: int, text: str = "he cheats", key: str | None = None):
    return terminal.do(f"claim {board} alice mad-hatter #1 {text}", key)


def rule(terminal: Terminal, board: int, words: str, key: str | None = None):
    return terminal.do(f"rule {board} carol sing-along {words}", key)


def texts(terminal: Terminal, board: int) -> list[str]:
    return [one.text for one in terminal.app.statements.of_match(board)]


def test_a_claim_is_made_once_for_its_key(terminal, judged):
    first = claim(terminal, judged, "my clock ran\non in the pause", "k")
    assert "Light (alice) made a claim about move 1" in first.sentence
    assert claim(terminal, judged, "my clock ran\non in the pause", "k") == first
    assert claim(terminal, judged, "something else", key="k").code == Code.ID_REUSED
    assert texts(terminal, judged) == ["my clock ran\non in the pause"]


def test_texts_that_a_killed_process_left_make_room_for_new_ones(terminal, judged):
    app = terminal.app
    alice = app.accounts.id_of("alice")
    left = [
        app.statements.put(judged, alice, f"left {number}", number.to_bytes(16))
        for number in range(MOST_STATEMENTS)
    ]
    # the clock of the matches is an older one in these tests
    assert claim(terminal, judged).code == Code.TOO_MANY
    app.store.now = lambda: left[-1].at + 3_600_001
    assert claim(terminal, judged).code == ""
    assert texts(terminal, judged) == ["he cheats"]


@pytest.mark.parametrize(("verdict", "expected"), [
    ("dismissed", "an arbiter dismissed claim 4"),
    ("back #0", "the match goes back to the start"),
    ("back #0 time alice=3d,Dark=12h", "Light (alice) gets 3 days more"),
    ("result Dark", "Dark (bob)"),
    ("result ALICE", "Light (alice)"),
    ("draw", "the match is over"),
    ("annul", "annulled"),
    ("time Light=2", "Light (alice) gets 2 days more"),
])  # fmt: skip
def test_each_ruling_does_what_it_says_and_once_for_its_key(terminal, judged, verdict, expected):
    claim(terminal, judged)
    next_millisecond()
    answer = rule(terminal, judged, f"{verdict} time was not over\nand that", "k")
    assert answer.code == "", answer
    assert expected in answer.sentence
    statement = terminal.app.statements.of_match(judged)[1]
    assert statement.text == "time was not over\nand that"
    ruling = bodies(terminal, judged)[4]
    assert ruling == Ruled(claim=4, upheld=verdict != "dismissed", text=statement.digest)
    assert rule(terminal, judged, f"{verdict} time was not over\nand that", "k") == answer


# vacations


def deadline(terminal: Terminal, board: int) -> int:
    (data,) = terminal.app.store.snapshots([board])
    state = unpack_snapshot(data).state
    found = match_clock.flag_time(state.clock, state.next)
    assert found is not None
    return found


class SlowLists(FakeApp):
    """A server whose lists are as old as their last reading by hand."""

    @property
    def lists(self) -> MatchLists:
        return MatchLists(self.client)


def test_a_vacation_stops_the_clock_in_all_matches_of_its_player_also_in_one_that_no_list_has_yet():
    app = SlowLists()
    try:
        terminal = Terminal(app)
        others, listed = terminal.challenge("--days=3"), terminal.challenge("--days=3")
        terminal.move(others, "alice", "m13-j7")
        catch_up(app.store, app.client)
        new = terminal.challenge("--days=3")
        terminal.begin("pow2 challenge bob carol --days=3")
        assert {row.board for row in app.lists.of(app.accounts.id_of("alice"))} == {others, listed}
        before = [deadline(terminal, board) for board in (listed, new, others)]
        said = terminal.do("vacation alice mad-hatter 5").sentence
        assert "25 days of vacation are left in 2023; 3 matches of yours were notified" in said
        after = [deadline(terminal, board) for board in (listed, new, others)]
        for board in (0, 1):
            assert abs(after[board] - before[board] - 5 * DAY) < 1_000
        assert after[2] == before[2]
        assert check(app.store, listed).startswith(f"match {listed} holds")
    finally:
        app.close()


def test_a_case_is_shown_with_what_was_said_until_it_is_erased(terminal, judged):
    claim(terminal, judged)
    terminal.app.accounts.set_role("bob", AccountRole.ARBITER, held=True)
    refused = terminal.do(f"rule {judged} bob yes-we-can dismissed I was right")
    assert refused.code == Code.NOT_AN_ARBITER, "he plays in it"
    rule(terminal, judged, "result bob Light cheated")
    terminal.accepted(f"appeal {judged} alice mad-hatter I did not")
    assert rule(terminal, judged, "dismissed no").code == Code.NOT_AN_ARBITER, "she has ruled"
    terminal.accepted(f"rule {judged} dave marco-polo back #1 it was not shown")
    for name, password in (*PASSWORDS.items(), ("dave", "marco-polo")):
        page = terminal.do(f"case {judged} {name} {password}").page
        assert "case 4, about move 1: an arbiter has ruled on the appeal; that is final" in page
        for text in ("he cheats", "Light cheated", "I did not", "it was not shown"):
            assert f"\n    {text}" in page
    terminal.accepted("delete alice mad-hatter")
    assert texts(terminal, judged) == ["Light cheated", "it was not shown"]
    page = terminal.do(f"case {judged} bob yes-we-can").page
    assert "a former player made a claim:\n    (the text was erased)" in page


@pytest.mark.usefixtures("judged")
def test_the_queue_has_the_cases_that_wait_the_oldest_first(terminal):
    boards = [terminal.challenge() for _ in range(3)]
    for board in reversed(boards):
        assert not terminal.do(f"claim {board} alice mad-hatter #0 about {board}").code
    answer = terminal.do("cases carol sing-along")
    assert answer.sentence == "3 cases are waiting for a ruling"
    for board, line in zip(reversed(boards), answer.page.splitlines(), strict=True):
        assert f"about {board}" in line
    rule(terminal, boards[1], "dismissed no")
    assert terminal.do("cases carol sing-along").sentence == "2 cases are waiting for a ruling"
    terminal.do(f"appeal {boards[1]} bob yes-we-can yes")
    lines = terminal.do("cases dave marco-polo").page.splitlines()
    assert "bob’s appeal: yes" in lines[-1]
    assert len(terminal.do("cases carol sing-along 3").page.splitlines()) == 1


@pytest.mark.usefixtures("board")
def test_one_move_of_ones_own_is_played_at_the_next_turn_whatever_was_played_before(terminal):
    for move in ("a13-c11:d10", "a13-d7"):  # the second in place of the first
        shown = queue(terminal, move).page
        assert shown == f"conditional move for your next turn: {move}"
    queue(terminal, "drop a13-d7")
    assert has_none(terminal)
    queue(terminal, "a13-d7")
    answer = terminal.move(1, "alice", "m13-i11")
    assert "Dark (bob) played the conditional move a13-d7" in answer.sentence
    assert has_none(terminal)
    queue(terminal, "a13-k11")  # no longer there when the turn comes
    answer = terminal.move(1, "alice", "m1-i3")
    assert "match 1, #3: Light (alice) played" in answer.sentence
    assert "a13-k11" not in answer.text
    assert queue(terminal).page.startswith("a13-k11 at #3 was dropped: ")
    assert queue(terminal, "clear").text == "match 1: you have no conditional moves"
