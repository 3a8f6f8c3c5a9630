"""`matchpost queue`: what waits in the lanes, in RQ's queues, to be published and to be retired."""

import time
from typing import Any, Final

import msgspec

from infra.health.queue_status import JobQueueStatus, LaneStatus
from infra.health.status import Status
from infra.projections.robots import RobotFigures
from infra.settings.settings import Settings
from infra.store.job_notes import LaneTurn, RetireRun
from services.app.context import App
from services.app.error_codes import EXIT_OK
from services.doctor.findings import count, span

_BAR: Final = 20  # characters
_LEAST_PAUSE: Final = 0.1  # seconds


def run(settings: Settings, as_json: bool, interval: float | None) -> int:  # noqa: FBT001 - called by keyword
    """Print what waits, again each `interval` seconds if one is given; return the exit code."""
    with App(settings) as parts:
        while True:
            status = parts.status()
            print(_as_json(status) if as_json else _as_text(status, _now()), flush=True)
            if interval is None:
                return EXIT_OK
            time.sleep(max(interval, _LEAST_PAUSE))
            if not as_json:
                print()


def _now() -> int:
    return time.time_ns() // 1_000_000


def _ago(at: int, now: int) -> str:
    """Return how long before `now` something was; both in ms."""
    return f"{span(max(0, now - at) // 1000)} ago"


def _as_json(status: Status) -> str:
    archive, scrub = status.archive, status.scrub
    lanes = [
        {
            "lane": lane.lane,
            "waiting": lane.waiting,
            "oldest_ms": lane.oldest_ms,
            "lease": lane.lease,
            "last": lane.last,
        }
        for lane in status.queue.lanes
    ]
    shown = {
        "lanes": lanes,
        "queues": status.queue.queues,
        "log": _log_json(status) if status.settings.durability.durable else None,
        "archive": {
            "archived": archive.archived,
            "ended": archive.ended,
            "due": archive.late,
            "last": status.last_retirement,
        },
        "scrub": {
            "matches": scrub.matches,
            "oldest_ms": scrub.oldest_ms(status.now),
            "faults": len(status.scrub_faults),
            "ended": scrub.last_ended,
            "ms": scrub.last_ms,
            "last_matches": scrub.last_matches,
        },
        "robots": status.robots,
    }
    return msgspec.json.encode(shown).decode()


def _log_json(status: Status) -> dict[str, Any]:
    log = status.log
    return {
        "leaves": log.leaves,
        "published": log.size,
        "unpublished": log.unpublished,
        "unpublished_ms": log.waited_ms(status.now),
        "faulty_shards": len(status.log_faults),
        "closed_shards": len(status.closed),
    }


def _as_text(status: Status, now: int) -> str:
    found = status.queue.lanes
    most = max((lane.waiting for lane in found), default=0)
    lanes = [_lane_line(lane, most, now) for lane in found]
    queues = [_queue_line(queue) for queue in status.queue.queues]
    number = count(len(found), "lane", "lanes")
    waiting = count(sum(lane.waiting for lane in found), "command waits", "commands wait")
    rest = [
        _robots_line(status.robots),
        _log_line(status),
        _archive_line(status, now),
        _scrub_line(status, now),
    ]
    return "\n".join([*lanes, f"{number}, {waiting}", "", *queues, "", *rest])


def _lane_line(lane: LaneStatus, most: int, now: int) -> str:
    bar = "#" * (-(-_BAR * lane.waiting // most) if most else 0)
    parts = [f"{lane.waiting} waiting"]
    if lane.waiting:
        parts.append(f"oldest {lane.oldest_ms / 1000:.1f} s")
    parts.append(f"lease {lane.lease}")
    if lane.last is not None:
        parts.append(_turn_text(lane.last, now))
    return f"lane {lane.lane:<8}|{bar:<{_BAR}}| {', '.join(parts)}"


def _turn_text(turn: LaneTurn, now: int) -> str:
    outcomes = count(turn.outcomes, "outcome", "outcomes")
    batches = count(turn.batches, "batch", "batches")
    return f"last turn {_ago(turn.at, now)} by {turn.worker}: {outcomes} in {batches}, {turn.ms} ms"


def _queue_line(queue: JobQueueStatus) -> str:
    counts = f"{queue.waiting} waiting, {queue.started} started, {queue.failed} failed"
    return f"{queue.name:<20} {counts}, {count(queue.workers, 'worker', 'workers')}"


def _robots_line(robots: RobotFigures) -> str:
    parts = [f"{count(robots.waiting, 'match waits', 'matches wait')} for a robot"]
    if robots.oldest_ms:
        parts.append(f"the first for {robots.oldest_ms / 1000:.0f} s")
    if robots.failures:
        parts.append(f"{len(robots.failures)} can't be moved in: see the doctor")
    return f"robots   {', '.join(parts)}"


def _log_line(status: Status) -> str:
    if not status.settings.durability.durable:
        return "log      nothing is published with durability none"
    log, faulty, closed = status.log, len(status.log_faults), len(status.closed)
    parts = [count(log.leaves, "leaf", "leaves"), f"{log.size} published"]
    if log.unpublished:
        parts.append(f"{log.unpublished} not yet, for {log.waited_ms(status.now) / 1000:.1f} s")
    if faulty:
        parts.append(f"{count(faulty, 'shard', 'shards')} not published: see the doctor")
    if closed:
        parts.append(f"{count(closed, 'shard', 'shards')} closed: see the doctor")
    return f"log      {', '.join(parts)}"


def _archive_line(status: Status, now: int) -> str:
    archive, last = status.archive, status.last_retirement
    parts = [
        count(archive.archived, "match", "matches"),
        f"{archive.ended} over and not in it",
        f"{archive.late} of them due",
    ]
    if last is not None:
        parts.append(_run_text(last, now))
    return f"archive  {', '.join(parts)}"


def _scrub_line(status: Status, now: int) -> str:
    scrub, faults = status.scrub, len(status.scrub_faults)
    parts = [f"{count(scrub.matches, 'match', 'matches')} checked in the present round"]
    if scrub.last_ended:
        ago, took = _ago(scrub.last_ended, now), span(scrub.last_ms // 1000)
        checked = count(scrub.last_matches, "match", "matches")
        parts.append(f"last whole round {ago}: {checked} in {took}")
    if faults:
        parts.append(f"{count(faults, 'fault', 'faults')}: see the doctor")
    return f"scrub    {', '.join(parts)}"


def _run_text(run: RetireRun, now: int) -> str:
    did = f"{run.retired} retired, {run.kept} kept"
    return f"last run {_ago(run.at, now)} by {run.worker} in shard {run.shard}: {did}, {run.ms} ms"
