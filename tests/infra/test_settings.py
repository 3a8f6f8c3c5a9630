import re
from pathlib import Path

import msgspec
import pytest

from infra.durability.durability import Mode
from infra.settings.settings import Settings, SettingsError, load, setting_table

DOCS = Path(__file__).parents[2] / "docs" / "settings.md"


def test_without_anything_set_the_defaults_hold(clean_environment: Path):
    settings = load()
    assert settings.data == clean_environment / "matchpost-data"
    assert settings.redis_url is None
    assert settings.queue_url is None
    assert settings.durability is Mode.FSYNC
    assert settings.workers >= 1
    assert (settings.shards, settings.queue_cap) == (8, 100_000)


def test_flags_go_above_the_environment_and_that_above_the_file(clean_environment: Path):
    data = clean_environment / "d"
    data.mkdir()
    (data / "matchpost.toml").write_text('workers = 2\nshards = 16\ndurability = "none"\n')
    environ = {"MATCHPOST_DATA": str(data), "MATCHPOST_SHARDS": "32", "MATCHPOST_WORKERS": "3"}
    settings = load({"workers": 5, "queue_cap": None}, environ)
    assert (settings.workers, settings.shards, settings.durability) == (5, 32, Mode.NONE)
    assert settings.queue_cap == 100_000


def test_the_file_is_the_one_that_is_named(clean_environment: Path):
    file = clean_environment / "etc" / "some.toml"
    file.parent.mkdir()
    file.write_text('data = "../var"\nworkers = 7\n')
    settings = load({}, {"MATCHPOST_CONFIG": str(file)})
    assert settings.workers == 7
    assert settings.data == clean_environment / "var"


@pytest.mark.usefixtures("clean_environment")
def test_an_empty_variable_counts_as_not_set():
    assert load({}, {"MATCHPOST_REDIS_URL": "", "MATCHPOST_WORKERS": "", "MATCHPOST_CONFIG": ""})


@pytest.mark.usefixtures("clean_environment")
@pytest.mark.parametrize(
    ("environ", "sentence"),
    [
        ({"MATCHPOST_WORKERS": "many"}, "MATCHPOST_WORKERS must be a whole number .* not 'many'"),
        ({"MATCHPOST_WORKERS": "0"}, "MATCHPOST_WORKERS must be a whole number from 1"),
        ({"MATCHPOST_SHARDS": "101"}, "MATCHPOST_SHARDS must be a whole number from 1 to 100"),
        ({"MATCHPOST_QUEUE_CAP": "-1"}, "MATCHPOST_QUEUE_CAP must be a whole number, at least 1"),
        (
            {"MATCHPOST_DURABILITY": "yes"},
            "MATCHPOST_DURABILITY must be fsync, replicated, managed or none, not 'yes'",
        ),
        ({"MATCHPOST_REDIS_URL": "http://x"}, "MATCHPOST_REDIS_URL must be a URL of a server"),
        ({"MATCHPOST_QUEUE_URL": "redis://h/x"}, "MATCHPOST_QUEUE_URL is unusable: the database"),
        (
            {"MATCHPOST_QUEUE_URL": "redis+cluster://h"},
            "MATCHPOST_QUEUE_URL is unusable: RQ, which keeps the work queues, does not run on a clu",
        ),
        (
            {"MATCHPOST_REDIS_URL": "rediss+cluster://h"},
            "MATCHPOST_REDIS_URL names a cluster, .* set MATCHPOST_QUEUE_URL to a server of its own",
        ),
        ({"MATCHPOST_CONFIG": "absent.toml"}, "MATCHPOST_CONFIG names absent.toml, which does not"),
    ],
)
def test_a_bad_variable_is_refused_with_its_name(environ, sentence):
    with pytest.raises(SettingsError, match=sentence):
        load({}, environ)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("wokers = 2", "matchpost.toml has the unknown key 'wokers'; known keys are data, redis"),
        ('workers = "2"', "workers in .*matchpost.toml must be a whole number .*, not '2'"),
        ("workers = true", "workers in .* must be a whole number from 1 to 256, not True"),
        ("workers = ", "matchpost.toml isn't valid TOML"),
        ('data = "x"', "'data' can't be set in .*matchpost.toml"),
    ],
)
def test_a_bad_file_is_refused_with_its_path(clean_environment: Path, text, sentence):
    data = clean_environment / "matchpost-data"
    data.mkdir()
    (data / "matchpost.toml").write_text(text)
    with pytest.raises(SettingsError, match=sentence):
        load()


@pytest.mark.usefixtures("clean_environment")
def test_a_bad_flag_is_refused_as_it_was_written():
    with pytest.raises(SettingsError, match="--queue-cap must be a whole number"):
        load({"queue_cap": "lots"}, {})


@pytest.mark.usefixtures("clean_environment")
def test_a_password_in_a_url_is_not_repeated():
    with pytest.raises(SettingsError) as refusal:
        load({}, {"MATCHPOST_REDIS_URL": "http://me:secret@host"})
    assert "secret" not in str(refusal.value)
    settings = load({}, {"MATCHPOST_REDIS_URL": "redis://me:secret@host"})
    assert "secret" not in repr(settings)
    assert settings.redis_url == "redis://me:secret@host"


@pytest.mark.usefixtures("clean_environment")
def test_a_child_reads_the_same_settings_from_its_environment():
    settings = load({"workers": 3, "redis_url": "unix:///s", "durability": "none"}, {})
    assert load({}, settings.environment()) == settings


def test_every_field_is_described():
    assert sorted(row.name for row in setting_table()) == sorted(
        f.name for f in msgspec.structs.fields(Settings)
    )
    for row in setting_table():
        assert row.env == f"MATCHPOST_{row.name.upper()}"
        assert row.meaning
        assert row.expected
        assert row.default


def test_the_documentation_lists_exactly_the_settings_there_are():
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
