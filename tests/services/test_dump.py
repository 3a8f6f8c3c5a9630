"""The dump of finished matches: its files, how they change and when they do not, its page, and its job."""

import gzip
import json
import sys
from collections.abc import Iterator
from hashlib import sha256
from io import BytesIO

import msgspec
import pytest
from pyarrow import parquet

from domain.clocks.time_control import DAY
from domain.errors import Code, Refusal
from infra.objects.files import FileObjects
from infra.objects.port import ObjectChangedError, ObjectStoreError
from services import jobs
from services.app import dump
from services.app.accounts import delete_account
from services.app.dump import DumpIndex, dump_file, make_dump, read_dump
from services.cli import dump as cli
from tests.helpers.api import PASSWORD, Api, Player, until
from workers import dump_job


@pytest.fixture
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with Api(tmp_path_factory.mktemp("dump")) as api:
        yield api


@pytest.fixture
def later(api: Api, monkeypatch):
    """Move the clock of the dump on by days."""
    now = api.parts.store.now

    def move(days: int) -> None:
        monkeypatch.setattr(api.parts.store, "now", lambda: now() + days * DAY)

    return move


def finished(api: Api, *players: Player, game: str = "pow2", move: str = "m13-m9") -> int:
    board = api.begun(*players, game=game)
    assert players[0].give(board, {"do": "move", "move": move}).is_success
    assert players[1].give(board, {"do": "resign"}).is_success
    api.caught_up()
    return board


def lines(objects, file) -> list[dict]:
    data = objects.get(file.object)
    assert (len(data), sha256(data).hexdigest()) == (file.bytes, file.sha256)
    return [json.loads(line) for line in gzip.decompress(data).splitlines()]


def rows(objects, file) -> list[dict]:
    return parquet.read_table(BytesIO(objects.get(file.object))).to_pylist()


def test_a_dump_has_what_ended_before_today_without_names_in_both_formats(api, later):
    one, two = api.players()
    boards = [finished(api, one, two) for _ in range(3)]
    running = api.begun(one, two)
    declined = api.match(one, two)
    assert two.give(declined, {"do": "decline"}).is_success
    other = finished(api, one, two, game="line", move=legal(api, one, two, "line"))
    api.caught_up()
    objects = api.parts.objects
    assert make_dump(api.parts, objects).files == ()
    later(1)
    index = make_dump(api.parts, objects)
    assert index == read_dump(objects)
    assert [(file.game, file.matches, file.name.partition(".")[2]) for file in index.files] == [
        ("line", 1, "ndjson.gz"), ("line", 1, "parquet"), ("pow2", 3, "ndjson.gz"), ("pow2", 3, "parquet"),
    ]  # fmt: skip
    found = lines(objects, index.files[2])
    assert [line["board"] for line in found] == boards
    assert (running, declined, other) not in boards
    assert found[0]["accounts"] == [one.account.hex(), two.account.hex()]
    assert (found[0]["moves"], found[0]["winners"], found[0]["reason"]) == (
        "m13-m9",
        [0],
        "resignation",
    )
    events = api.http.get(f"/api/matches/{boards[0]}/events").json()
    assert (found[0]["head"], found[0]["started"], found[0]["ended"]) == (
        events[-1]["hash"], events[0]["at"], events[-1]["at"],
    )  # fmt: skip
    assert rows(objects, index.files[3]) == found
    assert not any(name in json.dumps(found) for name in (one.name, two.name))


def legal(api: Api, one: Player, two: Player, game: str) -> str:
    board = api.begun(one, two, game=game)
    return str(api.http.get(f"/api/matches/{board}/plies/0").json()["legal"][0])


def test_a_game_of_chance_has_its_setup_as_json(api, later):
    one, two = api.players()
    board = api.begun(one, two, game="powerdrain")
    assert two.give(board, {"do": "resign"}).is_success
    api.caught_up()
    later(1)
    text, table = make_dump(api.parts, api.parts.objects).files
    (line,), (row,) = lines(api.parts.objects, text), rows(api.parts.objects, table)
    assert line["setup"] == msgspec.json.decode(row.pop("setup"))
    assert {name: one for name, one in line.items() if name != "setup"} == row


def test_a_dump_is_made_again_the_same_and_grows_until_its_months_are_final(api, later):
    one, two = api.players()
    finished(api, one, two)
    objects = api.parts.objects
    later(1)
    first = make_dump(api.parts, objects)
    assert make_dump(api.parts, objects).files == first.files
    finished(api, one, two)
    second = make_dump(api.parts, objects)
    assert [file.matches for file in second.files] == [2, 2]
    assert {file.name for file in second.files} == {file.name for file in first.files}
    assert not any(file.final for file in second.files)
    later(80)
    third = make_dump(api.parts, objects)
    assert all(file.final for file in third.files)
    # the files of the first index are gone, and final ones are not even read again
    assert {*objects.names("dump/files")} == {file.object for file in third.files}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dump, "dump_lines", None)
        assert make_dump(api.parts, objects).files == third.files


