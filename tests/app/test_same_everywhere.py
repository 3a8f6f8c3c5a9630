"""One case at every front end: the same code, and of a refusal the same sentence."""

from collections.abc import Callable, Iterator

import pytest

from domain.clocks.time_control import DAY
from domain.match.events import Absent, Appealed, Claimed, MatchStarted, Ruled
from domain.match.history import decode_event
from infra.durability.durability import Mode
from infra.people.accounts import AccountRole
from infra.redis import keys
from services.app.drafts import draft_of
from services.cli.verify import run as verify
from tests.fakes.everywhere import (
    API,
    FRONT_ENDS,
    MAIL,
    SEAT,
    TERMINAL,
    WEB,
    Action,
    Everywhere,
    Result,
    same,
)
from tests.fakes.everywhere import everywhere as front_ends
from tests.helpers.api import PASSWORD, Api, Player

MOVE = Action("m13-j7", {"do": "move", "move": "m13-j7"}, {"do": "move", "move": "m13-j7"})
ACCEPT = Action("accept", {"do": "accept"}, {"do": "accept"}, "powerdrain")
LUCK = Action(
    "accept --entropy=luck",
    {"do": "accept", "entropy": "luck"},
    {"do": "accept", "entropy": "luck"},
)


@pytest.fixture(scope="module")
def everywhere(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Everywhere]:
    with Api(tmp_path_factory.mktemp("same")) as api, front_ends(api) as found:
        yield found


@pytest.fixture
def pair(everywhere: Everywhere) -> tuple[Player, Player]:
    return everywhere.player(), everywhere.player()


def at_all(ask: Callable[[str], Result], *where: str) -> Result:
    """Ask each front end, and return the one answer of all."""
    return same({one: ask(one) for one in where or FRONT_ENDS})


# durability


def test_with_durability_none_every_front_end_says_pending(tmp_path):
    with Api(tmp_path, durability=Mode.NONE) as api, front_ends(api) as everywhere:
        for where in FRONT_ENDS:
            one, other = everywhere.player(), everywhere.player()
            board = started_without_promise(everywhere, one, other)
            result = everywhere.act(where, one, board, MOVE)
            assert result.code == "pending", where
            assert "durability none" in result.sentence, where
            snapshot = api.http.get(f"/api/matches/{board}").json()
            assert snapshot["moves"] == ["m13-j7"], where


def started_without_promise(everywhere: Everywhere, one: Player, other: Player) -> int:
    everywhere.say(f"pow2 challenge {one.name} {other.name}")
    everywhere.api.caught_up()
    ((board, *_), *_) = [
        (row.board, row) for row in everywhere.api.parts.lists.proposed(one.account)
    ]
    everywhere.boards(board, one, other)
    return board


# commands in a match


def test_entropy_for_a_match_that_gathers_nothing_is_a_bad_option(everywhere, pair):
    one, other = pair
    board = other.accept(everywhere.match(one, other))
    assert other.give(board, {"do": "offer", "kind": "draw"}).is_success
    result = at_all(lambda where: everywhere.act(where, one, board, LUCK))
    assert result.code == "bad-option"
    assert "othing is dealt in this match;" in result.sentence
    assert everywhere.api.http.get(f"/api/matches/{board}").json()["state"] == "active"


def test_a_damaged_snapshot_is_damaged_at_every_front_end(everywhere, pair):
    one, other = pair
    board = everywhere.match(one, other)
    everywhere.api.parts.data.set(keys.snapshot(keys.shard_of(board, 4), board), b"x" * 40)
    found = {where: everywhere.act(where, one, board, MOVE) for where in FRONT_ENDS}
    assert {result.code for result in found.values()} == {"damaged"}
    assert board in everywhere.api.parts.damage.all()
    # a mail to a seat is to come again: what it asks for is not lost
    del found[SEAT]
    assert same(found).sentence.startswith(f"Match {board} can't be read")


# a match that gathers, and vacations


@pytest.mark.parametrize("where", FRONT_ENDS)
def test_a_match_that_the_last_accept_starts_knows_who_is_on_vacation(everywhere, pair, where):
    one, other = pair
    assert everywhere.vacation(TERMINAL, one, "9") == Result("")
    board = everywhere.match(one, other, "powerdrain", "--gather")
    assert everywhere.act(where, other, board, ACCEPT) == Result("")
    bodies = [decode_event(data).body for data in everywhere.api.parts.store.events(board)]
    assert any(isinstance(body, MatchStarted) for body in bodies)
    assert [body.seat for body in bodies if isinstance(body, Absent)] == [0]
    found = everywhere.api.http.get(f"/api/matches/{board}").json()
    assert found["clock"]["deadline"] - found["updated"] > 29 * DAY


# conditional moves, drafts, chat


