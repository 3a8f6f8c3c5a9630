"""The keeper's runs by hand: months of many matches, and a backlog, each on a server of its own.

    .venv/bin/python tests/workers/keeping.py month [--matches N] [--days N] [--seeds N]
    .venv/bin/python tests/workers/keeping.py backlog [--matches N]

`trials/testing.md` has the figures of a run.
"""

import argparse
import logging
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from redis import Redis  # noqa: E402

from domain.clocks.time_control import DAY, TimeControl  # noqa: E402
from domain.match.commands import StartMatch  # noqa: E402
from infra.store.port import Layout  # noqa: E402
from infra.valkey.server import EmbeddedServer  # noqa: E402
from tests.helpers.given import ALICE, BOB  # noqa: E402 - after the path is set
from tests.helpers.timed import TimedBench  # noqa: E402
from tests.workers.month import Month  # noqa: E402

SHAPE = Layout(shards=8, lanes=1)


def main() -> None:
    """Run what is asked for; what does not come out as it must is raised."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("what", choices=("month", "backlog"))
    parser.add_argument("--matches", type=int)
    parser.add_argument("--days", type=int, default=31)
    parser.add_argument("--seeds", type=int, default=10)
    asked = parser.parse_args()
    logging.disable(logging.CRITICAL)  # drains and keepers that are killed have much to say
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        server = EmbeddedServer(folder / "data", durable=asked.what == "backlog")
        client = stack.enter_context(stack.enter_context(server).client(blocking_timeout=5))
        if asked.what == "month":
            months(client, folder, asked)
        else:
            backlog(client, folder, asked.matches or 5_000)


def months(client: Redis, folder: Path, asked: argparse.Namespace) -> None:
    """Run months of several seeds, and add their figures up."""
    figures: Counter[str] = Counter()
    begin = time.monotonic()
    for seed in range(1, asked.seeds + 1):
        month = Month(client, folder / f"seeds-{seed}", asked.matches or 200, seed)
        month.run(asked.days)
        figures += month.figures
        say(f"seed {seed}: as it must be, after {time.monotonic() - begin:.0f} s")
    for figure, count in sorted(figures.items()):
        say(f"{count:8,}  {figure}")


def backlog(client: Redis, folder: Path, matches: int) -> None:
    """Let the time of all matches be over at once, and measure the ticks until all are flagged."""
    bench = TimedBench(client, folder / "seeds", SHAPE)
    terms = TimeControl(nag=0, forfeit=1)
    start = StartMatch(rules="pow2/1", options=(), seats=(ALICE, BOB), terms=terms)
    for board in range(1, matches + 1):
        bench.submit(bench.order(ALICE, start, board))
        if board % 500 == 0:
            bench.drain()
    bench.drain()
    bench.now += 2 * DAY
    keeper = bench.keeper()
    ticks, drains, deepest = [], 0.0, 0
    while bench.store.due_boards(0, bench.now, 1) or bench.waits() or not ticks:
        ticks.append(seconds(keeper.tick))
        deepest = max(deepest, *(bench.store.inbox_size([shard]) for shard in range(SHAPE.shards)))
        drains += seconds(bench.pump)
        bench.now += 1_000
    flagged = sum(len(bench.kept(board)) == 1 for board in range(1, matches + 1))
    say(f"{flagged:,} of {matches:,} matches flagged once, in {len(ticks)} ticks")
    say(f"a tick took at most {max(ticks) * 1000:.0f} ms; drains took {drains:.1f} s in all")
    say(f"an inbox held at most {deepest} commands")


def seconds(call: Callable[[], object]) -> float:
    """How long a call takes."""
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


def say(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
