"""Answers of the command language: help, what is shown of matches, lists, puzzles, keys, and several commands in one.

Whatever is typed is answered: `trials/fuzz/commands.py` has the million.
"""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from redis.exceptions import ConnectionError as RedisConnectionError

from domain.errors import Code
from domain.rules import all_rules, game_keys
from infra.audit.stored_match import check
from services.language import Language
from tests.fakes.app import PASSWORDS, Terminal
from tests.helpers.examples import examples
from tests.helpers.side import catch_up
from trials.fuzz.commands import KINDS, run

# help


def test_help_shows_general_pages_pages_of_games_and_how_commands_are_written(terminal):
    bare = Language(app=None)
    assert bare.do("help").code == bare.do("pow2 help").code == ""
    page = " ".join(terminal.do("help").page.split())
    for line in (  # its example is what happens
        terminal.do("signup dora marco-polo").sentence.replace("dora", "alice"),
        terminal.do("pow2 challenge alice bob").sentence,
        terminal.do("pow2 move 1 alice mad-hatter m13-j7").sentence,
    ):
        assert line in page
    game = terminal.accepted("help pow2")
    assert "THE POWER OF TWO" in game.text
    assert terminal.do("pow2 help") == game
    how = terminal.do("HELP Move").text
    assert how.startswith("GAME move BOARD userid password MOVE[#ply]\n    play a move")
    found = terminal.accepted("help pow2 extra change password board")
    assert found.page.startswith(f"{game.page}\n\nchange password userid old")
    assert "GAME show BOARD" in found.page
    assert found.sentence == "there is no game and no command 'extra'; `help` lists the commands"
    listed = terminal.do("games").text.splitlines()
    assert len(listed) == len({rules.key for rules in all_rules()})
    assert any(line.startswith("pow2: The Power of Two, for 2 players") for line in listed)


def test_every_command_in_the_help_of_a_game_is_one(terminal):
    pages = "\n".join(terminal.do(f"help {game}").page for game in game_keys())
    commands = re.findall(rf"^  (?:> )?((?:{'|'.join(game_keys())})\b.*)$", pages, re.MULTILINE)
    assert len(commands) > 15
    for line in commands:
        assert terminal.do(line).code not in (Code.UNKNOWN_COMMAND, Code.UNKNOWN_GAME), line


# matches


def test_moves_are_played_and_shown_each_board_at_its_ply(terminal):
    first, second = terminal.challenge("-fast"), terminal.challenge()
    assert terminal.move(first, "alice", "m13-m9#0").sentence == (
        "match 1, #1: Light (alice) played m13-m9; it is Dark's turn (bob)"
    )
    lines = terminal.do("pow2 show 1 --display=small").page.splitlines()
    assert lines[:6] == [
        "match 1: The Power of Two (pow2/1 -fast)",
        "players: Light alice, Dark bob",
        "#1: it is Dark's turn (bob); the last move was m13-m9",
        "time: 21 days a move, a reminder after 7",
        "clocks: Light alice 21 days, Dark bob 20 days 23 hours",
        "deadline: 2023-12-05 22:13 UTC, in 20 days 23 hours",
    ]
    assert lines[7] == "Remaining Pieces: Light 12 Dark 12"
    assert lines[9] == "   a b c d e f g h i j k l m"
    assert terminal.move(first, "bob", "A13 - A9 #1").sentence == (
        "match 1, #2: Dark (bob) played a13-a9; it is Light's turn (alice)"
    )
    then, start, other = terminal.do(f"pow2 show {first}#1 {first}#0 {second}").page.split("\n\n\n")
    assert "#1: it is Dark's turn (bob); the last move was m13-m9; it is now at #2" in then
    assert "#0: it is Light's turn (alice); it is now at #2" in start
    assert other.startswith("match 2: The Power of Two (pow2/1)\n")
    now = terminal.do(f"pow2 show {first}#2").page
    assert now == terminal.do(f"pow2 show {first}").page


