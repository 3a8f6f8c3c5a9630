"""`python -m bench NAME`: measure matchpost beside its baselines, in one run.

A benchmark returns one `Report`. It is printed as a table, or with `--json` as one object with the
fields `rate`, `unit`, `peers`, `ratios` and `details`.
"""

import os
import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from types import NoneType
from typing import Any, Final, NamedTuple

from bench.baselines.boardgame_io import NoPeerError
from bench.harness import NoBrowserError, NoCompilerError, open_environment
from infra.settings.game_packages import load_games

_FAILED: Final = 2
_MOST_MS: Final = 1_000


def main(words: Sequence[str] | None = None) -> int:
    """Run the benchmark that `words` name (the process's own if None), and return the exit code."""
    arguments = vars(_parser().parse_args(words))
    name, as_json = arguments.pop("name"), arguments.pop("json")
    # a process that compiles each module again, because it may not keep them, starts a second later
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    load_games()
    module = import_module(f"bench.{name}")
    try:
        with open_environment(arguments.pop("folder"), arguments.pop("fsync_delay")) as bench:
            report = module.run(bench, **arguments)
    except (NoBrowserError, NoCompilerError, NoPeerError) as error:
        print(f"bench: {error}", file=sys.stderr)
        return _FAILED
    if as_json:
        print(report.to_json())
    else:
        report.print(name)
    return 0


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


class _Benchmark(NamedTuple):
    """A benchmark: the subject, and its own flags, which are the arguments of its `run`."""

    about: str
    flags: dict[str, tuple[int | str | list[int] | None, str]]
    """The default of each, which also says of what kind it is, and its meaning."""


_KINDS: Final[dict[type, dict[str, Any]]] = {
    int: {"type": _count, "metavar": "N"},
    list: {"type": _counts, "metavar": "N,N"},
    str: {"metavar": "KEY"},
    NoneType: {"type": Path, "metavar": "FOLDER"},
}

_GAMES: Final = "whole games of pow2"

