"""Who may start a match by name, and how many may wait: the same rule for every way in."""

from collections.abc import Iterator

import pytest

from domain.errors import Code
from domain.match.events import command_id
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

    def do(self, line: str, proven: str = "", key: str | None = None) -> Answer:
        """Carry a line out, of somebody or of a player who is proven."""
        origin = Origin(self.ids[proven]) if proven else UNKNOWN
        return self._language.do(line, key, 5.0, origin=origin)

    def fill(self, challenger: str, other: str, count: int = MOST_BETWEEN_TWO) -> list[int]:
        """Start matches; give their boards."""
        line = f"pow2 challenge {challenger} {other}"
        return [board_of(self.do(line, challenger)) for _ in range(count)]

    def sign_up(self, name: str) -> None:
        """Make an account."""
        self.ids[name] = self.app.accounts.signup(name, "mad-hatter")


def board_of(answer: Answer) -> int:
    assert not answer.code, answer
    return int(answer.sentence.split()[1].rstrip(",#"))


@pytest.fixture
def door() -> Iterator[Door]:
    app = FakeApp()
    yield Door(app)
    app.close()


# proof


def test_who_proves_nothing_starts_nothing_and_is_told_how(door):
    for line in ("pow2 challenge alice bob", "one challenge alice"):
        answer = door.do(line)
        assert answer.code == Code.UNAUTHORIZED
        assert "--password=PASSWORD" in answer.sentence
        assert "token" in answer.sentence
    assert door.app.store.allocate(b"x" * 16) == 1, "a number was given away"


@pytest.mark.parametrize(
    ("line", "proven", "challenger"),
    [
        ("pow2 challenge alice bob --password=mad-hatter", "", "alice"),
        ("pow2 challenge --PASSWORD=mad-hatter Alice bob -fast", "", "alice"),
        ("pow2 challenge alice bob --password=yes-we-can --as=Bob", "", "bob"),
        ("pow2 challenge alice bob --as=bob --password=yes-we-can", "carol", "bob"),
        ("pow2 challenge alice bob", "alice", "alice"),
        ("pow2 challenge alice bob", "bob", "bob"),
        ("one challenge carol", "carol", "carol"),
        ("one challenge carol --password=sing-along", "", "carol"),
    ],
)
def test_a_player_who_is_proven_starts_a_match_and_is_recorded(door, line, proven, challenger):
    board = board_of(door.do(line, proven))
    first = decode_event(door.app.store.events(board)[0])
    assert first.actor == door.ids[challenger]


@pytest.mark.parametrize(
    ("line", "proven", "code"),
    [
        ("pow2 challenge alice bob --password=yes-we-can", "", Code.WRONG_PASSWORD),
        ("pow2 challenge alice bob --password=mad-hatter --as=bob", "", Code.WRONG_PASSWORD),
        ("pow2 challenge alice bob --password=yes-we-can", "alice", Code.WRONG_PASSWORD),
        ("pow2 challenge alice bob --password=sing-along --as=carol", "", Code.BAD_PLAYERS),
        ("pow2 challenge alice bob --password=password --as=nobody", "", Code.UNKNOWN_USER),
        ("pow2 challenge alice bob", "carol", Code.BAD_PLAYERS),
        ("one challenge alice", "carol", Code.BAD_PLAYERS),
        ("pow2 challenge alice bob --as=bob", "bob", Code.BAD_OPTION),
        ("pow2 challenge alice bob --as=bob --as=alice --password=yes-we-can", "", Code.BAD_OPTION),
        (
            "pow2 challenge alice bob --password=mad-hatter --password=yes-we-can",
            "",
            Code.BAD_OPTION,
        ),
        ("pow2 challenge alice bob --password=", "", Code.UNKNOWN_OPTION),
    ],
)
def test_who_proves_something_else_starts_nothing(door, line, proven, code):
    assert door.do(line, proven).code == code
    assert door.app.store.allocate(b"x" * 16) == 1


def test_the_operators_terminal_asks_for_no_proof_and_takes_one(door):
    board = board_of(door.terminal.do("pow2 challenge alice bob"))
    assert decode_event(door.app.store.events(board)[0]).actor == door.ids["alice"]
    line = "pow2 challenge alice bob --password=yes-we-can --as=bob"
    assert (
        decode_event(door.app.store.events(board_of(door.terminal.do(line)))[0]).actor
        == (door.ids["bob"])
    )
    assert door.terminal.do("pow2 challenge alice bob --password=guessing").code == (
        Code.WRONG_PASSWORD
    )


def test_a_password_in_a_challenge_is_never_repeated(door):
    for line in (
        "pow2 challenge alice bob --password=s3cret-word",
        "pow2 challenge alice bob --pasword=s3cret-word",
        "pow2 challenge alice bob -password=s3cret-word",
        "pow2 challenge alice s3cret-word --password=s3cret-word",
        "pow2 challenge alice bob --password=s3cret-word --days=s3cret-word",
        "pow2 show 1 --password=s3cret-word",
        "help pow2 --password=s3cret-word",
    ):
        answer = door.do(line)
        assert answer.code
        assert "s3cret" not in answer.text, line


