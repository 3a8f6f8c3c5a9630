"""Backups in an object store: pieces once, formats, encryption, which are kept; what is copied, and where it goes in a restore."""

from io import BytesIO
from pathlib import Path

import msgspec
import pytest
from pyrage import x25519

from infra.backup import copying, repository
from infra.backup.copying import ServerCopies, is_within
from infra.backup.port import BackupError, ChangedMeanwhileError
from infra.backup.repository import Manifest, Repository
from infra.backup.restoring import begin_restore, finish_restore, place_of, write_files
from infra.backup.retention import Retention, id_of, kept
from infra.backup.sealing import Encrypted, Plain, own_sealer, sealer_of
from infra.settings.settings import Settings
from infra.store.seed_chains import CHAIN_LENGTH, read_mark, retire_chains
from infra.valkey.directory import DataDirectory, DirectoryError
from services.app.backups import check_places, read_backups, thin_out
from tests.fakes.memory_store import MemoryObjects

DAY = 86_400
FIRST, SECOND = "20260101T000000Z", "20260102T000000Z"
NEW_YEAR = 1_767_225_600  # 2026-01-01


def backup(target: Repository, id_: str, **files: bytes) -> Manifest:
    target.begin("play.example.org")
    found = tuple(target.add_bytes(path, data) for path, data in files.items())
    made = Manifest(program="1.0.0", begun=5, has_log=True, files=found)
    target.finish(id_, made)
    return made


def contents(source: Repository, id_: str) -> dict[str, bytes]:
    return {one.path: b"".join(source.pieces(one)) for one in source.read(id_).files}


def pieces(objects: MemoryObjects) -> list[str]:
    return [name for name in objects.found if name.startswith("pieces/")]


def test_what_did_not_change_is_stored_once(monkeypatch):
    monkeypatch.setattr(repository, "PIECE_BYTES", 4)
    objects = MemoryObjects()
    backup(Repository(objects, Plain()), FIRST, log=b"aaaabbbb", other=b"aaaa")
    assert len(pieces(objects)) == 2
    backup(Repository(objects, Plain()), SECOND, log=b"aaaabbbbcc")
    assert len(pieces(objects)) == 3
    source = Repository(objects, Plain())
    assert source.ids() == [FIRST, SECOND]
    assert contents(source, FIRST) == {"log": b"aaaabbbb", "other": b"aaaa"}
    assert contents(source, SECOND) == {"log": b"aaaabbbbcc"}


def test_a_removed_backup_takes_along_the_pieces_that_no_other_has():
    objects = MemoryObjects()
    target = Repository(objects, Plain())
    backup(target, FIRST, one=b"1", both=b"2")
    backup(target, SECOND, both=b"2")
    # what a backup that was cut off has left
    target.add_bytes("lost", b"3")
    target.remove([FIRST])
    assert [objects.found[name] for name in pieces(objects)] == [b"2"]
    assert contents(target, SECOND) == {"both": b"2"}
    backup(target, "20260103T000000Z", one=b"1")
    assert contents(target, "20260103T000000Z") == {"one": b"1"}


def test_changed_missing_and_cut_off_pieces_are_noticed():
    objects = MemoryObjects()
    target = Repository(objects, Plain())
    backup(target, FIRST, log=b"abc")
    (piece,) = pieces(objects)
    objects.found[piece] = b"abd"
    with pytest.raises(BackupError, match="log has other bytes than were copied"):
        contents(target, FIRST)
    del objects.found[piece]
    with pytest.raises(BackupError, match="a piece of log is missing"):
        contents(target, FIRST)
    with pytest.raises(ChangedMeanwhileError, match="log was cut off"):
        target.add_file("log", BytesIO(b"abc"), 4)


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (2, "a newer matchpost made this backup: .* later one"),
        (0, "an older matchpost made this backup: .* upgrade that server"),
    ],
)
def test_another_format_is_refused_with_what_to_do(number, said):
    objects = MemoryObjects()
    made = backup(Repository(objects, Plain()), FIRST, log=b"abc")
    header = {"format": number, "something": "else"}
    objects.found["matchpost-backup"] = msgspec.json.encode(header)
    source = Repository(objects, Plain())
    for asked in (source.check_format, lambda: source.begin("play.example.org")):
        with pytest.raises(BackupError, match=said):
            asked()
    other = Repository(MemoryObjects(), Plain())
    other.finish(FIRST, msgspec.structs.replace(made, format=number))
    with pytest.raises(BackupError, match=said):
        other.read(FIRST)


