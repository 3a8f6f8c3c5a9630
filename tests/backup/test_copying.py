"""What is copied of a server, in which order, and where it goes in a restore."""

from pathlib import Path

import pytest

from infra.backup import copying
from infra.backup.copying import ServerCopies, is_within
from infra.backup.port import BackupError
from infra.backup.repository import Manifest, Repository
from infra.backup.restoring import begin_restore, finish_restore, place_of, write_files
from infra.backup.sealing import Plain
from infra.settings.settings import Settings
from infra.store.seed_chains import CHAIN_LENGTH, read_mark, retire_chains
from infra.valkey.directory import DataDirectory, DirectoryError
from services.app.backups import check_places
from tests.fakes.memory_store import MemoryObjects

MANIFEST = "file a.1.base.rdb seq 1 type b\nfile a.1.incr.aof seq 1 type i\n"


@pytest.fixture
def data(tmp_path) -> Path:
    data = tmp_path / "data"
    files = {
        "valkey/appendonlydir/appendonly.aof.manifest": MANIFEST,
        "valkey/appendonlydir/a.1.base.rdb": "base",
        "valkey/appendonlydir/a.1.incr.aof": "commands",
        "valkey/appendonlydir/a.0.incr.aof.cut-at-7": "rest",
        "log/s00/checkpoint": f"example.org/log/s00\n300\n{'A' * 43}=\n\n— signed\n",
        "log/s00/tile/0/000": "whole",
        "log/s00/tile/0/001.p/44": "now",
        "log/s00/tile/0/001.p/45": "later",
        "log/s00/tile/1/000.p/1": "up",
        "log/s00/tile/entries/001.p/45": "later",
        "log/s00/.abcd": "unfinished",
        "log/evidence/1": "evidence",
        "keys/log-key": "SECRET",
        "keys/log-key.pub": "public",
        "seeds/s00-1-00": "SEED",
        "mail-key": "MAIL",
        "mail-sent": "sent",
        "queue/valkey.log": "x",
    }
    for name, text in files.items():
        (data / name).parent.mkdir(parents=True, exist_ok=True)
        (data / name).write_text(text)
    return data


def copy(data: Path, *, secrets: bool = True) -> tuple[Manifest, Repository, Repository]:
    main, rest = (Repository(MemoryObjects(), Plain()) for _ in range(2))
    made = ServerCopies(main, rest if secrets else None).make(
        Settings(data=data), data, "20260101T000000Z", 1, "1.0.0"
    )
    return made, main, rest


def test_the_data_the_signed_part_of_the_log_and_no_secret_are_copied(data):
    made, _, rest = copy(data)
    assert sorted(file.path for file in made.files) == [
        "keys/log-key.pub", "log/evidence/1", "log/s00/checkpoint", "log/s00/tile/0/000",
        "log/s00/tile/0/001.p/44", "log/s00/tile/1/000.p/1", "mail-sent",
        "valkey/appendonlydir/a.1.base.rdb", "valkey/appendonlydir/a.1.incr.aof",
        "valkey/appendonlydir/appendonly.aof.manifest",
    ]  # fmt: skip
    assert sorted(file.path for file in rest.read("20260101T000000Z").files) == [
        "keys/log-key", "keys/log-key.pub", "mail-key", "seeds/s00-1-00",
    ]  # fmt: skip
    _, main, rest = copy(data, secrets=False)
    assert (main.ids(), rest.ids()) == (["20260101T000000Z"], [])


def test_objects_beyond_the_checkpoint_are_not_of_the_log():
    sizes = {0: 70_000, 7: 256}
    within = ("s00/tile/entries/272", "s00/tile/0/273.p/112", "s00/tile/1/001.p/17", "s00/pages/1")
    beyond = ("s00/tile/0/273", "s00/tile/0/273.p/113", "s00/tile/1/001.p/18", "s01/tile/0/000.p/1")
    assert all(is_within(path, sizes) for path in (*within, "s07/tile/0/000"))
    assert not any(is_within(path, sizes) for path in (*beyond, "s07/tile/1/x001/000"))


def test_a_rewrite_in_the_middle_of_the_copy_makes_it_begin_again(data, monkeypatch):
    folder = data / "valkey" / "appendonlydir"
    real, calls = copying.append_only_files, []

    def rewritten(files: Path) -> list[Path]:
        calls.append(files)
        if len(calls) == 2:
            (folder / "a.2.incr.aof").write_text("new")
            (folder / "appendonly.aof.manifest").write_text("file a.2.incr.aof seq 2 type i\n")
        return real(files)

    monkeypatch.setattr(copying, "append_only_files", rewritten)
    made, _, _ = copy(data)
    copied = [file.path for file in made.files if file.path.startswith("valkey/")]
    assert copied == [
        "valkey/appendonlydir/appendonly.aof.manifest",
        "valkey/appendonlydir/a.2.incr.aof",
    ]
    assert len(calls) == 4


