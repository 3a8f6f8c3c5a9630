"""What tests of the doctor share.

The damaged matches of a store, for tests that look at many.

All metrics that the program has, and values of those that were counted.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from prometheus_client.core import Metric

from domain.errors import Code, Refusal
from domain.match.history import BrokenHistory
from infra.audit.stored_match import check
from infra.health.heartbeats import HeartbeatRecord, Role
from infra.health.queue_status import JobQueueStatus, LaneStatus, QueueStatus
from infra.health.retirement_limits import ArchiveFigures
from infra.health.status import Status
from infra.mail.outbox import OutboxStatus
from infra.process.metrics import REGISTRY
from infra.projections.buckets import RATINGS
from infra.projections.lag import Lag
from infra.projections.robots import RobotFigures
from infra.redis.server import ServerFigures
from infra.settings.settings import Settings
from infra.store.job_notes import LaneTurn, RetireRun
from infra.store.port import Store
from infra.store.scrub_notes import ScrubNotes
from services.doctor import Finding, Level
from services.http import middleware  # it has metrics of its own
from services.metrics.collector import answered, server_metrics, status_metrics

GIB = 1 << 30


def said(findings: list[Finding], level: Level, words: str) -> bool:
    """Whether there is exactly one finding of that level with those words, and a remedy."""
    matching = [f for f in findings if f.level is level and re.search(words, f.what)]
    return len(matching) == 1 and bool(matching[0].remedy)


def damaged_matches(store: Store, boards: Iterable[int]) -> Iterator[tuple[int, BrokenHistory]]:
    """Yield the boards of damaged matches with their first fault; skip boards without a match."""
    for board in boards:
        try:
            check(store, board)
        except BrokenHistory as broken:
            yield board, broken
        except Refusal as refusal:
            if refusal.code is not Code.UNKNOWN_BOARD:
                raise


assert middleware.REGISTRY is REGISTRY

PARTS: dict[str, object] = {
    "now": 1,
    "shards": (),
    "queue": QueueStatus(
        queues=(JobQueueStatus("matchpost-commands", 1, 1, 1, 1),),
        lanes=(LaneStatus("0/1", "token", 1, True, 1, 1, LaneTurn(1, 1, 1, "here/1", 1)),),
    ),
    "damaged": (),
    "move_fault": "",
    "beats": (HeartbeatRecord(Role.WEB, "here", 1, "1", 1, 1),),
    "outbox": OutboxStatus(1, 1),
    "robots": RobotFigures(1, 1, {1: "why"}),
    "closed": {},
    "_publication": ([], []),
    "ends": (),
    "unpublished_since": 1,
    "projections": (Lag(RATINGS, 1, 1, 1, (), late=False, building=True),),
    "archive": ArchiveFigures(1, 1, 1, 1),
    "last_retirement": RetireRun(0, 1, 1, 1, "here/1", 1),
    "scrub": ScrubNotes(last_began=1, last_ended=1),
    "scrub_faults": (),
}
"""All that the metrics show of a status, so that nothing is read."""

NODE = ServerFigures("here:6379", is_up=True, memory=1, memory_limit=1)


def metric_types() -> dict[str, str]:
    """Return the kind of each metric that any process has, by name as Prometheus has it."""
    nothing: Any = None
    status = Status(Settings(data=Path()), nothing, nothing, nothing)
    vars(status).update(PARTS)
    figures = [*server_metrics({"data": [NODE]}), *status_metrics(status), answered(is_up=True)]
    counted = [one for one in REGISTRY.collect() if one.name.startswith("matchpost_")]
    found = {_full_name(one): one.type for one in (*figures, *counted)}
    # when a counter or a histogram began, which prometheus_client adds
    began = [one for one in counted if one.type in ("counter", "histogram")]
    return found | {f"{one.name}_created": "gauge" for one in began}


def _full_name(metric: Metric) -> str:
    return f"{metric.name}_total" if metric.type == "counter" else metric.name


def value(name: str, **labels: str) -> float:
    """Return the value of a sample that this process has counted; 0 if there is none yet."""
    return REGISTRY.get_sample_value(name, labels) or 0.0