def test_each_server_has_a_place_of_its_own():
    objects = MemoryObjects()
    backup(Repository(objects, Plain()), FIRST)
    with pytest.raises(BackupError, match="need a place of their own"):
        Repository(objects, Plain()).begin("b.example.org")
    with pytest.raises(BackupError, match="there is no backup in"):
        Repository(MemoryObjects(), Plain()).check_format()


def test_an_encrypted_backup_is_opened_by_both_keys_and_by_no_other(tmp_path):
    operator = x25519.Identity.generate()
    sealer = own_sealer(tmp_path, str(operator.to_public()))
    objects = MemoryObjects()
    backup(Repository(objects, sealer), FIRST, log=b"a secret")
    assert not any(b"a secret" in data for data in objects.found.values())
    assert sealer.name(b"a secret") != Plain().name(b"a secret")
    file = tmp_path / "operator"
    file.write_text(f"# made by age-keygen\n{operator}\n")
    for opened in (own_sealer(tmp_path, str(operator.to_public())), sealer_of(file)):
        source = Repository(objects, opened)
        source.check_format()
        assert contents(source, FIRST) == {"log": b"a secret"}
    stranger = Repository(objects, Encrypted(str(x25519.Identity.generate())))
    with pytest.raises(BackupError, match="can't be opened with this key"):
        stranger.read(FIRST)
    with pytest.raises(BackupError, match="are encrypted: name the file"):
        Repository(objects, Plain()).check_format()
    with pytest.raises(BackupError, match="begins with age1"):
        own_sealer(tmp_path, "age1" + "q" * 58)
    (tmp_path / "empty").write_text("")
    for name, why in (("empty", "AGE-SECRET-KEY-1"), ("none", "can't be read")):
        with pytest.raises(BackupError, match=why):
            sealer_of(tmp_path / name)
    # the same bytes are found again, though they are sealed in another way
    backup(Repository(objects, sealer), SECOND, log=b"a secret")
    assert len(pieces(objects)) == 1


def test_of_a_backup_each_day_seven_days_five_weeks_and_twelve_months_stay():
    found: set[str] = set()
    for day in range(500):
        found.add(id_of(NEW_YEAR + day * DAY))
        found = kept(found, Retention())
    days = sorted(found, reverse=True)
    assert days[:7] == [id_of(NEW_YEAR + day * DAY) for day in range(499, 492, -1)]
    assert len({one[:6] for one in days}) == 12
    # a week's or a month's is often a day's, too
    assert 7 + 3 + 10 <= len(days) <= 7 + 5 + 12
    # of one day the newest stays, and what is no backup is left alone
    noon = "20260101T120000Z"
    assert kept([FIRST, noon, "notes"], Retention(1, 1, 1)) == {noon, "notes"}
    assert kept([FIRST], Retention(0, 0, 0)) == {FIRST}


def test_a_backup_that_failed_its_trial_stands_for_no_day(tmp_path):
    settings = Settings(data=tmp_path / "data", backup=str(tmp_path / "backups"))
    target = read_backups(settings)
    ids = [id_of(NEW_YEAR + day * DAY + hour * 3600) for day in (0, 1) for hour in (9, 12, 15)]
    for id_ in ids:
        backup(target, id_)
    thin_out(settings, failed=[ids[2]])
    assert target.ids() == [ids[1], ids[5]]


# what is copied of a server, and where it goes


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
