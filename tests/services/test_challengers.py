"""Who may start a match by name, how many may wait, and whose challenges and letters are taken."""

from collections.abc import Iterator

import pytest

from domain.errors import Code
from domain.match.history import decode_event
from infra.people.pending_starts import MOST_BETWEEN_TWO, MOST_STARTS
from infra.people.rate_limits import CommandRateLimit
from infra.redis import keys
from services.language import UNKNOWN, Answer, Language, Origin
from tests.fakes.app import PASSWORDS, FakeApp, Terminal


class Door:
    """A way in that trusts nobody, at a desk where alice, bob and carol have signed up."""

    def __init__(self, app: FakeApp) -> None:
        self.app = app
        self.terminal = Terminal(app)
        self._language = Language(app, "mail")
        self.ids = {name: app.accounts.id_of(name) for name in PASSWORDS}

    def do(self, line: str, proven: str = "") -> Answer:
        """Carry a line out, of somebody or of a player who is proven."""
        origin = Origin(self.ids[proven]) if proven else UNKNOWN
        return self._language.do(line, None, 5.0, origin=origin)

    def fill(self, challenger: str, other: str, count: int = MOST_BETWEEN_TWO) -> list[int]:
        """Start matches; give their boards."""
        line = f"pow2 challenge {challenger} {other}"
        return [board_of(self.do(line, challenger)) for _ in range(count)]

    def starter(self, answer: Answer) -> bytes:
        """The account that started a match, which no longer counts."""
        actor = decode_event(self.app.store.events(board_of(answer))[0]).actor
        self.app.starts.forget(actor)
        return actor


def board_of(answer: Answer) -> int:
    assert not answer.code, answer
    return int(answer.sentence.split()[1].rstrip(",#"))


@pytest.fixture
def door() -> Iterator[Door]:
    app = FakeApp()
    yield Door(app)
    app.close()


# proof


PROVEN = (
    ("pow2 challenge alice bob --password=mad-hatter", "", "alice"),
    ("pow2 challenge --PASSWORD=mad-hatter Alice bob -fast", "", "alice"),
    ("pow2 challenge alice bob --password=yes-we-can --as=Bob", "", "bob"),
    ("pow2 challenge alice bob --as=bob --password=yes-we-can", "carol", "bob"),
    ("pow2 challenge alice bob", "alice", "alice"),
    ("pow2 challenge alice bob", "bob", "bob"),
    ("one challenge carol", "carol", "carol"),
    ("one challenge carol --password=sing-along", "", "carol"),
)
NOT_PROVEN = (
    ("pow2 challenge alice bob", "", Code.UNAUTHORIZED),
    ("one challenge alice", "", Code.UNAUTHORIZED),
    ("pow2 challenge alice bob --password=yes-we-can", "", Code.WRONG_PASSWORD),
    ("pow2 challenge alice bob --password=mad-hatter --as=bob", "", Code.WRONG_PASSWORD),
    ("pow2 challenge alice bob --password=yes-we-can", "alice", Code.WRONG_PASSWORD),
    ("pow2 challenge alice bob --password=sing-along --as=carol", "", Code.BAD_PLAYERS),
    ("pow2 challenge alice bob --password=password --as=nobody", "", Code.UNKNOWN_USER),
    ("pow2 challenge alice bob", "carol", Code.BAD_PLAYERS),
    ("one challenge alice", "carol", Code.BAD_PLAYERS),
    ("pow2 challenge alice bob --as=bob", "bob", Code.BAD_OPTION),
    ("pow2 challenge alice bob --as=bob --as=alice --password=yes-we-can", "", Code.BAD_OPTION),
    ("pow2 challenge alice bob --password=mad-hatter --password=yes-we-can", "", Code.BAD_OPTION),
    ("pow2 challenge alice bob --password=", "", Code.UNKNOWN_OPTION),
)


