"""Who may see how the backups stand and ask for one; what the doctor says; when `serve` begins one."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from domain.errors import Code
from infra.backup.notes import BackupPlace
from infra.backup.port import BackupError
from infra.people.accounts import AccountRole
from infra.people.acts import TERMINAL, Act
from infra.redis import keys
from infra.settings.settings import Settings, SettingsError, load
from infra.store.layout import Layout, Numbering, create_layout
from services.app import backups
from services.app.acts import acts_of
from services.app.backups import ask_for_backup, backup_state, make_backup, read_state
from services.app.roles import set_role
from services.cli import backup as backup_command
from services.doctor.backups import check_backups
from services.doctor.findings import Level
from services.serve import backup_schedule
from services.serve.backup_schedule import AGAIN_MS, DAY_MS, BackupSchedule
from tests.helpers.api import Api
from tests.helpers.examples import refused
from tests.helpers.web import visitors

NOW = 1_780_000_000_000


@pytest.fixture
def api(tmp_path) -> Iterator[Api]:
    with Api(tmp_path, backup=str(tmp_path / "backups")) as api:
        yield api


def test_an_operator_sees_the_backups_and_asks_for_one_and_nobody_else(api):
    place = BackupPlace(api.settings.data)
    operator, moderator, ann = api.player(), api.player(), api.player()
    for player, role in ((operator, AccountRole.OPERATOR), (moderator, AccountRole.MODERATOR)):
        set_role(api.parts, TERMINAL, player.name, role, held=True)
    with visitors(api) as come:
        for player in (ann, moderator):
            refused(Code.NOT_AN_OPERATOR, backup_state, api.parts, player.account)
            refused(Code.NOT_AN_OPERATOR, ask_for_backup, api.parts, player.account)
        guest = come(ann)
        assert guest.get("/admin/backups").status_code == 403
        assert guest.send("/admin/backups").status_code == 403
        assert come().get("/admin/backups").status_code == 303
        assert not place.is_asked
        guest = come(operator)
        assert "No backup was tried yet" in guest.page("/admin/backups")
        assert guest.send("/admin/backups", on="/admin/backups").status_code == 303
        assert place.is_asked
        page = guest.page("/admin/backups")
        assert "A backup is being made" in page
        assert "Back up now" not in page
        assert next(act.act for act in acts_of(api.parts, TERMINAL)) == Act.BACKUP_ASKED
        place.forget_asked()
        found = {"found": "all 3 matches hold", "fault": "the disk <is> full"}
        place.note(tried=NOW, made=NOW, size=3 << 20, **found)
        page = guest.page("/admin/backups")
        for said in ("All 3 matches hold.", "The disk &lt;is&gt; full.", "3 MiB", "Back up now"):
            assert said in page, said


def test_without_a_place_there_is_nothing_to_ask_for(tmp_path):
    with Api(tmp_path) as api:
        refused(Code.NOT_WANTED, ask_for_backup, api.parts, TERMINAL)
        assert not BackupPlace(api.settings.data).is_asked


class _Facts(msgspec.Struct):
    """As much of the doctor's facts as this check looks at."""

    settings: Settings
    backups: Any
    clock: int = NOW


@pytest.mark.parametrize(
    ("notes", "found"),
    [
        ({}, [(Level.WARN, "no backup was tried yet")]),
        (
            {"tried": NOW - DAY_MS, "size": 1 << 20},
            [(Level.OK, "the last backup that was tried is 24 h old, of 1.0 MiB")],
        ),
        (
            {"tried": NOW - 3 * DAY_MS, "size": 1 << 20, "fault": "no room"},
            [
                (Level.WARN, "the last backup was not made, or does not hold: no room"),
                (Level.WARN, "the last backup that was tried is 3 d old, of 1.0 MiB"),
            ],
        ),
    ],
)
def test_the_doctor_says_when_the_last_tried_one_was(tmp_path, notes, found):
    (tmp_path / "backups").mkdir()
    BackupPlace(tmp_path).note(**notes)
    settings = Settings(data=tmp_path, backup="/b")
    findings = [*check_backups(_Facts(settings, read_state(settings)))]
    assert [(one.level, one.what) for one in findings] == found
    assert all(one.remedy for one in findings if one.level > Level.NOTE)


