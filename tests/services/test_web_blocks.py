"""Blocks on the pages: the button on a player's page, and the list in one's own account."""

from collections.abc import Callable, Iterator

import pytest

from tests.helpers.api import Api
from tests.helpers.web import Guest, Read, door
from tests.services.matches_by_form import challenge, turn


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with Api(tmp_path_factory.mktemp("api")) as api:
        yield api


@pytest.fixture
def come(api: Api) -> Iterator[Callable[..., Guest]]:
    with door(api) as come:
        yield come


def test_a_player_is_blocked_on_their_page_and_unblocked_in_the_account(api, come):
    ann, ben = come().sign_up("ann"), come().sign_up("ben")
    page = ann.page("/players/ben")
    assert ">Block</button>" in page
    assert "/players/ben/unblock" not in Read(page).forms
    assert "/players/ben/block" in Read(page).forms
    sent = ann.send("/players/ben/block", on="/players/ben")
    assert (sent.status_code, sent.headers["location"]) == (
        303,
        "/account?saved=blocks&declined=0#blocks",
    )
    assert "/players/ben/unblock" in Read(ann.page("/account")).forms
    page = ann.page("/players/ben")
    assert ">Unblock</button>" in page
    assert "/players/ben/unblock" in Read(page).forms

    refused = ben.send("/new", {"game": "pow2", "opponent": "ann", "seat": "first"}, on="/new")
    assert refused.status_code == 403
    assert "doesn&#39;t take challenges from you" in refused.text
    assert ben.send("/players/ann/block", on="/players/ann").status_code == 303

    assert ann.send("/players/ben/unblock", on="/account").status_code == 303
    assert "/players/ben/unblock" not in Read(ann.page("/account")).forms
    assert api.parts.blocks.of(api.parts.accounts.id_of("ann")) == []


def test_who_is_blocked_says_nothing_in_a_match_and_takes_no_open_challenge(api, come):
    cleo, dan = come().sign_up("cleo"), come().sign_up("dan")
    started = cleo.send("/new", {"game": "pow2", "opponent": "dan", "seat": "first"}, on="/new")
    place = started.headers["location"]
    assert cleo.send("/new", {"game": "pow2"}, on="/new").status_code == 303
    (opened,) = api.parts.challenges.of(api.parts.accounts.id_of("cleo"))
    assert cleo.send("/players/dan/block", on="/players/dan").status_code == 303
    assert dan.send(f"{place}/chat", {"text": "hello"}, on=place).status_code == 403
    assert dan.send(f"/challenges/{opened.id}/take").status_code == 403
    assert api.parts.messages.chat_of(int(place.rpartition("/")[2])) == []
    assert cleo.send(f"{place}/chat", {"text": "hello"}, on=place).status_code == 303


def test_whose_challenges_are_taken_is_chosen_in_the_account(api, come):
    eve, fay = come().sign_up("eve"), come().sign_up("fay")
    fields = {"language": "en", "notify": "move"}
    assert eve.send("/account/preferences", {**fields, "challenges": "none"}).status_code == 303
    assert '<option value="none" selected>nobody' in eve.page("/account")
    refused = fay.send("/new", {"game": "pow2", "opponent": "eve", "seat": "first"}, on="/new")
    assert refused.status_code == 403
    assert eve.send("/account/preferences", fields).status_code == 303
    profile = api.parts.accounts.record_of(api.parts.accounts.id_of("eve"))
    assert profile.challenges == "none", "a form without the choice changes nothing"


def test_a_block_declines_what_was_not_moved_in_and_the_account_says_how_many(api, come):
    hal, ida = come().sign_up("hal"), come().sign_up("ida-b")
    boards = [challenge(hal, ida), challenge(hal, ida, game="halves")]
    api.caught_up()
    shown = ida.send("/players/hal/block", on="/players/hal").headers["location"]
    assert "2 matches with this player were declined." in ida.page(shown.partition("#")[0])
    for board in boards:
        assert "Declined" in turn(hal, board)