@pytest.mark.parametrize(("text", "said"), [
    ("accept", "accepted the draw; the match is over: draw by agreement"),
    ("decline", "declined to play; the match is over: declined; the match doesn’t count"),
    ("resign", "resigned; the match is over: Light (alice) won by resignation"),
    ("Propose  Draw", "accepted the draw; the match is over"),
    ("reject", "declined the draw"),
])  # fmt: skip
def test_what_stands_in_place_of_a_move_is_done_and_shown(terminal, text, said):
    board = terminal.challenge()
    offered = terminal.move(board, "alice", "propose draw").sentence
    assert offered == "match 1, #0: Light (alice) offers a draw"
    shown = terminal.do(f"pow2 show {board}").page
    assert "Light (alice) offers a draw; Dark (bob) can accept or reject it" in shown
    answer = terminal.move(board, "bob", text, "key-1")
    assert answer.sentence.startswith(f"match 1, #0: Dark (bob) {said}")
    assert terminal.move(board, "bob", text, "key-1") == answer
    _, over, ending = answer.sentence.partition("the match is over: ")
    assert (over + ending) in terminal.do(f"pow2 show {board}").page
    if text in ("decline", "resign"):  # are commands, too
        again = terminal.accepted(f"pow2 {text} {terminal.challenge()} bob yes-we-can")
        assert again.sentence.startswith(f"match 2, #0: Dark (bob) {said}")


def test_a_game_of_go_is_counted_in_words_that_mean_something_else_elsewhere(terminal):
    board = terminal.begin("go challenge alice bob")
    for name in ("alice", "bob"):
        terminal.move_in("go", board, name, "pass")
    unproposed = terminal.move_in("go", board, "alice", "resume")
    assert unproposed.code == Code.NOT_PAUSED
    for name, word in (("alice", "propose"), ("bob", "resume")):
        assert not terminal.move_in("go", board, name, word).code
    for name, word in (("alice", "pass"), ("bob", "pass"), ("alice", "propose")):
        terminal.move_in("go", board, name, word)
    agreed = terminal.move_in("go", board, "bob", "agree")
    assert "the match is over" in agreed.sentence
    bare = terminal.move(terminal.challenge(), "alice", "propose")
    assert bare.code == Code.USAGE
    assert bare.sentence.startswith("say what you propose: `propose draw`, `propose undo`")


def test_a_preview_plays_moves_for_whoever_is_next_and_submits_nothing(terminal):
    board = terminal.challenge()
    before = terminal.app.store.events(board)
    answer = terminal.do(f"pow2 preview {board} M13-J7 a13-d7 j7-m13")
    assert answer.sentence == (
        "match 1, only a preview of m13-j7 a13-d7 j7-m13: it would be Dark's turn (bob)"
    )
    assert answer.page.startswith("Remaining Pieces")
    assert terminal.app.store.events(board) == before
    answer = terminal.do(f"pow2 preview {board} m13-j7 a13-a1 zzz")
    assert answer.code == Code.ILLEGAL_MOVE
    assert answer.sentence.startswith("move 2: a13-a1: ")


def test_the_end_is_seen_in_a_preview_and_shown_with_its_ply(terminal):
    board = alone(terminal, "alice")
    previewas = f"one previewas {board} alice mad-hatter a5 done"
    assert terminal.do(previewas).sentence.endswith("the match would be over")
    beyond = terminal.do(f"{previewas} a1")
    assert beyond.code == Code.MATCH_OVER
    assert beyond.sentence.startswith("move 3: the match would be over")
    terminal.move_in("one", board, "alice", "a5")
    _, _, ending = terminal.move_in("one", board, "alice", "done").sentence.partition("; ")
    assert ending.startswith("the match is over: ")
    assert ending in terminal.do(f"one show {board}").page
    assert ending not in terminal.do(f"one show {board}#1").page
    assert terminal.do(f"one preview {board} a1").code == Code.MATCH_OVER
    assert "holds" in check(terminal.app.store, board)


# keys, and what is not known yet


def test_a_command_repeated_with_its_key_is_answered_as_it_was_after_other_moves(terminal):
    for text in ("m13-j7", "m13-k11"):
        board = terminal.challenge()
        answers = [terminal.move(board, "alice", text, f"key {text}")]
        terminal.move(board, "bob", "a13-d7")
        terminal.move(board, "alice", "m1-i1")
        answers += [terminal.move(board, "alice", text, f"key {text}") for _ in range(2)]
        assert answers == [answers[0]] * 3
        other = terminal.move(board, "alice", "m1-j7", f"key {text}")
        assert other.code == Code.ID_REUSED


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


# boards drawn as their players like them