def test_serve_begins_one_a_day_and_after_a_failure_within_the_hour(tmp_path, monkeypatch):
    begun: list[Path] = []

    def spawned(argv: list[str], env: dict[str, str]) -> Any:
        assert argv[1:] == ["backup"]
        begun.append(Path(env["MATCHPOST_DATA"]))
        return _Ended()

    class _Ended:
        def poll(self) -> int:
            return 0

    monkeypatch.setattr(backup_schedule, "spawn", spawned)
    (tmp_path / "backups").mkdir()
    place, clock = BackupPlace(tmp_path), [NOW / 1000]
    schedule = BackupSchedule(Settings(data=tmp_path, backup="/b"), lambda: clock[0])

    def after(ms: int) -> int:
        clock[0] = (place.read().begun + ms) / 1000
        schedule.tick()
        return len(begun)

    schedule.tick()
    assert begun == [tmp_path]
    place.note(begun=NOW, made=NOW, tried=NOW)
    assert after(DAY_MS - 1000) == 1
    assert after(DAY_MS) == 2
    place.note(begun=NOW + DAY_MS, fault="no room")
    assert after(AGAIN_MS - 1000) == 2
    place.ask()
    assert after(AGAIN_MS - 1000) == 3
    assert not place.is_asked
    assert after(AGAIN_MS) == 4


def test_two_backups_are_not_made_at_once(tmp_path, capsys):
    lock = BackupPlace(tmp_path).lock()
    lock.acquire()
    settings = Settings(data=tmp_path, backup=str(tmp_path.parent / "b"))
    given: dict[str, Any] = {"target": None, "keys_to": None, "encrypt_to": None, "is_tried": True}
    assert BackupPlace(tmp_path).is_busy()
    assert backup_command.run(**given, settings=settings) == 1
    assert "is making a backup now" in capsys.readouterr().err
    lock.release()
    assert not BackupPlace(tmp_path).is_busy()


def test_settings_of_backups_are_checked(tmp_path):
    key = "age1m9k8pqqndm9485r6jyl74r67tsvwhwfjs9ny27lmr5kpxhmwe5rq3k6tt5"
    given = {"MATCHPOST_BACKUP": str(tmp_path), "MATCHPOST_BACKUP_ENCRYPT_TO": key}
    assert load({}, given).backup_encrypt_to == key
    for name, value in {"BACKUP": "ftp://b", "BACKUP_ENCRYPT_TO": "AGE-SECRET-KEY-1"}.items():
        with pytest.raises(SettingsError, match=f"MATCHPOST_{name}"):
            load({}, {f"MATCHPOST_{name}": value})


def test_a_backup_of_a_cluster_waits_for_the_published_log(
    tmp_path, cluster, cluster_client, monkeypatch
):
    create_layout(cluster_client, Layout(2, 1, Numbering.SHARD))
    settings = Settings(data=tmp_path, backup=str(tmp_path.parent / "kept"), redis_url=cluster.url)
    BackupPlace(tmp_path).lock()
    cluster_client.xadd(keys.log(1), {"l": b"leaf"}, id="0-1")
    monkeypatch.setattr(backups, "PUBLISHED_SECONDS", 0.0)
    with pytest.raises(
        BackupError, match="the log is not published as far as the data go; look at"
    ):
        make_backup(settings)
    assert not BackupPlace(tmp_path).fetched.exists()
    cluster_client.hset(keys.published(1), "size", 1)
    _, made = make_backup(settings)
    named = [file.path for file in made.files if file.path.startswith("valkey/")]
    assert named == [
        f"valkey/appendonlydir/appendonly.aof.{name}"
        for name in ("manifest", "1.base.rdb", "1.incr.aof", "2.incr.aof", "3.incr.aof")
    ]
