"""Provably fair deals: browsers commit to texts, keep them, and reveal them by themselves."""

from hashlib import sha256

import pytest
from playwright.sync_api import expect

from domain.match.audit import verify
from domain.match.events import Called, MatchStarted, Withheld
from domain.match.history import decode_event
from services.app.matches import load_state

pytestmark = pytest.mark.slow


def bodies(api, board):
    return [decode_event(data).body for data in api.parts.store.events(board)]


def kept(one) -> int:
    """How many texts a browser keeps."""
    return one.page.evaluate(
        "Object.keys(localStorage).filter((k) => k.startsWith('draw:')).length"
    )


def forgets(one) -> None:
    """Wait until a browser keeps no text: it forgets one when it hears that it was revealed."""
    one.page.wait_for_function("!Object.keys(localStorage).some((k) => k.startsWith('draw:'))")


def chooses_fair(one) -> None:
    """Choose the provably fair deal on the form for a new match."""
    one.page.locator("summary:visible", has_text="Variants").click()
    one.page.get_by_label("Provably fair deal").locator("visible=true").check()


def calls(one, other) -> int:
    """Challenge somebody to a provably fair deal, by the form; gives its board."""
    one.goes_to("/new?game=powerdrain")
    one.names(other.name)
    chooses_fair(one)
    one.starts()
    one.page.wait_for_url("**/m/*")
    return int(one.page.url.rpartition("/")[2])


def test_two_browsers_commit_and_reveal_and_the_match_starts_while_both_look_on(api, person):
    lena, dora = person("lena-d"), person("dora-d")
    board = calls(lena, dora)
    assert kept(lena) == 1
    dora.goes_to(f"/m/{board}")
    expect(dora.page.locator("[data-keeper]")).to_contain_text(
        "This browser keeps your secret text"
    )
    dora.page.get_by_label("Add a secret word to the shuffle").fill("swordfish")
    dora.page.get_by_role("button", name="Accept").click()
    for one in (lena, dora):
        one.page.locator("#board-area svg").wait_for()
        forgets(one)
    found = bodies(api, board)
    assert isinstance(found[0], Called)
    (started,) = [body for body in found if isinstance(body, MatchStarted)]
    texts = dict(zip(load_state(api.parts, board).seats, started.draw.texts, strict=True))
    mine, other = (texts[api.parts.accounts.id_of(one.name)] for one in (dora, lena))
    assert mine[32:] == sha256(b"swordfish").digest()
    assert (len(mine), len(other)) == (64, 32)


def test_a_browser_that_does_not_keep_the_text_says_where_it_is_and_keeps_what_is_typed(
    api, person
):
    lena, dora = api.player(name="lena-e"), api.player(name="dora-e")
    texts = [f"{player.name} keeps this elsewhere".encode() for player in (lena, dora)]
    own, others = (sha256(text).hexdigest() for text in texts)
    board = api.match(lena, dora, game="powerdrain", terms=["--gather"], commitment=own)
    assert dora.give(board, {"do": "accept", "commitment": others}).is_success
    elsewhere = person(dora)
    elsewhere.goes_to(f"/m/{board}")
    expect(elsewhere.page.locator("#turn")).to_have_text("The deal is waiting for you")
    form = elsewhere.page.locator("[data-elsewhere]")
    expect(form).to_contain_text("open matchpost in the browser")
    field = form.get_by_label("Or enter the text")
    field.fill(texts[1].hex())
    field.evaluate("(field) => { field.dataset.before = 'yes'; }")
    # the form is drawn anew with what happens, and what was typed stays
    api.http.post(f"/api/matches/{board}/reveal", json={"text": texts[0].hex()})
    expect(elsewhere.page.locator("[data-before]")).to_have_count(0)
    expect(field).to_have_value(texts[1].hex())
    form.get_by_role("button", name="Reveal").click()
    elsewhere.page.locator("#board-area svg").wait_for()


def seal(api, person, name: str):
    """Seal a deal of two browsers; gives the board, its challenger, their browser, and the next one they use.

    The challenger's browser, which has the text, is on no page of the server since before the seal.
    """
    player, oleg = api.player(name=f"nora-{name}"), person(f"oleg-{name}")
    first, second = person(player), person(player)
    board = calls(first, oleg)
    first.page.goto("about:blank")
    oleg.goes_to(f"/m/{board}")
    oleg.page.get_by_role("button", name="Accept").click()
    expect(oleg.page.locator("#turn")).to_have_text(f"The deal is waiting for nora-{name}")
    forgets(oleg)
    api.caught_up()
    return board, player, first, second


def declines(one, board: int) -> str:
    """Decline a match that waits for a text; gives what the page asks before."""
    one.goes_to(f"/m/{board}")
    expect(one.page.locator("[data-elsewhere]")).to_be_visible()
    one.page.get_by_role("button", name="Decline").click()
    dialog = one.page.get_by_role("dialog")
    asked = dialog.locator("p").inner_text()
    dialog.get_by_role("button", name="Decline").click()
    expect(one.page.locator("#turn")).to_contain_text("Declined")
    return asked


def test_who_declines_after_a_browser_with_the_text_was_seen_withholds_it(api, person):
    board, nora, first, second = seal(api, person, "s")
    first.page.route("**/reveal", lambda route: route.fulfill(status=503, json={}))
    with first.page.expect_response("**/draws?have=*"):
        first.goes_to("/help")
    assert declines(second, board).startswith("The board can already be known.")
    assert any(isinstance(body, Withheld) for body in bodies(api, board))
    api.caught_up()
    assert api.parts.standings.refused(nora.account) == 1
    page = second.goes_to(f"/players/{nora.name}")
    expect(page.locator("main")).to_contain_text("declined 1 match after the board could be known")
    verify(board, api.parts.store.events(board))