BENCHMARKS: Final = {
    "pipeline": _Benchmark(
        "moves from inbox to durable outcome, beside other designs",
        {
            "matches": (1_000, _GAMES),
            "peer_jobs": (3_000, "moves for the slower peers"),
            "workers": (1, "command workers"),
        },
    ),
    "tournament": _Benchmark(
        "a tournament in sections, a Swiss one and a league: entries, pairing, starts, results and tables",
        {
            "entrants": (300, "players"),
            "section": (7, "players of a section"),
            "workers": (1, "command workers"),
        },
    ),
    "publish": _Benchmark(
        "leaves published, and what publishing costs the path of a move",
        {"matches": (1_000, _GAMES)},
    ),
    "rules": _Benchmark(
        "legal moves and random play, beside python-chess",
        {"game": ("pow2", "which game"), "plies": (20_000, "random plies")},
    ),
    "replay": _Benchmark(
        "events folded, and plies decided again by `verify`", {"matches": (1_000, _GAMES)}
    ),
    "memory": _Benchmark(
        "bytes of an active match in the server",
        {"matches": (10_000, "active matches"), "plies": (40, "plies of each")},
    ),
    "http": _Benchmark(
        "moves over HTTP until their durable outcome",
        {
            "clients": (32, "keep-alive connections, one move a request"),
            "matches": (4, f"{_GAMES} for each client and speed"),
            "web": (1, "processes that answer over HTTP"),
            "runs": (1, "runs, in turn with those of boardgame.io; the median is reported"),
            "boardgame_io": (
                None,
                "also measure boardgame.io, from a folder with it in node_modules (needs Node)",
            ),
        },
    ),
    "pages": _Benchmark(
        "pages of a player: processor time, latency, commands and round trips",
        {"requests": (500, "requests for each page")},
    ),
    "lone": _Benchmark(
        "server commands, log bytes and latency of one move on an idle server",
        {
            "moves": (16, "moves at each speed of the disk, one at a time"),
            "pause": (3, "seconds from one move to the next"),
            "settle": (12, "seconds until all that follows from a move is done and counted"),
        },
    ),
    "terminal": _Benchmark(
        "one command of the terminal, beside `git status` and `redis-cli ping`",
        {"rounds": (20, "rounds, each of which runs each command once")},
    ),
    "browser": _Benchmark(
        "requests, bytes and the first board of pages in a browser, cold and warm",
        {"runs": (9, "cold loads of each page at each speed; the medians are reported")},
    ),
    "idle": _Benchmark(
        "processes, memory and processor of a server that nobody uses, and the time until it answers",
        {
            "runs": (3, "starts, in turn with those of the peer"),
            "settle": (20, "seconds until all that follows from a start is done"),
            "seconds": (120, "seconds that it is watched at rest"),
        },
    ),
    "upgrade": _Benchmark(
        "how long a move waits while the server is upgraded on one machine, and whether one is lost",
        {
            "matches": (8, "matches in which players move all the time"),
            "seconds": (5, "seconds before and after each upgrade"),
            "times": (3, "upgrades in each way"),
        },
    ),
    "cluster": _Benchmark(
        "moves on a cluster, by nodes and workers, with the commands and bytes of each node",
        {
            "nodes": ([1, 3], "numbers of nodes"),
            "workers": ([1, 2, 4], "numbers of command workers"),
            "matches": (400, _GAMES),
            "http_matches": (64, "whole games over HTTP"),
            "shards": (64, "shards, 64 of which the settings recommend for a cluster"),
        },
    ),
    "robots": _Benchmark(
        "people's moves over HTTP, alone and beside matches of robots",
        {
            "matches": (1_000, "matches of robots at a time"),
            "seconds": (40, "seconds of people's moves, alone and beside the robots"),
            "rate": (5, "moves a second of each of ten pairs of people"),
            "robots": (1, "processes that move for robots"),
            "pause": (3, "seconds that a robot waits before it answers"),
        },
    ),
    "verify": _Benchmark(
        "matches and logs that `verify --all` checks a second",
        {"matches": (10_000, "matches that are over"), "plies": (20, "plies of each")},
    ),
    "rebuild": _Benchmark(
        "leaves that a rebuild of all projections reads, by one process and by several",
        {
            "matches": (3_000, "matches that are over"),
            "plies": (40, "plies of each"),
            "processes": ([1, 2, 4], "numbers of processes"),
            "peer_events": (3_000, "events for the peer"),
        },
    ),
    "lines": _Benchmark(
        "a player's finished matches as a stream of lines over HTTP",
        {"matches": (1_000, "finished matches of the player")},
    ),
    "lists": _Benchmark(
        "bytes of a finished match, and 50 rows from the ends and the middle of long lists",
        {
            "matches": (100_000, "finished matches"),
            "players": (2, "players, two of whom by chance are in each match; at least 2"),
            "buckets": ([1, 4], "numbers of buckets of the projections"),
        },
    ),
    "running": _Benchmark(
        "what a move, a list, a page and the scheduler cost with more and more running matches",
        {
            "counts": ([1_000, 10_000], "numbers of running matches"),
            "plies": (10, "plies of each"),
            "repeats": (200, "how often each is done"),
        },
    ),
    "retire": _Benchmark(
        "matches that leave the server for the archive, all due at the same time",
        {
            "counts": ([1_000, 10_000], "numbers of matches that are over"),
            "plies": (10, "plies of each"),
            "workers": (1, "jobs at a time, each of another shard"),
        },
    ),
}


def _parser() -> ArgumentParser:
    parser = ArgumentParser(
        prog="python -m bench",
        description="Measure matchpost beside other programs, in one run. Each benchmark starts its own servers.",
        allow_abbrev=False,
    )
    names = parser.add_subparsers(title="benchmarks", metavar="NAME", required=True, dest="name")
    for name, (about, flags) in BENCHMARKS.items():
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
        for word, (default, meaning) in flags.items():
            shown = str(default).strip("[]").replace(" ", "")
            one.add_argument(
                f"--{word.replace('_', '-')}",
                default=default,
                help=meaning if default is None else f"{meaning} (default {shown})",
                **_KINDS[type(default)],
            )
    return parser


if __name__ == "__main__":
    sys.exit(main())
