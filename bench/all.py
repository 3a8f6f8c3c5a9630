"""Run every benchmark at a size of a few minutes, and write their figures as one table.

    python -m bench.all                          # print the table
    python -m bench.all --into trials/benchmarks.md    # and put it in place of the earlier one
    python -m bench.all --only pipeline,http     # only these
    python -m bench.all --keep FOLDER            # and keep the JSON of each there

Each benchmark is a process of its own, one after the other, with the peers that it has here. One that fails has its
message in the table, the others go on, and the exit code is 1 then.
"""

import json
import os
import platform
import subprocess
import sys
import time
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from bench.__main__ import BENCHMARKS

SIZES: Final[Mapping[str, str]] = {
    "pipeline": "--matches 300 --peer-jobs 200",
    "publish": "--matches 200",
    "replay": "--matches 200",
    "memory": "--matches 2000",
    "http": "--matches 1",
    "lone": "--moves 6",
    "cluster": "--nodes 1 --workers 1 --matches 100 --http-matches 32",
    "robots": "--matches 100 --seconds 20",
    "verify": "--matches 1000",
    "lists": "--matches 10000",
    "browser": "--runs 3",
}
"""The arguments of each that takes longer by default than a few minutes; others run as they are."""

BEGIN: Final = "<!-- bench-all: begin -->"
END: Final = "<!-- bench-all: end -->"


class BenchRun(NamedTuple):
    """One benchmark that was run."""

    command: str
    report: Mapping[str, Any] | None
    """Its JSON object; None if it failed."""

    problem: str
    """The last line that it said when it failed."""

    seconds: float


def run_one(name: str) -> BenchRun:
    """Run a benchmark at its size in `SIZES`."""
    words = [name, *SIZES.get(name, "").split()]
    began = time.monotonic()
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-m", "bench", *words, "--json"],
        capture_output=True,
        text=True,
        check=False,
    )
    took = time.monotonic() - began
    command = f"bench {' '.join(words)}"
    if done.returncode:
        said = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        return BenchRun(command, None, said[-1], took)
    return BenchRun(command, json.loads(done.stdout.splitlines()[-1]), "", took)


def table(runs: Sequence[BenchRun]) -> Iterator[str]:
    """Yield the lines of a Markdown table: a row for each benchmark, its peers beside it."""
    yield "| command | rate | beside it in the same run | took |"
    yield "|---|---|---|---|"
    for run in runs:
        if run.report is None:
            yield f"| `{run.command}` | failed: {run.problem} | | {run.seconds:.0f} s |"
            continue
        peers, ratios = run.report["peers"], run.report["ratios"]
        beside = "; ".join(f"{peer} {rate:,.0f} ({ratios[peer]} x)" for peer, rate in peers.items())
        rate = f"{run.report['rate']:,.0f} {run.report['unit']}/s"
        yield f"| `{run.command}` | {rate} | {beside} | {run.seconds:.0f} s |"


def machine() -> str:
    """Return a sentence about where and when it was measured."""
    load = os.getloadavg()[0]
    return (
        f"Measured on {time.strftime('%Y-%m-%d', time.gmtime())}: {os.cpu_count()} cores, {platform.machine()}, "
        f"Python {platform.python_version()}, a load of {load:.1f} at the beginning."
    )


def with_table(text: str, lines: Sequence[str]) -> str:
    """Return a page with these lines between its two marks; ValueError if it has none."""
    before, begin, rest = text.partition(f"{BEGIN}\n")
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"no {BEGIN} and {END}")
    return "".join([before, begin, *(f"{line}\n" for line in lines), end, after])


def main() -> int:
    """Run the benchmarks, print their table, and write it into a page if one is named."""
    parser = ArgumentParser(
        prog="python -m bench.all", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("--into", type=Path, help="the page that has a place for the table")
    parser.add_argument("--only", help="names with commas between them")
    parser.add_argument("--keep", type=Path, help="a folder for the JSON of each benchmark")
    given = parser.parse_args()
    lines, runs = [machine(), ""], []
    for name in given.only.split(",") if given.only else BENCHMARKS:
        runs.append(run := run_one(name))
        if given.keep and run.report is not None:
            (given.keep / f"{name}.json").write_text(json.dumps(run._asdict()), "utf-8")
        print(*list(table([run]))[2:], sep="\n", file=sys.stderr, flush=True)
    lines += table(runs)
    print(*lines, sep="\n")
    if given.into:
        given.into.write_text(with_table(given.into.read_text("utf-8"), lines), "utf-8")
    return int(any(run.report is None for run in runs))


if __name__ == "__main__":
    sys.exit(main())
