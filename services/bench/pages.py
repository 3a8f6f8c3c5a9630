"""Bytes until the first board of a page, and the time that a slow line takes for them.

A browser draws a board once it has the page and its style sheet; scripts come afterwards. The same pages
without compression are the peer.
"""

import re
import statistics
import time
from typing import Any, Final

import httpx

from services.bench.harness import BenchEnvironment
from services.bench.report import Report
from services.bench.served import serving, start_matches
from services.bench.workload import games

_ENCODINGS: Final = ("br", "gzip", "identity")
_STYLE: Final = re.compile(r'<link rel="stylesheet" href="([^"]+)"')
_BOARD: Final = re.compile(rb'<svg [^>]*class="board"')


def run(bench: BenchEnvironment, kilobits: int, repeats: int) -> Report:
    """Measure; the headline is the first boards a second of a match's page on a line of some kbit/s."""
    (game,) = games(1)
    with serving(bench, "pages", MATCHPOST_ADDRESS_RATE="1000000000") as (url, data, _):
        start_matches(data, [game])
        paths = {"a match": f"/m/{game.board}", "the first page": "/", "a game": "/games/pow2"}
        with httpx.Client(base_url=url, timeout=60, trust_env=False) as http:
            found = {
                name: {one: _first_board(http, path, one) for one in _ENCODINGS}
                for name, path in paths.items()
            }
            answered = {
                name: _seconds_to_answer(http, path, repeats) for name, path in paths.items()
            }
    bytes_a_second = 1000 * kilobits / 8
    rates = {one: bytes_a_second / found["a match"][one] for one in _ENCODINGS}
    details: dict[str, Any] = {
        "kbit/s": kilobits,
        "bytes until the first board": found,
        "seconds until the first board": {
            name: round(each["br"] / bytes_a_second + answered[name], 3)
            for name, each in found.items()
        },
        "seconds until the server has answered": {
            name: round(seconds, 4) for name, seconds in answered.items()
        },
    }
    details |= bench.disk()
    peers = {"gzip": rates["gzip"], "without compression": rates["identity"]}
    return Report(rate=rates["br"], unit="boards", peers=peers, details=details)


def _first_board(http: httpx.Client, path: str, encoding: str) -> int:
    """Return the bytes of a page and its style sheets, as they are sent."""
    page, size = _sent(http, path, encoding)
    if not _BOARD.search(page):
        raise RuntimeError(f"{path} has no board")
    styles = set(_STYLE.findall(page.decode()))
    if not styles:
        raise RuntimeError(f"{path} has no style sheet")
    return size + sum(_sent(http, style, encoding)[1] for style in styles)


def _sent(http: httpx.Client, path: str, encoding: str) -> tuple[bytes, int]:
    """Return an answer's content, and how many bytes of body were sent for it."""
    with http.stream("GET", path, headers={"Accept-Encoding": encoding}) as answer:
        content = answer.read()
        return content, answer.num_bytes_downloaded


def _seconds_to_answer(http: httpx.Client, path: str, repeats: int) -> float:
    """Return the median time of the server for a page."""
    taken = []
    for _ in range(repeats):
        began = time.perf_counter()
        http.get(path)
        taken.append(time.perf_counter() - began)
    return statistics.median(taken)
