"""`matchpost bench NAME`: measure matchpost beside its baselines, in one run.

A benchmark returns one `Report`. It is printed as a table, or with `--json` as one object with the
fields `rate`, `unit`, `peers`, `ratios` and `details`.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from services.bench.baselines.boardgame_io import NoPeerError

_ABOUT: Final = {
    "pipeline": "moves from inbox to durable outcome, beside other designs",
    "publish": "leaves published, and what publishing costs the path of a move",
    "rules": "legal moves and random play, beside python-chess",
    "replay": "events folded, and plies decided again by `verify`",
    "memory": "bytes of an active match in the server",
    "http": "moves over HTTP until their durable outcome",
    "lone": "server commands, log bytes and latency of one move on an idle server",
    "cluster": "moves on a cluster, by nodes and workers, with the commands and bytes of each node",
    "robots": "people's moves over HTTP, alone and beside matches of robots",
    "verify": "matches and logs that `verify --all` checks a second",
}

_FAILED: Final = 2
_MOST_MS: Final = 1_000


def run(words: Sequence[str]) -> int:
    """Run the benchmark that `words` name, and return the exit code."""
    arguments = vars(_parser().parse_args(words))
    name, as_json = arguments.pop("name"), arguments.pop("json")
    # slow to import, and not needed for `--help`
    harness = import_module("services.bench.harness")
    module = import_module(f"services.bench.{name}")
    try:
        with harness.open_environment(
            arguments.pop("folder"), arguments.pop("fsync_delay")
        ) as bench:
            report = module.run(bench, **arguments)
    except (harness.NoCompilerError, NoPeerError) as error:
        print(f"matchpost: {error}", file=sys.stderr)
        return _FAILED
    if as_json:
        print(report.to_json())
    else:
        report.print(name)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="matchpost bench",
        description="Measure matchpost beside other programs, in one run. Each benchmark starts its own servers.",
        allow_abbrev=False,
    )
    names = parser.add_subparsers(title="benchmarks", metavar="NAME", required=True, dest="name")
    options: dict[str, Callable[[Any], None]] = {
        "pipeline": _pipeline,
        "publish": lambda one: _add(one, "--matches", 1_000, "whole games of pow2"),
        "rules": _rules,
        "replay": lambda one: _add(one, "--matches", 1_000, "whole games of pow2"),
        "memory": _memory,
        "http": _http,
        "lone": _lone,
        "cluster": _cluster,
        "robots": _robots,
        "verify": _verify,
    }
    for name, about in _ABOUT.items():
        one = names.add_parser(name, help=about, description=about, allow_abbrev=False)
        one.add_argument("--json", action="store_true", help="print one JSON object")
        one.add_argument(
            "--folder", type=Path, help="where the servers write (default: a temporary folder)"
        )
        one.add_argument(
            "--fsync-delay",
            type=_milliseconds,
            default=0.0,
            metavar="MS",
            help="milliseconds added to each fsync of the servers (needs a C compiler)",
        )
        options[name](one)
    return parser


def _add(parser: Any, flag: str, default: int, about: str, **more: str) -> None:
    help_ = f"{about} (default {default})"
    parser.add_argument(flag, type=_count, default=default, metavar="N", help=help_, **more)


def _pipeline(parser: Any) -> None:
    _add(parser, "--matches", 1_000, "whole games of pow2")
    _add(parser, "--peer-jobs", 3_000, "moves for the slower peers")
    _add(parser, "--workers", 1, "command workers", dest="worker_count")


def _rules(parser: Any) -> None:
    parser.add_argument("--game", default="pow2", dest="key", help="which game (default pow2)")
    _add(parser, "--plies", 20_000, "random plies")


def _memory(parser: Any) -> None:
    _add(parser, "--matches", 10_000, "active matches")
    _add(parser, "--plies", 40, "plies of each")


def _http(parser: Any) -> None:
    _add(parser, "--clients", 32, "keep-alive connections, one move a request")
    _add(parser, "--matches", 4, "whole games of pow2 for each client and speed")
    _add(parser, "--web", 1, "processes that answer over HTTP")
    _add(parser, "--runs", 1, "runs, in turn with those of boardgame.io; the median is reported")
    parser.add_argument(
        "--boardgame-io",
        type=Path,
        metavar="FOLDER",
        help="also measure boardgame.io, from a folder with it in node_modules (needs Node)",
    )


def _lone(parser: Any) -> None:
    _add(parser, "--moves", 16, "moves at each speed of the disk, one at a time")
    _add(parser, "--pause", 3, "seconds from one move to the next")
    _add(parser, "--settle", 12, "seconds until all that follows from a move is done and counted")


def _cluster(parser: Any) -> None:
    parser.add_argument(
        "--nodes",
        type=_counts,
        default=[1, 3],
        metavar="N,N",
        help="numbers of nodes (default 1,3)",
    )
    parser.add_argument(
        "--workers", type=_counts, default=[1, 2, 4], metavar="N,N", dest="worker_counts",
        help="numbers of command workers (default 1,2,4)",
    )  # fmt: skip
    _add(parser, "--matches", 400, "whole games of pow2")
    _add(parser, "--http-matches", 64, "whole games over HTTP")
    _add(parser, "--shards", 64, "shards, 64 of which the settings recommend for a cluster")


def _robots(parser: Any) -> None:
    _add(parser, "--matches", 1_000, "matches of robots at a time")
    _add(parser, "--seconds", 40, "seconds of people's moves, alone and beside the robots")
    _add(parser, "--rate", 5, "moves a second of each of ten pairs of people")
    _add(parser, "--robots", 1, "processes that move for robots")
    _add(parser, "--pause", 3, "seconds that a robot waits before it answers")


def _verify(parser: Any) -> None:
    _add(parser, "--matches", 10_000, "matches that are over")
    _add(parser, "--plies", 20, "plies of each")


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError
    return number


def _counts(text: str) -> list[int]:
    return [_count(part) for part in text.split(",")]


def _milliseconds(text: str) -> float:
    number = float(text)
    if not 0 <= number <= _MOST_MS:
        raise ValueError
    return number


# argparse puts these into "invalid ... value"
_count.__name__ = "count"
_counts.__name__ = "list of counts"
_milliseconds.__name__ = "number of milliseconds"
