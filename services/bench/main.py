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

from domain.engine.levels import LEVELS
from services.bench.baselines.boardgame_io import NoPeerError

_ABOUT: Final = {
    "pipeline": "moves from inbox to durable outcome, beside other designs",
    "publish": "leaves published, and what publishing costs the path of a move",
    "rules": "legal moves and random play, beside python-chess",
    "replay": "events folded, and plies decided again by `verify`",
    "memory": "bytes of an active match in the server",
    "start": "seconds until a server is ready, empty and with matches to load",
    "http": "moves over HTTP until their durable outcome",
    "neighbours": "moves of ten players, alone and beside a player who floods the server",
    "lone": "server commands, log bytes and latency of one move on an idle server",
    "active": "memory, moves, projections and start of one server with more and more matches",
    "archive": "memory of matches that are over, and time to read them back from the archive",
    "cluster": "moves on a cluster, by nodes and workers, with the commands and bytes of each node",
    "pages": "bytes and time until the first board of a page, on a slow line",
    "rebuild": "leaves read a second by a rebuild of all projections, by where they are",
    "robots": "people's moves over HTTP, alone and beside matches of robots",
    "rows": "memory of the rows of finished matches, and time to read them from row pages",
    "scaling": "cost of a move as matches grow in number and length",
    "strength": "matches between robots of different levels, and random moves",
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
        "start": _start,
        "http": _http,
        "neighbours": _neighbours,
        "lone": _lone,
        "active": _active,
        "archive": _archive,
        "cluster": _cluster,
        "pages": _pages,
        "rebuild": _rebuild,
        "robots": _robots,
        "rows": _rows,
        "scaling": _scaling,
        "strength": _strength,
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


def _start(parser: Any) -> None:
    _add(parser, "--matches", 1_000, "matches to load")
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


def _neighbours(parser: Any) -> None:
    _add(
        parser, "--matches", 2, "whole games of pow2 for each neighbour, alone and beside the flood"
    )
    _add(parser, "--connections", 32, "connections of the player who floods")
    _add(parser, "--command-rate", 300, "commands a minute that the server takes from an account")


def _lone(parser: Any) -> None:
    _add(parser, "--moves", 16, "moves at each speed of the disk, one at a time")
    _add(parser, "--pause", 3, "seconds from one move to the next")
    _add(parser, "--settle", 12, "seconds until all that follows from a move is done and counted")


def _active(parser: Any) -> None:
    parser.add_argument(
        "--counts", type=_counts, default=[1_000, 10_000, 100_000], metavar="N,N",
        help="numbers of active matches (default 1000,10000,100000)",
    )  # fmt: skip
    _add(parser, "--plies", 10, "plies of each")
    _add(parser, "--moves", 20_000, "moves measured at each point", dest="timed")


def _archive(parser: Any) -> None:
    _add(parser, "--matches", 10_000, "matches that are retired")
    _add(parser, "--plies", 40, "plies of each")
    _add(parser, "--reads", 1_000, "matches that are read back")


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


def _pages(parser: Any) -> None:
    _add(parser, "--kilobits", 1_000, "kbit/s of the line")
    _add(parser, "--repeats", 20, "answers timed for each page")


def _rebuild(parser: Any) -> None:
    _add(parser, "--matches", 2_000, "matches that are over")
    _add(parser, "--plies", 40, "plies of each")


def _rows(parser: Any) -> None:
    _add(parser, "--matches", 20_000, "finished matches")
    _add(parser, "--players", 10, "players, who meet by chance")


def _robots(parser: Any) -> None:
    _add(parser, "--matches", 1_000, "matches of robots at a time")
    _add(parser, "--seconds", 40, "seconds of people's moves, alone and beside the robots")
    _add(parser, "--rate", 5, "moves a second of each of ten pairs of people")
    _add(parser, "--robots", 1, "processes that move for robots")
    _add(parser, "--pause", 3, "seconds that a robot waits before it answers")


def _verify(parser: Any) -> None:
    _add(parser, "--matches", 10_000, "matches that are over")
    _add(parser, "--plies", 20, "plies of each")


def _scaling(parser: Any) -> None:
    parser.add_argument(
        "--counts", type=_counts, default=[1_000, 10_000, 100_000], metavar="N,N",
        help="numbers of active matches (default 1000,10000,100000)",
    )  # fmt: skip
    parser.add_argument(
        "--lengths", type=_counts, default=[10, 50, 100, 200, 500], metavar="N,N",
        help="plies of every match (default 10,50,100,200,500)",
    )  # fmt: skip
    _add(parser, "--moves", 20_000, "moves measured at each point", dest="timed")
    parser.add_argument(
        "--plot", type=Path, help="plot both into this file, .svg or .png (needs matplotlib)"
    )


def _strength(parser: Any) -> None:
    pairings = ("hard-easy", "hard-medium", "easy-random", "hard-medium-easy")
    parser.add_argument("--game", dest="key", metavar="KEY", help="which game (default all)")
    parser.add_argument(
        "--pairings", type=_pairings, default=pairings, metavar="A-B,A-B",
        help=f"who meets in games for so many (default {','.join(pairings)})",
    )  # fmt: skip
    _add(parser, "--games", 20, "matches of each pairing", dest="matches")
    parser.add_argument(
        "--skip", type=int, default=0, metavar="N",
        help="the first matches, which another run plays (default 0)",
    )  # fmt: skip
    _add(parser, "--processes", 1, "processes that play")
    parser.add_argument(
        "--claims", action="store_true",
        help="a match is drawn when a position stands for the third time",
    )  # fmt: skip
    parser.add_argument(
        "--merge", type=_file, nargs="+", default=[], metavar="FILE",
        help="play nothing, and add up what earlier runs printed with --json",
    )  # fmt: skip


def _pairings(text: str) -> list[str]:
    players = {*LEVELS, "random"}
    pairings = text.split(",")
    if any(len(pair := one.split("-")) < 2 or not players.issuperset(pair) for one in pairings):  # noqa: PLR2004
        raise ValueError
    return pairings


def _file(text: str) -> Path:
    path = Path(text)
    if not path.is_file():
        raise ValueError
    return path


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
_file.__name__ = "file"
_pairings.__name__ = "list of pairings"
_counts.__name__ = "list of counts"
_milliseconds.__name__ = "number of milliseconds"
