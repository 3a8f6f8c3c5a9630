import itertools
import re
from collections.abc import Iterator

import pytest
from redis.exceptions import ConnectionError as RedisConnectionError

from domain.errors import Code
from domain.match.history import PackedSnapshot
from domain.rules import all_rules
from infra.audit.stored_match import check
from services.app.games import game_keys
from services.language import Language
from tests.fakes.app import FakeApp, Terminal
from tests.helpers.games import whole_game


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    app = FakeApp()
    yield Terminal(app)
    app.close()


# what is answered


def test_the_example_of_the_help_page_is_what_happens(terminal):
    page = " ".join(terminal.do("help").page.split())
    lines = [
        terminal.do("signup dora marco-polo").sentence.replace("dora", "alice"),
        terminal.do("pow2 challenge alice bob").sentence,
        terminal.do("pow2 move 1 alice mad-hatter m13-j7").sentence,
    ]
    for line in lines:
        assert line in page


def test_help_shows_the_general_page_a_games_page_and_how_a_command_is_written(terminal):
    assert "Commands for everyone" in terminal.do("help").text
    game = terminal.do("help pow2")
    assert game.code == ""
    assert "THE POWER OF TWO" in game.text
    assert terminal.do("pow2 help") == game
    how = terminal.do("HELP Move").text
    assert how.startswith("GAME move BOARD userid password MOVE[#ply]\n    play a move")


def test_help_needs_nothing_of_the_desk():
    bare = Language(app=None)
    assert bare.do("help").code == bare.do("games").code == bare.do("pow2 help").code == ""


def test_games_lists_the_games(terminal):
    listed = terminal.do("games").text.splitlines()
    assert len(listed) == len({rules.key for rules in all_rules()})
    assert any(line.startswith("pow2: The Power of Two, for 2 players") for line in listed)


def test_a_signup_is_welcomed_and_the_password_can_be_changed(terminal):
    assert terminal.do("signup Dora marco-polo").sentence.startswith("welcome, dora;")
    changed = terminal.do("change password dora marco-polo adventurer")
    assert changed.text.startswith(
        "the password of dora has been changed; the account is logged out everywhere"
    )
    assert terminal.do("change password dora marco-polo again-again").code == Code.WRONG_PASSWORD


def test_a_challenge_starts_a_match_and_shows_it(terminal):
    answer = terminal.do("pow2 challenge alice bob")
    assert answer.sentence == (
        "match 1, #0: Light (alice) challenges Dark (bob) to The Power of Two; "
        "it is Light's turn (alice)"
    )
    time = "time: 21 days a move, a reminder after 7"
    assert answer.page.startswith(f"{time}\n\nRemaining Pieces: Light 14 Dark 14\n")
    assert answer.text == f"{answer.sentence}\n\n{answer.page}"


def test_options_may_stand_anywhere_after_challenge(terminal):
    said = "challenges Dark (bob) to The Power of Two -exact -fast; "
    for line in ("-fast -exact alice bob", "alice -fast bob -exact", "ALICE Bob -exact -fast"):
        assert said in terminal.do(f"pow2 challenge {line}").sentence


def test_a_move_is_played_and_the_next_player_named(terminal):
    board = terminal.challenge("-fast")
    answer = terminal.move(board, "alice", "m13-m9")
    assert answer.sentence == "match 1, #1: Light (alice) played m13-m9; it is Dark's turn (bob)"
    assert terminal.move(board, "bob", "A13 - A9").sentence == (
        "match 1, #2: Dark (bob) played a13-a9; it is Light's turn (alice)"
    )


def test_a_move_for_the_right_ply_is_played(terminal):
    board = terminal.challenge()
    assert terminal.move(board, "alice", "m13-j7#0").code == ""
    assert terminal.move(board, "bob", "a13-d7 #1").code == ""


def test_show_tells_game_players_turn_and_last_move(terminal):
    board = terminal.challenge("-fast")
    terminal.move(board, "alice", "m13-m9")
    lines = terminal.do("pow2 show 1 --display=small").page.splitlines()
    assert lines[:3] == [
        "match 1: The Power of Two (pow2/1 -fast)",
        "players: Light alice, Dark bob",
        "#1: it is Dark's turn (bob); the last move was m13-m9",
    ]
    assert lines[3:6] == [
        "time: 21 days a move, a reminder after 7",
        "clocks: Light alice 21 days, Dark bob 20 days 23 hours",
        "deadline: 2023-12-05 22:13 UTC, in 20 days 23 hours",
    ]
    assert lines[7] == "Remaining Pieces: Light 12 Dark 12"
    assert lines[9] == "   a b c d e f g h i j k l m"


