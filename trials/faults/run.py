"""`matchpost-faults`: the fault runs by hand; their results and the table in trials/faults.md.

    .venv/bin/python trials/faults/run.py NAME... --sample | --full [--jobs N]
    .venv/bin/python trials/faults/run.py --table

NAME is a run or a group of runs; without one, all are run. Each run is a process of its own, on a
server of its own. `--full` writes its results to trials/results and then the table.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from trials.faults import results
from trials.faults.runs import RUNS, Run

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))
# a checkout tests itself, whatever is installed beside it
os.environ["PYTHONPATH"] = str(ROOT)


def main() -> int:
    """Run what is asked for; 1 when something did not come out as it must."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="a run or a group; default: all")
    how = parser.add_mutually_exclusive_group(required=True)
    how.add_argument("--sample", action="store_true", help="the counts of the tests")
    how.add_argument("--full", action="store_true", help="the counts of trials/faults.md")
    how.add_argument("--table", action="store_true", help="only write the table anew")
    how.add_argument("--list", action="store_true", help="say what there is")
    how.add_argument("--one", metavar="COUNT", type=int, help="one run, here, with so many faults")
    parser.add_argument("--jobs", type=int, default=2, help="runs at a time (default 2)")
    parser.add_argument("--results", type=Path, default=results.FOLDER)
    asked = parser.parse_args()
    chosen = [run for run in RUNS if not asked.names or {run.name, run.group} & {*asked.names}]
    if asked.list:
        for run in RUNS:
            say(f"{run.group:10} {run.name:26} sample {run.sample:4}  full {run.full}")
        return 0
    if asked.one is not None:
        return _one(chosen[0], asked.one, asked.results)
    if asked.table:
        results.write_table()
        return 0
    with tempfile.TemporaryDirectory() as folder:
        failed = _all(chosen, asked, asked.results if asked.full else Path(folder))
    if asked.full:
        results.write_table()
    return 1 if failed else 0


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _one(run: Run, count: int, folder: Path) -> int:
    place = Path(tempfile.mkdtemp(prefix="matchpost-faults-"))
    try:
        outcome = run.function(count, place)
    except BaseException:
        say(f"{run.name}: what it left is in {place}")
        raise
    shutil.rmtree(place)
    outcome.details["commit"] = _commit()
    results.save(outcome, folder)
    for sentence in outcome.late:
        say(f"{run.name}: {sentence}")
    return 0 if outcome.good and not outcome.late else 1


def _commit() -> str:
    """Name what is tested: the checkout's commit."""
    git = ["git", "-C", str(ROOT), "describe", "--always", "--dirty"]
    return subprocess.run(git, capture_output=True, text=True, check=False).stdout.strip()


def _all(runs: list[Run], asked: argparse.Namespace, folder: Path) -> list[str]:
    """Run them, some at a time; give the names of those that failed."""
    todo = list(runs)
    running: list[tuple[Run, subprocess.Popen[bytes], float]] = []
    failed = []
    while todo or running:
        while todo and len(running) < asked.jobs:
            run = todo.pop(0)
            count = run.full if asked.full else run.sample
            words = [run.name, "--one", str(count), "--results", str(folder)]
            process = subprocess.Popen([sys.executable, __file__, *words])
            running.append((run, process, time.monotonic()))
        run, process, began = running.pop(0)
        try:
            code = process.wait(0.5)
        except subprocess.TimeoutExpired:
            running.append((run, process, began))
            continue
        if code:
            failed.append(run.name)
        verdict = "FAILED" if code else "good"
        say(f"{verdict:7} {run.name:26} {time.monotonic() - began:7.1f} s")
    return failed


if __name__ == "__main__":
    sys.exit(main())
