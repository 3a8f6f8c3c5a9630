"""Backups in an object store: pieces once, formats, encryption, and which backups are kept."""

from io import BytesIO

import msgspec
import pytest
from pyrage import x25519

from infra.backup import repository
from infra.backup.port import BackupError, ChangedMeanwhileError
from infra.backup.repository import Manifest, Repository
from infra.backup.retention import Retention, id_of, kept
from infra.backup.sealing import Encrypted, Plain, own_sealer, sealer_of
from infra.settings.settings import Settings
from services.app.backups import read_backups, thin_out
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
