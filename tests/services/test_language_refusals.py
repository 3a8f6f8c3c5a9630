from collections.abc import Iterator

import msgspec
import pytest

from domain.errors import Code
from domain.match.history import NO_HASH, Snapshot, pack_snapshot
from domain.match.state import MatchState
from infra.store.port import MOST_REFUSALS
from tests.fakes.app import PASSWORDS, FakeApp, Terminal


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    app = FakeApp()
    yield Terminal(app)
    app.close()


AT_THE_DOOR = [
    ("", Code.USAGE, "the line is empty"),
    ("   \t ", Code.USAGE, "the line is empty"),
    ("x" * 513, Code.TOO_LONG, "the line has 513 characters; the limit is 512"),
    ("pow2 move 1 alice mad-hatter " + "a" * 512, Code.TOO_LONG, "characters; the limit is 512"),
    ("help \udc80", Code.BAD_REQUEST, "not valid UTF-8"),
    ("chalenge", Code.UNKNOWN_COMMAND, "there is no command 'chalenge'"),
    ("sigup alice mad-hatter", Code.UNKNOWN_COMMAND, "did you mean `signup`?"),
    (
        "change alice mad-hatter",
        Code.USAGE,
        "the form is `change password userid old new [--keep-tokens]` or `c",
    ),
    ("x" * 70_000, Code.TOO_LONG, "the text has 70000 characters; the limit is 65536"),
    ("chat 1 alice", Code.UNKNOWN_COMMAND, "did you mean `GAME chat BOARD"),
    ("board 17", Code.UNKNOWN_COMMAND, "no command 'board'; did you mean `GAME show BOARD"),
    ("chall alice bob", Code.UNKNOWN_COMMAND, "did you mean `GAME challenge userid1 userid2"),
    ("pow2 move 1 alice mad-hatter pass", Code.UNREADABLE_MOVE, "there is no command for passing"),
    ("pow2", Code.USAGE, "say what to do: pow2 help, pow2 challenge, pow2 move"),
    ("pow2 shwo 1", Code.UNKNOWN_COMMAND, "did you mean `pow2 show`?"),
    ("pow2 xyzzy 1", Code.UNKNOWN_COMMAND, "`help` lists the commands"),
    ("chess challenge alice bob", Code.UNKNOWN_GAME, "'chess'; the games are"),
    ("pow challenge alice bob", Code.UNKNOWN_GAME, "did you mean 'pow2'?"),
    ("help chess", Code.UNKNOWN_GAME, "'chess'"),
    ("help chess go", Code.UNKNOWN_GAME, "'chess'"),
    ("games now", Code.USAGE, "the form is `games`"),
    ("pow2 help me", Code.USAGE, "the form is `pow2 help [--lang=en|de]`"),
    ("signup dora", Code.USAGE, "the form is `signup userid password [ADDRESS ...]`"),
    ("signup 4ever marco-polo", Code.BAD_NAME, "'4ever' isn't a userid"),
    ("signup dora short", Code.BAD_PASSWORD, "10 to 128 characters"),
    ("signup ALICE marco-polo", Code.NAME_TAKEN, "'alice' is taken"),
    ("change password alice mad-hatter", Code.USAGE, "the form is `change password "),
    ("change password zoe mad-hatter marco-polo", Code.UNKNOWN_USER, "no user 'zoe'"),
    ("change password alice guessing marco-polo", Code.WRONG_PASSWORD, "password of alice"),
    ("pow2 challenge", Code.USAGE, "the form is `pow2 challenge userid1 userid2 "),
    ("pow2 challenge alice", Code.BAD_PLAYERS, "is played by 2, not by 1"),
    ("pow2 challenge alice bob carol", Code.BAD_PLAYERS, "is played by 2, not by 3"),
    ("pow2 challenge alice ALICE", Code.BAD_PLAYERS, "two seats"),
    ("pow2 challenge alice zoe", Code.UNKNOWN_USER, "there is no user 'zoe'"),
    ("pow2 challenge alice bob -fats", Code.UNKNOWN_OPTION, "did you mean -fast?"),
    ("pow2 challenge alice bob -fast -free", Code.BAD_OPTION, "exclude each other"),
    ("pow2 move 1 alice mad-hatter", Code.USAGE, "the form is `pow2 move BOARD userid"),
    ("pow2 move 99 alice mad-hatter m13-j7", Code.UNKNOWN_BOARD, "there is no match 99"),
    ("pow2 move one alice mad-hatter m13-j7", Code.UNKNOWN_BOARD, "'one' isn't a board number"),
    ("pow2 move 01 alice mad-hatter m13-j7", Code.UNKNOWN_BOARD, "'01' isn't a board number"),
    (f"pow2 show {10**30}", Code.UNKNOWN_BOARD, "isn't a board number"),
    ("pow2 move 2 alice mad-hatter m13-j7", Code.WRONG_GAME, "match 2 is a match of line"),
    ("pow2 move 1 zoe mad-hatter m13-j7", Code.UNKNOWN_USER, "there is no user 'zoe'"),
    ("pow2 move 1 alice guessing m13-j7", Code.WRONG_PASSWORD, "not the password of alice"),
    ("pow2 move 1 carol sing-along m13-j7", Code.NOT_A_PLAYER, "only its players"),
    ("pow2 move 1 alice mad-hatter z99", Code.UNREADABLE_MOVE, "'z99' isn't a move"),
    ("pow2 move 1 alice mad-hatter m13-z9", Code.UNREADABLE_MOVE, "'z9' isn't an intersection"),
    ("pow2 move 1 alice mad-hatter m13-j7#x", Code.USAGE, "'#x' isn't a ply"),
    ("pow2 move 1 alice mad-hatter m13-j7#", Code.USAGE, "'#' isn't a ply"),
    ("pow2 move 1 alice mad-hatter m13-j7#00", Code.USAGE, "'#00' isn't a ply"),
    ("pow2 move 1 alice mad-hatter m13-j7#-1", Code.USAGE, "'#-1' isn't a ply"),
    (f"pow2 move 1 alice mad-hatter m13-j7#{10**20}", Code.USAGE, "isn't a ply"),
    ("pow2 move 1 alice mad-hatter propose", Code.USAGE, "the form is `pow2 move"),
    ("pow2 move 1 alice mad-hatter propose tea", Code.UNKNOWN_OFFER, "'tea' can't be proposed"),
    ("pow2 resign 1 alice", Code.USAGE, "the form is `pow2 resign BOARD userid password`"),
    ("pow2 decline 1 alice mad-hatter now", Code.USAGE, "the form is `pow2 decline"),
    ("pow2 show", Code.USAGE, "the form is `pow2 show"),
    ("pow2 show 1#9", Code.UNKNOWN_PLY, "match 1 is at #0; there is no #9"),
    ("pow2 show 1#nine", Code.USAGE, "'#nine' isn't a ply"),
    ("pow2 show 1 -tiny", Code.UNKNOWN_OPTION, "no option '-tiny' here"),
    (
        "pow2 show 1 --display=tiny",
        Code.BAD_OPTION,
        "no display 'tiny'; the displays are large, small",
    ),
    ("pow2 show 1 --display=small --display=large", Code.BAD_OPTION, "is given twice"),
    ("pow2 preview 1", Code.USAGE, "the form is `pow2 preview"),
    ("pow2 preview 1 m13-a1", Code.ILLEGAL_MOVE, "move 1: m13-a1: "),
]


