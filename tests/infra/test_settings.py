"""Settings, fault points, work at intervals, and the status of a server."""

import os
import re
import signal
import time
from contextlib import nullcontext
from pathlib import Path

import msgspec
import pytest

from domain.match.commands import PlayMove
from infra.durability.durability import Mode
from infra.health import secrets as secret_copies
from infra.health.secrets import Secret, make_id, read_copy
from infra.health.status import Status
from infra.process.failpoints import failpoint_of
from infra.process.intervals import every
from infra.redis import keys
from infra.settings.setting_values import SettingsError
from infra.settings.settings import Settings, load, setting_table
from tests.helpers.bench import Bench
from tests.helpers.given import ALICE

DOCS = Path(__file__).parents[2] / "docs" / "settings.md"


def test_flags_go_above_the_environment_and_that_above_the_file_and_the_defaults(
    clean_environment: Path,
):
    settings = load()
    assert settings.data == clean_environment / "matchpost-data"
    assert (settings.redis_url, settings.queue_url) == (None, None)
    assert settings.workers >= 1
    assert (settings.shards, settings.queue_cap) == (8, 100_000)
    assert settings.durability is Mode.FSYNC
    data = clean_environment / "d"
    data.mkdir()
    (data / "matchpost.toml").write_text('workers = 2\nshards = 16\ndurability = "none"\n')
    environ = {"MATCHPOST_DATA": str(data), "MATCHPOST_SHARDS": "32", "MATCHPOST_WORKERS": "3"}
    settings = load({"workers": 5, "queue_cap": None}, environ)
    assert (settings.workers, settings.shards, settings.durability) == (5, 32, Mode.NONE)
    assert settings.queue_cap == 100_000
    # or the file is the one that is named
    file = clean_environment / "etc" / "some.toml"
    file.parent.mkdir()
    file.write_text('data = "../var"\nworkers = 7\n')
    settings = load({}, {"MATCHPOST_CONFIG": str(file)})
    assert (settings.workers, settings.data) == (7, clean_environment / "var")


BAD = [
    ({"WORKERS": "many"}, "MATCHPOST_WORKERS must be a whole number .* not 'many'"),
    ({"WORKERS": "0"}, "MATCHPOST_WORKERS must be a whole number from 1"),
    ({"SHARDS": "101"}, "MATCHPOST_SHARDS must be a whole number from 1 to 100"),
    ({"QUEUE_CAP": "-1"}, "MATCHPOST_QUEUE_CAP must be a whole number, at least 1"),
    ({"DURABILITY": "yes"}, "MATCHPOST_DURABILITY must be fsync, replicated, managed or none, not 'yes'"),
    ({"REDIS_URL": "http://me:secret@x"}, "MATCHPOST_REDIS_URL must be a URL of a server"),
    ({"QUEUE_URL": "redis://h/x"}, "MATCHPOST_QUEUE_URL is unusable: the database"),
    ({"QUEUE_URL": "redis+cluster://h"}, "MATCHPOST_QUEUE_URL is unusable: RQ, which keeps the work queues, does not run on a clu"),
    ({"REDIS_URL": "rediss+cluster://h"}, "MATCHPOST_REDIS_URL names a cluster, .* set MATCHPOST_QUEUE_URL to a server of its own"),
    ({"CONFIG": "absent.toml"}, "MATCHPOST_CONFIG names absent.toml, which does not"),
]  # fmt: skip


@pytest.mark.usefixtures("clean_environment")
def test_a_bad_variable_is_refused_with_its_name():
    for environ, sentence in BAD:
        with pytest.raises(SettingsError, match=sentence) as refusal:
            load({}, {f"MATCHPOST_{name}": value for name, value in environ.items()})
        assert "secret" not in str(refusal.value)


BAD_FILES = [
    ("wokers = 2", "matchpost.toml has the unknown key 'wokers'; known keys are data, redis"),
    ('workers = "2"', "workers in .*matchpost.toml must be a whole number .*, not '2'"),
    ("workers = true", "workers in .* must be a whole number from 1 to 256, not True"),
    ("workers = ", "matchpost.toml isn't valid TOML"),
    ('data = "x"', "'data' can't be set in .*matchpost.toml"),
]


def test_a_bad_file_or_flag_is_refused_as_it_was_written(clean_environment: Path):
    data = clean_environment / "matchpost-data"
    data.mkdir()
    with pytest.raises(SettingsError, match="--queue-cap must be a whole number"):
        load({"queue_cap": "lots"}, {})
    for text, sentence in BAD_FILES:
        (data / "matchpost.toml").write_text(text)
        with pytest.raises(SettingsError, match=sentence):
            load()


@pytest.mark.usefixtures("clean_environment")
def test_a_child_reads_the_same_settings_and_a_password_is_not_shown():
    assert load({}, {"MATCHPOST_REDIS_URL": "", "MATCHPOST_WORKERS": "", "MATCHPOST_CONFIG": ""})
    url = "redis://me:hush-hush@host"
    settings = load({"workers": 3, "redis_url": url, "durability": "none"}, {})
    assert "hush" not in repr(settings)
    assert settings.redis_url == url
    assert load({}, settings.environment()) == settings


