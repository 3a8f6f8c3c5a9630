"""Blocks, and whose challenges are taken: the same by every way in, in the command language here."""

from collections.abc import Iterator

import pytest

from domain.errors import Code, Refusal
from infra.people.account_lists import BLOCKED
from infra.people.challenges import Proposal
from services.app.challenges import take
from services.app.context import Actor
from tests.fakes.app import PASSWORDS, FakeApp, Terminal

ALICE, BOB, CAROL = (f"{name} {PASSWORDS[name]}" for name in ("alice", "bob", "carol"))


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    app = FakeApp()
    yield Terminal(app)
    app.close()


def refused(terminal: Terminal, line: str) -> str:
    """The sentence in which a line is refused because somebody does not want it."""
    answer = terminal.do(line)
    assert answer.code == Code.NOT_WANTED, answer
    return answer.sentence


def fine(terminal: Terminal, line: str) -> str:
    answer = terminal.do(line)
    assert answer.code == "", answer
    return answer.sentence


def of(terminal: Terminal, name: str) -> bytes:
    return terminal.app.accounts.id_of(name)


# blocks


def test_who_is_blocked_starts_no_match_and_writes_nothing(terminal):
    board = terminal.challenge()
    fine(terminal, f"block {BOB} Alice")
    assert refused(terminal, "pow2 challenge alice bob") == "bob doesn't take challenges from you"
    assert refused(terminal, "halves challenge alice carol bob") == (
        "bob doesn't take challenges from you"
    )
    assert (
        refused(terminal, f"message {ALICE} carol,bob hello")
        == "bob doesn't take messages from you"
    )
    assert refused(terminal, f"pow2 chat {board} {ALICE} hello") == "bob doesn't read your chat"
    assert fine(terminal, f"messages {BOB}") == fine(terminal, f"messages {CAROL}") == ""
    assert terminal.do(f"pow2 chat {board} {BOB}").page.startswith("nobody has said anything")


def test_all_else_goes_on(terminal):
    board = terminal.challenge()
    terminal.move(board, "alice", "m13-j7")
    terminal.move(board, "bob", "a13-d7")
    said = fine(terminal, f"block {BOB} alice")
    assert said.endswith("matches in which you have moved continue")
    assert terminal.move(board, "alice", "j7-m13").code == ""
    assert terminal.do(f"pow2 chat {board} {ALICE}").code == ""
    fine(terminal, "pow2 challenge bob alice")
    fine(terminal, "pow2 challenge alice carol")
    fine(terminal, f"message {BOB} alice hello")
    fine(terminal, f"pow2 chat {board} {BOB} hello")
    fine(terminal, f"message {ALICE} carol hello")


def test_twenty_messages_a_day_reach_players_who_know_nothing_of_their_sender(terminal):
    for number in range(19):
        fine(terminal, f"message {ALICE} bob offer {number}")
    both = f"message {ALICE} bob,carol offer"
    for key in ("one", "one", "two"):
        answer = terminal.do(both, key)
        assert answer.code == Code.TOO_MANY
        assert answer.sentence == (
            "you can send at most 20 messages a day to players who have neither played with you nor written to "
            "you; try again in 24 hours"
        )
    assert fine(terminal, f"messages {CAROL}") == "", "of two recipients too many none gets it"
    for _ in range(2):
        assert terminal.do(f"message {ALICE} carol the last one", "last").code == ""
    assert terminal.do(f"message {ALICE} bob more").code == Code.TOO_MANY
    fine(terminal, f"message {ALICE} alice a note to myself")
    # who writes back, or plays, is no stranger
    fine(terminal, f"message {CAROL} alice hello")
    fine(terminal, f"message {ALICE} carol hello again")
    assert terminal.do(f"message {ALICE} bob more").code == Code.TOO_MANY
    board = terminal.challenge()
    terminal.move(board, "alice", "m13-j7")
    assert terminal.do(f"message {ALICE} bob more").code == Code.TOO_MANY
    assert terminal.move(board, "bob", "a13-d7").code == ""
    fine(terminal, f"message {ALICE} bob well played")


def test_an_arbiter_writes_to_as_many_players_as_it_takes(terminal):
    terminal.app.accounts.set_arbiter("alice", yes=True)
    for number in range(21):
        fine(terminal, f"message {ALICE} bob ruling {number}")


def test_in_a_match_of_three_who_is_blocked_by_one_says_nothing_to_both(terminal):
    answer = terminal.do("halves challenge alice bob carol -manual_start")
    board = int(answer.sentence.split()[1].rstrip(","))
    fine(terminal, f"block {CAROL} alice")
    assert refused(terminal, f"halves chat {board} {ALICE} hi") == "carol doesn't read your chat"
    fine(terminal, f"halves chat {board} {BOB} hi")
    fine(terminal, f"halves chat {board} {CAROL} hi")


def test_a_block_ends_with_unblock_and_may_be_repeated(terminal):
    assert fine(terminal, f"block {BOB}") == "you aren't blocking anyone"
    for name in ("carol", "alice", "alice"):
        fine(terminal, f"block {BOB} {name}")
    assert fine(terminal, f"block {BOB}") == "you are blocking alice and carol"
    for _ in range(2):
        fine(terminal, f"unblock {BOB} alice")
    assert fine(terminal, f"block {BOB}") == "you are blocking carol"
    fine(terminal, "pow2 challenge alice bob")


