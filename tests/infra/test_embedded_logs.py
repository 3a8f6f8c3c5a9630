"""The append-only file: cut at the last whole command and nowhere else; damaged, torn, or shorter than what was synced."""

import io
import random
import time
from contextlib import suppress
from pathlib import Path

import pytest

from infra.valkey import aof
from infra.valkey.aof import repair_tail
from infra.valkey.server import EmbeddedError, EmbeddedServer

SET = b"*3\r\n$3\r\nSET\r\n$3\r\nkey\r\n$9\r\nva\r\n*1\r\n$\r\n"
BARE = b"*1\r\n$4\r\nPING\r\n"
TIME = b"#TS:1700000000\r\n"
MULTI, EXEC = b"*1\r\n$5\r\nMULTI\r\n", b"*1\r\n$4\r\nEXEC\r\n"
WHOLE = TIME + SET + BARE + MULTI + SET + SET + EXEC


def files(folder: Path, data: bytes) -> Path:
    """The folder as a server leaves it, after one rewrite; gives the file that is written to."""
    inside = folder / "appendonlydir"
    inside.mkdir()
    (inside / "appendonly.aof.manifest").write_text(
        "file appendonly.aof.2.base.rdb seq 2 type b\n"
        "file appendonly.aof.9.incr.aof seq 9 type i\n"
        "file appendonly.aof.10.incr.aof seq 10 type i\n"
        "file appendonly.aof.1.incr.aof seq 1 type h\n"
    )
    (inside / "appendonly.aof.2.base.rdb").write_bytes(b"REDIS0011")
    log = inside / "appendonly.aof.10.incr.aof"
    log.write_bytes(data)
    return log


def test_only_the_end_of_a_file_is_mended_and_no_damage_before_whole_commands(tmp_path: Path):
    assert repair_tail(tmp_path) is None
    log = files(tmp_path, b"")
    chance = random.Random(7)
    for good in (b"", SET, WHOLE, TIME, WHOLE + TIME):
        log.write_bytes(good)
        assert repair_tail(tmp_path) is None
        assert log.read_bytes() == good
    for damaged in (
        *(WHOLE.replace(b"$9\r\nva", b"$%d\r\nva" % size, 1) for size in (8, 99_999_999)),
        *(WHOLE.replace(b"*3", start, 1) for start in (b"*4", b"+3")),
        *(SET + bytes(512) + more for more in (SET, SET.replace(b"SET", b"set"))),
    ):
        log.write_bytes(damaged)
        with pytest.raises(
            aof.DamagedError, match=r"damaged at byte \d+, and whole commands follow"
        ):
            repair_tail(tmp_path)
        assert log.read_bytes() == damaged
    assert len(list(log.parent.iterdir())) == 3
    noise = [chance.randbytes(chance.randrange(1, 4096)) for _ in range(30)]
    torn = [b"", SET, SET + SET[:20], SET + EXEC[:9]]
    for whole, ends in (
        # a transaction without its end goes as a whole
        (WHOLE, [MULTI + rest for rest in torn]),
        (WHOLE + SET, [bytes(zeros) for zeros in (1, 512, 4096)]),
        # rubbish goes with what it damaged
        *(
            (WHOLE, [begun + one for one in noise])
            for begun in (b"", SET[:13], MULTI + SET + SET[:17])
        ),
    ):
        for end in ends:
            log.write_bytes(whole + end)
            assert repair_tail(tmp_path) is not None
            assert log.read_bytes() == whole


def test_where_nothing_was_written_since_the_last_rewrite_there_is_nothing_to_mend(tmp_path):
    (tmp_path / "appendonlydir").mkdir()
    manifest = tmp_path / "appendonlydir" / "appendonly.aof.manifest"
    manifest.write_text("file appendonly.aof.2.base.rdb seq 2 type b\n")
    assert repair_tail(tmp_path) is None
    assert aof.newest_log(tmp_path) is None


def test_every_prefix_is_cut_at_a_border() -> None:
    borders = [0]
    for part in (TIME, SET, BARE, MULTI + SET + SET + EXEC):
        borders.append(borders[-1] + len(part))
    for length in range(len(WHOLE) + 1):
        assert aof.end_of_last_command(io.BytesIO(WHOLE[:length])) == max(
            b for b in borders if b <= length
        )


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


@pytest.mark.parametrize(
    ("synced", "old", "new", "sentence"),
    [
        (False, b"*2", b"*9\r\nnonsense*2", "damaged at byte 0, and whole commands follow from"),
        (False, b"$5\r\nfirst", b"$9\r\nfirst", "restore the data from a copy"),
        (True, b"SET", b"SAT", "this is no torn end of a power loss"),
        (True, b"value\r\n", b"valu", r"damaged at byte [0-9]+, and was synced up to byte"),
    ],
)
def test_a_damaged_log_is_not_served(tmp_path: Path, synced, old, new, sentence):
    if synced:
        marked(tmp_path)
    else:
        with EmbeddedServer(tmp_path) as server, server.client() as client:
            client.set("first", "value")
            client.set("second", "value")
    log = log_of(tmp_path)
    damaged = log.read_bytes().replace(old, new, 1)
    assert damaged != log.read_bytes()
    log.write_bytes(damaged)
    with pytest.raises(EmbeddedError, match=sentence):
        EmbeddedServer(tmp_path).start()
    assert log.read_bytes() == damaged


def test_a_log_torn_at_its_end_is_mended_and_served(tmp_path: Path, caplog):
    torn = b"*3\r\n$3\r\nSET\r\n$1\r\nk"
    with EmbeddedServer(tmp_path) as server, server.client() as client:
        client.set("key", "value")
    log = log_of(tmp_path)
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
        daily = aof.DailyRewrite(client, tmp_path / "valkey", lambda: clock[0])
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


ODD = b"*3\r\n$9\r\nPEXPISEAT\r\n$5\r\nfirst\r\n$1\r\n1\r\n"


@pytest.mark.parametrize("torn", [ODD + b"*1\r\n$4\r\nPI", MULTI + ODD])
def test_a_torn_end_of_whole_frames_is_cut_off_behind_what_was_synced(tmp_path, torn, caplog):
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


def test_a_log_that_is_shorter_than_it_was_is_told_and_a_torn_mark_is_none(tmp_path: Path, caplog):
    marked(tmp_path)
    log = log_of(tmp_path)
    log.write_bytes(b"")
    with EmbeddedServer(tmp_path):
        assert "ALARM" in caplog.text
        assert "it was put back in time, or cut off" in caplog.text
    caplog.clear()
    with EmbeddedServer(tmp_path) as server:
        assert "ALARM" not in caplog.text
        server.note_synced()
    (tmp_path / "valkey.synced").write_bytes(bytes(20))
    log_of(tmp_path).write_bytes(b"")
    with EmbeddedServer(tmp_path) as server, server.client() as client:
        assert client.get("first") is None
        assert "ALARM" not in caplog.text


def test_a_server_that_does_not_sync_has_synced_nothing(tmp_path: Path):
    for durable in (True, False):
        with EmbeddedServer(tmp_path, durable=durable) as server, server.client() as client:
            if durable:
                client.config_set("appendfsync", "everysec")
            client.set("key", "value")
            server.note_synced()
        assert not (tmp_path / "valkey.synced").exists()
