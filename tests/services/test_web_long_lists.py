"""Lists that are longer than a page: complete, in order, the most urgent first."""

import pytest

from tests.helpers.api import Api, Player
from tests.helpers.web import boards, section

MANY = 56


@pytest.fixture(scope="module")
def busy(api: Api) -> dict[str, Player]:
    """Erin, for whom 56 matches wait, ida with as many that wait for others, and what is over."""
    erin, ida = api.player(name="erin"), api.player(name="ida")
    for _ in range(MANY):
        api.begun(erin, ida, terms=["--days=7"])
    api.begun(erin, ida, terms=["--days=1"])  # the newest, and the most urgent
    for _ in range(MANY):
        ida.give(api.begun(erin, ida, game="torere"), {"do": "resign"})
    makers = (erin, ida, api.player())
    for number in range(MANY):
        who = makers[number % 3]
        who.post("/api/challenges", {"game": "goliath", "note": f"offer {number}"})
    api.caught_up()
    return {"erin": erin, "ida": ida}


@pytest.mark.usefixtures("busy")
def test_the_page_of_a_player_and_of_a_game_lead_to_all(come):
    guest = come()
    page = guest.page("/players/ida")
    assert f"All {MANY + 1}" in section(page, "active")
    assert f"All {MANY}" in section(page, "finished")
    assert len(boards(section(page, "finished"))) == 10
    guest.log_in("ida")
    assert f"1 to 24 of {MANY}" in section(guest.page("/"), "open-title")
    game = guest.page("/games/torere")
    assert f'All finished matches</a> <span class="quiet">{MANY}<' in game