def test_a_display_once_set_is_that_of_the_players_own_answers_in_one_game(terminal):
    board = terminal.challenge()

    def drawn(display: str) -> str:
        return terminal.do(f"pow2 show {board} --display={display}").page.split("\n\n", 1)[1]

    large, small = drawn("large"), drawn("small")
    own = f"pow2 showas alice mad-hatter {board}"
    assert terminal.do(own).page.endswith(large)
    plain = terminal.do(f"pow2 preview {board} m13-j7")
    said = terminal.accepted("pow2 set ALICE mad-hatter Small").sentence
    assert said == "from now on The Power of Two is drawn small for alice"
    terminal.accepted("goliath set alice mad-hatter small")
    assert terminal.do(own).page.endswith(small)
    assert terminal.do(f"{own} --display=large").page.endswith(large)
    for line in (f"pow2 showas bob yes-we-can {board}", f"pow2 show {board}"):
        assert terminal.do(line).page.endswith(large)
    answer = terminal.do(f"pow2 previewas {board} alice mad-hatter m13-j7")
    assert answer.sentence == plain.sentence
    assert answer.page.splitlines()[2] == "   a b c d e f g h i j k l m"
    assert terminal.do(f"pow2 previewas {board} bob yes-we-can m13-j7").text == plain.text
    assert terminal.move(board, "alice", "m13-j7").page == drawn("small")
    assert terminal.move(board, "bob", "a13-d7").page == drawn("large")
    assert terminal.do(f"pow2 resign {board} alice mad-hatter").page == drawn("small")
    terminal.accepted("pow2 set alice mad-hatter display large")
    alice = terminal.app.accounts.record_of(terminal.app.accounts.id_of("alice"))
    assert alice is not None
    assert dict(alice.displays) == {"pow2": "large", "goliath": "small"}


# lists


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


def test_boards_are_shown_by_player_game_and_state(four):
    four.do("pow2 queue 2 bob yes-we-can m13-j7 a13-d7")
    for line, shown in (
        ("all show alice", [4, 2, 1]),
        ("ALL Show Alice NEXT", [2, 4]),
        ("all show bob active", [2, 1]),
        ("all show carol next", []),
        ("pow2 show alice bob", [2, 1]),
        ("pow2 show bob alice all", [2, 1, 3]),
        ("line show carol", [4]),
        ("pow2 show carol", []),
        ("pow2 showas bob yes-we-can", [2, 1]),
        ("pow2 showas bob yes-we-can next", [1]),
        ("pow2 showas alice mad-hatter inactive", [3]),
    ):
        assert boards(four.do(line).page) == shown, line
    assert four.do("all show carol next").page == "there are none"
    private = "conditional move at #1, after m13-j7: a13-d7"
    assert private in four.do("pow2 showas bob yes-we-can").page
    for line in ("pow2 show", "pow2 board", "pow2 showas bob yes-we-can"):
        shown = four.accepted(f"{line} 1 4 99 2")
        assert boards(shown.page) == [1, 2]
        assert shown.sentence == (
            "match 4 is a match of line, not pow2; write line; there is no match 99"
        )
    assert four.do("pow2 show 4 99").code == Code.WRONG_GAME


def test_matches_results_and_players_are_listed_with_and_without_a_game(four):
    assert four.do("list").page == "alice, bob and carol"
    assert four.do("list pow2 LINE").page.splitlines() == [
        "The Power of Two: alice and bob",
        "That's My Line: alice and carol",
    ]
    assert four.do("list halves").page == "Halves: nobody yet"
    assert four.do("list pow").code == Code.UNKNOWN_GAME
    lines = four.do("pow2 games").page.splitlines()
    assert [line.split()[0] for line in lines] == ["2", "1"]
    assert lines[1].strip().startswith("1  Light alice, Dark bob: #1, bob to move since 2023-11-14")
    over = four.do("pow2 games bob inactive").page
    assert over.strip().startswith("3  Light alice, Dark bob: alice won by resignation, 2023-11")
    assert len(four.do("pow2 games alice bob all").page.splitlines()) == 3
    four.do("line resign 4 carol sing-along")
    four.move(1, "bob", "a13-d7")
    four.move(1, "bob", "resign")
    lines = four.do("history").page.splitlines()
    assert [line.split()[0] for line in lines] == ["1", "4", "3"]
    assert [line.rpartition(", ")[2] for line in lines] == ["pow2", "line", "pow2"]
    assert four.do("hist bob").page.splitlines() == [lines[0], lines[2]]
    assert four.do("standings").page == f"The Power of Two\n{four.do('pow2 stand').page}"
    four.do("delete bob yes-we-can")
    assert "Dark a former player" in four.do("pow2 games").page
    assert four.do("pow2 games bob").code == Code.UNKNOWN_USER