def test_who_proves_to_be_a_player_starts_a_match_and_is_recorded_and_nobody_else_does(door):
    refused = [(line, proven, door.do(line, proven).code) for line, proven, _ in NOT_PROVEN]
    assert tuple(refused) == NOT_PROVEN
    told = door.do("pow2 challenge alice bob").sentence
    assert "--password=PASSWORD" in told
    assert "token" in told
    assert door.app.store.allocate(b"x" * 16) == 1, "a number was given away"
    for line, proven, challenger in PROVEN:
        assert door.starter(door.do(line, proven)) == door.ids[challenger], line


def test_the_operators_terminal_asks_for_no_proof_and_takes_one(door):
    line = "pow2 challenge alice bob"
    assert door.starter(door.terminal.do(line)) == door.ids["alice"]
    theirs = door.terminal.do(f"{line} --password=yes-we-can --as=bob")
    assert door.starter(theirs) == door.ids["bob"]
    assert door.terminal.do(f"{line} --password=guessing").code == Code.WRONG_PASSWORD


def test_a_password_in_a_challenge_is_never_repeated(door):
    for line in (
        "pow2 challenge alice bob --password=s3cret-word", "pow2 challenge alice bob --pasword=s3cret-word",
        "pow2 challenge alice bob -password=s3cret-word", "pow2 challenge alice s3cret-word --password=s3cret-word",
        "pow2 challenge alice bob --password=s3cret-word --days=s3cret-word", "pow2 show 1 --password=s3cret-word",
        "help pow2 --password=s3cret-word",
    ):  # fmt: skip
        answer = door.do(line)
        assert answer.code
        assert "s3cret" not in answer.text, line


# limits


THREE = "halves challenge alice bob carol -tiles_each=3"


@pytest.mark.parametrize(("line", "answers"), [
    ("pow2 challenge alice bob", ["bob decline"]),
    ("pow2 challenge alice bob", ["bob accept"]),
    ("powerdrain challenge alice bob --gather", ["bob accept"]),
    (THREE, ["bob accept", "alice decline"]),
    (f"{THREE} --gather", ["bob accept", "carol accept"]),
])  # fmt: skip
def test_a_match_that_all_others_took_up_or_that_is_over_gives_room(door, line, answers):
    first, *_ = [board_of(door.do(line, "alice")) for _ in range(MOST_BETWEEN_TWO)]
    for answer in answers:
        assert door.do("pow2 challenge alice bob", "alice").code == Code.TOO_MANY
        name, text = answer.split()
        door.terminal.move_in(line.split()[0], first, name, text)
    board_of(door.do("pow2 challenge alice bob", "alice"))


@pytest.mark.parametrize(("game", "line", "text"), [
    ("pow2", "pow2 challenge alice bob", "resign"),
    ("pow2", "pow2 challenge bob alice", "decline"),
    ("powerdrain", "powerdrain challenge alice bob --gather", "decline"),
])  # fmt: skip
def test_who_starts_and_leaves_in_turn_is_counted_for_a_day(door, game, line, text):
    for _ in range(MOST_BETWEEN_TWO):
        assert not door.terminal.move_in(game, board_of(door.do(line, "alice")), "alice", text).code
    set_times(door, door.app.store.now() - 86_000_000)
    assert door.do(line, "alice").code == Code.TOO_MANY
    set_times(door, door.app.store.now() - 86_500_000)
    board_of(door.do(line, "alice"))


def set_times(door: Door, at: int) -> None:
    """Have all starts of alice been asked for at a time."""
    name = keys.pending_starts(door.ids["alice"])
    for command, value in door.app.client.hgetall(name).items():
        door.app.client.hset(name, command, f"{at}:{value.decode().partition(':')[2]}")


