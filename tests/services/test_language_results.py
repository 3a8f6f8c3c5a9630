from collections.abc import Iterator

import pytest

from domain.errors import Code
from tests.fakes.app import FakeApp, Terminal


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    app = FakeApp()
    yield Terminal(app)
    app.close()


@pytest.fixture
def played(terminal) -> Terminal:
    """Alice has won twice and shared once; one match was declined, one is unrated."""
    for loser in ("bob", "bob", ""):
        board = terminal.challenge()
        terminal.move(board, "alice", "m13-j7")
        terminal.move(board, "bob", "a13-d7")
        terminal.move(board, "alice", "propose draw" if not loser else "j7-m13")
        terminal.move(board, "bob", "accept" if not loser else "resign")
    terminal.move(terminal.challenge(), "bob", "decline")
    unrated = terminal.challenge("--unrated")
    terminal.move(unrated, "alice", "m13-j7")
    terminal.move(unrated, "bob", "a13-d7")
    terminal.move(unrated, "alice", "resign")
    return terminal


def test_history_lists_finished_matches_the_last_first(played):
    lines = played.do("pow2 history").page.splitlines()
    assert [line.split()[0] for line in lines] == ["5", "4", "3", "2", "1"]
    assert "bob won by resignation, 2 moves" in lines[0]
    assert "declined; the match doesn’t count" in lines[1]
    assert "draw by agreement, 2 moves" in lines[2]
    assert played.do("pow2 history carol").page == "none has been finished yet"
    assert len(played.do("pow2 history alice").page.splitlines()) == 5


def test_history_of_two_begins_with_what_stands_between_them(played):
    assert played.do("pow2 history alice bob").page.splitlines()[0] == "alice 2, bob 1, level 1"
    assert played.do("pow2 history bob alice").page.splitlines()[0] == "bob 1, alice 2, level 1"
    assert played.do("pow2 history alice bob carol").code == Code.USAGE


def test_standings_count_points_and_matches(played):
    head, first, second = played.do("pow2 standings").page.splitlines()
    assert head.split() == ["player", "points", "matches", "won", "shared", "lost"]
    assert first.split() == ["1", "alice", "2.50", "4", "2", "1", "1"]
    assert second.split() == ["2", "bob", "1.50", "4", "1", "1", "2"]
    assert played.do("line standings").page == "nobody has finished a match yet"


def test_ratings_list_the_best_first_and_tell_how_one_came_about(played):
    first, second = played.do("pow2 ratings").page.splitlines()
    assert first.split()[:2] == ["1", "alice"]
    assert second.split()[:2] == ["2", "bob"]
    assert first.endswith("after 3 matches")
    answer = played.do("pow2 ratings alice")
    assert answer.sentence.startswith("alice is rated ")
    assert answer.sentence.endswith("after 3 matches, number 1 of 2")
    assert len(answer.page.splitlines()) == 3
    assert played.do("pow2 ratings carol").page == "carol hasn't finished a rated match yet"


def test_puzzles_have_scores_and_no_table(played):
    assert played.do("one standings").code == played.do("one ratings").code == Code.USAGE


def test_list_names_the_players_of_games(played):
    played.begin("line challenge alice carol")
    assert played.do("list").page == "alice, bob and carol"
    assert played.do("list pow2 LINE").page.splitlines() == [
        "The Power of Two: alice and bob",
        "That's My Line: alice and carol",
    ]
    assert played.do("list halves").page == "Halves: nobody yet"
    assert played.do("list pow").code == Code.UNKNOWN_GAME
