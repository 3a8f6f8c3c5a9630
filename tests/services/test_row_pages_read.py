"""A player with 2,000 finished matches, whose older rows are in row pages: read by every way in."""

import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from domain.match.commands import CommandEnvelope, ResignMatch, StartMatch
from domain.match.events import command_id
from infra.projections.erasure import erase_projections
from infra.projections.match_lists import over_key
from infra.projections.row_pages import PAGE_ROWS
from infra.redis import keys
from infra.store.gateway import submission_of
from tests.helpers.api import Api, Player, code_of, until
from tests.helpers.web import Guest, door
from workers import offload_job

MATCHES, OLDER = 2_000, 1_200
BATCH = 250


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with Api(tmp_path_factory.mktemp("rows")) as api:
        yield api


@pytest.fixture(scope="module")
def players(api: Api) -> dict[str, Player]:
    """Alice and bob, who have finished 2,000 matches: first torere, then pow2."""
    made = {name: api.player(name=name) for name in ("alice", "bob")}
    seats = made["alice"].account, made["bob"].account
    for first in range(1, MATCHES + 1, BATCH):
        orders = []
        for board in range(first, first + BATCH):
            rules = "torere/1" if board <= OLDER else "pow2/1"
            for command in (
                StartMatch(rules=rules, options=(), seats=seats),
                ResignMatch(),
            ):
                actor = seats[board % 2 if isinstance(command, ResignMatch) else 0]
                id_ = command_id("api", actor, f"{board} {type(command).__name__}")
                orders.append(CommandEnvelope(board, id_, actor, command))
        api.parts.store.submit([submission_of(order, 0, "nobody") for order in orders])
    until(lambda: api.parts.lists.counts(seats[0]).inactive == MATCHES, 60)
    until(lambda: api.parts.history.count("torere") == OLDER)
    api.caught_up()
    return made


@pytest.fixture(scope="module")
def before(api: Api, players: dict[str, Player]) -> dict[str, Any]:
    """What all ways in showed before rows were moved to pages."""
    del players
    found = everything(api)
    assert len(found["api inactive None"]) == found["player"]["finished"] == MATCHES
    assert len(found["api inactive torere"]) == len(found["api history torere alice"]) == OLDER
    return found


@pytest.fixture(scope="module")
def moved(api: Api, before: dict[str, Any]) -> Path:
    """The folder of the pages, to which rows were moved."""
    assert before
    parts = api.parts
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(offload_job, "RowOffload", settled(offload_job.RowOffload))
        found = offload_job.run(parts.settings, parts.store, parts.data, parts.data)
    # five pages of each player's list of all games; in the history two of torere and one of pow2 in
    # the lists of the game, of both players and of the pair
    assert found == (2 * 5 + 4 * 3) * PAGE_ROWS
    return parts.settings.data / "log" / "rows"


def settled(make: Callable[..., Any]) -> Callable[..., Any]:
    """Offload also what has only just ended, as if it were in the archive."""
    return lambda *args: make(*args[:3], set, settled_ms=0)


def api_pages(api: Api, path: str, field: str, **query: Any) -> list[Any]:
    """All rows of a list, by its cursors."""
    found, cursor = [], 0
    while cursor is not None:
        answer = api.http.get(path, params={**query, "cursor": cursor, "limit": 90})
        assert answer.status_code == 200, answer.text
        found += answer.json()[field]
        cursor = answer.json()["next"]
    return found


def web_pages(guest: Guest, path: str) -> list[str]:
    """All rows of a page's list, by its links to the next."""
    found = []
    while path:
        main = guest.page(path).partition("<main")[2]
        found += re.findall(r'(?s)<li class="row-item">.*?</li>', main)
        after = re.search(r'href="([^"]*)" rel="next"', main)
        path = after[1].replace("&amp;", "&") if after else ""
    return found


def said(api: Api, line: str) -> str:
    answer = api.http.post("/api/do", content=line, headers={"Content-Type": "text/plain"})
    assert answer.status_code == 200, answer.text
    return answer.text


def everything(api: Api) -> dict[str, Any]:
    """What API, pages and terminal show of alice's finished matches."""
    found: dict[str, Any] = {"player": api.http.get("/api/players/alice").json()}
    for state in ("inactive", "all"):
        for game in (None, "torere"):
            query = {"player": "alice", "state": state} | ({"game": game} if game else {})
            found[f"api {state} {game}"] = api_pages(api, "/api/matches", "matches", **query)
    for who in ("", "alice"):
        path = "/api/history/torere"
        query = {"player": who} if who else {}
        found[f"api history torere {who}"] = api_pages(api, path, "matches", **query)
    with door(api) as come:
        guest = come()
        for path in ("/players/alice/matches", "/games/torere/matches"):
            found[path] = web_pages(guest, f"{path}?state=finished")
            assert len(found[path]) == (MATCHES if "players" in path else OLDER)
    for line in (
        "torere history", "torere history alice bob", "torere games alice inactive",         "all show alice inactive",
    ):  # fmt: skip
        found[line] = said(api, line)
    return found


@pytest.mark.long
def test_older_rows_are_refused_without_their_pages_and_then_all_is_as_before(
    api: Api, moved: Path, before: dict[str, Any]
) -> None:
    shutil.move(moved, moved.with_name("away"))
    try:
        query = {"player": "alice", "state": "inactive", "limit": 50}
        newest = api.http.get("/api/matches", params=query)
        assert newest.status_code == 200
        assert newest.json()["next"] == 50
        for path, more in (
            ("/api/matches", {**query, "cursor": 1_000}),
            ("/api/history/torere", {"cursor": 1_000}),
        ):
            older = api.http.get(path, params=more)
            assert older.status_code == 503
            assert code_of(older) == "unavailable"
            assert "older finished matches" in older.json()["detail"]
        with door(api) as come:
            page = come().get("/players/alice/matches?state=finished&page=21")
            assert page.status_code == 503
            assert "older finished matches" in page.text.lower()
        line = api.http.post(
            "/api/do",
            content="torere games alice inactive",
            headers={"Content-Type": "text/plain"},
        )
        assert line.status_code == 503, line.text[:300]
        assert "older finished matches" in line.text.lower()
    finally:
        shutil.move(moved.with_name("away"), moved)
    after = everything(api)
    assert [name for name in before if before[name] != after[name]] == []


def test_a_deleted_accounts_name_is_in_no_list_and_no_page(
    api: Api, players: dict[str, Player], moved: Path
) -> None:
    bob, data = players["bob"], api.parts.data
    data.delete(keys.account(bob.account))
    erase_projections(data, bob.account)
    assert [key for key in data.scan_iter("*") if over_key(bob.account).encode() in key] == []
    parts = api.parts
    offload_job.run(parts.settings, parts.store, parts.data, parts.data)
    rows = api_pages(api, "/api/matches", "matches", player="alice", state="inactive")
    assert len(rows) == MATCHES
    assert {tuple(row["players"]) for row in rows} == {("alice", None)}
    for file in moved.rglob("*"):
        if file.is_file():
            assert b"bob" not in file.read_bytes()
