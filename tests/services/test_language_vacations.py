from collections.abc import Iterator

import pytest

from domain.clocks import match_clock
from domain.clocks.time_control import DAY
from domain.errors import Code
from domain.match.history import unpack_snapshot
from infra.audit.stored_match import check
from infra.projections.match_lists import MatchLists
from tests.fakes.app import FakeApp, Terminal
from tests.helpers.side import catch_up

SECOND = 1_000


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    app = FakeApp()
    yield Terminal(app)
    app.close()


def deadline(terminal: Terminal, board: int) -> int:
    (data,) = terminal.app.store.snapshots([board])
    state = unpack_snapshot(data).state
    found = match_clock.flag_time(state.clock, state.next)
    assert found is not None
    return found


def test_a_vacation_stops_the_clock_in_all_matches_of_its_player_and_in_no_others(terminal):
    own, others = terminal.challenge("--days=3"), terminal.challenge("--days=3")
    terminal.move(others, "alice", "m13-j7")
    before = deadline(terminal, own), deadline(terminal, others)
    answer = terminal.do("vacation alice mad-hatter 5")
    assert answer.code == ""
    assert (
        "25 days of vacation are left in 2023; 2 matches of yours were notified" in answer.sentence
    )
    assert abs(deadline(terminal, own) - before[0] - 5 * DAY) < SECOND
    assert deadline(terminal, others) == before[1]
    assert check(terminal.app.store, own).startswith(f"match {own} holds")


class SlowLists(FakeApp):
    """A server whose lists are as old as their last reading by hand."""

    @property
    def lists(self) -> MatchLists:
        return MatchLists(self.client)


def test_a_vacation_reaches_a_match_that_no_list_has_yet():
    app = SlowLists()
    try:
        terminal = Terminal(app)
        listed = terminal.challenge("--days=3")
        catch_up(app.store, app.client)
        new = terminal.challenge("--days=3")
        of_others = terminal.begin("pow2 challenge bob carol --days=3")
        assert of_others
        alice = app.accounts.id_of("alice")
        assert [row.board for row in app.lists.of(alice)] == [listed]
        before = deadline(terminal, new)
        answer = terminal.do("vacation alice mad-hatter 5")
        assert "2 matches of yours were notified" in answer.sentence
        assert abs(deadline(terminal, new) - before - 5 * DAY) < SECOND
    finally:
        app.close()


def test_a_match_that_begins_while_a_player_is_away_knows_it(terminal):
    terminal.do("vacation alice mad-hatter 5")
    board = terminal.challenge("--days=3")
    now = terminal.app.store.now()
    assert deadline(terminal, board) - now > 7 * DAY
    page = terminal.do(f"pow2 show {board}").text
    assert "\nalice is on vacation until 2023-11-19 22:13 UTC\ndeadline: " in page


def test_a_vacation_can_be_made_longer_and_ended_early(terminal):
    board = terminal.challenge("--days=3")
    before = deadline(terminal, board)
    terminal.do("vacation alice mad-hatter 5")
    assert "18 days" in terminal.do("vacation alice mad-hatter 7").sentence
    assert abs(deadline(terminal, board) - before - 12 * DAY) < SECOND
    assert "29 days" in terminal.do("vacation alice mad-hatter back").sentence
    assert abs(deadline(terminal, board) - before - DAY) < SECOND


def test_without_days_it_says_what_there_is(terminal):
    assert terminal.do("vacation alice mad-hatter").sentence == (
        "you are not on vacation; 30 days of vacation are left in 2023"
    )
    terminal.do("vacation alice mad-hatter 30")
    assert terminal.do("vacation alice mad-hatter").sentence.startswith("you are on vacation until")


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("vacation alice mad-hatter 31", Code.BAD_OPTION),
        ("vacation alice mad-hatter 0", Code.BAD_OPTION),
        ("vacation alice mad-hatter -1", Code.BAD_OPTION),
        ("vacation alice mad-hatter ³", Code.BAD_OPTION),
        ("vacation alice mad-hatter 9999", Code.BAD_OPTION),
        ("vacation alice mad-hatter soon", Code.BAD_OPTION),
        ("vacation alice mad-hatter back", Code.TOO_LATE),
        ("vacation alice guessing 3", Code.WRONG_PASSWORD),
    ],
)
def test_what_can_not_be_a_vacation_is_refused(terminal, line, code):
    assert terminal.do(line).code == code


def test_a_puzzle_has_no_clock_to_stop(terminal):
    terminal.do("one challenge alice")
    assert "0 matches" in terminal.do("vacation alice mad-hatter 3").sentence
    assert terminal.do("one challenge alice").code == ""