def test_show_gives_several_boards_each_at_its_ply(terminal):
    first, second = terminal.challenge("-fast"), terminal.challenge()
    terminal.move(first, "alice", "m13-m9")
    terminal.move(first, "bob", "a13-a9")
    then, start, other = terminal.do(f"pow2 show {first}#1 {first}#0 {second}").page.split("\n\n\n")
    assert "#1: it is Dark's turn (bob); the last move was m13-m9; it is now at #2" in then
    assert "#0: it is Light's turn (alice); it is now at #2" in start
    assert other.startswith("match 2: The Power of Two (pow2/1)\n")
    now = terminal.do(f"pow2 show {first}#2").page
    assert now == terminal.do(f"pow2 show {first}").page


def test_show_names_the_offer_that_stands(terminal):
    board = terminal.challenge()
    terminal.move(board, "alice", "propose draw")
    shown = terminal.do(f"pow2 show {board}").page
    assert "Light (alice) offers a draw; Dark (bob) can accept or reject it" in shown


@pytest.mark.parametrize(
    ("player", "text", "said"),
    [
        (
            "bob",
            "accept",
            "Dark (bob) accepted the draw; the match is over: draw by agreement",
        ),
        (
            "bob",
            "decline",
            "Dark (bob) declined to play; the match is over: declined; the match doesn’t count",
        ),
        (
            "bob",
            "resign",
            "Dark (bob) resigned; the match is over: Light (alice) won by resignation",
        ),
        ("bob", "Propose  Draw", "Dark (bob) accepted the draw; the match is over"),
        ("bob", "reject", "Dark (bob) declined the draw"),
    ],
)
def test_what_stands_in_place_of_a_move_is_done_and_shown(terminal, player, text, said):
    board = terminal.challenge()
    assert terminal.move(board, "alice", "propose draw").sentence == (
        "match 1, #0: Light (alice) offers a draw"
    )
    answer = terminal.move(board, player, text)
    assert answer.sentence.startswith(f"match 1, #0: {said}")
    _, over, ending = answer.sentence.partition("the match is over: ")
    assert (over + ending) in terminal.do(f"pow2 show {board}").page


@pytest.mark.parametrize("verb", ["resign", "decline"])
def test_resign_and_decline_are_commands_too(terminal, verb):
    board = terminal.challenge()
    answer = terminal.do(f"pow2 {verb} {board} bob yes-we-can")
    assert answer.code == ""
    assert verb in answer.sentence


def test_a_draw_by_repetition_is_granted_at_once(terminal):
    board = terminal.challenge()
    for _ in range(2):
        for name, text in (
            ("alice", "m13-j7"),
            ("bob", "a13-d7"),
            ("alice", "j7-m13"),
            ("bob", "d7-a13"),
        ):
            assert terminal.move(board, name, text).code == ""
    answer = terminal.move(board, "alice", "propose draw")
    assert "draw, because the same position occurred three times" in answer.sentence


def test_a_preview_plays_moves_for_whoever_is_next_and_submits_nothing(terminal):
    board = terminal.challenge()
    before = terminal.app.store.events(board)
    answer = terminal.do(f"pow2 preview {board} M13-J7 a13-d7 j7-m13")
    assert answer.sentence == (
        "match 1, only a preview of m13-j7 a13-d7 j7-m13: it would be Dark's turn (bob)"
    )
    assert answer.page.startswith("Remaining Pieces")
    assert terminal.app.store.events(board) == before


def test_a_preview_names_the_first_move_that_is_refused(terminal):
    board = terminal.challenge()
    answer = terminal.do(f"pow2 preview {board} m13-j7 a13-a1 zzz")
    assert answer.code == Code.ILLEGAL_MOVE
    assert answer.sentence.startswith("move 2: a13-a1: ")


# five equal answers