@pytest.fixture(scope="module")
def board_of_alice_and_bob() -> Iterator[Terminal]:
    """Board 1 is theirs; board 2 is of a game that is not known here."""
    app = FakeApp()
    terminal = Terminal(app)
    terminal.challenge()
    other = Snapshot(NO_HASH, MatchState(rules="line/1", seats=(b"a" * 8, b"b" * 8)))
    app.store._matches[2].snapshot = pack_snapshot(other)
    yield terminal
    app.close()


@pytest.mark.parametrize(("line", "code", "sentence"), AT_THE_DOOR)
def test_what_a_door_can_tell_is_refused_and_never_queued(
    board_of_alice_and_bob, line, code, sentence
):
    store = board_of_alice_and_bob.app.store
    before = msgspec.msgpack.encode(
        [store.events(1), store.leaves(1, 0, 99), store.inbox_size([1])]
    )
    answer = board_of_alice_and_bob.do(line)
    assert answer.code == code
    assert sentence in answer.sentence
    assert answer.refused
    assert not answer.page
    assert answer.sentence[0] != " "
    assert not answer.sentence.endswith(".")
    after = msgspec.msgpack.encode([store.events(1), store.leaves(1, 0, 99), store.inbox_size([1])])
    assert after == before


def test_a_key_that_can_not_be_one_is_refused(terminal):
    for key in ("", "k" * 513, "half\udc80"):
        assert terminal.do("help", key).code == Code.BAD_REQUEST