def test_every_setting_is_described_in_the_table_and_in_the_documentation():
    fields = sorted(field.name for field in msgspec.structs.fields(Settings))
    assert sorted(row.name for row in setting_table()) == fields
    for row in setting_table():
        assert row.env == f"MATCHPOST_{row.name.upper()}"
        assert all((row.meaning, row.expected, row.default))
    pattern = r"^\| `(\w+)` \| `(MATCHPOST_\w+)` \| (.*?) \| (.*) \|$"
    listed = re.findall(pattern, DOCS.read_text(), re.MULTILINE)
    assert listed == [(row.name, row.env, row.default, row.meaning) for row in setting_table()]


def test_every_variable_that_is_read_anywhere_is_in_the_documentation():
    layers = [DOCS.parents[1] / layer for layer in ("domain", "infra", "workers", "services")]
    files = [file for layer in layers for file in layer.rglob("*") if file.suffix in (".py", ".c")]
    read = {name for file in files for name in re.findall(r"MATCHPOST_[A-Z]\w*", file.read_text())}
    read |= {row.env for row in setting_table()}
    listed = set(re.findall(r"`(MATCHPOST_\w+)` \|", DOCS.read_text()))
    assert {"MATCHPOST_DATA", "MATCHPOST_CONFIG", "MATCHPOST_DEBUG", "MATCHPOST_FAULT"} <= read
    assert read == listed


def test_a_process_that_comes_second_takes_the_id_of_the_first(tmp_path, monkeypatch):
    settings = Settings(data=tmp_path)
    make_id(Secret.STORE, settings)
    first = read_copy(Secret.STORE, settings)
    with monkeypatch.context() as patched:
        # it looked before the other one wrote
        patched.setattr(secret_copies, "_id_of", lambda _: None)
        make_id(Secret.STORE, settings)
    assert not first.missing
    assert read_copy(Secret.STORE, settings) == first


def ended(setting: str) -> tuple[int, int]:
    """Pass two points three times each in a process; return how many it passed, and how it ended."""
    fault = failpoint_of({"MATCHPOST_FAULT": setting})
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:  # pragma: no cover - it is stopped or ends
        for name in ("drain.read", "drain.decided") * 3:
            fault(name)
            os.write(writing, b".")
        os._exit(0)
    os.close(writing)
    _, status = os.waitpid(child, os.WUNTRACED)
    if os.WIFSTOPPED(status):
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        how = signal.SIGSTOP
    else:
        how = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    with os.fdopen(reading, "rb") as passed:
        return len(passed.read()), how


def test_the_process_dies_at_the_point_and_count_asked_for_and_with_a_file_once(tmp_path) -> None:
    once = tmp_path / "once"
    assert ended("") == (6, 0)
    assert ended("drain.decided:2") == (3, signal.SIGKILL)
    # with a file it dies only if it can remove it, and again where it was put back
    twice = f"drain.read:1:{once},drain.decided:2"
    assert ended(twice) == (3, signal.SIGKILL)
    for number, how in (("1", signal.SIGKILL), ("2", signal.SIGSTOP)):
        setting = f"drain.read:{number}:{once}" + (":STOP" if how is signal.SIGSTOP else "")
        for _ in range(2):
            once.touch()
            assert ended(setting) == (2 * int(number) - 2, how)
            assert ended(setting) == (6, 0)


def test_a_setting_that_makes_no_sense_is_refused() -> None:
    wrong = "drain drain.decided drain.decided:x nowhere:1 drain.read:1:file:GO drain.read:1:file:STOP:x drain.read:1,"
    for setting in wrong.split():
        with pytest.raises(ValueError, match="it takes NAME:COUNT"):
            failpoint_of({"MATCHPOST_FAULT": setting})


def test_work_that_fails_is_tried_again_after_the_interval() -> None:
    now, done = 0.0, []

    def work() -> None:
        done.append(now)
        raise OSError("away")

    tick = every(3.0, work, lambda: now)
    for second in range(5):
        now = float(second)
        with pytest.raises(OSError, match="away") if second in (0, 3) else nullcontext():
            tick()
    assert done == [0.0, 3.0]


def test_a_changed_pointer_of_a_projection_hides_the_lag_and_nothing_else(redis_client, tmp_path):
    """In the status of a server with a match in which a move waits to be decided."""
    bench = Bench(redis_client, tmp_path / "seeds")
    bench.start(1)
    bench.send(ALICE, PlayMove(text="m13-j7", ply=0), 1)
    status = Status(Settings(data=tmp_path), redis_client, redis_client, bench.store)
    (log,) = [keys.log(shard) for shard in range(4) if redis_client.exists(keys.log(shard))]
    redis_client.delete(log)
    redis_client.set(log, "not a stream")
    assert (status.projections, status.unpublished_since) == ((), None)
    assert status.now - round(time.time() * 1000) < 60_000