def test_an_erased_account_changes_nothing_in_a_dump(api, later):
    one, two = api.players()
    finished(api, one, two)
    later(1)
    before = make_dump(api.parts, api.parts.objects)
    delete_account(api.parts, two.name, PASSWORD)
    assert make_dump(api.parts, api.parts.objects).files == before.files


def test_a_month_of_many_matches_is_in_several_files(api, later, monkeypatch):
    monkeypatch.setattr(dump, "MOST_MATCHES", 2)
    monkeypatch.setattr(dump, "AT_ONCE", 1)
    monkeypatch.setattr(dump, "_PLACES", 2)
    one, two = api.players()
    boards = [finished(api, one, two) for _ in range(5)]
    later(1)
    files = [file for file in make_dump(api.parts, api.parts.objects).files if "json" in file.name]
    assert [file.name.partition("pow2")[2] for file in files] == ["-2.ndjson.gz", "-3.ndjson.gz", ".ndjson.gz"]  # fmt: skip
    found = [
        line["board"] for file in (files[2], *files[:2]) for line in lines(api.parts.objects, file)
    ]
    assert found == boards


def test_without_pyarrow_there_are_lines_alone(api, later, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    finished(api, *api.players())
    later(1)
    (file,) = make_dump(api.parts, api.parts.objects).files
    assert file.name.endswith("-pow2.ndjson.gz")


def test_of_two_runs_one_replaces_the_index(api, later, monkeypatch):
    finished(api, *api.players())
    later(1)
    objects, write = api.parts.objects, dump._write

    def overtaken(*_):
        monkeypatch.setattr(dump, "_write", write)
        make_dump(api.parts, objects)
        return ()

    monkeypatch.setattr(dump, "_write", overtaken)
    with pytest.raises(ObjectChangedError):
        make_dump(api.parts, objects)
    assert len(read_dump(objects).files) == 2


def test_the_page_and_the_api_list_the_files_and_a_file_is_sent(api, later, come):
    finished(api, *api.players())
    assert "There are no files yet" in come().page("/dump")
    assert api.http.get("/api/dump").json() == {"made": 0, "until": 0, "files": []}
    later(1)
    index = make_dump(api.parts, api.parts.objects)
    page = come().page("/dump")
    listed = api.http.get("/api/dump").json()["files"]
    assert listed == [msgspec.to_builtins(file) for file in index.files]
    for file in index.files:
        assert f'href="/dump/{file.name}"' in page
        answer = api.http.get(f"/dump/{file.name}")
        assert sha256(answer.content).hexdigest() == file.sha256
        assert answer.headers["content-length"] == str(file.bytes)
        again = api.http.get(
            f"/dump/{file.name}", headers={"If-None-Match": answer.headers["etag"]}
        )
        assert (again.status_code, again.content) == (304, b"")
    for name in ("index", "..%2Findex", "2026-11-pow2", "x" * 80):
        assert api.http.get(f"/dump/{name}").status_code == 404
    api.parts.admissions.change({"visible_to": "members"})
    until(lambda: api.http.get("/api/dump").status_code == 401)
    assert api.http.get(f"/dump/{index.files[0].name}").status_code == 303


def test_a_store_that_is_away_is_said():
    class Away:
        def get(self, name: str) -> bytes:
            raise ObjectStoreError(name)

    for read in (read_dump, lambda objects: dump_file(objects, "x")):
        with pytest.raises(Refusal) as refused:
            read(Away())
        assert refused.value.code is Code.UNAVAILABLE


def test_a_folder_can_be_filled_by_hand(api, tmp_path, capsys):
    finished(api, *api.players())
    # what ended today is in no dump
    assert cli.run(tmp_path / "out", api.settings) == 0
    assert capsys.readouterr().out == ""
    assert read_dump(FileObjects(tmp_path / "out")).files == ()
    (tmp_path / "file").touch()
    assert cli.run(tmp_path / "file", api.settings) == 2


def test_the_job_makes_one_dump_a_day_and_an_alarm_says_what_hinders_it(caplog):
    made: list[int] = []

    def make() -> DumpIndex:
        made.append(1)
        return DumpIndex()

    assert dump_job.run(lambda: DumpIndex(until=2 * DAY), make, lambda: 2 * DAY + 5)
    assert made == []
    assert dump_job.run(lambda: DumpIndex(until=DAY), make, lambda: 2 * DAY + 5)
    assert made == [1]

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


def test_the_job_of_rq_makes_the_dump_of_the_settings(api, monkeypatch):
    finished(api, *api.players())
    monkeypatch.setattr(jobs, "load", lambda: api.settings)
    jobs.dump()
    index = read_dump(api.parts.objects)
    assert (index.until, index.files) == (api.parts.store.now() // DAY * DAY, ())
