from collections.abc import Iterator

import pytest

from domain.errors import Code
from tests.fakes.app import PASSWORDS, FakeApp, Terminal


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    app = FakeApp()
    yield Terminal(app)
    app.close()


@pytest.fixture
def four(terminal) -> Terminal:
    """Four matches: one waits for bob, one for alice, one is over, one is of another game."""
    for _ in range(3):
        terminal.challenge()
    terminal.move(1, "alice", "m13-j7")
    terminal.move(3, "bob", "resign")
    terminal.begin("line challenge alice carol")
    return terminal


def boards(page: str) -> list[int]:
    """The numbers of the matches that are drawn."""
    return [int(line.split()[1].rstrip(":")) for line in page.splitlines() if line[:6] == "match "]


def test_all_show_draws_a_players_boards_in_all_games(four):
    assert boards(four.do("all show alice").page) == [4, 2, 1]
    assert boards(four.do("ALL Show Alice NEXT").page) == [2, 4]
    assert boards(four.do("all show bob active").page) == [2, 1]
    assert boards(four.do("all show carol next").page) == []
    assert four.do("all show carol next").page == "there are none"


def test_show_with_userids_draws_their_boards_in_a_game_each_once(four):
    assert boards(four.do("pow2 show alice bob").page) == [2, 1]
    assert boards(four.do("pow2 show bob alice all").page) == [2, 1, 3]
    assert boards(four.do("line show carol").page) == [4]
    assert boards(four.do("pow2 show carol").page) == []


def test_showas_draws_the_own_boards_with_what_is_private(four):
    four.do("pow2 queue 2 bob yes-we-can m13-j7 a13-d7")
    page = four.do("pow2 showas bob yes-we-can").page
    assert boards(page) == [2, 1]
    assert "conditional move at #1, after m13-j7: a13-d7" in page
    assert boards(four.do("pow2 showas bob yes-we-can next").page) == [1]
    assert boards(four.do("pow2 showas alice mad-hatter inactive").page) == [3]


def test_games_lists_matches_in_a_line_each(four):
    lines = four.do("pow2 games").page.splitlines()
    assert [line.split()[0] for line in lines] == ["2", "1"]
    assert lines[1].strip().startswith("1  Light alice, Dark bob: #1, bob to move since 2023-11-14")
    over = four.do("pow2 games bob inactive").page
    assert over.strip().startswith("3  Light alice, Dark bob: alice won by resignation, 2023-11")
    assert len(four.do("pow2 games alice bob all").page.splitlines()) == 3


def test_history_and_standings_without_a_game_are_of_all(four):
    four.do("line resign 4 carol sing-along")
    four.move(1, "bob", "a13-d7")
    four.move(1, "bob", "resign")
    lines = four.do("history").page.splitlines()
    assert [line.split()[0] for line in lines] == ["1", "4", "3"]
    assert [line.rpartition(", ")[2] for line in lines] == ["pow2", "line", "pow2"]
    assert four.do("hist bob").page.splitlines() == [lines[0], lines[2]]
    tables = four.do("standings").page.split("\n\n")
    assert [table.partition("\n")[0] for table in tables] == ["The Power of Two"]
    assert tables[0].partition("\n")[2] == four.do("pow2 stand").page


def test_of_several_boards_those_of_the_game_are_shown_and_the_others_explained(four):
    for line in (
        "pow2 show 1 4 99 2",
        "pow2 board 1 4 99 2",
        "pow2 showas bob yes-we-can 1 4 99 2",
    ):
        shown = four.do(line)
        assert (shown.code, boards(shown.page)) == ("", [1, 2])
        assert shown.sentence == (
            "match 4 is a match of line, not pow2; write line; there is no match 99"
        )
    assert four.do("pow2 show 4 99").code == Code.WRONG_GAME


def test_help_takes_several_subjects_and_says_which_are_none(four):
    page = four.do("help pow2").page
    found = four.do("help pow2 extra change password board")
    assert (found.code, found.page.startswith(f"{page}\n\nchange password userid old")) == (
        "",
        True,
    )
    assert "GAME show BOARD" in found.page
    assert found.sentence == "there is no game and no command 'extra'; `help` lists the commands"


def test_lists_name_deleted_players_no_more(four):
    four.do("delete bob yes-we-can")
    assert "Dark a former player" in four.do("pow2 games").page
    assert four.do("pow2 games bob").code == Code.UNKNOWN_USER


@pytest.mark.parametrize("words", ["--gather", ""])
def test_a_match_that_waits_for_consent_is_shown_to_its_players_alone(terminal, words):
    terminal.do(f"halves challenge alice bob carol {words}")
    terminal.do(f"halves move 1 bob {PASSWORDS['bob']} accept")
    for name, password in PASSWORDS.items():
        assert "accept" in terminal.do(f"halves showas {name} {password}").page
        assert "there are none" in terminal.do(f"halves games {name} all").page
        assert "there are none" in terminal.do(f"all show {name}").page
    terminal.accept(1, "carol", game="halves")
    assert "alice, " in terminal.do("halves games").page


def test_a_long_list_says_that_it_is_only_its_beginning(terminal):
    for _ in range(21):
        terminal.challenge()
    answer = terminal.do("all show alice")
    assert len(boards(answer.page)) == 20
    assert "first 20" in answer.sentence
    assert terminal.do("pow2 games alice").sentence == ""
