"""`matchpost queue`: what waits in the lanes, in RQ's queues, to be published and to be retired."""

import time
from typing import Final

import msgspec

from infra.health.log_figures import LogFigures
from infra.projections.robot_figures import RobotFigures
from infra.settings.settings import Settings
from infra.store.last_runs import LaneTurn, RetireRun
from infra.store.queue_figures import LaneFigures, QueueFigures
from services.app.context import App
from services.app.error_codes import EXIT_OK
from services.app.operator_figures import (
    OperatorFigures,
    RetirementFigures,
    ScrubFigures,
    read_operator_figures,
)
from services.doctor.findings import count

_BAR: Final = 20  # characters
_LEAST_PAUSE: Final = 0.1  # seconds


def run(settings: Settings, as_json: bool, interval: float | None) -> int:  # noqa: FBT001 - called by keyword
    """Print the figures, again each `interval` seconds if one is given; return the exit code."""
    with App(settings) as parts:
        while True:
            figures = read_operator_figures(parts)
            print(_as_json(figures) if as_json else _as_text(figures, _now()), flush=True)
            if interval is None:
                return EXIT_OK
            time.sleep(max(interval, _LEAST_PAUSE))
            if not as_json:
                print()


def _now() -> int:
    return time.time_ns() // 1_000_000


def _as_json(figures: OperatorFigures) -> str:
    return msgspec.json.encode(figures).decode()


def _as_text(figures: OperatorFigures, now: int) -> str:
    most = max((lane.waiting for lane in figures.lanes), default=0)
    lanes = [_lane_line(lane, most, now) for lane in figures.lanes]
    queues = [_queue_line(queue) for queue in figures.queues]
    number = count(len(figures.lanes), "lane", "lanes")
    waiting = count(figures.waiting, "command waits", "commands wait")
    rest = [
        _robots_line(figures.robots),
        _log_line(figures.log),
        _archive_line(figures.archive, now),
        _scrub_line(figures.scrub, now),
    ]
    return "\n".join([*lanes, f"{number}, {waiting}", "", *queues, "", *rest])


def _lane_line(lane: LaneFigures, most: int, now: int) -> str:
    bar = "#" * (-(-_BAR * lane.waiting // most) if most else 0)
    parts = [f"{lane.waiting} waiting"]
    if lane.waiting:
        parts.append(f"oldest {lane.oldest_ms / 1000:.1f} s")
    parts.append(f"lease {lane.lease}")
    if lane.last is not None:
        parts.append(_turn_text(lane.last, now))
    return f"lane {lane.lane:<8}|{bar:<{_BAR}}| {', '.join(parts)}"


def _turn_text(turn: LaneTurn, now: int) -> str:
    ago = max(0, now - turn.at) / 1000
    outcomes = count(turn.outcomes, "outcome", "outcomes")
    batches = count(turn.batches, "batch", "batches")
    return f"last turn {ago:.0f} s ago by {turn.worker}: {outcomes} in {batches}, {turn.ms} ms"


def _queue_line(queue: QueueFigures) -> str:
    counts = f"{queue.waiting} waiting, {queue.started} started, {queue.failed} failed"
    return f"{queue.name:<20} {counts}, {count(queue.workers, 'worker', 'workers')}"


def _robots_line(robots: RobotFigures) -> str:
    parts = [f"{count(robots.waiting, 'match waits', 'matches wait')} for a robot"]
    if robots.oldest_ms:
        parts.append(f"the first for {robots.oldest_ms / 1000:.0f} s")
    if robots.failures:
        parts.append(f"{len(robots.failures)} can't be moved in: see the doctor")
    return f"robots   {', '.join(parts)}"


def _log_line(log: LogFigures | None) -> str:
    if log is None:
        return "log      nothing is published with durability none"
    parts = [count(log.leaves, "leaf", "leaves"), f"{log.published} published"]
    if log.unpublished:
        parts.append(f"{log.unpublished} not yet, for {log.unpublished_ms / 1000:.1f} s")
    if log.faulty_shards:
        parts.append(f"{count(log.faulty_shards, 'shard', 'shards')} not published: see the doctor")
    if log.closed_shards:
        parts.append(f"{count(log.closed_shards, 'shard', 'shards')} closed: see the doctor")
    return f"log      {', '.join(parts)}"


def _archive_line(archive: RetirementFigures, now: int) -> str:
    parts = [
        count(archive.archived, "match", "matches"),
        f"{archive.ended} over and not in it",
        f"{archive.due} of them due",
    ]
    if archive.last is not None:
        parts.append(_run_text(archive.last, now))
    return f"archive  {', '.join(parts)}"


def _scrub_line(scrub: ScrubFigures, now: int) -> str:
    parts = [f"{count(scrub.matches, 'match', 'matches')} checked in the present round"]
    if scrub.ended:
        ago, took = max(0, now - scrub.ended) / 1000, scrub.ms / 1000
        parts.append(f"last whole round {ago:.0f} s ago: {scrub.last_matches} in {took:.0f} s")
    if scrub.faults:
        parts.append(f"{count(scrub.faults, 'fault', 'faults')}: see the doctor")
    return f"scrub    {', '.join(parts)}"


def _run_text(run: RetireRun, now: int) -> str:
    ago = max(0, now - run.at) / 1000
    did = f"{run.retired} retired, {run.kept} kept"
    return f"last run {ago:.0f} s ago by {run.worker} in shard {run.shard}: {did}, {run.ms} ms"
