"""The server of the queue under `serve`: found by all, and back after it is killed."""

import os
import signal
from pathlib import Path

import pytest
from redis.exceptions import RedisError

from infra.redis.keys import DURABILITY, HEARTBEATS
from infra.valkey.server import EmbeddedError
from tests.helpers.served import Served, until

pytestmark = pytest.mark.slow


def test_jobs_and_leases_are_there_and_nothing_else_is(tmp_path: Path) -> None:
    with Served(tmp_path / "data") as served, served.client() as data, served.queue() as queue:
        served.do("signup alice mad-hatter", "signup bob yes-we-can", "pow2 challenge alice bob")
        until(lambda: queue.exists("rq:workers"))
        assert not data.keys("rq:*")
        assert not data.keys("{lease:*")
        names = {name.decode() for name in queue.scan_iter()}
        signals = tuple(name for name in names if not name.endswith(":published"))
        known = ("rq:", "{lease:", DURABILITY, HEARTBEATS)
        assert not [name for name in signals if not name.startswith(known)]


WORKERS = 5
"""Two command workers, and those of projections, of the published log and of maintenance."""


def registered(served: Served) -> int:
    """Count RQ's workers; none while the server is being started."""
    try:
        with served.queue() as queue:
            return int(queue.scard("rq:workers"))
    except (RedisError, EmbeddedError):
        return 0


@pytest.mark.long
def test_workers_are_registered_again_and_the_doctor_finds_all_well(tmp_path: Path) -> None:
    with Served(tmp_path / "data", {"MATCHPOST_WORKERS": "2"}) as served:
        until(lambda: registered(served) == WORKERS)
        (server,) = served.children("/queue/valkey.sock")
        os.kill(server, signal.SIGKILL)
        until(lambda: set(served.children("/queue/valkey.sock")) - {server})
        until(lambda: registered(served) == WORKERS)
        served.do("signup alice mad-hatter", "signup bob yes-we-can", "pow2 challenge alice bob")
        until(lambda: served.run("doctor").returncode == 0)
