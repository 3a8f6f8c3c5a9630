"""Matches as text and as lines: game texts over HTTP and at the terminal, and a player's matches as a stream."""

import json
from collections.abc import Iterator

import pytest

from domain.errors import Code, Refusal
from domain.match.game_text import read_game_text
from services.app.accounts import delete_account
from services.app.imports import check_import
from services.app.match_lines import read_cursor
from services.cli import export
from services.http.api.routes import match_lines
from tests.helpers.api import PASSWORD, Api, Player, until


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with Api(tmp_path_factory.mktemp("lines"), site="https://play.example") as api:
        yield api


def finished(api: Api, *players: Player) -> int:
    board = api.begun(*players)
    assert players[0].give(board, {"do": "move", "move": "m13-m9"}).is_success
    assert players[1].give(board, {"do": "resign"}).is_success
    return board


def lines_of(api: Api, name: str, query: str = "") -> list[dict]:
    answer = api.http.get(f"/api/players/{name}/matches.ndjson{query}")
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].startswith("application/x-ndjson")
    return [json.loads(line) for line in answer.text.splitlines()]


def settled(api: Api, player: Player, count: int) -> list[dict]:
    """The lines of a player once there are so many, because the last moments are left out."""
    until(lambda: len(lines_of(api, player.name)) == count)
    return lines_of(api, player.name)


def test_a_match_as_a_game_text_has_its_players_and_can_be_imported(api, capsysbinary):
    one, two = api.players()
    board = finished(api, one, two)
    answer = api.http.get(f"/api/matches/{board}/game.txt")
    found = read_game_text(answer.content)
    assert found.headers.players == (one.name, two.name)
    assert found.headers.site == f"https://play.example/m/{board}"
    assert found.headers.date[:2] == "20"
    assert found.state.result.winners == (0,)
    again = api.http.get(
        f"/api/matches/{board}/game.txt", headers={"If-None-Match": answer.headers["etag"]}
    )
    assert again.status_code == 304
    assert api.http.get(f"/m/{board}/game.txt").text == answer.text
    assert export.run(str(board), api.settings, text=True) == 0
    assert capsysbinary.readouterr().out == answer.content
    checked = check_import(b"\xef\xbb\xbf" + answer.content, [])
    assert (checked.state.moves, checked.source.kind) == ("m13-m9", "record")


def test_an_erased_player_is_unknown_in_a_game_text_and_in_lines(api):
    one, two = api.players()
    board = finished(api, one, two)
    api.caught_up()
    delete_account(api.parts, two.name, PASSWORD)
    found = read_game_text(api.http.get(f"/api/matches/{board}/game.txt").content)
    assert found.headers.players == (one.name, "?")
    (line,) = settled(api, one, 1)
    assert line["players"] == [one.name, None]
    assert line["accounts"] == [one.account.hex(), two.account.hex()]
    gone = api.http.get(f"/api/players/{two.name}/matches.ndjson")
    assert gone.json()["code"] == "unknown-user"


def test_a_players_matches_come_in_the_order_of_their_ends_and_go_on_after_any(api, monkeypatch):
    monkeypatch.setattr("services.app.match_lines.AT_ONCE", 2)
    one, two = api.players()
    boards = [finished(api, one, two) for _ in range(5)]
    running = api.begun(one, two)
    api.caught_up()
    lines = settled(api, one, 5)
    assert [line["board"] for line in lines] == boards
    assert lines == lines_of(api, two.name)
    first = lines[0]
    assert {name: first[name] for name in ("moves", "winners", "reason", "rules", "players")} == {
        "moves": "m13-m9", "winners": [0], "reason": "resignation", "rules": "pow2/1", "players": [one.name, two.name],
    }  # fmt: skip
    assert first["started"] < first["ended"] == int(first["cursor"].partition("-")[0])
    for number, line in enumerate(lines, 1):
        after = lines_of(api, one.name, f"?since={line['cursor']}")
        assert [found["board"] for found in after] == boards[number:]
    (active,) = lines_of(api, one.name, "?state=active")
    assert (active["board"], active["ended"], "cursor" in active) == (running, None, False)


def test_a_match_by_name_that_nobody_has_accepted_is_in_no_line(api):
    one, two = api.players()
    api.match(one, two)
    api.caught_up()
    assert lines_of(api, one.name) == lines_of(api, two.name, "?state=active") == []


@pytest.mark.parametrize(
    "query", ["?since=1", "?since=1-", "?since=-1", "?since=a-b", "?state=active&since=1-1"]
)
def test_a_cursor_of_another_form_is_refused(api, query):
    answer = api.http.get(f"/api/players/{api.player().name}/matches.ndjson{query}")
    assert (answer.status_code, answer.json()["code"]) == (400, "bad-request")


def test_a_cursor_of_foreign_digits_is_refused():
    with pytest.raises(Refusal) as refused:
        read_cursor("1-٣")
    assert refused.value.code is Code.BAD_REQUEST


def test_a_match_that_cannot_be_read_is_a_line_with_the_reason(api):
    one, two = api.players()
    good, bad = finished(api, one, two), finished(api, one, two)
    api.caught_up()
    settled(api, one, 2)
    key = next(api.parts.data.scan_iter(f"*:m:{bad}"))
    stored = api.parts.data.get(key)
    api.parts.data.set(key, b"damaged")
    try:
        lines = lines_of(api, one.name)
    finally:
        api.parts.data.set(key, stored)
    assert [line["board"] for line in lines] == [good, bad]
    assert (lines[1]["code"], set(lines[1])) == ("damaged", {"board", "code", "cursor"})


def test_bytes_count_as_requests_and_a_stream_waits_for_its_rate(api, monkeypatch):
    one, two = api.players()
    for _ in range(4):
        finished(api, one, two)
    api.caught_up()
    settled(api, one, 4)
    monkeypatch.setattr("services.app.match_lines.AT_ONCE", 1)
    monkeypatch.setattr(match_lines, "BYTES_A_REQUEST", 100)
    counted, waited = [], []
    limits = api.app._app.state.context.request_limits

    def count_more(_, account, weight):
        counted.append((account, weight))
        if len(counted) == 2:
            raise Refusal(Code.TOO_FAST, "wait", 3)

    async def sleep(seconds):
        waited.append(seconds)

    monkeypatch.setattr(limits, "count_more", count_more)
    monkeypatch.setattr(match_lines, "sleep", sleep)
    path = f"/api/players/{one.name}/matches.ndjson"
    sent = len(api.http.get(path, headers=one.headers).content)
    assert waited == [3]
    weights = [weight for _, weight in counted]
    # the one that had to wait was counted again
    assert sum(weights) - weights[1] == sent // 100
    assert {account for account, _ in counted} == {one.account}
