"""What can be had of a match that was played: receipts, proofs, the page that verifies, an analysis, a dispute."""

import html
import re
from base64 import b64encode
from collections.abc import Iterator
from hashlib import sha256

import pytest

from domain.engine.match_analysis import ANALYSIS_VERSION
from domain.engine.turning_points import AnalysedPosition
from domain.match.events import Claimed, MatchSource, ResultChanged
from domain.match.history import decode_event, is_event, leaf_hash
from infra.log.checkpoint import InclusionProof
from infra.log.key_files import generate_keys
from infra.log.receipts import open_receipt
from infra.people.accounts import AccountRole
from infra.redis import keys
from infra.redis.rq_jobs import ANALYSIS
from infra.store.analyses import Analyses, StoredAnalysis
from services.app import matches
from services.app.accounts import erase_account
from services.app.imports import CheckedImport, check_import, plan_import, seats_of
from services.app.matches import analyse, load_state
from services.http.web.render import HEADERS
from tests.helpers.analysing import do_jobs, listening
from tests.helpers.api import Api, Player, until
from tests.helpers.publishing import log_keys, publish, receipts_keys
from tests.helpers.web import Read, verify_page
from tests.services.matches_by_form import start, turn

MOVES = ("m13-m5:l4", "a13-c11", "l4-k3:j2")


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with Api(tmp_path_factory.mktemp("records")) as api:
        generate_keys(api.settings.data / "keys", "play.example.org")
        yield api


def kept(page: str) -> int:
    return len(re.findall(r'<li class="column-\d kept">', page))


def test_the_mark_says_what_is_published_and_behind_it_are_the_files(api, come, monkeypatch):
    monkeypatch.setattr(matches, "SIZES_SECONDS", 0.0)
    one, two = api.players()
    board = api.begun(one, two)
    # the second move is taken back, and played again
    for player, body in (
        (one, {"do": "move", "move": MOVES[0]}), (two, {"do": "move", "move": "a13-d7"}),
        (two, {"do": "offer", "kind": "undo"}), (one, {"do": "accept"}),
        (two, {"do": "move", "move": MOVES[1]}), (one, {"do": "move", "move": MOVES[2]}),
    ):  # fmt: skip
        assert player.give(board, body).is_success
    guest = come(one)
    page, match = guest.page, f"/m/{board}"
    assert kept(page(match)) == kept(page(f"{match}/1")) == 0
    assert "Saved · being added to the public log" in page(match)
    assert "proof.txt" not in page(match)
    early = guest.get(f"{match}/proof.txt")
    assert (early.status_code, "in the published log within a minute" in early.text) == (404, True)
    assert guest.get(f"{match}/9/proof.txt").status_code == 404
    publish(api)
    events, key = api.parts.store.events(board), log_keys(api)[board % 4]
    for place, seq in (("", 9), ("/0", 1), ("/1", 3), ("/2", 8), ("/3", 9)):
        answer = guest.get(f"{match}{place}/receipt.txt")
        found = open_receipt(answer.text, receipts_keys(api))
        assert found.seq == seq
        found.check_leaf(events[seq - 1])
        name = f"receipt-{board}-{seq}.txt"
        assert answer.headers["content-disposition"] == f'attachment; filename="{name}"'
        proof = InclusionProof.parse(guest.get(f"{match}{place}/proof.txt").text)
        assert proof.extra == events[seq - 1]
        proof.verify(leaf_hash(proof.extra), key.name, [key])
    assert two.move(board, "a1-a7").is_success
    until(lambda: kept(page(match)))  # sizes that were read before the test are kept for a second
    assert kept(page(match)) == kept(page(f"{match}/1")) == 3
    assert f"{match}/0/proof.txt" in page(f"{match}/0")
    assert '<li hidden><a id="proof"' in page(f"{match}/4")
    assert '<li hidden><a id="proof"' not in page(f"{match}/3")
    publish(api)
    until(lambda: kept(page(match)) == 4)
    for shown in (page(match), api.http.get(match).text):
        assert re.search(r'Recorded and published: <a href="/m/\d+/proof.txt"', shown)
        assert kept(shown) == 4