def test_twenty_matches_of_one_player_wait_and_no_more_and_go_with_the_account(door):
    for number in range(MOST_STARTS):
        door.app.accounts.signup(f"other{number}", "mad-hatter")
        door.fill("alice", f"other{number}", 1)
    refused = door.do("pow2 challenge alice bob", "alice")
    assert refused.code == Code.TOO_MANY
    assert "20 of your challenges" in refused.sentence
    board_of(door.do("one challenge alice", "alice"))
    board_of(door.do("pow2 challenge bob alice", "bob"))
    counted = keys.pending_starts(door.ids["alice"])
    assert door.app.client.exists(counted)
    assert door.do("delete alice mad-hatter").code == ""
    assert not door.app.client.exists(counted)


def test_each_line_of_several_counts_where_the_way_in_counts(door):
    counted: list[int] = []
    origin = Origin(count=lambda: counted.append(1))
    language = Language(door.app)
    for line, count in (("games", 0), ("multiple\ngames", 0), ("multiple\n" + "games\n" * 50, 49)):
        assert language.do(line, origin=origin).code == ""
        assert len(counted) == count, "the first is counted by the way in itself"
    limit = CommandRateLimit(2)
    origin = Origin(count=lambda: limit.check(b"network."))
    answer = language.do("multiple\n" + "games\n" * 5, origin=origin)
    assert answer.code == Code.TOO_FAST
    assert answer.sentence == "lines 4, 5 were not accepted; see below"


# letters, blocks, and whose challenges are taken


ALICE, BOB, CAROL = (f"{name} {PASSWORDS[name]}" for name in ("alice", "bob", "carol"))


def refused(terminal: Terminal, line: str) -> str:
    """The sentence in which a line is refused because somebody does not want it."""
    answer = terminal.do(line)
    assert answer.code == Code.NOT_WANTED, answer
    return answer.sentence


def fine(terminal: Terminal, line: str) -> str:
    answer = terminal.do(line)
    assert answer.code == "", answer
    return answer.sentence


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
    board = terminal.challenge()
    terminal.move(board, "alice", "m13-j7")
    assert terminal.do(f"message {ALICE} bob more").code == Code.TOO_MANY
    assert terminal.move(board, "bob", "a13-d7").code == ""
    fine(terminal, f"message {ALICE} bob well played")


def test_who_has_left_is_listed_no_longer_and_leaves_no_block(terminal):
    fine(terminal, f"block {BOB} alice")
    fine(terminal, f"block {ALICE} bob")
    blocks = terminal.app.blocks
    alice, bob = (terminal.app.accounts.id_of(name) for name in ("alice", "bob"))
    fine(terminal, f"delete {ALICE}")
    assert (blocks.of(alice), blocks.of(bob)) == ([], [alice])
    assert fine(terminal, f"block {BOB}") == "you aren't blocking anyone"
    assert blocks.of(bob) == []


PLAYED = ["pow2 challenge alice bob", "pow2 move 1 {alice} m13-j7", "pow2 move 1 {bob} a13-d7"]
GATHERING = "halves challenge alice bob carol --gather -tiles_each=3"


@pytest.mark.parametrize(("lines", "known"), [
    (["pow2 challenge alice bob", "pow2 move 1 {alice} m13-j7"], False),
    (["pow2 challenge alice bob", "pow2 decline 1 {bob}"], False),
    (["message {alice} bob hello"], False),
    (["message {bob} alice come and play"], True),
    ([f"pow2 challenge bob alice --password={PASSWORDS['bob']}"], True),
    (PLAYED, True),
    ([*PLAYED, "pow2 resign 1 {bob}"], True),
    ([GATHERING], False),
    ([GATHERING, "halves move 1 {bob} accept"], True),
])  # fmt: skip
def test_challenges_are_taken_of_those_whom_one_knows(terminal, lines, known):
    for line in lines:
        fine(terminal, line.format(alice=ALICE, bob=BOB))
    fine(terminal, f"set {BOB} challenges known")
    if known:
        fine(terminal, "line challenge alice bob")
    else:
        said = refused(terminal, "line challenge alice bob")
        assert said.startswith("bob only accepts challenges by name from players they have played")
    if "carol" not in lines[0]:
        refused(terminal, "line challenge carol bob")