def test_a_match_that_waits_for_consent_is_shown_to_its_players_alone(terminal):
    for board, words in ((1, "--gather"), (2, "")):
        terminal.do(f"halves challenge alice bob carol {words}")
        terminal.do(f"halves move {board} bob yes-we-can accept")
        for name, password in PASSWORDS.items():
            assert "accept" in terminal.do(f"halves showas {name} {password} {board}").page
            assert "there are none" in terminal.do(f"halves games {name} all").page
            assert "there are none" in terminal.do(f"all show {name}").page
    terminal.accept(2, "carol", game="halves")
    assert "alice, " in terminal.do("halves games").page


def test_history_standings_and_ratings_of_a_game_are_listed(terminal):
    for end in ("propose draw", "resign"):
        board = terminal.challenge()
        for name, text in (("alice", "m13-j7"), ("bob", "a13-d7"), ("bob", end)):
            terminal.move(board, name, text)
        terminal.move(board, "alice", "accept")
    terminal.move(terminal.challenge(), "bob", "decline")
    lines = terminal.do("pow2 history").page.splitlines()
    assert [line.split()[0] for line in lines] == ["3", "2", "1"]
    for line, said in zip(
        lines, ("declined; the match doesn’t count", "alice won by resignation, 2 moves", "draw by agreement, 2 moves"), strict=True,
    ):  # fmt: skip
        assert said in line
    assert terminal.do("pow2 history carol").page == "none has been finished yet"
    assert terminal.do("pow2 history alice bob").page.splitlines()[0] == "alice 1, bob 0, level 1"
    assert terminal.do("pow2 history alice bob carol").code == Code.USAGE
    head, first, second = terminal.do("pow2 standings").page.splitlines()
    assert head.split() == ["player", "points", "matches", "won", "shared", "lost"]
    assert first.split() == ["1", "alice", "1.50", "2", "1", "1", "0"]
    assert second.split() == ["2", "bob", "0.50", "2", "0", "1", "1"]
    assert terminal.do("line standings").page == "nobody has finished a match yet"
    first, second = terminal.do("pow2 ratings").page.splitlines()
    assert (first.split()[:2], second.split()[:2]) == (["1", "alice"], ["2", "bob"])
    assert first.endswith("after 2 matches")
    answer = terminal.do("pow2 ratings alice")
    assert answer.sentence.startswith("alice is rated ")
    assert answer.sentence.endswith("after 2 matches, number 1 of 2")
    assert len(answer.page.splitlines()) == 2
    assert terminal.do("pow2 ratings carol").page == "carol hasn't finished a rated match yet"


def alone(terminal: Terminal, name: str, game: str = "one") -> int:
    """Start a puzzle; gives its board number."""
    return int(terminal.accepted(f"{game} challenge {name}").sentence.split()[1].rstrip(","))


def test_puzzles_have_leaderboards_those_of_a_set_of_their_own(terminal):
    assert terminal.do("two scores").text.endswith("nobody has finished it yet")
    for name, move in (("alice", "a5"), ("bob", "a1")):
        board = alone(terminal, name)
        for text in (move, "done"):
            assert terminal.move_in("one", board, name, text).code == ""
    own = alone(terminal, "alice -solitaire=a1,d2,e3,g4", "jump")
    assert terminal.move_in("jump", own, "alice", "done").code == ""
    catch_up(terminal.app.store, terminal.app.client)
    lines = terminal.do("one scores").text.splitlines()
    assert lines[0].endswith("the best scores")
    assert "40" in lines[1]  # what is proven stands beside
    for line, name, board in ((lines[3], " 1 bob: ", 2), (lines[4], " 2 alice: ", 1)):
        assert line.startswith(name)
        assert line.endswith(f"(match {board})")
    assert terminal.do("jump scores").text.endswith("nobody has finished it yet")
    listed = terminal.do("jump scores -solitaire=d2,a1,e3,g4").text
    assert f"(match {own})" in listed
    assert listed.startswith("Get a Jump On -solitaire=a1,d2,e3,g4: the best scores")
    answer = terminal.do("pow2 scores")
    assert answer.sentence == "pow2 isn't a puzzle: only games played alone have scores"
    assert terminal.do("one standings").code == terminal.do("one ratings").code == Code.USAGE


def test_a_long_list_says_that_it_is_only_its_beginning(terminal):
    for _ in range(21):
        terminal.challenge()
    answer = terminal.do("all show alice")
    assert len(boards(answer.page)) == 20
    assert "first 20" in answer.sentence
    assert terminal.do("pow2 games alice").sentence == ""
    for line in ("pow2 show {}", "pow2 showas alice mad-hatter {}"):
        assert terminal.do(line.format("1 " * 20)).page.count("match 1: ") == 20
        answer = terminal.do(line.format("1 " * 20 + "1#0"))
        assert answer.code == Code.TOO_LONG
        assert answer.sentence == "that's 21 boards; the limit is 20"