def test_conditional_moves_of_a_stranger_have_one_sentence(everywhere, pair):
    board, stranger = everywhere.match(*pair), everywhere.player()
    where = (TERMINAL, MAIL, API, WEB)
    result = at_all(lambda one: everywhere.queue(one, stranger, board, "m13-j7 a13-d7"), *where)
    assert result.code == "not-a-player"


DRAFTS = (TERMINAL, MAIL, SEAT, API)


def test_a_draft_out_of_turn_has_one_sentence(everywhere, pair):
    one, other = pair
    board = everywhere.match(one, other)
    result = at_all(lambda where: everywhere.submit(where, other, board, "a13-d7"), *DRAFTS)
    assert result.code == "not-your-turn"
    assert f"It is Light's turn ({one.name})" in result.sentence


def test_nothing_can_be_confirmed_that_was_not_submitted(everywhere, pair):
    board = everywhere.match(*pair)
    result = at_all(lambda where: everywhere.confirm(where, pair[0], board), *DRAFTS)
    assert result.code == "no-draft"


@pytest.mark.parametrize("where", DRAFTS)
def test_a_draft_is_submitted_at_one_front_end_and_confirmed_at_another(everywhere, pair, where):
    one, other = pair
    board = everywhere.match(one, other)
    assert everywhere.submit(where, one, board, "m13-j7") == Result("")
    parts = everywhere.api.parts
    shown = one.get(f"/api/matches/{board}/draft").json()
    assert shown == {"board": board, "move": "m13-j7", "ply": 0}
    after = DRAFTS[(DRAFTS.index(where) + 1) % len(DRAFTS)]
    assert everywhere.confirm(after, one, board) == Result("")
    assert everywhere.api.http.get(f"/api/matches/{board}").json()["moves"] == ["m13-j7"]
    assert draft_of(parts, one.account, board, everywhere.state(board)) is None


# starts


def test_a_commitment_where_nothing_is_gathered_is_a_bad_option(everywhere, pair):
    one, other = pair
    board, digest = everywhere.match(one, other), "ab" * 32
    names, terms = [one.name, other.name], (f"--commitment={digest}",)
    result = at_all(
        lambda where: everywhere.start(where, one, board, names, terms), TERMINAL, MAIL, SEAT, API
    )
    assert result == Result("bad-option", "--commitment belongs to a challenge with --gather.")


# open challenges, which the API and the web have


def test_a_challenge_of_who_blocks_is_refused_alike(everywhere, pair):
    one, other = pair
    everywhere.say(f"block {one.name} {PASSWORD} {other.name}")
    made = one.post("/api/challenges", {"game": "pow2"}).json()["id"]
    found = {
        API: everywhere.http(other.post(f"/api/challenges/{made}/accept")),
        WEB: everywhere.page(other, f"/challenges/{made}/take", {}),
    }
    assert same(found).code == "not-wanted"


# --- disputes at every front end: the same claims, rulings, appeals and refusals


TEXT = "my clock ran\nin the pause"


@pytest.fixture
def people(everywhere: Everywhere) -> tuple[Player, Player, Player, Player]:
    """Two players and two arbiters."""
    found = [everywhere.player() for _ in range(4)]
    for arbiter in found[2:]:
        everywhere.api.parts.accounts.set_role(arbiter.name, AccountRole.ARBITER, held=True)
    return tuple(found)


def claim(where: str, everywhere: Everywhere, one: Player, board: int, ply: int = 0) -> Result:
    return everywhere.claim(where, one, board, ply, TEXT)


def rule(where: str, everywhere: Everywhere, one: Player, board: int, case: int) -> Result:
    return everywhere.rule(where, one, board, case, TEXT)


def appeal(where: str, everywhere: Everywhere, one: Player, board: int, case: int) -> Result:
    return everywhere.appeal(where, one, board, case, TEXT)


@pytest.mark.parametrize("where", FRONT_ENDS)
def test_a_case_takes_its_whole_course_and_the_match_holds(where, everywhere, people):
    alice, bob, arbiter, other = people
    board, app = (
        everywhere.match(alice, bob),
        everywhere.api.parts,
    )
    judging = MAIL if where == SEAT else where
    assert claim(where, everywhere, alice, board) == Result("")
    assert rule(judging, everywhere, arbiter, board, 2) == Result("")
    assert appeal(where, everywhere, bob, board, 2) == Result("")
    assert rule(judging, everywhere, other, board, 2) == Result("")
    bodies = [decode_event(data).body for data in app.store.events(board)][1:]
    assert [type(body) for body in bodies] == [Claimed, Ruled, Appealed, Ruled]
    statements = {one.digest: one.text for one in app.statements.of_match(board)}
    assert [statements[body.text] for body in bodies] == [TEXT] * 4
    assert verify(str(board), settings=everywhere.api.settings) == 0


def test_the_case_is_read_at_a_seat_as_well(everywhere, people):
    alice, bob, *_ = people
    board = everywhere.match(alice, bob)
    assert claim(SEAT, everywhere, alice, board).code == ""
    assert everywhere.seat(bob, board, "case") == Result("")
