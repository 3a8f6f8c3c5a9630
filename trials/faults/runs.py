"""All runs by name: how many faults the sample has, and how many the full run."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import msgspec

from infra.process.failpoints import FAILPOINTS
from trials.faults import failovers, kills, log_kills, poison, power, proxy
from trials.faults import kills as chance
from trials.faults import power as room
from trials.faults.results import Outcome
from trials.faults.web import WEB_POINTS


class Run(msgspec.Struct, frozen=True):
    """A fault, done so many times on a server of its own."""

    name: str
    group: str
    function: Callable[[int, Path], Outcome]
    sample: int
    full: int


ELSEWHERE = tuple(
    p for p in FAILPOINTS if p.startswith(("scrub.", "robot.", "analysis.", "move.", "tournament."))
)
"""Points at which tests of their own kill: tests/scrub/test_job.py, test_served.py, test_analysis_job.py,
test_moving.py and test_tournament_kills.py."""

LOG_POINTS = (
    *log_kills.PUBLISH_POINTS, *log_kills.RESTORE_POINTS, *log_kills.RETIRE_POINTS
)  # fmt: skip

STOPPED_AT = ("drain.read", "drain.loaded", "drain.decided", "commit.answered")
_FULL = {"kill-primary": 100, "failover": 100, "cut-off": 50, "kill-queue": 100}

FAILOVERS = {failovers.CLUSTER: {**_FULL, "move-slots": 50}, failovers.SENTINEL: _FULL}
"""How often the full run does each fault of a cluster, and of a Sentinel pair."""

RUNS: tuple[Run, ...] = (
    *(
        Run(f"kill-{p}", "kills", partial(kills.at_point, p), 1, 100)
        for p in FAILPOINTS
        if p not in LOG_POINTS + ELSEWHERE
    ),
    *(Run(f"kill-{p}", "log", partial(log_kills.at_log_points, [p]), 1, 100) for p in LOG_POINTS),
    *(Run(f"http-{p}", "http", partial(kills.through_http, [p]), 1, 100) for p in WEB_POINTS),
    Run("random", "kills", chance.random_kills, 8, 1_000),
    Run("server", "server", kills.servers, 5, 300),
    Run("queue", "server", kills.queues, 5, 300),
    Run("power", "power", power.cuts, 3, 300),
    Run("power-everysec", "power", power.control, 5, 10),
    Run("lost-replies", "replies", proxy.replies, 20, 500),
    Run("copies", "copies", proxy.copies, 500, 20_000),
    Run("poison", "poison", poison.doses, 6, 60),
    Run("disk-full", "room", room.disk, 1, 20),
    Run("memory-full", "room", room.memory, 1, 20),
    *(Run(f"stop-{p}", "zombies", partial(kills.zombies, p), 1, 25) for p in STOPPED_AT),
    *(
        Run(f"{kind}-{fault}", kind, partial(failovers.under_load, kind, fault), 2, full)
        for kind, faults in FAILOVERS.items()
        for fault, full in faults.items()
    ),
    *(
        Run(f"{kind}-lossy", kind, partial(failovers.lossy_under_load, kind), 1, 20)
        for kind in FAILOVERS
    ),
)
