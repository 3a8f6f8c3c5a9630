"""Messages between players on the pages: written, answered, read, marked as unread, refused."""

import re
from collections.abc import Callable, Iterator

import pytest

from services.app.messages import inbox
from tests.helpers.api import Api
from tests.helpers.web import Guest, Read, door


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with Api(tmp_path_factory.mktemp("api")) as api:
        yield api


@pytest.fixture
def come(api: Api) -> Iterator[Callable[..., Guest]]:
    with door(api) as come:
        yield come


def texts(api: Api, name: str) -> list[str]:
    return [one.text for one in inbox(api.parts, api.parts.accounts.id_of(name))]


def test_a_message_goes_from_a_players_page_and_is_answered_and_marked(api, come):
    ann, ben = come().sign_up("ann"), come().sign_up("ben")
    assert 'href="/messages?to=ben"' in ann.page("/players/ben")
    assert 'name="to" value="ben"' in ann.page("/messages?to=ben")
    sent = ann.send("/messages", {"to": "ben", "text": "A game?\r\nTonight"}, on="/messages?to=ben")
    assert (sent.status_code, sent.headers["location"]) == (303, "/messages?sent=ben")
    assert "Your message to ben has been sent." in ann.page("/messages?sent=ben")
    assert texts(api, "ben") == ["A game?\nTonight"]
    assert "1 new message" in ben.page("/")
    page = ben.page("/messages")
    assert page.count('class="letter new"') == 1
    assert 'href="/messages?to=ann"' in page
    assert "/players/ann/block" in Read(page).forms
    assert "new message" not in ben.page("/")
    unread = re.search(r'action="(/messages/\d+/unread)"', page)
    assert unread is not None
    again = ben.send(unread[1], on="/messages")
    assert (again.status_code, again.headers["location"]) == (303, "/")
    assert "1 new message" in ben.page("/")
    assert ben.send("/messages/17/unread", on="/").status_code == 404


def test_the_same_form_sent_twice_is_one_message_and_goes_to_several(api, come):
    cleo, _, _ = come().sign_up("cleo"), come().sign_up("dan"), come().sign_up("eve")
    fields = {"to": "dan, Eve", "text": "hello both", "key": "once"}
    for _ in range(2):
        assert cleo.send("/messages", fields, on="/messages").status_code == 303
    assert texts(api, "dan") == texts(api, "eve") == ["hello both"]


@pytest.mark.parametrize(
    ("to", "text", "status", "at"),
    [
        ("nobody-here", "hello", 404, "to"),
        ("gus", "hello", 403, "to"),
        ("hal", "x" * 2001, 413, "text"),
        ("hal", " ", 400, "text"),
        ("", "hello", 400, "text"),
    ],
)
def test_a_form_with_a_mistake_comes_back_with_what_was_typed(api, come, to, text, status, at):
    names = {"fay": 0, "gus": 0, "hal": 0}
    guests = {name: come() for name in names}
    for name, guest in guests.items():
        if guest.log_in(name).status_code != 303:
            guest.sign_up(name)
    guests["gus"].send("/players/fay/block", on="/players/fay")
    sent = guests["fay"].send("/messages", {"to": to, "text": text}, on="/messages")
    assert sent.status_code == status
    assert f'id="wrong-{at}"' in sent.text
    assert f'name="to" value="{to}"' in sent.text
    assert text.strip() in sent.text
    assert texts(api, "hal") == []
