"""`matchpost queue`: what waits in the lanes and in RQ's queues, in the manner of `rq info`."""

import time
from typing import Final

import msgspec

from infra.settings import Settings
from infra.store.queue_figures import AllFigures, LaneFigures, QueueFigures, read_figures
from infra.store.turn_notes import LaneTurn
from services.app.context import App
from services.app.error_codes import EXIT_OK
from services.doctor.findings import count

_BAR: Final = 20  # characters
_LEAST_PAUSE: Final = 0.1  # seconds


def run(settings: Settings, as_json: bool, interval: float | None) -> int:  # noqa: FBT001 - called by keyword
    """Print the figures, again each `interval` seconds if one is given; return the exit code."""
    with App(settings) as parts:
        while True:
            figures = read_figures(parts.data, parts.queue, parts.store.layout())
            print(_as_json(figures) if as_json else _as_text(figures, _now()), flush=True)
            if interval is None:
                return EXIT_OK
            time.sleep(max(interval, _LEAST_PAUSE))
            if not as_json:
                print()


def _now() -> int:
    return time.time_ns() // 1_000_000


def _as_json(figures: AllFigures) -> str:
    return msgspec.json.encode(figures).decode()


def _as_text(figures: AllFigures, now: int) -> str:
    most = max((lane.waiting for lane in figures.lanes), default=0)
    lanes = [_lane_line(lane, most, now) for lane in figures.lanes]
    queues = [_queue_line(queue) for queue in figures.queues]
    number = count(len(figures.lanes), "lane", "lanes")
    waiting = count(figures.waiting, "command waits", "commands wait")
    return "\n".join([*lanes, f"{number}, {waiting}", "", *queues])


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