def test_a_players_keys_are_the_players_own(door):
    assert door.do("pow2 challenge alice carol", key="k").code == Code.UNAUTHORIZED
    first = door.do("pow2 challenge alice bob", "alice", key="k")
    assert door.do("pow2 challenge alice bob", "alice", key="k") == first
    assert door.do("pow2 challenge alice bob --password=mad-hatter", key="k").text == first.text
    other = door.do("pow2 challenge alice bob", "bob", key="k")
    assert board_of(other) != board_of(first)
    assert door.do("pow2 challenge alice carol", "alice", key="k").code == Code.ID_REUSED


# limits


def test_three_matches_wait_between_two_until_the_other_answers(door):
    first, *_ = door.fill("alice", "bob")
    refused = door.do("pow2 challenge alice bob", "alice")
    assert refused.code == Code.TOO_MANY
    assert "bob has 3 unanswered challenges from you" in refused.sentence
    assert "wait until one is accepted or declined." in refused.sentence
    assert "withdraw before that still counts for a day" in refused.sentence
    assert door.do("halves challenge alice carol bob", "alice").code == Code.TOO_MANY
    board_of(door.do("pow2 challenge alice carol", "alice"))
    board_of(door.do("pow2 challenge bob alice", "bob"))
    door.terminal.move(first, "alice", "m13-j7")  # the challenger's own move takes nothing up
    assert door.do("pow2 challenge alice bob", "alice").code == Code.TOO_MANY
    door.terminal.move(first, "bob", "a13-d7")
    board_of(door.do("pow2 challenge alice bob", "alice"))
    assert door.do("pow2 challenge alice bob", "alice").code == Code.TOO_MANY


@pytest.mark.parametrize("text", ["decline", "resign", "reject", "accept"])
def test_a_match_that_the_other_answered_gives_room_at_once(door, text):
    first, *_ = door.fill("alice", "bob")
    door.terminal.move(first, "bob", text)
    board_of(door.do("pow2 challenge alice bob", "alice"))


def test_a_match_that_is_over_after_the_other_acted_waits_no_longer(door):
    line = "halves challenge alice bob carol -tiles_each=3"
    first, *_ = [board_of(door.do(line, "alice")) for _ in range(MOST_BETWEEN_TWO)]
    door.terminal.accept(first, "bob", game="halves")
    door.terminal.move_in("halves", first, "alice", "decline")
    board_of(door.do("pow2 challenge alice bob", "alice"))


@pytest.mark.parametrize(
    ("game", "line", "text"),
    [
        ("pow2", "pow2 challenge alice bob", "resign"),
        ("pow2", "pow2 challenge alice bob", "decline"),
        ("pow2", "pow2 challenge bob alice", "resign"),
        ("powerdrain", "powerdrain challenge alice bob --gather", "decline"),
    ],
)
def test_who_starts_and_leaves_in_turn_is_counted_for_a_day(door, game, line, text):
    for _ in range(MOST_BETWEEN_TWO):
        assert not door.terminal.move_in(game, board_of(door.do(line, "alice")), "alice", text).code
    set_times(door, door.app.store.now() - 86_000_000)
    assert door.do(line, "alice").code == Code.TOO_MANY
    set_times(door, door.app.store.now() - 86_500_000)
    board_of(door.do(line, "alice"))


def test_what_was_left_while_a_clock_ran_ahead_stands_in_nobody_s_way(door):
    for board in door.fill("alice", "bob"):
        door.terminal.move(board, "alice", "resign")
    set_times(door, door.app.store.now() + 40 * 24 * 3_600_000)
    board_of(door.do("pow2 challenge alice bob", "alice"))


def test_a_match_that_gathers_is_taken_up_by_accept(door):
    line = "powerdrain challenge alice bob --gather"
    boards = [board_of(door.do(line, "alice")) for _ in range(MOST_BETWEEN_TWO)]
    assert door.do("pow2 challenge alice bob", "alice").code == Code.TOO_MANY
    door.terminal.move_in("powerdrain", boards[0], "bob", "accept")
    board_of(door.do("pow2 challenge alice bob", "alice"))


def test_of_three_all_others_have_to_take_it_up(door):
    line = "halves challenge alice bob carol -tiles_each=3 --gather"
    boards = [board_of(door.do(line, "alice")) for _ in range(MOST_BETWEEN_TWO)]
    door.terminal.move_in("halves", boards[0], "bob", "accept")
    assert door.do(line, "alice").code == Code.TOO_MANY
    door.terminal.move_in("halves", boards[0], "carol", "accept")
    board_of(door.do(line, "alice"))


