"""Matches as text and as lines: game texts, a player's matches as a stream, and the dump of all that are finished."""

import gzip
import json
import sys
from collections.abc import Callable, Iterator
from hashlib import sha256
from io import BytesIO
from typing import Any, NamedTuple

import msgspec
import pytest
from pyarrow import parquet

from domain.clocks.time_control import DAY
from domain.errors import Code, Refusal
from domain.match.game_text import read_game_text
from infra.objects.files import FileObjects
from infra.objects.port import ObjectChangedError, ObjectStore, ObjectStoreError
from services import jobs
from services.app import dump
from services.app.accounts import delete_account
from services.app.dump import DumpFile, DumpIndex, dump_file, make_dump, read_dump
from services.app.imports import check_import
from services.app.match_lines import read_cursor
from services.cli import dump as cli
from services.cli import export
from services.http.api.routes import match_lines
from tests.fakes.memory_store import MemoryObjects
from tests.helpers.api import PASSWORD, Api, Player, until
from tests.helpers.examples import refused
from workers import dump_job


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with Api(tmp_path_factory.mktemp("lines"), site="https://play.example") as api:
        yield api


def finished(api: Api, *players: Player, game: str = "pow2") -> int:
    board = api.begun(*players, game=game)
    move = api.http.get(f"/api/matches/{board}").json()["at"]["legal"][0]
    assert players[0].move(board, "m13-m9" if game == "pow2" else move).is_success
    assert players[1].give(board, {"do": "resign"}).is_success
    return board


def lines_of(api: Api, name: str, query: str = "") -> list[dict]:
    answer = api.http.get(f"/api/players/{name}/matches.ndjson{query}")
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].startswith("application/x-ndjson")
    return [json.loads(line) for line in answer.text.splitlines()]


def settled(api: Api, player: Player, count: int) -> list[dict]:
    """The lines of a player once there are so many, because the last moments are left out."""
    api.caught_up()
    until(lambda: len(lines_of(api, player.name)) == count)
    return lines_of(api, player.name)


def test_a_match_as_a_game_text_has_its_players_and_can_be_imported(api, capsysbinary):
    one, two = api.players()
    board = finished(api, one, two)
    path = f"/api/matches/{board}/game.txt"
    answer = api.http.get(path)
    found = read_game_text(answer.content)
    assert found.headers.players == (one.name, two.name)
    assert found.headers.site == f"https://play.example/m/{board}"
    assert found.headers.date[:2] == "20"
    assert found.state.result.winners == (0,)
    known = {"If-None-Match": answer.headers["etag"]}
    assert api.http.get(path, headers=known).status_code == 304
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
    running, _ = api.begun(one, two), api.match(one, two)  # nobody has accepted the last
    lines = settled(api, one, 5)
    assert [line["board"] for line in lines] == boards
    assert lines == lines_of(api, two.name)
    first = lines[0]
    told = {"moves": "m13-m9", "winners": [0], "reason": "resignation", "rules": "pow2/1"}
    assert {**first, **told, "players": [one.name, two.name]} == first
    assert first["started"] < first["ended"] == int(first["cursor"].partition("-")[0])
    for number, line in enumerate(lines, 1):
        after = lines_of(api, one.name, f"?since={line['cursor']}")
        assert [found["board"] for found in after] == boards[number:]
    (active,) = lines_of(api, one.name, "?state=active")
    assert (active["board"], active["ended"], "cursor" in active) == (running, None, False)


def test_a_cursor_of_another_form_is_refused(api):
    path = f"/api/players/{api.player().name}/matches.ndjson"
    for query in ("since=1", "since=1-", "since=-1", "since=a-b", "state=active&since=1-1"):
        answer = api.http.get(f"{path}?{query}")
        assert (answer.status_code, answer.json()["code"]) == (400, "bad-request"), query
    refused(Code.BAD_REQUEST, read_cursor, "1-٣")


def test_a_match_that_cannot_be_read_is_a_line_with_the_reason(api):
    one, two = api.players()
    good, bad = finished(api, one, two), finished(api, one, two)
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
    settled(api, one, 4)
    monkeypatch.setattr("services.app.match_lines.AT_ONCE", 1)
    monkeypatch.setattr(match_lines, "BYTES_A_REQUEST", 100)
    counted, waited = [], []

    def count_more(_, account, weight):
        counted.append((account, weight))
        if len(counted) == 2:
            raise Refusal(Code.TOO_FAST, "wait", 3)

    async def sleep(seconds):
        waited.append(seconds)

    monkeypatch.setattr(api.app._app.state.context.request_limits, "count_more", count_more)
    monkeypatch.setattr(match_lines, "sleep", sleep)
    path = f"/api/players/{one.name}/matches.ndjson"
    sent = len(api.http.get(path, headers=one.headers).content)
    assert waited == [3]
    weights = [weight for _, weight in counted]
    # the one that had to wait was counted again
    assert sum(weights) - weights[1] == sent // 100
    assert {account for account, _ in counted} == {one.account}


