"""Puzzles, chance, three players and languages, as typed at a terminal."""

import pytest

from tests.fakes.app import FakeApp, Terminal
from tests.helpers.side import catch_up


@pytest.fixture
def terminal():
    app = FakeApp()
    yield Terminal(app)
    app.close()


def solve(terminal, name, *moves):
    board = int(terminal.do(f"one challenge {name}").sentence.split()[1].rstrip(","))
    for move in (*moves, "done"):
        answer = terminal.move_in("one", board, name, move)
        assert answer.code == "", answer
    return board


def test_a_puzzle_is_played_alone_and_comes_onto_the_leaderboard(terminal):
    first, second = solve(terminal, "alice", "a5"), solve(terminal, "bob", "a1")
    catch_up(terminal.app.store, terminal.app.client)
    lines = terminal.do("one scores").text.splitlines()
    assert lines[0].endswith("the best scores")
    assert "40" in lines[1]  # what is proven stands beside
    assert lines[3].startswith(" 1 bob: ")
    assert lines[3].endswith(f"(match {second})")
    assert lines[4].startswith(" 2 alice: ")
    assert lines[4].endswith(f"(match {first})")


def test_a_set_of_solitaire_has_a_leaderboard_of_its_own(terminal):
    board = int(
        terminal.do("jump challenge alice -solitaire=a1,d2,e3,g4").sentence.split()[1].rstrip(",")
    )
    assert terminal.move_in("jump", board, "alice", "done").code == ""
    catch_up(terminal.app.store, terminal.app.client)
    assert terminal.do("jump scores").text.endswith("nobody has finished it yet")
    own = terminal.do("jump scores -solitaire=d2,a1,e3,g4").text
    assert f"(match {board})" in own
    assert own.startswith("Get a Jump On -solitaire=a1,d2,e3,g4: the best scores")


def test_a_stone_is_taken_back_by_a_move_with_a_hyphen(terminal):
    board = int(terminal.do("one challenge alice").sentence.split()[1].rstrip(","))
    terminal.move_in("one", board, "alice", "a5")
    assert terminal.do(f"one preview {board} -a5 a5").code == ""
    assert "played -a5" in terminal.move_in("one", board, "alice", "-a5").sentence


def test_an_empty_leaderboard_says_so(terminal):
    assert terminal.do("two scores").text.endswith("nobody has finished it yet")


def test_a_game_for_two_has_no_leaderboard(terminal):
    answer = terminal.do("pow2 scores")
    assert (answer.code, answer.sentence) == (
        "usage",
        "pow2 isn't a puzzle: only games played alone have scores",
    )


def test_help_is_given_in_german_where_it_is_asked_for(terminal):
    assert terminal.do("help pow2 --lang=de").text != terminal.do("help pow2").text
    assert terminal.do("pow2 help --lang=DE") == terminal.do("help pow2 --lang=de")
    assert terminal.do("help pow2 --lang=en") == terminal.do("help pow2")


def test_a_player_reads_help_in_the_language_chosen(terminal):
    alice = terminal.app.accounts.id_of("alice")
    answer = terminal.do("set alice mad-hatter language de")
    assert answer.sentence == "alice liest ab jetzt alles auf Deutsch, auch Mails"
    german = terminal.language.do("help pow2", reader=alice)
    assert german == terminal.do("help pow2 --lang=de")
    assert terminal.language.do("help pow2 --lang=en", reader=alice) == terminal.do("help pow2")
    terminal.do("set alice mad-hatter language en")
    assert terminal.language.do("help pow2", reader=alice) == terminal.do("help pow2")


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("help pow2 --lang=fr", "bad-option"),
        ("help pow2 --lang=de --lang=en", "usage"),
        ("set alice mad-hatter language fr", "bad-option"),
        ("set alice wrong language de", "wrong-password"),
        ("set alice mad-hatter colour blue", "usage"),
        ("one scores now", "usage"),
        ("powerdrain challenge alice bob --entropy=", "bad-option"),
        ("powerdrain challenge alice bob --gather --gather", "bad-option"),
        ("powerdrain challenge alice bob -o1 -p --entropy=x", "bad-option"),
        ("pow2 challenge alice bob --gather", "bad-option"),
        ("pow2 challenge alice bob carol", "bad-players"),
        ("one challenge alice bob", "bad-players"),
    ],
)
def test_what_makes_no_sense_is_refused(terminal, line, code):
    assert terminal.do(line).code == code


def test_a_draw_takes_the_players_words_and_waits_for_them_if_asked(terminal):
    answer = terminal.do("powerdrain challenge alice bob --entropy=serendipity --gather")
    board = int(answer.sentence.split()[1].rstrip(","))
    assert "waiting for" in answer.sentence
    assert "waiting for" in terminal.do(f"powerdrain show {board}").text
    assert terminal.move_in("powerdrain", board, "alice", "24-57").code == "not-started"
    started = terminal.move_in("powerdrain", board, "bob", "accept --entropy=luck")
    assert "Negative (bob) accepted; Powerdrain has started" in started.sentence
    assert terminal.do(f"powerdrain show {board}").code == ""


def test_a_match_that_waits_can_be_declined(terminal):
    answer = terminal.do("powerdrain challenge alice bob --gather")
    board = int(answer.sentence.split()[1].rstrip(","))
    assert terminal.do(f"powerdrain decline {board} bob yes-we-can").code == ""
    assert "declined; the match doesn’t count" in terminal.do(f"powerdrain show {board}").text


def test_a_puzzle_that_is_given_up_has_no_winners_who_share_anything(terminal):
    board = int(terminal.do("one challenge alice").sentence.split()[1].rstrip(","))
    gone = "the match is over: the puzzle was given up"
    assert terminal.do(f"one resign {board} alice mad-hatter").sentence.endswith(gone)
    shown = terminal.do(f"one show {board}").text
    assert "the puzzle was given up" in shown
    assert "share" not in shown + terminal.do("one games alice inactive").text


def test_three_play_halves_and_one_resigns(terminal):
    board = terminal.begin("halves challenge alice bob carol -tiles_each=4 -no_contract")
    resigned = terminal.do(f"halves resign {board} alice mad-hatter")
    assert "resigned" in resigned.sentence
    assert "it is" in resigned.sentence
    assert terminal.move_in("halves", board, "alice", "1").code == "not-a-player"
    won = terminal.do(f"halves resign {board} bob yes-we-can")
    assert "(carol) won" in won.sentence