# several commands in one


def multiple(*lines: str) -> str:
    return "\n".join(["multiple", *lines])


def parts(page: str, count: int) -> list[str]:
    """The answers to so many commands."""
    numbered = "\n\n".join(f"{number}: (.*)" for number in range(1, count + 1))
    found = re.fullmatch(numbered, page, re.DOTALL)
    assert found is not None, page
    return list(found.groups())


def test_each_of_several_commands_is_answered_as_if_it_had_come_alone(terminal):
    answer = terminal.do(
        multiple(
            "pow2 challenge alice bob", "pow2 move 1 alice mad-hatter m13-j7", "pow2 show 1#0",
            "message alice mad-hatter bob carol", "Shall we?", "Yes", "pow2 gmaes", "games",
        )
    )  # fmt: skip
    assert answer.sentence == "line 5 was not accepted; see below"
    one, two, three, four, wrong, games = parts(answer.page, 6)
    assert one.startswith("match 1, #0: Light (alice) challenges Dark (bob) to The Power of Two;")
    assert "match 1, #1: Light (alice) played m13-j7; it is Dark's turn (bob)\n" in two
    assert "#0: it is Light's turn (alice); it is now at #1" in three
    # a message has its text on the lines below; what begins with a game is meant as a command, even if it is wrong
    assert four == "bob and carol will find it in `messages`"
    assert terminal.do("messages carol sing-along").page.endswith("alice: Shall we?\n    Yes")
    assert wrong.startswith("unknown-command: ")
    assert games == terminal.do("games").text


def test_a_repetition_with_the_same_key_repeats_nothing_and_is_answered_alike(terminal):
    text = multiple(
        "pow2 challenge alice bob", "pow2 challenge alice bob", "pow2 move 1 alice mad-hatter m13-j7",
        "pow2 move 1 bob yes-we-can a13-d7", "pow2 move 1 bob yes-we-can a1-a2",
        "message alice mad-hatter bob once", "pow2 chat 1 alice mad-hatter once",
    )  # fmt: skip
    assert len({terminal.do(text, "key-1") for _ in range(3)}) == 1
    terminal.accepted("pow2 show 1 2")
    assert terminal.do("pow2 show 3").code == Code.UNKNOWN_BOARD
    assert "\n#2: " in terminal.do("pow2 show 1").page
    assert terminal.do("messages bob yes-we-can").page.count("once") == 1
    assert terminal.do("pow2 chat 1 bob yes-we-can").page.count("once") == 1


NESTED = "`multiple` can't be used inside `multiple`"
FORM = "the form is `multiple and a command on each line after`"


def test_what_can_not_be_several_commands_carries_out_nothing_of_it(terminal):
    signup = "signup dora marco-polo"
    for text, code, said in (
        *((multiple(signup, nested, "list"), Code.USAGE, NESTED)
          for nested in ("multiple", "MULTIPLE", "  multiple games", "\tMultiple")),
        (multiple(signup, *["list"] * 50), Code.TOO_LONG, "`multiple` has 51 lines; the limit is 50"),
        (multiple(signup, *["x" * 2_000] * 33), Code.TOO_LONG, "the text has 66064 characters; the limit is 65536"),
        *((text, Code.USAGE, FORM) for text in ("multiple", "multiple\n", "multiple \r\n \t\n\n", "multiple list")),
    ):  # fmt: skip
        answer = terminal.do(text)
        assert (answer.code, answer.text[: len(said)]) == (code, said)
        assert terminal.do("list").page == "alice, bob and carol"
    answer = terminal.accepted(multiple(*["list", ""] * 50))
    assert parts(answer.page, 50)[-1] == "alice, bob and carol"


def test_only_a_newline_ends_a_command(terminal):
    board = terminal.challenge()
    for sign in ("\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c", "\r"):
        line = f"message alice mad-hatter bob hello{sign}pow2 resign {board} alice mad-hatter"
        sent = terminal.do(line)
        one, two = parts(terminal.do(multiple(line, "list")).page, 2)
        assert one == sent.text_with_code, repr(sign)
        assert two == "alice, bob and carol"
    assert "it is Light's turn (alice)" in terminal.do(f"pow2 show {board}").page


@pytest.mark.slow
@examples(1, 20)
@given(seed=st.integers(0, 2**32))
def test_lines_of_every_kind_are_each_answered_and_no_password_in_any(seed):
    assert {kind for kind, *_ in run(1_000, seed)} == KINDS