def test_what_can_t_be_blocked(terminal):
    for line, code in (
        (f"block {BOB} bob", Code.BAD_OPTION),
        (f"block {BOB} zoe", Code.UNKNOWN_USER),
        (f"unblock {BOB} zoe", Code.UNKNOWN_USER),
        ("block bob guessing alice", Code.WRONG_PASSWORD),
        ("unblock bob guessing alice", Code.WRONG_PASSWORD),
        ("block bob guessing", Code.WRONG_PASSWORD),
        (f"unblock {BOB}", Code.USAGE),
    ):
        assert terminal.do(line).code == code, line


def test_there_are_only_so_many_blocks(terminal):
    blocks, bob = terminal.app.blocks, of(terminal, "bob")
    for number in range(BLOCKED.most):
        blocks.add(bob, number.to_bytes(8, "big"))
    assert terminal.do(f"block {BOB} alice").code == Code.TOO_MANY
    blocks.add(bob, bytes(8))
    with pytest.raises(Refusal) as caught:
        blocks.add(b"nobody..", bob)
    assert caught.value.code == Code.UNKNOWN_USER


def test_who_has_left_is_listed_no_longer_and_leaves_no_block(terminal):
    fine(terminal, f"block {BOB} alice")
    fine(terminal, f"block {ALICE} bob")
    alice, bob = of(terminal, "alice"), of(terminal, "bob")
    fine(terminal, f"delete {ALICE}")
    assert terminal.app.blocks.of(alice) == []
    assert terminal.app.blocks.of(bob) == [alice]
    assert fine(terminal, f"block {BOB}") == "you aren't blocking anyone"
    assert terminal.app.blocks.of(bob) == []


def test_who_is_blocked_can_t_take_an_open_challenge_of_who_blocks(terminal):
    app = terminal.app
    made = app.challenges.open(of(terminal, "bob"), Proposal(rules="halves/1", seats=3), b"c" * 16)
    alice, carol = (Actor(of(terminal, name), "web", "key") for name in ("alice", "carol"))
    take(app, carol, made.id)
    for name in ("bob", "carol"):
        fine(terminal, f"block {name} {PASSWORDS[name]} alice")
        with pytest.raises(Refusal) as caught:
            take(app, alice, made.id)
        assert str(caught.value) == f"not-wanted: {name} doesn't take challenges from you"
        fine(terminal, f"unblock {name} {PASSWORDS[name]} alice")
    taken = take(app, alice, made.id)
    fine(terminal, f"block {BOB} alice")
    assert take(app, alice, made.id).takers == taken.takers


# whose challenges are taken


def test_who_takes_no_challenges_by_name_takes_none(terminal):
    assert fine(terminal, f"set {BOB} challenges NONE") == (
        "from now on bob accepts challenges by name from nobody"
    )
    assert "bob doesn't accept challenges by name" in refused(terminal, "pow2 challenge alice bob")
    fine(terminal, "pow2 challenge bob alice")
    fine(terminal, f"message {ALICE} bob hello")
    fine(terminal, f"pow2 set {BOB} challenges anyone")
    fine(terminal, "pow2 challenge alice bob")


def test_a_choice_of_challenges_is_one_of_three(terminal):
    answer = terminal.do(f"set {BOB} challenges friends")
    assert answer.code == Code.BAD_OPTION
    for choice in ("anyone", "known", "none"):
        assert choice in answer.sentence


def end(terminal: Terminal, board: int) -> None:
    """Have bob resign."""
    terminal.move(board, "bob", "resign")


def both_move(terminal: Terminal, board: int) -> None:
    terminal.move(board, "alice", "m13-j7")
    terminal.move(board, "bob", "a13-d7")


def test_strangers_and_what_strangers_do_are_not_known(terminal):
    running, ended = terminal.challenge(), terminal.challenge()
    terminal.move(running, "alice", "m13-j7")
    terminal.move(ended, "bob", "decline")
    fine(terminal, f"message {ALICE} bob hello")
    fine(terminal, f"set {BOB} challenges known")
    sentence = refused(terminal, "pow2 challenge alice bob")
    assert sentence.startswith("bob only accepts challenges by name from players they have played")


def test_who_was_written_to_is_known(terminal):
    fine(terminal, f"set {BOB} challenges known")
    fine(terminal, f"message {BOB} alice come and play")
    fine(terminal, "pow2 challenge alice bob")
    refused(terminal, "pow2 challenge carol bob")


def test_who_was_challenged_is_known(terminal):
    fine(terminal, f"set {BOB} challenges known")
    fine(terminal, f"pow2 challenge bob alice --password={PASSWORDS['bob']}")
    fine(terminal, "pow2 challenge alice bob")


def test_whom_one_plays_with_is_known(terminal):
    both_move(terminal, terminal.challenge())
    fine(terminal, f"set {BOB} challenges known")
    fine(terminal, "line challenge alice bob")


def test_whom_one_has_played_with_is_known(terminal):
    board = terminal.challenge()
    both_move(terminal, board)
    end(terminal, board)
    fine(terminal, f"set {BOB} challenges known")
    fine(terminal, "line challenge alice bob")
    refused(terminal, "line challenge carol bob")


def test_whose_match_one_has_accepted_is_known(terminal):
    answer = terminal.do("halves challenge alice bob carol --gather -tiles_each=3")
    board = int(answer.sentence.split()[1].rstrip(","))
    fine(terminal, f"set {BOB} challenges known")
    refused(terminal, "pow2 challenge alice bob")
    terminal.move_in("halves", board, "bob", "accept")
    fine(terminal, "pow2 challenge alice bob")
