"""Boards drawn as their players like them, and what is typed for it."""

from collections.abc import Iterator

import pytest

from tests.fakes.app import FakeApp, Terminal


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    app = FakeApp()
    yield Terminal(app)
    app.close()


def accepted(terminal: Terminal, line: str) -> str:
    answer = terminal.do(line)
    assert answer.code == "", answer
    return answer.sentence


def test_a_display_once_set_is_that_of_the_players_own_answers(terminal):
    board = terminal.challenge()
    large, small = (
        terminal.do(f"pow2 show {board} --display={name}").page.split("\n\n", 1)[1]
        for name in ("large", "small")
    )
    assert terminal.do(f"pow2 showas alice mad-hatter {board}").page.endswith(large)
    said = accepted(terminal, "pow2 set ALICE mad-hatter Small")
    assert said == "from now on The Power of Two is drawn small for alice"
    assert terminal.do(f"pow2 showas alice mad-hatter {board}").page.endswith(small)
    assert terminal.do(f"pow2 showas bob yes-we-can {board}").page.endswith(large)
    assert terminal.do(f"pow2 show {board}").page.endswith(large)
    shown = terminal.do(f"pow2 showas alice mad-hatter {board} --display=large").page
    assert shown.endswith(large)
    assert accepted(terminal, "pow2 set alice mad-hatter display large")
    assert terminal.do(f"pow2 showas alice mad-hatter {board}").page.endswith(large)


def test_a_move_is_answered_with_the_board_as_its_player_likes_it(terminal):
    board = terminal.challenge()
    accepted(terminal, "pow2 set alice mad-hatter small")

    def drawn(display: str) -> str:
        return terminal.do(f"pow2 show {board} --display={display}").page.split("\n\n", 1)[1]

    assert terminal.move(board, "alice", "m13-j7").page == drawn("small")
    assert terminal.move(board, "bob", "a13-d7").page == drawn("large")
    assert terminal.do(f"pow2 resign {board} alice mad-hatter").page == drawn("small")
    terms = "--bank=10+1 --weekends=off --unrated"
    challenged = terminal.do(f"pow2 challenge alice bob -fast {terms}").page.split("\n\n", 1)
    shown = terminal.do("pow2 show 2 --display=small").page.split("\n\n", 1)
    assert challenged[1] == shown[1]
    assert challenged[0] in shown[0].splitlines()
    assert challenged[0].startswith("time: ")
    assert "10 days" in challenged[0]


def test_previewas_is_drawn_as_its_player_likes_it_with_the_words_in_either_order(terminal):
    board = terminal.challenge()
    plain = terminal.do(f"pow2 preview {board} m13-j7")
    lines = (
        f"pow2 previewas {board} alice mad-hatter m13-j7",
        f"pow2 previewas Alice mad-hatter {board} m13-j7",
    )
    assert {terminal.do(line).text for line in lines} == {plain.text}
    accepted(terminal, "pow2 set alice mad-hatter small")
    one, other = (terminal.do(line) for line in lines)
    assert one == other
    assert one.sentence == plain.sentence
    assert one.page != plain.page
    assert one.page.splitlines()[2] == "   a b c d e f g h i j k l m"


def test_a_display_is_set_for_one_game_alone(terminal):
    accepted(terminal, "pow2 set alice mad-hatter small")
    accepted(terminal, "goliath set alice mad-hatter small")
    accepted(terminal, "pow2 set alice mad-hatter large")
    alice = terminal.app.accounts.record_of(terminal.app.accounts.id_of("alice"))
    assert alice is not None
    assert dict(alice.displays) == {"pow2": "large", "goliath": "small"}
