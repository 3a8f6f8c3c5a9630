"""What a server costs while nobody plays: commands, bytes of the append-only file, and time of the processor."""

import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pytest
from redis import Redis

from infra.redis import keys
from tests.helpers.served import Served, until

pytestmark = [pytest.mark.long, pytest.mark.slow]

SECONDS = 60
"""How long it is watched: a run of the publisher and of the projection worker, and six trial writes."""


class Cost(NamedTuple):
    """What a server has cost until now."""

    at: float
    commands: float
    log_bytes: float
    processor: float
    """Seconds."""

    def an_hour(self, before: "Cost") -> "Cost":
        """What it costs in an hour, by what it has cost since `before`."""
        hours = (self.at - before.at) / 3600
        return Cost(*((new - old) / hours for new, old in zip(self, before, strict=True)))


def cost(data: Redis, processes: Sequence[int]) -> Cost:
    """What a server has cost: its data server, and all of its processes."""
    found = data.info()
    ticks = 0
    for process in processes:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return Cost(
        time.monotonic(),
        found["total_commands_processed"],
        found["aof_current_size"],
        ticks / os.sysconf("SC_CLK_TCK"),
    )


def test_an_idle_server_writes_little_asks_little_and_computes_little(tmp_path: Path) -> None:
    everything = {
        "MATCHPOST_HTTP": "127.0.0.1:0",
        "MATCHPOST_ROBOTS": "1",
        # so that its first round soon ends
        "MATCHPOST_SCRUB_PERCENT": "100",
    }
    with Served(tmp_path / "data", everything) as served, served.client() as data:
        assert served.process is not None
        until(lambda: data.hget(keys.SCRUB, "last_ended"), 240)
        # what the round has begun is done then
        time.sleep(5)
        processes = [served.process.pid, *served.children("")]
        before = cost(data, processes)
        time.sleep(SECONDS)
        found = cost(data, processes).an_hour(before)
    assert found.log_bytes < 10_000
    assert found.commands < 7.5 * 3600
    assert found.processor < 36, "1 % of a core"