def test_tiles_that_go_while_the_log_is_copied_make_it_begin_again(data, monkeypatch):
    real, left = copying._walk, [1]

    def walk(folder: Path):
        yield from real(folder)
        if left and folder.name == "log":
            left.clear()
            raise FileNotFoundError(folder)

    monkeypatch.setattr(copying, "_walk", walk)
    made, _, _ = copy(data)
    assert "log/s00/tile/0/000" in {file.path for file in made.files}
    assert not left


def test_what_never_stays_the_same_and_a_folder_without_data_are_no_backup(
    data, tmp_path, monkeypatch
):
    with pytest.raises(BackupError, match="there are no data of an embedded server"):
        copy(tmp_path / "nothing")
    monkeypatch.setattr(copying, "_walk", lambda _: (_ for _ in ()).throw(FileNotFoundError("x")))
    with pytest.raises(BackupError, match="it changed each time"):
        copy(data)


def test_a_restored_file_goes_where_the_settings_have_it(tmp_path):
    own = Settings(data=tmp_path / "data")
    assert place_of("keys/log-key", own) == tmp_path / "data" / "keys" / "log-key"
    apart = Settings(
        data=tmp_path / "data", keys=tmp_path / "k", seeds=tmp_path / "s", mail_key=tmp_path / "m",
        store=f"file://{tmp_path}/l",
    )  # fmt: skip
    wanted = {"keys/a": "k/a", "seeds/a": "s/a", "mail-key": "m", "log/s00/c": "l/s00/c"}
    assert {path: place_of(path, apart) for path in wanted} == {
        path: tmp_path / place for path, place in wanted.items()
    }
    assert place_of("matchpost.toml", own).name == "matchpost.toml.restored"
    for path in ("../keys", "/etc/passwd", "log/../../x"):
        with pytest.raises(BackupError, match="not below its folder"):
            place_of(path, own)


def test_a_restore_that_was_cut_off_keeps_the_server_from_starting_and_can_be_repeated(
    data, tmp_path
):
    made, main, _ = copy(data)
    settings = Settings(data=tmp_path / "again")
    begin_restore(settings.data)
    write_files(main, made, settings)
    with pytest.raises(DirectoryError, match="was not finished"):
        DataDirectory(settings.data).prepare()
    begin_restore(settings.data)
    write_files(main, made, settings)
    finish_restore(settings.data)
    DataDirectory(settings.data).prepare()
    assert (settings.data / "log/s00/tile/0/000").read_text() == "whole"
    with pytest.raises(BackupError, match="is not empty"):
        begin_restore(settings.data)
    keep = Settings(data=tmp_path / "other", keys=data / "keys")
    begin_restore(keep.data)
    with pytest.raises(BackupError, match=r"log-key.pub is there, and is not replaced"):
        write_files(main, made, keep)


def test_no_seed_of_a_retired_chain_is_drawn_again(tmp_path):
    for name in ("s00-1-0123456789abcdef", "s01-2-0123456789abcdef", "server-id"):
        (tmp_path / name).write_bytes(b"secret")
    (tmp_path / "s00-1-0123456789abcdef.used").write_bytes(b"%8d %8d\n" % (3, 4))
    retire_chains(tmp_path)
    marks = sorted(tmp_path.glob("*.used"))
    assert [file.name for file in marks] == [
        "s00-1-0123456789abcdef.used",
        "s01-2-0123456789abcdef.used",
    ]
    assert {read_mark(file) for file in marks} == {(CHAIN_LENGTH + 1, CHAIN_LENGTH)}


def test_only_places_beside_the_data_and_at_a_cloud_are_taken():
    for given, said in (
        ({}, "name a place"),
        ({"backup": "/data/x"}, "is within /data"),
        ({"backup": "/b", "backup_keys": "file:///b/"}, "need another place"),
        ({"backup": "/b", "backup_keys": "/data/keys"}, "is within /data"),
    ):
        with pytest.raises(BackupError, match=said):
            check_places(Settings(data=Path("/data"), **given))
    check_places(Settings(data=Path("/data"), backup="s3://bucket/b", backup_keys="/data-keys"))