def source_of(element: str) -> str:
    """What a policy calls the content of an element."""
    (text,) = re.findall(rf"<{element}[^>]*>(.*?)</{element}>", verify_page(), re.DOTALL)
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def test_the_page_that_verifies_runs_its_own_script_alone_and_asks_for_nothing(come):
    guest = come()
    answer = guest.get("/verify")
    assert answer.text == verify_page()
    (saved,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]+)"', verify_page())
    assert source_of("script") in saved
    assert source_of("style") in saved
    assert saved.startswith("default-src 'none';")
    assert "unsafe" not in saved
    assert answer.headers["Content-Security-Policy"] == (
        f"default-src 'none'; script-src {source_of('script')}; style-src {source_of('style')}; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    for name in HEADERS.keys() - {"Content-Security-Policy"}:
        assert answer.headers[name] == HEADERS[name]
    assert "set-cookie" not in answer.headers
    assert re.findall(r"\b(?:src|srcset|action)=", verify_page()) == []
    # the header and the foot of all pages, but for what is of a visitor
    around = re.sub(r"<main.*</main>", "", guest.page("/help"), flags=re.DOTALL)
    shown = set(Read(verify_page()).links)
    assert set(Read(around).links) - shown == {"/login", "/signup"}
    assert all(re.fullmatch("#main|/[a-z]*", one) for one in shown)
    assert not re.search(
        r"\bfetch\(|XMLHttpRequest|WebSocket|import\(|\beval\(|innerHTML", verify_page()
    )


ANALYSED = ("m13-j7", "a13-d7", "m1-i3")
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
    for at, move in enumerate(ANALYSED):
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
        shown = pair[0].page(page)
        assert f"/m/{board}/analysis" in Read(shown).links
        assert 'class="judged"' not in shown
    path = f"/m/{board}/analysis"
    asked = come().send(path, on="/login")
    assert asked.headers["location"].startswith("/login")
    assert "Log in to request an analysis" in come().page(path)
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


def test_turning_points_lead_to_the_replay_and_lines_are_gone_through(come, parts, board):
    store(parts, board, {3})
    guest = come()
    for match in (f"/m/{board}", f"/m/{board}/1"):
        shown = guest.page(match)
        assert f"/m/{board}/analysis/3" in Read(shown).links
        assert re.search(r'class="judged"[^>]*>\?\?</a>', shown)
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


def test_a_case_takes_its_course_on_the_pages_of_those_whom_it_concerns(api, come):
    players = api.players(4)
    api.parts.accounts.set_role(players[2].name, AccountRole.ARBITER, held=True)
    board = api.begun(*players[:2], terms=["--days=3"])
    assert players[0].move(board, "m13-j7").is_success
    assert players[1].move(board, "a13-d7").is_success
    alice, bob, arbiter, stranger = map(come, players)
    match, case = f"/m/{board}", f"/m/{board}/case"

    def last():
        return decode_event(api.parts.store.events(board)[-1]).body

    back = alice.act(board, "move", move="m13-m7").headers["location"]
    assert back == f"{match}/check?move=m13-m7"
    link = f'href="{match}/claim?ply=2">Make a claim about this move</a>'
    assert link in alice.page(match)
    assert link in arbiter.page(match)
    assert "Make a claim" not in stranger.page(match)
    claim = {"ply": "1", "text": "He moved <twice>"}
    assert stranger.send(f"{match}/claim", claim).status_code == 403
    sent = alice.send(f"{match}/claim", claim, on=f"{match}/claim?ply=1")
    assert sent.headers["location"] == case
    assert (type(last()), last().ply) == (Claimed, 1)
    assert html.escape("He moved <twice>") in bob.page(case)
    assert "See the case" in bob.page(match)
    for path in (case, f"{match}/claim", "/cases"):
        answer = stranger.get(path)
        assert (answer.status_code, "twice" in answer.text) == (403, False)
    api.caught_up()
    assert "for a ruling</a>" in arbiter.page("/")
    assert "for a ruling</a>" not in alice.page("/")
    assert f'href="{case}?case=5"' in arbiter.page("/cases")
    shown = arbiter.page(f"{case}?case=5")
    parts = ("Claim and rulings", "The board after move 1", "Clocks", "What was refused", "Record")
    assert all(part in shown for part in parts)
    assert "<code>illegal-move</code>" in shown
    assert "Your ruling" in shown
    assert "Your ruling" not in alice.page(case)
    # a ruling is shown before it is given
    fields = {"case": "5", "verdict": "result", "winner": "Light", "text": "It was so."}
    for ruling, said in (
        ({}, f"If you submit this: Light ({alice.name}) wins the match."),
        ({"verdict": "dismissed"}, "If you submit this: nothing changes."),
        ({"verdict": "back", "ply": "0", "time-Dark": "36"}, "gets 1 day 12 hours more"),
        ({"verdict": "draw"}, "If you submit this: the match is a draw."),
        ({"verdict": "annul"}, "the match is annulled"),
        ({"verdict": "time", "time-Light": "24"}, "gets 1 day more"),
    ):
        sent = {"do": "preview", **fields, **ruling}
        preview = arbiter.send(f"{match}/rule", sent, on=case).text
        assert said in preview
        assert ">It was so.</textarea>" in preview
        assert isinstance(last(), Claimed)
    given = arbiter.send(f"{match}/rule", {"do": "rule", **fields}, on=case)
    assert given.headers["location"] == f"{case}?case=5"
    assert isinstance(last(), ResultChanged)
    assert "It was so." in bob.page(case)
    assert "Appeal</h2>" in bob.page(case)
    assert "Appeal</h2>" not in arbiter.page(case)


JSON = {"Accept": "application/json"}


def sealed(api: Api, one: Player, two: Player) -> tuple[int, str]:
    """Make a match of Halves sealed; gives its board, and the first digits of the first player's commitment."""
    own, other = (sha256(player.name.encode()).hexdigest() for player in (one, two))
    board = api.match(one, two, game="halves", terms=["--gather"], commitment=own)
    assert two.give(board, {"do": "accept", "commitment": other}).is_success
    api.caught_up()
    return board, own[:16]


def is_seen(api: Api, player: Player, board: int) -> bool:
    seats = load_state(api.parts, board).seats
    return not api.parts.seen_texts.unseen(board, seats, [seats.index(player.account)])


def test_only_a_browser_that_has_the_text_of_the_match_counts_as_seen(api, come):
    one, two = api.players()
    board, have = sealed(api, one, two)
    guest = come(one)
    for path in ("/draws", f"/draws?have={'0' * 16}.{'f' * 16}"):
        assert [each["board"] for each in guest.get(path, headers=JSON).json()] == [board]
        assert not is_seen(api, one, board)
    # a link from elsewhere, with the commitment, which all can read
    guest.get(f"/draws?have={have}", headers={"Accept": "text/html"})
    assert not is_seen(api, one, board)
    assert "Decline this match?" in guest.page(f"/m/{board}")
    guest.get(f"/draws?have={'0' * 16}.{have}", headers=JSON)
    assert is_seen(api, one, board)
    assert not is_seen(api, two, board)
    asked = guest.page(f"/m/{board}").partition("data-known")[2].partition("hx-confirm=")[2]
    assert asked.startswith('"The board can already be known.')
    for bad in ("x" * 16, "0" * 15, ".".join(["0" * 16] * 101), "0" * 64):
        assert guest.get(f"/draws?have={bad}", headers=JSON).status_code == 400
    erase_account(api.parts, one.account)
    assert not api.parts.data.exists(keys.seen_texts(one.account))


def test_a_puzzle_has_a_line_for_its_score_and_one_for_what_is_within_reach(api, come, parts):
    one = api.player()
    board = api.begun(one, game="one")
    assert one.move(board, "c3").is_success
    assert analyse(parts, board)
    page = come().page(f"/m/{board}/analysis")
    assert page.count("<polyline") == 2
    assert "lines with exactly one stone" in page
    assert "100 % is the maximum" in page


def test_all_can_agree_that_the_server_deals(api, come):
    one, two = api.players()
    board, _ = sealed(api, one, two)
    guests = [come(one), come(two)]
    assert ">Let the server deal</button>" in guests[0].page(f"/m/{board}")
    assert guests[0].act(board, "offer", kind="deal").status_code == 303
    assert "You want the server to deal now." in guests[0].page(f"/m/{board}")
    page = guests[1].page(f"/m/{board}")
    assert f"{one.name} wants the server to deal now." in page
    assert ">Let the server deal</button>" not in page
    api.caught_up()
    assert f"{one.name} wants the server to deal now." in guests[1].page("/")
    assert guests[1].act(board, "accept").status_code == 303
    assert load_state(api.parts, board).setup is not None
    assert 'data-game="halves"' in guests[0].page(f"/m/{board}")


RECORD = b"""pow2 challenge -fast dora emil
pow2 move 9 dora * i5-g4:g5
pow2 move 9 emil * a13-c11
"""


def test_an_imported_match_says_its_server_has_no_proof_of_moves_and_can_be_declined(
    api, pair, come
):
    source = {"kind": "document", "origin": "play.example.net/log/s07", "board": 17, "events": 5}
    bare, hashes = check_import(RECORD, ()), {"head": bytes(32), "digest": bytes(32)}
    checked = CheckedImport(MatchSource(**source, **hashes), bare.state, bare.data)
    players = dict(zip(("Light", "Dark"), (one.name for one in pair), strict=True))
    planned = plan_import(api.parts, checked, seats_of(api.parts, checked, players))
    assert api.parts.gateway.send(planned.sent, 0, 30).accepted
    board = planned.sent.match
    said = api.http.get(f"/api/matches/{board}").json()
    assert (said["state"], said["ply"], said["waits_for"]) == ("waiting", 2, [0, 1])
    text = "mported from play.example.net, board 17; proven by its log"
    named = {**source, "head": "00" * 32, "digest": "00" * 32}
    assert said["imported"] == {**named, "ply": 2, "text": f"i{text}"}
    publish(api)
    # the log here has none of these moves, but that they were brought
    page = come().page(f"/m/{board}")
    assert len(re.findall(r'<li class="column-\d', page)) == 2
    assert kept(page) == 0
    assert is_event(InclusionProof.parse(come().page(f"/m/{board}/1/proof.txt")).extra)
    assert f"I{text}." in pair[1].page(f"/m/{board}")
    pair[1].act(board, "decline")
    assert "Declined; the match doesn’t count." in turn(pair[1], board)