@pytest.mark.parametrize("text", ["m13-j7", "m13-k11", "propose draw", "resign"])
def test_a_command_repeated_with_its_key_is_done_once_and_answered_alike(terminal, text):
    board = terminal.challenge()
    answers = [terminal.move(board, "alice", text, "key-1")]
    terminal.move(board, "bob", "a13-d7")
    terminal.move(board, "alice", "m1-i1")
    answers += [terminal.move(board, "alice", text, "key-1") for _ in range(4)]
    assert answers == [answers[0]] * 5


def test_a_challenge_repeated_with_its_key_gets_the_same_board(terminal):
    first = terminal.do("pow2 challenge alice bob", "key-1")
    assert terminal.do("pow2 challenge alice bob", "key-1") == first
    assert "match 2" in terminal.do("pow2 challenge alice bob", "key-2").sentence


def test_a_whole_game_is_played_to_its_end(terminal):
    board = terminal.challenge()
    *moves, last = whole_game()
    players = itertools.cycle(["alice", "bob"])
    for text, name in zip(moves, players, strict=False):
        assert terminal.move(board, name, text).code == ""
    answer = terminal.move(board, next(players), last, "key-1")
    winner = "Light (alice)" if len(moves) % 2 == 0 else "Dark (bob)"
    assert f"#{len(moves) + 1}: {winner} played {last}; the match is over: " in answer.sentence
    _, _, ending = answer.sentence.partition("; ")
    assert ending in terminal.do(f"pow2 show {board}").page
    assert ending not in terminal.do(f"pow2 show {board}#{len(moves)}").page
    assert terminal.do(f"pow2 preview {board} {last}").code == Code.MATCH_OVER
    assert "holds" in check(terminal.app.store, board)


# what is not known yet


class Broken:
    """A way in whose server goes away once a command was handed in."""

    def __init__(self, app):
        self._gateway = app.gateway

    def send(self, sent, ply, seconds):
        self._gateway.send(sent, ply, seconds)
        raise RedisConnectionError("Connection closed by server.")

    def close(self):
        self._gateway.close()


def test_when_the_server_goes_away_the_key_is_told_and_a_repetition_hears_the_outcome(terminal):
    board = terminal.challenge()
    app = terminal.app
    whole, app.gateway = app.gateway, Broken(app)
    answer = terminal.move(board, "alice", "m13-j7", key="k 1")
    assert (answer.code, answer.page) == (Code.UNAVAILABLE, "")
    assert answer.sentence == (
        "match 1: the server does not answer (Connection closed by server); look whether it is "
        "running; the command may have been accepted; repeat the command with the key 'k 1' to learn "
        "its outcome"
    )
    app.gateway = whole
    assert terminal.move(board, "alice", "m13-j7", key="k 1").sentence.startswith("match 1, #1: ")


@pytest.mark.parametrize("line", ["pow2 show 1", "pow2 resign 1 alice mad-hatter"])
def test_a_match_that_can_not_be_read_is_told(terminal, line):
    board = terminal.challenge()
    terminal.app.store._matches[board].snapshot = PackedSnapshot(bytes(32) + b"\xc1")
    answer = terminal.do(line)
    assert answer.code == Code.DAMAGED
    assert "`matchpost verify 1`" in answer.sentence


def test_every_command_in_the_help_of_a_game_is_one(terminal):
    pages = "\n".join(terminal.do(f"help {game}").page for game in game_keys())
    commands = re.findall(rf"^  (?:> )?((?:{'|'.join(game_keys())})\b.*)$", pages, re.MULTILINE)
    assert len(commands) > 15
    for line in commands:
        answer = terminal.do(line)
        assert answer.code not in (Code.UNKNOWN_COMMAND, Code.UNKNOWN_GAME), line


def test_an_outcome_that_does_not_come_in_time_is_pending(terminal):
    board = terminal.challenge()
    terminal.app.awake = False
    answer = terminal.do(f"pow2 move {board} alice mad-hatter m13-j7", "key-1", seconds=0.01)
    assert answer.code == Code.PENDING
    assert answer.pending
    assert not answer.refused
    assert "'key-1'" in answer.sentence


def test_without_durability_nothing_is_ever_accepted():
    app = FakeApp(durable=False)
    terminal = Terminal(app)
    answer = terminal.do("pow2 challenge alice bob")
    assert answer.code == Code.PENDING
    assert answer.sentence.startswith(
        "with durability none this is never more than pending; match 1, #0: "
    )
    assert answer.page
    assert terminal.move(1, "bob", "a13-d7").code == Code.NOT_YOUR_TURN
    app.close()
