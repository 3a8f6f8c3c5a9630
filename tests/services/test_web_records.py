"""Receipts and proofs on pages: the mark of a match and of its moves, and the files behind it."""

import re
from collections.abc import Iterator

import pytest

from domain.match.history import leaf_hash
from infra.log.checkpoint import InclusionProof
from infra.log.key_files import generate_keys
from infra.log.receipts import open_receipt
from services.http import middleware
from tests.helpers.api import Api, Player
from tests.helpers.publishing import log_keys, publish, receipts_keys
from tests.helpers.web import Guest

MOVES = ("m13-m5:l4", "a13-c11", "l4-k3:j2")


@pytest.fixture
def api(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Api]:
    monkeypatch.setattr(middleware, "AGE_SECONDS", 0.0)
    with Api(tmp_path_factory.mktemp("web")) as made:
        generate_keys(made.settings.data / "keys", "play.example.org")
        yield made


@pytest.fixture
def two(api: Api) -> list[Player]:
    return api.players()


def played(api: Api, two: list[Player]) -> int:
    """A match with three moves, of which the second was taken back and played again."""
    board = api.begun(*two)
    assert two[0].move(board, MOVES[0]).is_success
    assert two[1].move(board, "a13-d7").is_success
    assert two[1].give(board, {"do": "offer", "kind": "undo"}).is_success
    assert two[0].give(board, {"do": "accept"}).is_success
    assert two[1].move(board, MOVES[1]).is_success
    assert two[0].move(board, MOVES[2]).is_success
    return board


def kept(page: str) -> int:
    return len(re.findall(r'<li class="column-\d kept">', page))


def test_the_mark_says_what_is_published(api: Api, two: list[Player]):
    with Guest(api) as guest:
        guest.log_in(two[0].name)
        board = played(api, two)
        for path in (f"/m/{board}", f"/m/{board}/1"):
            assert kept(guest.page(path)) == 0
        page = guest.page(f"/m/{board}")
        assert "Saved · being added to the public log" in page
        assert f"/m/{board}/receipt.txt" in page
        assert "proof.txt" not in page
        publish(api)
        assert two[1].move(board, "a1-a7").is_success
        page = guest.page(f"/m/{board}")
        assert "Saved · being added to the public log" in page
        assert kept(page) == kept(guest.page(f"/m/{board}/1")) == 3
        assert f"/m/{board}/3/proof.txt" in guest.page(f"/m/{board}/3")
        assert f"/m/{board}/0/proof.txt" in guest.page(f"/m/{board}/0")
        assert '<li hidden><a id="proof"' in guest.page(f"/m/{board}/4")
        assert '<li hidden><a id="proof"' not in guest.page(f"/m/{board}/3")
        publish(api)
        page = guest.page(f"/m/{board}")
        assert re.search(r'Recorded and published: <a href="/m/\d+/proof.txt"', page)
        assert kept(page) == 4


def test_spectators_see_the_same(api: Api, two: list[Player]):
    board = played(api, two)
    publish(api)
    page = api.http.get(f"/m/{board}").text
    assert "Recorded and published" in page
    assert kept(page) == 3


def test_behind_the_mark_are_the_files(api: Api, two: list[Player]):
    board = played(api, two)
    publish(api)
    events = api.parts.store.events(board)
    assert len(events) == 9
    key = log_keys(api)[board % 4]
    with Guest(api) as guest:
        guest.log_in(two[0].name)
        # the second move is that which was played again
        for place, seq in (("", 9), ("/0", 1), ("/1", 3), ("/2", 8), ("/3", 9)):
            answer = guest.get(f"/m/{board}{place}/receipt.txt")
            found = open_receipt(answer.text, receipts_keys(api))
            assert found.seq == seq
            found.check_leaf(events[seq - 1])
            assert (
                answer.headers["content-disposition"]
                == f'attachment; filename="receipt-{board}-{seq}.txt"'
            )
            proof = InclusionProof.parse(guest.get(f"/m/{board}{place}/proof.txt").text)
            assert proof.extra == events[seq - 1]
            proof.verify(leaf_hash(proof.extra), key.name, [key])


def test_what_is_not_published_is_a_page_that_says_so(api: Api, two: list[Player]):
    board = played(api, two)
    with Guest(api) as guest:
        guest.log_in(two[0].name)
        answer = guest.get(f"/m/{board}/proof.txt")
        assert answer.status_code == 404
        assert "in the published log within a minute" in answer.text
        assert guest.get(f"/m/{board}/9/proof.txt").status_code == 404


def test_a_server_that_promises_nothing_has_no_mark(tmp_path):
    with Api(tmp_path) as api, Guest(api) as guest:
        two = api.players()
        guest.log_in(two[0].name)
        board = played(api, two)
        for path in (f"/m/{board}", f"/m/{board}/1"):
            page = guest.page(path)
            assert "Recorded" not in page
            assert "receipt.txt" not in page
            assert kept(page) == 0
        assert guest.get(f"/m/{board}/receipt.txt").status_code == 404
