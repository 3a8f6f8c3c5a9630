"""The analysis of a match in a browser: asked for, waited for, gone through; with and without scripts."""

import re

import pytest
from playwright.sync_api import expect

from domain.engine.match_analysis import ANALYSIS_VERSION
from domain.engine.turning_points import AnalysedPosition
from infra.redis.rq_jobs import ANALYSIS
from infra.store.analyses import Analyses, StoredAnalysis
from services.app.matches import analyse, load_state
from tests.helpers.analysing import listening
from tests.helpers.browser import PHONE, faults_of

pytestmark = pytest.mark.slow

MOVES = ("m13-j7", "a13-d7", "m1-i3")
BETTER = ("m1-i1", "a1-e3")


@pytest.fixture
def parts(api):
    api.parts.queue.delete(f"rq:queue:{ANALYSIS}")
    with listening(api.parts):
        yield api.parts


@pytest.fixture
def board(api):
    """A match that is over."""
    two = api.players()
    board = api.begun(*two)
    for at, move in enumerate(MOVES):
        assert two[at % 2].move(board, move).is_success
    assert two[0].give(board, {"do": "resign"}).is_success
    return board


def store(parts, board):
    "Store an analysis in which the last move is a turning point."
    state = load_state(parts, board)
    moves = [*state.first_moves(state.ply), ""]
    positions = tuple(
        AnalysedPosition(
            (0.3 if ply == 3 else 0.6, 0.7 if ply == 3 else 0.4),
            ply % 2,
            move,
            BETTER if ply == 2 else (),
            "",
        )
        for ply, move in enumerate(moves)
    )
    Analyses(parts.data).put(
        board, StoredAnalysis(ANALYSIS_VERSION, state.seq, state.ply, positions)
    )


def test_an_analysis_is_asked_for_and_comes_by_itself(parts, person, board):
    anna = person("anna")
    page = anna.goes_to(f"/m/{board}")
    anna.expected.append("htmx:")
    page.get_by_role("link", name="Analysis").click()
    page.get_by_role("button", name="Analyse").click()
    expect(page.get_by_role("status")).to_contain_text("0 of 4 positions done")
    assert faults_of(page) == []
    # too many requests: the page stays, and looks again by itself
    page.route("**/analysis", lambda route: route.fulfill(status=429, body="<p>wait</p>"))
    expect(page.locator("#offline")).to_contain_text("Too many requests. Trying again")
    expect(page.locator("#progress")).to_contain_text("0 of 4 positions done")
    page.unroute("**/analysis")
    expect(page.locator("#offline")).to_be_hidden()
    assert analyse(parts, board)
    expect(page.locator("svg.plot polyline")).to_have_count(1)
    expect(page.get_by_role("heading", name="Turning points")).to_be_visible()


@pytest.mark.parametrize(
    "options", [{}, pytest.param(PHONE, marks=pytest.mark.long)], ids=["wide", "phone"]
)
def test_a_turning_point_leads_to_its_board_and_its_line(parts, person, board, options):
    store(parts, board)
    page = person(**options).goes_to(f"/m/{board}/analysis")
    assert faults_of(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    caption = page.locator(".plotted p").bounding_box()
    heading = page.get_by_role("heading", name="Turning points").bounding_box()
    assert heading["y"] - (caption["y"] + caption["height"]) >= 24
    page.locator("svg.plot a").click()
    page.wait_for_url(f"**/m/{board}/3")
    page.get_by_role("link", name="Analysis").click()
    page.get_by_role("link", name="Show the better line").click()
    expect(page.locator(".moves a.now")).to_have_text("m1-i1")
    expect(page.locator('[data-place="i1"] .piece')).to_have_count(1)
    page.get_by_role("link", name="Forward one move").click()
    expect(page.locator(".moves a.now")).to_have_text("a1-e3")
    expect(page.locator('[data-place="e3"] .piece')).to_have_count(1)
    assert faults_of(page) == []
    page.get_by_role("link", name="Try moves from here").click()
    page.wait_for_url(f"**/m/{board}/2/if?line=m1-i1+a1-e3")


@pytest.mark.long
def test_without_scripts_the_page_loads_itself_again(parts, person, board):
    one = person("arno", java_script_enabled=False)
    page = one.goes_to(f"/m/{board}/analysis")
    page.get_by_role("button", name="Analyse").click()
    expect(page.locator("main")).to_contain_text("0 of 4 positions done")
    store(parts, board)
    expect(page.locator("main")).to_contain_text("Turning points")
    page.locator("summary", has_text="All moves").click()
    expect(page.locator("tbody tr").last).to_contain_text(re.compile("m1-i3.*30 %.*70 %"))
    page.locator("svg.plot a").click()
    page.wait_for_url(f"**/m/{board}/3")
