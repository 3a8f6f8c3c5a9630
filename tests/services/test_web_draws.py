"""What a browser tells of the texts that it keeps for sealed deals, and what the server notes of that."""

from collections.abc import Callable, Iterator
from hashlib import sha256

import pytest

from infra.redis import keys
from services.app.accounts import erase_account
from services.app.matches import load_state
from tests.helpers.api import Api, Player
from tests.helpers.web import Guest, door

JSON = {"Accept": "application/json"}


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with Api(tmp_path_factory.mktemp("api")) as api:
        yield api


@pytest.fixture
def come(api: Api) -> Iterator[Callable[..., Guest]]:
    with door(api) as come:
        yield come


def sealed(api: Api, one: Player, two: Player) -> tuple[int, str]:
    """Make a match of Halves sealed; gives its board, and the first digits of the first player's commitment."""
    own, other = (sha256(player.name.encode()).hexdigest() for player in (one, two))
    board = api.match(one, two, game="halves", terms=["--gather"], commitment=own)
    assert two.give(board, {"do": "accept", "commitment": other}).is_success
    api.caught_up()
    return board, own[:16]


def is_seen(api: Api, player: Player, board: int) -> bool:
    seats = load_state(api.parts, board).seats
    return not api.parts.seen_texts.unseen(board, seats, [seats.index(player.account)])


def test_only_a_browser_that_has_the_text_of_the_match_counts_as_seen(api, come):
    one, two = api.players()
    board, have = sealed(api, one, two)
    guest = come()
    guest.log_in(one.name)
    for path in ("/draws", f"/draws?have={'0' * 16}.{'f' * 16}"):
        assert [each["board"] for each in guest.get(path, headers=JSON).json()] == [board]
        assert not is_seen(api, one, board)
    # a link from elsewhere, with the commitment, which all can read
    guest.get(f"/draws?have={have}", headers={"Accept": "text/html"})
    assert not is_seen(api, one, board)
    assert "Decline this match?" in guest.page(f"/m/{board}")
    guest.get(f"/draws?have={'0' * 16}.{have}", headers=JSON)
    assert is_seen(api, one, board)
    assert not is_seen(api, two, board)
    asked = guest.page(f"/m/{board}").partition("data-known")[2].partition("hx-confirm=")[2]
    assert asked.startswith('"The board can already be known.')
    erase_account(api.parts, one.account)
    assert not api.parts.data.exists(keys.seen_texts(one.account))


@pytest.mark.parametrize("have", ["x" * 16, "0" * 15, ".".join(["0" * 16] * 101), "0" * 64])
def test_a_browser_names_at_most_100_texts_by_their_first_digits(api, come, have):
    guest = come()
    guest.log_in(api.player().name)
    assert guest.get(f"/draws?have={have}", headers=JSON).status_code == 400


def test_all_can_agree_that_the_server_deals(api, come):
    one, two = api.players()
    board, _ = sealed(api, one, two)
    guests = [come(), come()]
    for guest, player in zip(guests, (one, two), strict=True):
        guest.log_in(player.name)
    assert ">Let the server deal</button>" in guests[0].page(f"/m/{board}")
    assert guests[0].act(board, "offer", kind="deal").status_code == 303
    assert "You want the server to deal now." in guests[0].page(f"/m/{board}")
    page = guests[1].page(f"/m/{board}")
    assert f"{one.name} wants the server to deal now." in page
    assert ">Let the server deal</button>" not in page
    api.caught_up()
    assert f"{one.name} wants the server to deal now." in guests[1].page("/")
    assert guests[1].act(board, "accept").status_code == 303
    assert load_state(api.parts, board).setup is not None
    assert 'data-game="halves"' in guests[0].page(f"/m/{board}")
