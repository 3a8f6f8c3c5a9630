"""A full disk: the embedded server can be read, takes no writes, and goes on once there is room."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from redis.exceptions import ResponseError

from domain.errors import Refusal
from infra.durability.durability import Mode
from infra.durability.durability_watch import DurabilityWatch
from infra.redis.server import DISK_FULL
from infra.store.gateway import check_fault
from infra.valkey.directory import DataDirectory
from infra.valkey.disk_guard import ENOUGH, LOW, DiskGuard
from infra.valkey.server import EmbeddedError, EmbeddedServer


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


def test_players_read_that_the_disk_is_full():
    with pytest.raises(Refusal, match="everything can still be read, and nothing is lost"):
        check_fault(DISK_FULL)


def test_a_server_starts_in_the_room_of_the_reserve(tmp_path: Path, monkeypatch):
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
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(1, 1, 0))
    with pytest.raises(EmbeddedError, match="is full"):
        EmbeddedServer(tmp_path).start()
