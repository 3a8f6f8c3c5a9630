"""The public page of matches that go on: in order, by game and by rating."""

import re
from collections.abc import Iterator

import pytest

from tests.helpers.api import Api
from tests.helpers.web import Guest


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with Api(tmp_path_factory.mktemp("api")) as api:
        yield api


def boards(page: str) -> list[int]:
    return [int(board) for board in re.findall(r'href="/m/(\d+)"', page)]


def test_a_guest_sees_what_goes_on_the_newest_move_first(api):
    one, other, third = api.players(3)
    over = api.begun(one, other)
    assert one.move(over, "m13-j7").is_success
    assert other.move(over, "a13-d7").is_success
    assert one.give(over, {"do": "resign"}).is_success
    first, second = api.begun(one, other), api.begun(third, one)
    another = api.begun(third, other, game="torere")
    assert one.move(first, "m13-j7").is_success
    api.caught_up()
    with Guest(api) as guest:
        page = guest.page("/playing")
        assert boards(page) == [first, another, second]
        assert f"{first}:" in page.partition('data-boards="')[2].partition('"')[0]
        assert boards(guest.page("/playing?game=torere")) == [another]
        assert boards(guest.page("/playing?rating=1501")) == [first], "only the winner has so much"
        assert boards(guest.page("/playing?rating=1501&game=torere")) == []
        assert "No matches found." in guest.page("/playing?rating=9999")
        assert "none of 3 from here on" in guest.page("/playing?page=2")
        assert guest.get("/playing?game=one").status_code >= 400
        assert 'href="/playing"' in guest.page("/")