def test_twenty_matches_of_one_player_wait_and_no_more(door):
    for number in range(MOST_STARTS):
        door.sign_up(f"other{number}")
        door.fill("alice", f"other{number}", 1)
    refused = door.do("pow2 challenge alice bob", "alice")
    assert refused.code == Code.TOO_MANY
    assert "20 of your challenges" in refused.sentence
    board_of(door.do("one challenge alice", "alice"))
    board_of(door.do("pow2 challenge bob alice", "bob"))


def test_a_repetition_is_answered_alike_whatever_waits(door):
    first = door.do("pow2 challenge alice bob", "alice", key="first")
    door.terminal.move(board_of(first), "alice", "m13-j7")
    door.terminal.move(board_of(first), "bob", "a13-d7")
    door.fill("alice", "bob")
    assert door.do("pow2 challenge alice bob", "alice", key="new").code == Code.TOO_MANY
    assert door.do("pow2 challenge alice bob", "alice", key="first") == first
    door.terminal.do("block bob yes-we-can alice")
    assert door.do("pow2 challenge alice bob", "alice", key="first") == first
    assert door.do("pow2 challenge alice bob", "alice", key="new").code == Code.NOT_WANTED


def test_a_start_that_was_refused_gives_no_number_away(door):
    door.fill("alice", "bob")
    for _ in range(3):
        assert door.do("pow2 challenge alice bob", "alice", key="k").code == Code.TOO_MANY
    assert door.app.store.allocate(b"x" * 16) == MOST_BETWEEN_TWO + 1


def test_the_operator_starts_as_many_as_there_shall_be(door):
    for _ in range(MOST_BETWEEN_TWO + 2):
        board_of(door.terminal.do("pow2 challenge alice bob"))
    board_of(door.do("pow2 challenge alice bob", "alice"))


def test_a_start_that_came_to_nothing_stands_in_the_way_for_an_hour(door):
    """A process was killed between counting a start and giving it a number, or sending it."""
    alice, bob = door.ids["alice"], door.ids["bob"]
    for number in range(MOST_BETWEEN_TWO):
        command = command_id("mail", alice, f"killed {number}")
        assert door.app.starts.add(alice, command, [bob]) == ""
        if number % 2:
            door.app.store.allocate(command)
    past = door.app.store.now() - 3_500_000
    set_times(door, past)
    assert door.do("pow2 challenge alice bob", "alice").code == Code.TOO_MANY
    board_of(door.do("pow2 challenge alice bob", "alice", key="killed 1"))
    set_times(door, past - 200_000)
    board_of(door.do("pow2 challenge alice bob", "alice"))


def test_a_start_that_came_to_nothing_while_a_clock_ran_ahead_stands_in_nobody_s_way(door):
    alice, bob = door.ids["alice"], door.ids["bob"]
    for number in range(MOST_BETWEEN_TWO):
        command = command_id("mail", alice, f"killed {number}")
        assert door.app.starts.add(alice, command, [bob]) == ""
    set_times(door, door.app.store.now() + 40 * 24 * 3_600_000)
    board_of(door.do("pow2 challenge alice bob", "alice"))


def set_times(door: Door, at: int) -> None:
    """Have all starts of alice been asked for at a time."""
    name = keys.pending_starts(door.ids["alice"])
    for command, value in door.app.client.hgetall(name).items():
        door.app.client.hset(name, command, f"{at}:{value.decode().partition(':')[2]}")


def test_what_is_counted_goes_with_the_account(door):
    door.fill("alice", "bob")
    assert door.app.client.exists(keys.pending_starts(door.ids["alice"]))
    assert door.do("delete alice mad-hatter").code == ""
    assert not door.app.client.exists(keys.pending_starts(door.ids["alice"]))


# several lines


def test_each_line_of_several_counts_where_the_way_in_counts(door):
    counted: list[int] = []
    origin = Origin(count=lambda: counted.append(1))
    language = Language(door.app)
    assert language.do("games", origin=origin).code == ""
    assert language.do("multiple\ngames", origin=origin).code == ""
    assert len(counted) == 0, "the first is counted by the way in itself"
    assert language.do("multiple\n" + "games\n" * 50, origin=origin).code == ""
    assert len(counted) == 49


def test_a_line_too_many_is_refused_and_those_before_it_are_answered(door):
    limit = CommandRateLimit(2)
    origin = Origin(count=lambda: limit.check(b"network."))
    answer = Language(door.app).do("multiple\n" + "games\n" * 5, origin=origin)
    assert answer.code == Code.TOO_FAST
    assert answer.sentence == "lines 4, 5 were not accepted; see below"


def test_each_line_of_a_proven_player_counts_in_their_pace(door):
    door.app.pace = CommandRateLimit(3)
    line = "pow2 challenge alice bob\n"
    answer = Language(door.app).do("multiple\n" + line * 5, origin=Origin(door.ids["alice"]))
    assert answer.code == Code.TOO_FAST
    assert answer.sentence == "lines 4, 5 were not accepted; see below"
