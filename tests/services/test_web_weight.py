"""What costs much is counted for as much, and no answer is much larger than what asks for it."""

import re
from collections.abc import Iterator

import httpx
import pytest

from services.http.web.match import records as exports
from services.http.web.replay.variations import MAX_LINKS
from tests.helpers.api import Api
from tests.helpers.web import door

ENDLESS = " ".join(("a5", "-a5") * 850)
"""A puzzle's stone set and taken off, as long as a line may be."""


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with Api(tmp_path_factory.mktemp("web")) as api:
        yield api


def taken(http: httpx.Client, path: str, count: int) -> int:
    """How many of so many requests are answered; all others have to be refused as too many."""
    statuses = [http.get(path).status_code for _ in range(count)]
    assert set(statuses) <= {200, 429}
    return statuses.count(200)


@pytest.mark.long
@pytest.mark.parametrize(
    ("path", "weight"),
    [
        ("/games/pow2/try/moves", 3),
        ("/games/pow2/try/check?move=m13-j7", 3),
        ("/games/pow2/try", 3),
        ("/games/pow2/try/live", 3),
        ("/games/pow2/board.svg", 2),
        ("/games", 1),
        ("/api/games", 1),
    ],
)
def test_who_has_not_logged_in_is_counted_by_address_and_weight(tmp_path, path, weight):
    with Api(tmp_path, address_rate=31) as api:
        whole = 30 // weight  # the rig has read the document
        assert whole <= taken(api.http, path, whole + 3) < whole + 3
        assert api.http.get("/healthz").is_success
        page = api.http.get("/games", headers={"X-Forwarded-For": "192.0.2.1"})
        assert page.status_code == 429


def test_who_has_logged_in_is_counted_by_account(tmp_path):
    with Api(tmp_path, address_rate=60) as api, door(api) as come:
        one, other = come().sign_up("ann"), come().sign_up("ben")
        board = api.begun(*(api.player() for _ in range(2)))
        # one a second comes back
        assert 60 <= taken(one.http, "/games", 65) < 65
        assert taken(one.http, "/games/pow2/try/moves", 3) < 3
        asset = re.search(r'href="(/static/[^"]+)"', other.page("/games"))
        assert taken(other.http, f"/m/{board}/match.txt", 8) == 5
        assert asset
        assert one.get(asset[1]).status_code == 200


def test_a_stream_counts_by_the_number_of_its_matches(tmp_path):
    boards = ",".join(map(str, range(1, 201)))
    with Api(tmp_path, address_rate=62) as api, door(api) as come:
        for http in (api.http, come().sign_up("ann").http):
            statuses = []
            # one a second comes back, so a slow machine may have a third
            while 429 not in statuses and len(statuses) < 6:
                with http.stream("GET", f"/stream?boards={boards}") as answer:
                    statuses.append(answer.status_code)
            assert statuses[:2] == [200, 200]
            assert statuses[-1] == 429


def test_a_long_line_has_links_to_its_last_moves_alone(api):
    answer = api.http.get("/games/one/try", params={"line": ENDLESS})
    assert answer.status_code == 200
    assert len(answer.content) < 400_000
    rows = re.findall(r"<li>(<a [^>]*>)?-?a5(?:</a>)?</li>", answer.text)
    linked = [row for row in rows if row]
    assert len(rows) == 1_700
    assert 0 < len(linked) <= MAX_LINKS
    assert all(rows[-len(linked) :])
    assert 'class="now"' in rows[-1]


def test_the_moves_of_a_crowded_jump_are_listed_in_part(api, monkeypatch):
    monkeypatch.setattr("services.http.web.boards.board_view.MAX_MOVES", 20)
    stones = "c3,c5,c6,d4,e3,e5,f3,f6,g4,g5,h3,h6"
    told = api.http.get("/games/jump/try/moves", params={"options": f"-solitaire={stones}"}).json()
    assert told["more"]
    assert len(told["moves"]) <= 21
    whole = api.http.get("/games/jump/try/moves", params={"options": "-solitaire=a1,c3"}).json()
    assert not whole["more"]


def test_the_text_of_a_long_match_has_its_first_boards_and_all_its_moves(api, monkeypatch):
    monkeypatch.setattr(exports, "_MAX_DRAWN", 2)
    one, other = api.players()
    board = api.begun(one, other)
    moves = ["m13-j7", "a13-d7", "m1-i3"]
    for number, move in enumerate(moves):
        assert (one, other)[number % 2].move(board, move).is_success
    text = api.http.get(f"/m/{board}/match.txt").text
    assert "#2  a13-d7" in text
    assert "#3  " not in text
    assert text.endswith("Boards are drawn up to #2; the 1 moves after it are:\n\nm1-i3\n")


def test_no_match_grows_without_end_by_any_way_in(api, monkeypatch):
    monkeypatch.setattr("infra.store.gateway.MOST_PLIES", 1)
    one, other = api.players()
    board = api.begun(one, other)
    move = {"do": "move", "move": "m13-j7"}
    assert one.give(board, move, headers={"Idempotency-Key": "first"}).is_success
    assert one.give(board, move, headers={"Idempotency-Key": "first"}).is_success
    refused = other.move(board, "a13-d7")
    assert (refused.status_code, refused.json()["code"]) == (413, "too-long")
    line = f"pow2 move {board} {other.name} yes-we-can a13-d7"
    assert api.http.post("/api/do", content=line).headers["Matchpost-Code"] == "too-long"
    assert other.give(board, {"do": "resign"}).is_success
