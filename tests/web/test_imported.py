"""An imported match on its page: where it comes from is said, and its players accept or decline it."""

import os
from pathlib import Path

import pytest
from playwright.sync_api import expect

from domain.match.events import MatchSource
from domain.match.history import is_event
from infra.log.checkpoint import InclusionProof
from services.app.imports import CheckedImport, check_import, plan_import, seats_of
from tests.helpers.api import Api
from tests.helpers.publishing import publish

RECORD = b"""pow2 challenge -fast dora emil
pow2 move 9 dora * i5-g4:g5
pow2 move 9 emil * a13-c11
"""
SHOTS = os.environ.get("SCREENSHOTS", "")


def imported(api: Api, *names: str, **source) -> int:
    """Propose a match of these players, as the operator's command does; return its board."""
    checked = check_import(RECORD, ())
    if source:
        checked = CheckedImport(MatchSource(**source), checked.state, checked.data)
    players = dict(zip(("Light", "Dark"), names, strict=True))
    planned = plan_import(api.parts, checked, seats_of(api.parts, checked, players))
    assert api.parts.gateway.send(planned.sent, 0, 30).accepted
    return planned.sent.match


def shoot(person, name: str) -> None:
    if SHOTS:
        person.page.screenshot(path=Path(SHOTS) / f"{name}.png", full_page=True)


def test_players_see_where_it_comes_from_and_accept_it(api: Api, person):
    one, two = person("dora"), person("emil")
    board = imported(api, one.name, two.name)
    one.page.goto(f"/m/{board}")
    expect(one.page.get_by_text("Imported from a record: unproven.")).to_be_visible()
    expect(one.page.get_by_text("Continue this match here?")).to_be_visible()
    expect(one.page.get_by_text("Your word for the draw")).to_have_count(0)
    expect(one.page.locator("#board-area svg").first).to_be_visible()
    expect(one.page.locator("ol.moves li")).to_have_count(2)
    shoot(one, "waiting")
    one.page.get_by_role("button", name="Accept").click()
    expect(one.page.get_by_text(f"Waiting for {two.name} to accept", exact=True)).to_be_visible()
    two.page.goto(f"/m/{board}")
    two.page.get_by_role("button", name="Accept").click()
    expect(two.page.locator("#turn")).to_contain_text(one.name)
    expect(two.page.get_by_text("Imported from a record: unproven.")).to_be_visible()
    shoot(two, "running")
    one.page.reload()
    expect(one.page.locator("#turn")).to_contain_text("Your turn")
    one.page.get_by_text("Offer a draw, resign").click()
    expect(one.page.get_by_role("button", name="Offer a draw")).to_be_visible()
    shoot(one, "offers")


def test_one_with_a_log_says_its_server_and_can_be_declined(api: Api, person):
    one, two = person("fred"), person("gina")
    source = {
        "kind": "document",
        "origin": "play.example.net/log/s07",
        "board": 17,
        "head": bytes(32),
        "events": 5,
        "digest": bytes(32),
    }
    board = imported(api, one.name, two.name, **source)
    said = api.http.get(f"/api/matches/{board}").json()
    assert (said["state"], said["ply"], said["waits_for"]) == ("waiting", 2, [0, 1])
    assert said["imported"] == {
        "kind": "document",
        "origin": "play.example.net/log/s07",
        "board": 17,
        "head": "00" * 32,
        "events": 5,
        "digest": "00" * 32,
        "ply": 2,
        "text": "imported from play.example.net, board 17; proven by its log",
    }
    two.page.goto(f"/m/{board}")
    text = "Imported from play.example.net, board 17; proven by its log."
    expect(two.page.get_by_text(text)).to_be_visible()
    two.page.get_by_role("button", name="Decline").click()
    expect(two.page.locator("#turn")).to_contain_text("Declined; the match doesn’t count.")
    shoot(two, "declined")


@pytest.mark.parametrize(
    "path", ["", *(pytest.param(ply, marks=pytest.mark.long) for ply in ("/0", "/2"))]
)
def test_a_stranger_sees_it_while_it_waits(api: Api, person, path: str):
    one, two, stranger = person(api.player()), person(api.player()), person()
    board = imported(api, one.name, two.name, **vars_of(path))
    publish(api)
    stranger.page.goto(f"/m/{board}{path}")
    expect(stranger.page.locator("svg").first).to_be_visible()
    # the log here has none of these moves, but that they were brought
    expect(stranger.page.locator("ol.moves li")).to_have_count(2)
    expect(stranger.page.locator("li.kept")).to_have_count(0)
    proof = stranger.page.request.get(f"/m/{board}/1/proof.txt")
    assert is_event(InclusionProof.parse(proof.text()).extra)


def vars_of(path: str):
    """A source of its own for each case, because one is imported once."""
    digest = (path.encode() * 32 + bytes(32))[:32]
    return {
        "kind": "document",
        "origin": "",
        "board": 3,
        "head": bytes(32),
        "events": 5,
        "digest": digest,
    }
