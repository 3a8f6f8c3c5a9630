"""`matchpost bench NAME`: measurements side by side with their peers, in one run.

A benchmark gives one `Report`. It is printed as a table, or with `--json` as one object with the
fields `rate`, `unit`, `peers`, `ratios` and `details`.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path


def run(words: Sequence[str]) -> int:
    """Run the benchmark that `words` name, and give the exit code."""
    arguments = _parser().parse_args(words)
    from services.cli.bench import pipeline  # noqa: PLC0415 - slow to import

    report = pipeline.run(
        matches=arguments.matches,
        peer_jobs=arguments.peer_jobs,
        workers=arguments.workers,
        data=arguments.folder,
    )
    if arguments.json:
        print(report.to_json())
    else:
        report.print(arguments.name)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="matchpost bench",
        description="Measure, side by side with peers, in one run. Each starts servers of its own.",
        allow_abbrev=False,
    )
    names = parser.add_subparsers(title="benchmarks", metavar="NAME", required=True, dest="name")
    pipeline = names.add_parser(
        "pipeline",
        help="moves from inbox to durable outcome, beside one RQ job a move",
        allow_abbrev=False,
    )
    pipeline.add_argument("--json", action="store_true", help="print one JSON object")
    pipeline.add_argument(
        "--folder", type=Path, help="where the servers write (default: a temporary folder)"
    )
    pipeline.add_argument(
        "--matches", type=_count, default=1_000, help="whole games of pow2 (default 1000)"
    )
    pipeline.add_argument(
        "--peer-jobs", type=_count, default=3_000, help="moves for the peer (default 3000)"
    )
    pipeline.add_argument("--workers", type=_count, default=1, help="command workers (default 1)")
    return parser


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError
    return number


_count.__name__ = "count"
