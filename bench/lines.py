"""A player's finished matches as a stream of lines over HTTP, under the usual limits of rates.

The matches are whole games, and in the server: none has been retired. The stream is read once from the beginning, and once
more from the middle, as a program that was cut off does.
"""

import json
import time
from typing import Any, Final
from urllib.request import urlopen

from bench.harness import BenchEnvironment
from bench.http import play_matches
from bench.report import Report
from bench.served import serving, start_matches
from bench.workload import games

_CLIENTS: Final = 32
_SECONDS_TO_LIST: Final = 60.0


def run(bench: BenchEnvironment, matches: int) -> Report:
    """Read so many matches of a player; the rate is matches a second."""
    played = games(matches)
    with serving(bench, "lines") as (url, data, _):
        orders = start_matches(data, played)
        play_matches(url, orders, played, min(_CLIENTS, matches))
        _await_lists(url, matches)
        whole, seconds, size = _read(url)
        if len(whole) != matches:
            raise RuntimeError(f"{len(whole)} lines of {matches}")
        middle = whole[len(whole) // 2]
        rest, _, _ = _read(url, f"?since={middle['cursor']}")
        if rest != whole[len(whole) // 2 + 1 :]:
            raise RuntimeError("the stream does not go on where it was")
    return Report(
        rate=matches / seconds,
        unit="matches",
        peers={},
        details={
            "matches": matches,
            "plies": sum(len(line["moves"].split()) for line in whole),
            "bytes": size,
            "seconds": round(seconds, 2),
            **bench.disk(),
        },
    )


def _read(url: str, query: str = "") -> tuple[list[dict[str, Any]], float, int]:
    """Return the lines of a stream, the seconds that it took, and its bytes."""
    began, size, found = time.perf_counter(), 0, []
    with urlopen(f"{url}/api/players/light0/matches.ndjson{query}") as answer:  # noqa: S310 - our own server
        for line in answer:
            size += len(line)
            found.append(json.loads(line))
    return found, time.perf_counter() - began, size


def _await_lists(url: str, matches: int) -> None:
    """Wait until the lists have all matches, and no earlier end can follow."""
    end = time.monotonic() + _SECONDS_TO_LIST
    while len(_read(url)[0]) < matches:
        if time.monotonic() > end:
            raise RuntimeError("the lists did not come to have all matches")
        time.sleep(2)
