"""Browsers commit to texts for a draw, keep them, and reveal them by themselves."""

from hashlib import sha256

import pytest
from playwright.sync_api import expect

from domain.match.events import Called, MatchStarted, Revealed, Sealed, decode_event
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


def offers(one, game: str) -> None:
    """Offer a match to anybody, from the tiles of the list of matches."""
    one.goes_to("/")
    one.page.locator("aside").get_by_role("link", name=game, exact=True).first.click()
    one.page.wait_for_url("**/new?game=*")
    one.starts()
    one.page.wait_for_url("**/#open")


def calls(one, other) -> int:
    """Start a match of chance that gathers, by the form; gives its board."""
    one.goes_to("/new?game=powerdrain")
    one.names(other.name)
    one.page.locator("summary:visible", has_text="Variants").click()
    one.page.locator('[name="powerdrain-gather"]').check()
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
    dora.page.get_by_label("Your word for the draw").fill("swordfish")
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


def test_an_open_match_of_chance_is_revealed_from_whatever_page_its_maker_opens_next(api, person):
    lena, dora = person("lena-o"), person("dora-o")
    offers(lena, "Powerdrain")
    assert kept(lena) == 1
    lena.goes_to("/help")  # the list of matches would reveal at once
    dora.goes_to("/")
    row = dora.page.locator("li", has_text="lena-o")
    row.get_by_role("button", name="Play").click()
    dora.page.wait_for_url("**/m/*")
    board = int(dora.page.url.rpartition("/")[2])
    expect(dora.page.locator("#turn")).to_have_text("Waiting until all have revealed their texts")
    assert isinstance(bodies(api, board)[1], Sealed)
    api.caught_up()
    lena.goes_to("/ratings/pow2")
    dora.page.locator("#board-area svg").wait_for()
    forgets(lena)
    forgets(dora)


def test_a_game_without_chance_commits_to_nothing(person):
    lena = person("lena-p")
    offers(lena, "The Power of Two")
    assert kept(lena) == 0


def test_without_a_secure_page_the_server_keeps_the_text_and_the_page_says_so(api, person):
    lena, dora = person("lena-i"), person("dora-i")
    for one in (lena, dora):
        one.page.add_init_script("Object.defineProperty(crypto, 'subtle', { value: undefined })")
    board = calls(lena, dora)
    dora.goes_to(f"/m/{board}")
    expect(dora.page.locator("[data-keeper]")).to_contain_text("The server keeps your secret text")
    dora.page.get_by_label("Your word for the draw").fill("swordfish")
    dora.page.get_by_role("button", name="Accept").click()
    dora.page.locator("#board-area svg").wait_for()
    revealed = [body for body in bodies(api, board) if isinstance(body, Revealed)]
    assert len(revealed) == 2
    assert any(body.text[32:] == sha256(b"swordfish").digest() for body in revealed)


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
    expect(elsewhere.page.locator("#turn")).to_have_text("Your text for the draw is needed")
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


def test_the_list_of_matches_reveals_while_it_is_looked_at_though_the_server_is_busy(person):
    lena, dora = person("lena-l"), person("dora-l")
    lena.page.clock.install()
    offers(lena, "Powerdrain")
    asked = []

    def busy(route) -> None:
        asked.append(route.request.url)
        route.fulfill(status=503, json={"code": "unavailable"})

    lena.page.route("**/draws", busy, times=1)
    lena.page.route("**/reveal", busy, times=1)
    dora.goes_to("/")
    with lena.page.expect_response("**/draws"):
        dora.page.locator("li", has_text="lena-l").get_by_role("button", name="Play").click()
    with lena.page.expect_response("**/reveal"):
        lena.page.clock.fast_forward(2_000)
    lena.page.clock.fast_forward(2_000)
    dora.page.locator("#board-area svg").wait_for()
    assert len(asked) == 2
    forgets(lena)
    forgets(dora)


def test_looking_at_the_forms_of_other_games_keeps_no_text(person):
    page = (lena := person("lena-t")).goes_to("/new?game=powerdrain")
    for game in ("Halves", "Powerdrain", "The Power of Two"):
        page.get_by_label(game, exact=True).check()
        expect(page.get_by_role("link", name=f"The rules of {game}")).to_be_visible()
    assert kept(lena) == 0
