"""Disputes on the pages: a claim, the queue, a case with its ruling, and an appeal."""

import html
from collections.abc import Iterator
from contextlib import ExitStack
from typing import NamedTuple

import pytest

from domain.match.events import Claimed, Event, ResultChanged, Ruled
from domain.match.history import decode_event
from tests.helpers.api import Api, Player
from tests.helpers.web import Guest


class World(NamedTuple):
    api: Api
    alice: Guest
    bob: Guest
    arbiter: Guest
    stranger: Guest
    board: int

    def last(self) -> Event:
        return decode_event(self.api.parts.store.events(self.board)[-1]).body


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with Api(tmp_path_factory.mktemp("web")) as api:
        yield api


@pytest.fixture
def world(api: Api) -> Iterator[World]:
    """A match of two moves, an arbiter and somebody else."""
    players: list[Player] = api.players(4)
    api.parts.accounts.set_arbiter(players[2].name, True)
    board = api.begun(*players[:2], terms=["--days=3"])
    players[0].move(board, "m13-j7")
    players[1].move(board, "a13-d7")
    with ExitStack() as stack:
        guests = [stack.enter_context(Guest(api)) for _ in players]
        for guest, player in zip(guests, players, strict=True):
            guest.log_in(player.name)
        yield World(api, *guests, board)


def claim(world: World, text: str = "He moved <twice>") -> None:
    sent = world.alice.send(
        f"/m/{world.board}/claim", {"ply": "1", "text": text}, on=f"/m/{world.board}/claim?ply=1"
    )
    assert sent.headers["location"] == f"/m/{world.board}/case"


def rule(world: World, **fields: str):
    page = f"/m/{world.board}/case"
    return world.arbiter.send(f"/m/{world.board}/rule", fields, on=page)


def test_a_player_disputes_a_ply_from_the_menu_of_the_match(world):
    board = world.board
    link = f'href="/m/{board}/claim?ply=2">Make a claim about this move</a>'
    assert link in world.alice.page(f"/m/{board}")
    assert link in world.arbiter.page(f"/m/{board}")
    assert "Make a claim" not in world.stranger.page(f"/m/{board}")
    claim(world)
    assert isinstance(world.last(), Claimed)
    assert world.last().ply == 1
    page = world.bob.page(f"/m/{board}/case")
    assert html.escape("He moved <twice>") in page
    assert "See the case" in world.bob.page(f"/m/{board}")


def test_a_form_that_is_sent_twice_is_one_claim(world):
    page, path = f"/m/{world.board}/claim?ply=1", f"/m/{world.board}/claim"
    fields = {"ply": "1", "text": "once", "key": "a" * 32}
    for _ in range(2):
        assert world.alice.send(path, fields, on=page).status_code == 303
    assert len(world.api.parts.statements.of_match(world.board)) == 1


def test_a_stranger_sees_no_case_and_disputes_nothing(world):
    claim(world)
    for path in (f"/m/{world.board}/case", f"/m/{world.board}/claim"):
        answer = world.stranger.get(path)
        assert answer.status_code == 403
        assert "twice" not in answer.text
    assert world.stranger.get("/cases").status_code == 403
    sent = world.stranger.send(f"/m/{world.board}/claim", {"ply": "0", "text": "I say"})
    assert sent.status_code == 403
    assert (
        world.alice.send(
            f"/m/{world.board}/rule", {"case": "5", "verdict": "annul", "text": "x"}
        ).status_code
        == 403
    )


def test_an_arbiter_finds_the_case_in_the_queue_and_the_record_beside_it(world):
    back = world.alice.act(world.board, "move", move="m13-m7").headers["location"]
    assert back == f"/m/{world.board}/check?move=m13-m7"
    claim(world)
    world.api.caught_up()
    assert "for a ruling</a>" in world.arbiter.page("/")
    assert "for a ruling</a>" not in world.alice.page("/")
    queue = world.arbiter.page("/cases")
    assert f'href="/m/{world.board}/case?case=5"' in queue
    page = world.arbiter.page(f"/m/{world.board}/case?case=5")
    for part in (
        "Claim and rulings",
        "The board after move 1",
        "Clocks",
        "What was refused",
        "Record",
    ):
        assert part in page
    assert f"<td>{world.alice.name}</td>" in page
    assert "<code>illegal-move</code>" in page
    assert "Your ruling" in page
    assert "Your ruling" not in world.alice.page(f"/m/{world.board}/case")


def test_a_ruling_is_shown_before_it_is_given(world):
    claim(world)
    fields = {"case": "5", "verdict": "result", "winner": "Light", "text": "It was so."}
    shown = rule(world, do="preview", **fields)
    assert shown.status_code == 200
    assert f"If you submit this: Light ({world.alice.name}) wins the match." in shown.text
    assert ">It was so.</textarea>" in shown.text
    assert isinstance(world.last(), Claimed)
    given = rule(world, do="rule", **fields)
    assert given.headers["location"] == f"/m/{world.board}/case?case=5"
    assert isinstance(world.last(), ResultChanged)
    page = world.bob.page(f"/m/{world.board}/case")
    assert "It was so." in page
    assert "Appeal</h2>" in page
    assert "Appeal</h2>" not in world.arbiter.page(f"/m/{world.board}/case")


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"verdict": "dismissed"}, "If you submit this: nothing changes."),
        ({"verdict": "back", "ply": "0", "time-Dark": "36"}, "gets 1 day 12 hours more"),
        ({"verdict": "draw"}, "If you submit this: the match is a draw."),
        ({"verdict": "annul"}, "the match is annulled"),
        ({"verdict": "time", "time-Light": "24"}, "gets 1 day more"),
    ],
)
def test_each_ruling_is_previewed_in_words(world, fields, said):
    claim(world)
    shown = rule(world, do="preview", case="5", text="so", **fields)
    assert said in shown.text
    assert isinstance(world.last(), Claimed)


def test_a_ruling_that_can_not_be_is_refused_in_a_sentence(world):
    claim(world)
    shown = rule(world, do="preview", case="5", verdict="back", ply="9", text="so")
    assert shown.status_code == 404
    assert "it is at #2" in shown.text
    assert rule(world, do="rule", case="5", verdict="result", text="so").status_code == 422
    assert len(world.api.parts.statements.of_match(world.board)) == 1


def test_the_board_of_the_claim_is_shown_also_after_the_match_was_set_back(world):
    claim(world)
    before = world.alice.page(f"/m/{world.board}/case")
    rule(world, do="rule", case="5", verdict="back", ply="0", text="again")
    after = world.alice.page(f"/m/{world.board}/case")
    board = before[before.index('<svg class="board') : before.index("Replay from here")]
    assert board in after


def test_a_player_appeals_once(world):
    claim(world)
    rule(world, do="rule", case="5", verdict="dismissed", text="no")
    assert isinstance(world.last(), Ruled)
    page, path = f"/m/{world.board}/case", f"/m/{world.board}/appeal"
    assert world.bob.send(path, {"case": "5", "text": "but"}, on=page).status_code == 303
    assert "Appeal</h2>" not in world.bob.page(page)
    assert "Your ruling" not in world.arbiter.page(page)
    fields = {"case": "5", "do": "rule", "verdict": "annul", "text": "x"}
    refused = world.arbiter.send(f"/m/{world.board}/rule", fields)
    assert "different arbiter" in refused.text