# the dump


class Played(NamedTuple):
    """Two players, and what they have played of games that nobody else plays here."""

    one: Player
    two: Player
    torere: list[int]
    line: int
    drawn: int


@pytest.fixture(scope="module")
def played(api: Api) -> Played:
    one, two = api.players()
    torere = [finished(api, one, two, game="torere") for _ in range(3)]
    api.begun(one, two, game="torere")
    declined = api.match(one, two, game="torere")
    assert two.give(declined, {"do": "decline"}).is_success
    line = finished(api, one, two, game="line")
    drawn = finished(api, one, two, game="powerdrain")
    api.caught_up()
    return Played(one, two, torere, line, drawn)


@pytest.fixture
def later(api: Api, monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Move the clock of the dump on by days."""
    now = api.parts.store.now

    def move(days: int) -> None:
        monkeypatch.setattr(api.parts.store, "now", lambda: now() + days * DAY)

    return move


@pytest.fixture
def objects() -> MemoryObjects:
    return MemoryObjects()


def of_game(index: DumpIndex, game: str, end: str = "ndjson.gz") -> list[DumpFile]:
    return [file for file in index.files if file.game == game and file.name.endswith(end)]


def in_lines(objects: ObjectStore, file: DumpFile) -> list[dict[str, Any]]:
    data = objects.get(file.object)
    assert (len(data), sha256(data).hexdigest()) == (file.bytes, file.sha256)
    return [json.loads(line) for line in gzip.decompress(data).splitlines()]


def in_table(objects: ObjectStore, file: DumpFile) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = parquet.read_table(BytesIO(objects.get(file.object))).to_pylist()
    return rows


def test_a_dump_has_what_ended_before_today_without_names_in_both_formats(
    api, played, later, objects
):
    assert make_dump(api.parts, objects).files == ()
    later(1)
    index = make_dump(api.parts, objects)
    assert index == read_dump(objects)
    listed = {(file.game, file.matches, file.name.partition(".")[2]) for file in index.files}
    counts = {"line": 1, "torere": len(played.torere), "powerdrain": 1}
    for game, count in counts.items():
        assert {(game, count, "ndjson.gz"), (game, count, "parquet")} <= listed
    (text,), (table,) = of_game(index, "torere"), of_game(index, "torere", "parquet")
    found = in_lines(objects, text)
    assert [line["board"] for line in found] == played.torere
    assert found[0]["accounts"] == [played.one.account.hex(), played.two.account.hex()]
    assert (found[0]["winners"], found[0]["reason"]) == ([0], "resignation")
    events = api.http.get(f"/api/matches/{played.torere[0]}/events").json()
    assert found[0]["moves"] == events[-3]["body"]["move"]
    assert (found[0]["head"], found[0]["started"], found[0]["ended"]) == (
        events[-1]["hash"], events[0]["at"], events[-1]["at"],
    )  # fmt: skip
    assert in_table(objects, table) == found
    assert not any(name in json.dumps(found) for name in (played.one.name, played.two.name))
    # a game of chance has its setup as JSON
    (text,), (table,) = of_game(index, "powerdrain"), of_game(index, "powerdrain", "parquet")
    (line,), (row,) = in_lines(objects, text), in_table(objects, table)
    assert line == {**row, "setup": msgspec.json.decode(row["setup"])}


@pytest.mark.usefixtures("played")
def test_a_dump_is_made_again_the_same_and_grows_until_its_months_are_final(api, later, objects):
    later(1)
    first = make_dump(api.parts, objects)
    assert make_dump(api.parts, objects).files == first.files
    finished(api, *api.players(), game="goliath")
    api.caught_up()
    second = make_dump(api.parts, objects)
    assert [file.matches for file in second.files if file.game == "goliath"] == [1, 1]
    finished(api, *api.players(), game="goliath")
    api.caught_up()
    third = make_dump(api.parts, objects)
    assert [file.matches for file in third.files if file.game == "goliath"] == [2, 2]
    assert {file.name for file in third.files} == {file.name for file in second.files}
    assert not any(file.final for file in third.files)
    later(80)
    fourth = make_dump(api.parts, objects)
    assert all(file.final for file in fourth.files)
    # the files of the first index are gone, and final ones are not even read again
    assert {*objects.names("dump/files")} == {file.object for file in fourth.files}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dump, "dump_lines", None)
        assert make_dump(api.parts, objects).files == fourth.files


def test_an_erased_account_changes_nothing_in_a_dump(api, later, objects):
    one, two = api.players()
    finished(api, one, two)
    api.caught_up()
    later(1)
    before = make_dump(api.parts, objects)
    delete_account(api.parts, two.name, PASSWORD)
    assert make_dump(api.parts, objects).files == before.files


def test_a_month_of_many_matches_is_in_several_files(api, played, later, objects, monkeypatch):
    monkeypatch.setattr(dump, "MOST_MATCHES", 2)
    monkeypatch.setattr(dump, "AT_ONCE", 1)
    monkeypatch.setattr(dump, "_PLACES", 2)
    later(1)
    second, first = of_game(make_dump(api.parts, objects), "torere")
    ends = [file.name.partition("torere")[2] for file in (first, second)]
    assert ends == [".ndjson.gz", "-2.ndjson.gz"]
    found = [line["board"] for file in (first, second) for line in in_lines(objects, file)]
    assert found == played.torere


@pytest.mark.usefixtures("played")
def test_without_pyarrow_there_are_lines_alone(api, later, objects, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    later(1)
    found = make_dump(api.parts, objects).files
    assert {file.name.partition(".")[2] for file in found} == {"ndjson.gz"}


@pytest.mark.usefixtures("played")
def test_of_two_runs_one_replaces_the_index(api, later, objects, monkeypatch):
    later(1)
    write = dump._write

    def overtaken(*_):
        monkeypatch.setattr(dump, "_write", write)
        make_dump(api.parts, objects)
        return ()

    monkeypatch.setattr(dump, "_write", overtaken)
    with pytest.raises(ObjectChangedError):
        make_dump(api.parts, objects)
    assert read_dump(objects).files


@pytest.mark.usefixtures("played")
def test_the_page_and_the_api_list_the_files_and_a_file_is_sent(api, later, come):
    assert "There are no files yet" in come().page("/dump")
    assert api.http.get("/api/dump").json()["files"] == []
    later(1)
    index = make_dump(api.parts, api.parts.objects)
    page = come().page("/dump")
    listed = api.http.get("/api/dump").json()["files"]
    assert listed == [msgspec.to_builtins(file) for file in index.files]
    for file in index.files:
        path = f"/dump/{file.name}"
        assert f'href="{path}"' in page
        answer = api.http.get(path)
        assert sha256(answer.content).hexdigest() == file.sha256
        assert answer.headers["content-length"] == str(file.bytes)
        again = api.http.get(path, headers={"If-None-Match": answer.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")
    for name in ("index", "..%2Findex", "2026-11-pow2", "x" * 80):
        assert api.http.get(f"/dump/{name}").status_code == 404
    api.parts.admissions.change({"visible_to": "members"})
    try:
        until(lambda: api.http.get("/api/dump").status_code == 401)
        assert api.http.get(f"/dump/{index.files[0].name}").status_code == 303
    finally:
        api.parts.admissions.change({"visible_to": "everybody"})
        until(lambda: api.http.get("/api/dump").status_code == 200)


def test_a_store_that_is_away_is_said():
    class Away:
        def get(self, name: str) -> bytes:
            raise ObjectStoreError(name)

    refused(Code.UNAVAILABLE, read_dump, Away())
    refused(Code.UNAVAILABLE, dump_file, Away(), "x")


@pytest.mark.usefixtures("played")
def test_a_folder_can_be_filled_by_hand_and_by_the_job_of_rq(api, tmp_path, capsys, monkeypatch):
    # what ended today is in no dump
    assert cli.run(tmp_path / "out", api.settings) == 0
    assert capsys.readouterr().out == ""
    assert read_dump(FileObjects(tmp_path / "out")).files == ()
    (tmp_path / "file").touch()
    assert cli.run(tmp_path / "file", api.settings) == 2
    monkeypatch.setattr(jobs, "load", lambda: api.settings)
    jobs.dump()
    index = read_dump(api.parts.objects)
    assert (index.until, index.files) == (api.parts.store.now() // DAY * DAY, ())


def test_the_job_makes_one_dump_a_day_and_an_alarm_says_what_hinders_it(caplog):
    made: list[int] = []

    def make() -> DumpIndex:
        made.append(1)
        return DumpIndex()

    for until_day, count in ((2, 0), (1, 1)):
        assert dump_job.run(lambda: DumpIndex(until=until_day * DAY), make, lambda: 2 * DAY + 5)  # noqa: B023 - it is called at once
        assert len(made) == count

    def fail() -> DumpIndex:
        raise ObjectStoreError("the disk is full")

    assert not dump_job.run(DumpIndex, fail, lambda: DAY)
    assert "ALARM: the dump of finished matches can't be written: the disk is full" in caplog.text


def test_the_scheduler_asks_from_the_hour_on(monkeypatch):
    asked, clock, now = [], [0.0], [3 * 3_600_000 - 1]
    monkeypatch.setattr(dump_job, "enqueue_wakeup", lambda _, job: asked.append(job))
    monkeypatch.setattr("infra.process.intervals.time.monotonic", lambda: clock[0])
    tick = dump_job.dump_wakeup(None, lambda: now[0], 3)
    tick()
    assert asked == []
    now[0], clock[0] = 3 * 3_600_000, 60.0
    tick()
    tick()
    assert asked == [dump_job.JOB]
    clock[0] += 3_600
    tick()
    assert len(asked) == 2
