"""Matches of chance from the form for a new match to the first move, on one device and on two."""

import pytest
from playwright.sync_api import expect

from domain.match.audit import verify
from domain.match.deals import DealKind, deal_kind
from domain.match.history import decode_event
from tests.helpers.browser import PHONE, Person, pick_any

pytestmark = pytest.mark.slow

TITLES = {"halves": "Halves", "powerdrain": "Powerdrain"}


def proposes(one: Person, other: str, game: str, way: str, *, fair: bool) -> None:
    """Send the form for a new match."""
    page = one.goes_to(f"/new?game={game}")
    if way == "name":
        one.names(other)
        expect(page.locator("#about-opponent")).to_have_text("Your opponent has 14 days to accept.")
    else:
        page.get_by_label({"link": "A friend (send a link)", "open": "Anyone"}[way]).check()
    if fair:
        page.locator("summary:visible", has_text="Variants").click()
        page.get_by_label("Provably fair deal").locator("visible=true").check()
    one.starts()
    page.wait_for_url({"link": "**/c/*", "open": "**/#open", "name": "**/m/*"}[way])


def accepts(one: Person, maker: Person, game: str, way: str, *, fair: bool) -> int:
    """Accept the match; gives its board."""
    if way == "name":
        page = one.goes_to("/")
        ask = page.locator(".ask", has_text=f"{maker.name} challenges you to {TITLES[game]}")
        ask.get_by_role("button", name="Accept").click()
        expect(ask).to_have_count(0)
        page = one.goes_to(maker.page.url)
    else:
        page = one.goes_to("/challenges" if way == "open" else maker.page.url)
        facts = page.locator(".open-offer", has_text=maker.name) if way == "open" else page
        expect(facts.get_by_text("provably fair deal")).to_have_count(int(fair))
        facts.get_by_role("button", name="Play").click()
        page.wait_for_url("**/m/*")
    return int(page.url.rpartition("/")[2])


@pytest.mark.parametrize(
    ("game", "way"),
    [
        ("halves", "link"),
        *(
            pytest.param(game, way, marks=pytest.mark.long)
            for game, way in (
                ("halves", "open"),
                ("halves", "name"),
                ("powerdrain", "link"),
                ("powerdrain", "name"),
            )
        ),
    ],
)
def test_a_match_is_dealt_as_soon_as_the_other_accepts_and_goes_on_on_any_device(
    api, person, game, way
):
    nora, oleg = api.player(name=f"nora-{game}-{way}"), person(f"oleg-{game}-{way}")
    desktop, phone = person(nora), person(nora, **PHONE)
    proposes(desktop, oleg.name, game, way, fair=False)
    if way == "name":
        expect(desktop.page.locator("#turn")).to_have_text(f"Waiting for {oleg.name} to accept")
        expect(desktop.page.locator("#board-area")).to_contain_text(
            f"as soon as {oleg.name} accepts"
        )
        api.caught_up()
    board = accepts(oleg, desktop, game, way, fair=False)
    expect(oleg.page.locator("#board-area svg")).to_be_visible()
    assert phone.goes_to(f"/m/{board}").locator("[data-reveal]").count() == 0
    expect(phone.page.locator("#board-area svg")).to_be_visible()
    mover = phone if phone.page.locator("#turn.yours").count() else oleg
    pick_any(mover)
    mover.page.locator("#confirm").click()
    mover.page.locator('#board-area[data-ply="1"]').wait_for()
    assert desktop.page.evaluate("localStorage.length") == 0
    events = api.parts.store.events(board)
    verify(board, events)
    assert deal_kind(decode_event(data).body for data in events) is DealKind.BY_SERVER


@pytest.mark.long
@pytest.mark.parametrize(
    ("game", "way"),
    [("halves", "link"), ("powerdrain", "name"), ("halves", "open")],
)
def test_a_provably_fair_deal_waits_for_the_browser_in_which_its_challenger_accepted(
    api, person, game, way
):
    nora, oleg = api.player(name=f"nora-{game[:4]}-{way}"), person(f"oleg-{game[:4]}-{way}")
    desktop, phone = person(nora), person(nora, **PHONE)
    proposes(desktop, oleg.name, game, way, fair=True)
    where = desktop.page.url
    desktop.page.goto("about:blank")
    api.caught_up()
    maker = person(nora)
    maker.page.goto(where)
    board = accepts(oleg, maker, game, way, fair=True)
    expect(oleg.page.locator("#board-area")).to_contain_text(
        f"The board is dealt as soon as {nora.name} opens matchpost in the browser"
    )
    phone.goes_to(f"/m/{board}")
    expect(phone.page.locator("[data-elsewhere]")).to_contain_text("This browser does not have it")
    api.caught_up()
    desktop.goes_to("/help")
    for one in (oleg, phone):
        expect(one.page.locator("#board-area svg")).to_be_visible()
    events = api.parts.store.events(board)
    verify(board, events)
    assert deal_kind(decode_event(data).body for data in events) is DealKind.SEALED
