"""What is asked about players and results is answered alike at every front end.

The match that waits next: the most urgent first, and one after the other to all.

Pinned matches: who may pin what, how many, and where they stand in lists; by each way in.
"""

import re
from collections.abc import Callable, Iterator

import pytest

from domain.errors import Code, Refusal
from infra.people.account_lists import PINNED
from services.app.queries import with_older
from services.app.waiting import next_match
from tests.fakes.front_ends import joined, plain, sentence
from tests.helpers.api import Api, Player, code_of
from tests.helpers.web import Guest, Read, door


def test_a_puzzle_has_no_ratings_at_any_front_end(pair):
    one, _ = pair
    said = "jump is a puzzle and has scores instead; ask for those"
    assert one.terminal("jump ratings").sentence == said
    assert one.terminal("jump standings").sentence == said
    assert said in joined(one.mail("jump ratings"))
    for place in ("ratings/jump", "standings/jump", f"ratings/jump/{one.name}"):
        assert sentence(one.api.get(f"/api/{place}")) == said
    assert sentence(one.web.get("/ratings/jump")) == said


def test_nobody_is_compared_with_themselves(pair):
    one, _ = pair
    at_terminal = one.terminal(f"pow2 history {one.name} {one.name}")
    by_api = one.api.get(f"/api/head-to-head/pow2/{one.name}/{one.name}")
    assert at_terminal.code == by_api.json()["code"] == "bad-players"
    assert plain(at_terminal.sentence) == sentence(by_api)


def test_a_player_whom_nobody_knows_is_refused_alike(pair):
    one, _ = pair
    at_terminal = one.terminal("all show nobody")
    for answer in (one.api.get("/api/players/nobody"), one.web.get("/players/nobody")):
        assert answer.status_code == 404
        # a page leaves out how to sign up at the terminal
        assert plain(at_terminal.sentence).startswith(sentence(answer))


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with Api(tmp_path_factory.mktemp("api")) as api:
        yield api


@pytest.fixture
def come(api: Api) -> Iterator[Callable[..., Guest]]:
    with door(api) as come:
        yield come


def by_api(one: Player, guest: Guest, board: int, word: str) -> None:
    del guest
    path = f"/api/account/pins/{board}"
    assert (one.put(path, None) if word == "pin" else one.delete(path)).status_code == 204


def by_page(one: Player, guest: Guest, board: int, word: str) -> None:
    del one
    sent = guest.send(f"/m/{board}/{word}", on=f"/m/{board}")
    assert (sent.status_code, sent.headers["location"]) == (303, f"/m/{board}")


def by_line(one: Player, guest: Guest, board: int, word: str) -> None:
    del guest
    assert f"match {board} is {'' if word == 'pin' else 'not '}pinned" in one.line(
        f"{word} {board}"
    )


def listed(page: str) -> list[int]:
    return [int(one) for one in re.findall(r'<p class="row-game"><a href="/m/(\d+)"', page)]


def pins(player: Player) -> list[int]:
    found: list[int] = player.get("/api/account/pins").json()["matches"]
    return found


@pytest.mark.parametrize("change", [by_api, by_page, by_line])
def test_a_pinned_match_is_first_in_its_players_lists_and_in_nobody_elses(api, come, change):
    one, other = api.players()
    mine = [api.begun(one, other) for _ in range(3)]
    theirs = [api.begun(other, one) for _ in range(3)]
    api.caught_up()
    guest, rival = come(), come()
    guest.log_in(one.name)
    rival.log_in(other.name)
    assert f"/m/{mine[2]}/pin" in Read(guest.page(f"/m/{mine[2]}")).forms
    for _ in range(2):  # repeated it is no error
        change(one, guest, mine[2], "pin")
        change(one, guest, theirs[0], "pin")
    assert pins(one) == [theirs[0], mine[2]]
    assert listed(guest.page("/matches")) == [mine[2], mine[0], mine[1]]
    assert listed(guest.page("/matches?state=others")) == [theirs[0], theirs[2], theirs[1]]
    assert listed(guest.page("/"))[:1] == [theirs[0]]
    assert guest.page("/matches").count('title="Pinned"') == 1
    assert f"/m/{mine[2]}/unpin" in Read(guest.page(f"/m/{mine[2]}")).forms
    first = next_match(api.parts, one.account)
    assert first is not None
    assert first.board == mine[2]
    assert [int(line.split()[0]) for line in one.line("pinned").splitlines()] == [
        theirs[0],
        mine[2],
    ]
    assert listed(rival.page("/matches")) == theirs
    for _ in range(2):
        change(one, guest, mine[2], "unpin")
        change(one, guest, theirs[0], "unpin")
    assert pins(one) == []
    assert listed(guest.page("/matches")) == mine
    assert "you have no pinned matches" in one.line("pinned")


def test_an_own_match_alone_can_be_pinned(api, come):
    one, other, third = api.players(3)
    board = api.begun(one, other)
    assert code_of(third.put(f"/api/account/pins/{board}", None)) == "not-a-player"
    assert code_of(one.put("/api/account/pins/987654", None)) == "unknown-board"
    assert "only its players can do this" in third.line(f"pin {board}")
    guest = come()
    guest.log_in(third.name)
    assert f"/m/{board}/pin" not in Read(guest.page(f"/m/{board}")).forms
    assert one.delete("/api/account/pins/987654").status_code == 204


def test_pins_have_an_end_and_finished_matches_make_room(api):
    one, other = api.players()
    boards = [api.begun(one, other, game="torere") for _ in range(2)]
    api.caught_up()
    assert one.put(f"/api/account/pins/{boards[0]}", None).is_success
    kept = {str(10**9 + n): "" for n in range(PINNED.most - 1)}
    api.parts.data.hset(PINNED.key(one.account), mapping=kept)
    full = one.put(f"/api/account/pins/{boards[1]}", None)
    assert code_of(full) == "too-many"
    assert "you can pin at most 20 matches" in full.json()["detail"]
    assert one.give(boards[0], {"do": "resign"}).is_success
    api.caught_up()
    assert one.put(f"/api/account/pins/{boards[1]}", None).is_success
    assert boards[0] not in pins(one)


def test_a_match_that_cannot_be_read_keeps_no_other_out_of_a_list(pair, monkeypatch):
    one, other = pair
    api = one.api.api
    boards = [api.begun(one.api, other.api) for _ in range(3)]
    read, asked = api.parts.store.snapshots, []

    def snapshots(wanted):
        asked.append(list(wanted))
        if boards[1] in wanted:
            raise Refusal(Code.UNAVAILABLE, "the archive is away")
        return read(wanted)

    monkeypatch.setattr(api.parts.store, "snapshots", snapshots)
    assert list(with_older(api.parts, [*boards, boards[0]], {})) == [boards[0], boards[2]]
    assert asked[0] == boards, "all at once, and each by itself only when that fails"