def test_a_move_out_of_turn_is_refused(terminal):
    answer = terminal.move(terminal.challenge(), "bob", "a13-d7")
    assert answer.code == Code.NOT_YOUR_TURN
    assert answer.sentence == "you play Dark, and it is Light's turn"


def test_an_illegal_move_is_refused_with_rule_and_intersections(terminal):
    answer = terminal.move(terminal.challenge(), "alice", "m13-m5")
    assert answer.code == Code.ILLEGAL_MOVE
    assert answer.sentence.startswith("m13-m5: ")
    assert "l4" in answer.sentence or "m1" in answer.sentence


def test_a_move_for_another_ply_is_refused(terminal):
    board = terminal.challenge()
    terminal.move(board, "alice", "m13-j7")
    terminal.move(board, "bob", "a13-d7")
    answer = terminal.move(board, "alice", "j7-m13#1")
    assert answer.code == Code.STALE_PLY
    assert (
        answer.sentence
        == "the match has moved on in the meantime; `#1` was meant, and it is now at `#2`"
    )


def test_nothing_is_done_in_a_match_that_is_over(terminal):
    board = terminal.challenge()
    terminal.move(board, "alice", "resign")
    assert terminal.move(board, "bob", "a13-d7").code == Code.MATCH_OVER
    assert terminal.do(f"pow2 preview {board} m13-j7").code == Code.MATCH_OVER


def test_a_key_used_for_another_command_is_refused(terminal):
    board = terminal.challenge()
    terminal.move(board, "alice", "m13-j7", "key-1")
    answer = terminal.move(board, "alice", "m1-j7", "key-1")
    assert answer.code == Code.ID_REUSED
    assert terminal.do("pow2 challenge alice carol", "key-2").code == ""
    assert terminal.do("pow2 challenge alice bob", "key-2").code == Code.ID_REUSED


@pytest.mark.parametrize("text", ["accept", "reject"])
def test_there_must_be_an_offer_to_answer(terminal, text):
    assert terminal.move(terminal.challenge(), "alice", text).code == Code.NO_OFFER


def test_after_too_many_refusals_a_player_is_not_heard_at_this_ply(terminal):
    board = terminal.challenge()
    for _ in range(MOST_REFUSALS):
        assert terminal.move(board, "bob", "a13-d7").code == Code.NOT_YOUR_TURN
    assert terminal.move(board, "bob", "a13-d7").code == Code.TOO_MANY_REFUSALS
    assert terminal.move(board, "alice", "m13-j7").code == ""
    assert terminal.move(board, "bob", "a13-d7").code == ""


# passwords


def test_no_password_is_ever_repeated_or_stored_with_a_match(terminal):
    board = terminal.challenge()
    said = [
        terminal.do(line.format(**PASSWORDS)).text
        for line in (
            "signup alice {alice}",
            "sigup alice {alice}",
            "change password alice {bob} {carol}",
            "change alice {alice} {carol}",
            "pow2 mvoe 1 alice {alice} m13-j7",
            "pow2 move 1 bob {alice} m13-j7",
            "pow2 move 1 alice {alice}",
            "pow2 move 1 alice m13-j7 {alice}",
            "pow2 move 1 alice {alice} m13-m5",
            "pow2 move 1 alice {alice} m13-j7",
            "pow2 resign 1 bob {bob}",
        )
    ]
    store = terminal.app.store
    kept = [*store.events(board), *(leaf for _, leaf in store.leaves(board % 4, 0, 99))]
    for password in PASSWORDS.values():
        assert not any(password in text for text in said)
        assert not any(password.encode() in data for data in kept)
