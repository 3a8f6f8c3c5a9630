"""Limits of memory, and a server that keeps to one."""

from pathlib import Path

import pytest
from redis import Redis
from redis.exceptions import OutOfMemoryError

from infra.process import machine
from infra.process.machine import memory_limit, usable_memory
from infra.settings.settings import SettingsError, load
from infra.valkey.server import EmbeddedServer

GIB = 1 << 30


@pytest.mark.parametrize(
    ("text", "limit"), [("off", 0), ("500mb", 500 << 20), ("8gb", 8 * GIB), ("60%", 6 * GIB)]
)
def test_a_limit_is_a_share_a_size_or_none(
    monkeypatch: pytest.MonkeyPatch, text: str, limit: int
) -> None:
    monkeypatch.setattr(machine, "usable_memory", lambda: 10 * GIB)
    assert memory_limit(text) == limit


@pytest.mark.parametrize(("text", "share"), [("1048576\n", 1 << 20), ("max\n", None)])
def test_a_container_has_the_memory_of_its_limit(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str, share: int | None
) -> None:
    (tmp_path / "memory.max").write_text(text)
    monkeypatch.setattr(machine, "_CGROUP_LIMITS", (tmp_path / "none",))
    whole = usable_memory()
    monkeypatch.setattr(machine, "_CGROUP_LIMITS", (tmp_path / "memory.max", tmp_path / "none"))
    assert usable_memory() == (share or whole)


@pytest.mark.parametrize("text", ["60", "0%", "100%", "8 gb", "-1mb", ""])
def test_another_text_is_no_limit(clean_environment: Path, text: str) -> None:
    assert clean_environment
    with pytest.raises(SettingsError, match="--maxmemory must be a share such as 60%"):
        load({"maxmemory": text}, {})


def fill(client: Redis) -> None:
    for number in range(100):
        client.set(f"large{number}", "x" * 100_000)


def test_a_full_server_refuses_writes_and_keeps_what_it_has(tmp_path: Path) -> None:
    limit = 4 << 20
    with (
        EmbeddedServer(tmp_path, maxmemory=limit) as server,
        server.client() as client,
    ):
        assert client.config_get("maxmemory") == {"maxmemory": str(limit)}
        client.set("kept", "x")
        with pytest.raises(OutOfMemoryError):
            fill(client)
        assert client.get("kept") == b"x"
