"""The pages of an analysis, without a browser: what they show, and to whom."""

import re

import pytest

from domain.engine.match_analysis import ANALYSIS_VERSION
from domain.engine.turning_points import AnalysedPosition
from infra.redis.rq_jobs import ANALYSIS
from infra.store.analyses import Analyses, StoredAnalysis
from services.app.matches import analyse, load_state
from tests.helpers.analysing import do_jobs, listening
from tests.helpers.web import Read
from tests.services.matches_by_form import start

MOVES = ("m13-j7", "a13-d7", "m1-i3")
BETTER = ("m1-i1", "a1-e3")


@pytest.fixture
def parts(api):
    api.parts.queue.delete(f"rq:queue:{ANALYSIS}")
    with listening(api.parts):
        yield api.parts


@pytest.fixture
def board(pair):
    """A match that is over."""
    board = start(*pair)
    for at, move in enumerate(MOVES):
        pair[at % 2].move(board, move)
    assert pair[0].act(board, "resign").status_code == 303
    return board


def store(parts, board, losses):
    """Store an analysis with turning points after these moves of the first seat."""
    state = load_state(parts, board)
    values = [0.3 if ply in losses else 0.6 for ply in range(state.ply + 1)]
    positions = tuple(
        AnalysedPosition((value, 1 - value), ply % 2, move, BETTER if ply + 1 in losses else (), "")
        for ply, (value, move) in enumerate(
            zip(values, [*state.first_moves(state.ply), ""], strict=True)
        )
    )
    Analyses(parts.data).put(
        board, StoredAnalysis(ANALYSIS_VERSION, state.seq, state.ply, positions)
    )


def test_the_way_from_the_match_to_its_chart(come, pair, parts, board):
    for page in (f"/m/{board}", f"/m/{board}/1"):
        assert f"/m/{board}/analysis" in Read(pair[0].page(page)).links
    path = f"/m/{board}/analysis"
    assert f"/login?next={path}" in Read(come().page(path)).links
    assert path in Read(pair[0].page(path)).forms
    assert pair[0].send(path, on=path).headers["location"] == path
    waiting = come().page(path)
    assert "0 of 4 positions done" in waiting
    assert '<noscript><meta http-equiv="refresh"' in waiting
    do_jobs(parts)
    shown = come().page(path)
    assert 'class="plot"' in shown
    assert f"· {pair[1].name} won by resignation.</p>" in shown
    assert "· You resigned.</p>" in pair[0].page(path)
    assert "refresh" not in shown
    assert Read(shown).inline == []


def test_a_list_of_moves_has_the_marks_of_the_analysis(come, parts, board):
    assert 'class="judged"' not in come().page(f"/m/{board}")
    store(parts, board, {3})
    for page in (f"/m/{board}", f"/m/{board}/1"):
        found = come().page(page)
        assert f"/m/{board}/analysis/3" in Read(found).links
        assert re.search(r'class="judged"[^>]*>\?\?</a>', found)


def test_a_guest_can_not_ask_for_one(come, board):
    guest = come()
    answer = guest.send(f"/m/{board}/analysis", on="/login")
    assert answer.headers["location"].startswith("/login")
    assert "Log in to request an analysis" in guest.page(f"/m/{board}/analysis")


def test_a_match_that_goes_on_has_neither_link_nor_page(pair):
    board = start(*pair)
    pair[0].move(board, MOVES[0])
    for page in (f"/m/{board}", f"/m/{board}/1"):
        assert f"/m/{board}/analysis" not in Read(pair[0].page(page)).links
    answer = pair[0].get(f"/m/{board}/analysis")
    assert answer.status_code == 409
    assert "can only be analysed once it is over" in answer.text


def test_turning_points_lead_to_the_replay_and_lines_are_gone_through(come, parts, board):
    store(parts, board, {3})
    guest = come()
    page = guest.page(f"/m/{board}/analysis")
    assert Read(page).links.count(f"/m/{board}/3") == 3  # in the chart, the list and the table
    assert "from 60 % to 30 %" in page
    assert f"/m/{board}/analysis/3" in Read(page).links
    line = guest.page(f"/m/{board}/analysis/3")
    assert re.search(r'class="now" aria-current="step">m1-i1</a>', line)
    assert f"/m/{board}/2/if?line=m1-i1" in Read(line).links
    later = guest.page(f"/m/{board}/analysis/3?step=2")
    assert re.search(r'class="now" aria-current="step">a1-e3</a>', later)
    assert 'data-place="e3"' in later
    before = guest.page(f"/m/{board}/analysis/3?step=0")
    assert "aria-current" not in before
    assert guest.get(f"/m/{board}/analysis/1").status_code == 404
    assert guest.get(f"/m/{board}/analysis/9").status_code == 404


def test_the_chart_of_three_has_a_line_for_each(api, come, parts):
    three = api.players(3)
    board = api.begun(*three, game="halves")
    move = api.http.get(f"/api/matches/{board}").json()["at"]["legal"][0]
    assert three[0].move(board, move).is_success
    for player in three[:2]:
        assert player.give(board, {"do": "resign"}).is_success
    assert analyse(parts, board)
    page = come().page(f"/m/{board}/analysis")
    assert page.count("<polyline") == 3
    assert all(player.name in page for player in three)


def test_a_puzzle_has_a_line_for_its_score_and_one_for_what_is_within_reach(api, come, parts):
    one = api.player()
    board = api.begun(one, game="one")
    assert one.move(board, "c3").is_success
    assert analyse(parts, board)
    page = come().page(f"/m/{board}/analysis")
    assert page.count("<polyline") == 2
    assert "lines with exactly one stone" in page
    assert "100 % is the maximum" in page
