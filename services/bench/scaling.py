"""Cost of a move as matches grow in number and in length.

At each length as many moves are stored, in fewer and longer matches, because more data alone make each
move dearer: less of them fits into the processor's caches.
"""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from domain.match.commands import CommandEnvelope
from services.bench.baselines.redis_only import decide_all, submit_and_commit
from services.bench.harness import BenchEnvironment, LoadGenerator, new_store, workers
from services.bench.processor import processor_seconds
from services.bench.report import Report
from services.bench.workload import endless, moves, starts
from workers.commands.drain import BATCH

_MOVING: Final = 2_000
"""Matches with moves during the measurement, while the others rest."""

_LONG: Final = 200
"""Number of the longest matches, and matches with moves during the measurement at each length."""

_PLIES: Final = 10
"""Plies of each active match."""

_CHUNK: Final = 500


class _PointCost(msgspec.Struct, frozen=True):
    """The measured cost of a move on one server."""

    rate: float
    """Moves a second."""
    processor_us: dict[str, float]
    """Processor time of a move in us, by process, without the submitting one; Linux only."""


def run(
    bench: BenchEnvironment,
    counts: Sequence[int],
    lengths: Sequence[int],
    timed: int,
    plot: Path | None,
) -> Report:
    """Measure `timed` moves at each point; the rate is that with the most matches."""
    stored = _LONG * max(lengths)
    many = {n: _measure(bench, f"active-{n}", (n, _PLIES), _MOVING, timed) for n in counts}
    long = {n: _measure(bench, f"long-{n}", (stored // n, n), _LONG, timed) for n in lengths}
    by_count = {n: point.rate for n, point in many.items()}
    by_length = {n: point.rate for n, point in long.items()}
    if plot is not None:
        plot_costs(by_count, by_length, plot)
    return Report(
        rate=by_count[max(counts)],
        unit="moves",
        peers={},
        details={
            "moves a second, by active matches": _rounded(by_count),
            "moves a second, by plies of every match": _rounded(by_length),
            "us a move, by active matches": _cost(by_count),
            "us a move, by plies of every match": _cost(by_length),
            "processor us a move, by active matches": _processor(many),
            "processor us a move, by plies of every match": _processor(long),
            **bench.disk(),
        },
    )


def _rounded(points: dict[int, float]) -> dict[str, float]:
    return {str(at): round(rate, 1) for at, rate in points.items()}


def _cost(points: dict[int, float]) -> dict[str, float]:
    return {str(at): round(1e6 / rate, 1) for at, rate in points.items()}


def _processor(points: dict[int, _PointCost]) -> dict[str, dict[str, float]]:
    return {str(at): point.processor_us for at, point in points.items()}


def _measure(
    bench: BenchEnvironment, name: str, stored: tuple[int, int], most_moving: int, timed: int
) -> _PointCost:
    """Measure on a server with so many stored matches of so many plies each."""
    matches, plies = stored
    moving = min(matches, most_moving)
    more = max(2, timed // moving)
    with bench.server(name) as server, server.client(blocking_timeout=5) as client:
        store = new_store(client, 1)
        task = bench.progress.add_task(name, total=matches)
        for first in range(1, matches + 1, _CHUNK):
            played = endless(min(_CHUNK, matches + 1 - first), plies, first)
            prepared = decide_all([*starts(played), *moves(played)], {})
            for at in range(0, len(prepared), BATCH):
                submit_and_commit(store, prepared[at : at + BATCH])
            bench.progress.advance(task, len(played))
        bench.progress.remove_task(task)
        orders = list(_after(moves(endless(moving, plies + more)), plies))
        with (
            workers(1, server.url, bench.folder),
            LoadGenerator(client, store, bench.progress) as load,
        ):
            # the worker is still starting during the first moves
            load.submit_all(orders[:moving], f"{name}: warm-up", moving)
            count = len(orders) - moving
            before = processor_seconds(os.getpid())
            seconds = load.submit_all(orders[moving:], f"{name}: moves", count)
            after = processor_seconds(os.getpid())
    used = {role: round(1e6 * (after[role] - before[role]) / count, 1) for role in after}
    return _PointCost(count / seconds, used)


def _after(orders: Iterator[CommandEnvelope], plies: int) -> Iterator[CommandEnvelope]:
    return (order for order in orders if (order.command.ply or 0) >= plies)  # type: ignore[union-attr]


def plot_costs(by_count: dict[int, float], by_length: dict[int, float], plot: Path) -> None:
    """Plot both costs into a file; its suffix chooses the format."""
    import matplotlib as mpl  # noqa: PLC0415 - optional, and slow

    mpl.use("Agg")
    from matplotlib import pyplot as plt  # noqa: PLC0415 - the same

    figure, axes = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained", sharey=True)
    _plot_cost(axes[0], by_count, "active matches", log=True)
    _plot_cost(axes[1], by_length, "plies of every match", log=False)
    axes[0].set_ylabel("microseconds a move")
    figure.savefig(plot, metadata={"Date": None} if plot.suffix == ".svg" else None)


def _plot_cost(axis: Any, points: dict[int, float], label: str, *, log: bool) -> None:
    axis.plot(list(points), [1e6 / rate for rate in points.values()], marker="o")
    axis.set_xlabel(label)
    axis.set_ylim(bottom=0)
    axis.grid(visible=True, alpha=0.3)
    if log:
        axis.set_xscale("log")
