"""The log of an embedded server: damaged, torn at its end, shorter than what was synced."""

import time
from contextlib import suppress
from pathlib import Path

import pytest

from infra.valkey.aof import DailyRewrite
from infra.valkey.server import EmbeddedError, EmbeddedServer


def test_a_damaged_log_is_not_served(tmp_path: Path):
    with EmbeddedServer(tmp_path) as server, server.client() as client:
        client.set("key", "value")
    (log,) = (tmp_path / "valkey" / "appendonlydir").glob("*.incr.aof")
    damaged = b"*9\r\nnonsense" + log.read_bytes()
    log.write_bytes(damaged)
    with pytest.raises(EmbeddedError, match="damaged at byte 0, and whole commands follow from"):
        EmbeddedServer(tmp_path).start()
    assert log.read_bytes() == damaged


def test_a_damaged_length_in_the_log_is_not_taken_for_its_end(tmp_path: Path):
    with EmbeddedServer(tmp_path) as server, server.client() as client:
        client.set("first", "value")
        client.set("second", "value")
    (log,) = (tmp_path / "valkey" / "appendonlydir").glob("*.incr.aof")
    damaged = log.read_bytes().replace(b"$5\r\nfirst", b"$9\r\nfirst")
    log.write_bytes(damaged)
    with pytest.raises(EmbeddedError, match="restore the data from a copy"):
        EmbeddedServer(tmp_path).start()
    assert log.read_bytes() == damaged


@pytest.mark.parametrize("torn", [b"*3\r\n$3\r\nSET\r\n$1\r\nk", b"\0" * 4096, b"\xff*1\r\n"])
def test_a_log_torn_at_its_end_is_mended_and_served(tmp_path: Path, torn: bytes, caplog):
    with EmbeddedServer(tmp_path) as server, server.client() as client:
        client.set("key", "value")
    (log,) = (tmp_path / "valkey" / "appendonlydir").glob("*.incr.aof")
    whole = log.read_bytes()
    log.write_bytes(whole + torn)
    with EmbeddedServer(tmp_path) as server, server.client() as client:
        assert client.get("key") == b"value"
    assert f"{len(torn)} bytes after the last good command of {log} were cut off" in caplog.text
    assert log.with_name(f"{log.name}.cut-at-{len(whole)}").read_bytes() == torn


def test_what_was_erased_leaves_the_disk_within_a_day(tmp_path: Path, wait_until):
    def files() -> bytes:
        found = b""
        for one in (tmp_path / "valkey" / "appendonlydir").iterdir():
            with suppress(FileNotFoundError):  # it was a temporary one
                found += one.read_bytes()
        return found

    clock = [time.time()]
    with EmbeddedServer(tmp_path) as server, server.client() as client:
        daily = DailyRewrite(client, tmp_path / "valkey", lambda: clock[0])
        client.set("kept", "by others")
        client.set("text", "a secret text")
        client.delete("text")
        daily.tick()
        assert b"a secret text" in files()
        clock[0] += 24 * 3600 + 1
        daily.tick()
        wait_until(lambda: b"a secret text" not in files())
    with EmbeddedServer(tmp_path) as server, server.client() as client:
        assert client.get("kept") == b"by others"


def log_of(data: Path) -> Path:
    (log,) = (data / "valkey" / "appendonlydir").glob("*.incr.aof")
    return log


def marked(data: Path, *later: str) -> bytes:
    """Data of which a first part is known to be synced; return that part of the log."""
    with EmbeddedServer(data) as server, server.client() as client:
        client.set("first", "value")
        server.note_synced()
        known = log_of(data).read_bytes()
        for key in later:
            client.set(key, "value")
    return known


ODD = b"*3\r\n$9\r\nPEXPISEAT\r\n$5\r\nfirst\r\n$1\r\n1\r\n"
MULTI = b"*1\r\n$5\r\nMULTI\r\n"


@pytest.mark.parametrize("torn", [ODD, ODD + b"*1\r\n$4\r\nPI", MULTI + ODD])
def test_a_torn_end_of_whole_frames_is_cut_off_behind_what_was_synced(
    tmp_path: Path, torn: bytes, caplog
):
    known = marked(tmp_path, "second")
    log = log_of(tmp_path)
    whole = log.read_bytes()
    log.write_bytes(whole + torn + whole[len(known) :])
    with EmbeddedServer(tmp_path) as server, server.client() as client:
        assert client.mget("first", "second") == [b"value", b"value"]
    kept = log.with_name(f"{log.name}.cut-at-{len(whole)}")
    assert kept.read_bytes() == torn + whole[len(known) :]
    assert (
        f"the {len(whole) - len(known)} bytes before them had not been seen synced" in caplog.text
    )
    assert "moves that were acknowledged may be in it" in caplog.text


def test_an_odd_command_in_what_was_synced_is_no_torn_end(tmp_path: Path):
    marked(tmp_path)
    log = log_of(tmp_path)
    damaged = log.read_bytes().replace(b"SET", b"SAT")
    log.write_bytes(damaged)
    with pytest.raises(EmbeddedError, match="this is no torn end of a power loss"):
        EmbeddedServer(tmp_path).start()
    assert log.read_bytes() == damaged


def test_a_torn_end_in_what_was_synced_is_none(tmp_path: Path):
    known = marked(tmp_path)
    log = log_of(tmp_path)
    log.write_bytes(known[:-3])
    with pytest.raises(EmbeddedError, match=r"damaged at byte [0-9]+, and was synced up to byte"):
        EmbeddedServer(tmp_path).start()
    assert log.read_bytes() == known[:-3]


def test_a_log_that_is_shorter_than_it_was_is_told(tmp_path: Path, caplog):
    marked(tmp_path)
    log = log_of(tmp_path)
    log.write_bytes(b"")
    with EmbeddedServer(tmp_path):
        assert "ALARM" in caplog.text
        assert "it was put back in time, or cut off" in caplog.text
    caplog.clear()
    with EmbeddedServer(tmp_path):
        assert "ALARM" not in caplog.text


def test_without_durability_nothing_is_noted_as_synced(tmp_path: Path):
    with EmbeddedServer(tmp_path, durable=False) as server, server.client() as client:
        client.set("key", "value")
        server.note_synced()
    assert not (tmp_path / "valkey.synced").exists()


def test_a_server_that_was_set_not_to_sync_has_synced_nothing(tmp_path: Path):
    with EmbeddedServer(tmp_path) as server, server.client() as client:
        client.config_set("appendfsync", "everysec")
        client.set("key", "value")
        server.note_synced()
    assert not (tmp_path / "valkey.synced").exists()


def test_a_mark_that_is_torn_is_none(tmp_path: Path):
    marked(tmp_path)
    (tmp_path / "valkey.synced").write_bytes(bytes(20))
    log_of(tmp_path).write_bytes(b"")
    with EmbeddedServer(tmp_path) as server, server.client() as client:
        assert client.get("first") is None
