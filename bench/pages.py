"""Pages of a player who has logged in: processor time of the web process, latency, commands and round trips.

The server is one with people in it, as `matchpost demo` fills it, and nothing else is asked of it. One client sends
one request at a time on one connection. The data server counts its commands, and how often it read something from a
client: that is a round trip, because a pipeline is sent at once. What the idle server does is subtracted.

The peer is a page without contents: the same framework, HTTP server and settings, in a process of its own.
"""

import http.client
import re
import secrets
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import cycle, islice
from subprocess import PIPE, Popen
from typing import Any, Final
from urllib.parse import urlencode, urlsplit

import msgspec
import redis

from bench.harness import BenchEnvironment
from bench.lone import count_commands
from bench.processor import process_seconds, processor_seconds
from bench.report import Report, median_and_p99
from bench.served import serving
from domain.errors import Refusal
from infra.settings.settings import Settings
from services.app.context import App
from services.app.matches import load_state
from services.app.waiting import OwnMatches, own_matches
from services.cli.demo import fill_server
from services.demo.community import VISITOR

_WARMING: Final = 50
"""Requests for each page before it is measured."""

_LEAST_OF_EMPTY: Final = 1_000
"""Requests for the page without contents, because few take no tick of the clock by which processor time is counted."""

_SECONDS_TO_BUILD: Final = 60.0
_SETTLE_SECONDS: Final = 12.0
"""Until a server that has just started has built its lists and published its logs."""

_IDLE_SECONDS: Final = 6.0
_UNLIMITED: Final = "1000000000"

_PROOF: Final = re.compile(r'name="csrf" value="([0-9a-f]{128})"')


def run(bench: BenchEnvironment, requests: int) -> Report:
    """Measure; the headline is pages of a match, to whose player it is to move, a second of a processor."""
    password = secrets.token_hex(8)
    fill_server(Settings(data=bench.folder / "pages"), password)
    quiet = {"MATCHPOST_SCRUB_PERCENT": "0", "MATCHPOST_ADDRESS_RATE": _UNLIMITED}
    with (
        serving(bench, "pages", **quiet) as served,
        App(Settings(data=served.data)) as app,
        _empty_page() as (empty, peer),
    ):
        browser = _Browser(served.url)
        browser.log_in(password)
        pages = _pages(app)
        time.sleep(_SETTLE_SECONDS)
        gauge = _Gauge(app.data, lambda: processor_seconds(served.pid)["web"])
        found = {name: gauge.measure(browser, paths, requests) for name, paths in pages.items()}
        beside = _Gauge(app.data, lambda: process_seconds(peer))
        nothing = beside.measure(_Browser(empty), ["/"], max(requests, _LEAST_OF_EMPTY))
    return Report(
        rate=1e6 / found["match, to move"].processor_us,
        unit="pages",
        peers={"empty_page": 1e6 / nothing.processor_us},
        details={
            "pages": {name: one.figures() for name, one in found.items()},
            "the empty page": {
                "processor time, us": nothing.processor_us,
                "latency, us": nothing.latency,
            },
            "requests for each": requests,
            **bench.disk(),
        },
    )


class PageCost(msgspec.Struct, frozen=True):
    """The cost of a request for a page, on average."""

    processor_us: float
    latency: Mapping[str, float]
    """In us."""
    commands: float
    round_trips: float
    bytes: int
    """Of the body, as it was sent."""

    def figures(self) -> dict[str, Any]:
        """Return the figures by their names in the report."""
        return {
            "processor time of the web process, us": self.processor_us,
            "latency, us": self.latency,
            "commands": self.commands,
            "round trips": self.round_trips,
            "bytes": self.bytes,
        }


class _Gauge:
    """Measures what requests cost a process and the data server."""

    def __init__(self, data: redis.Redis, processor: Callable[[], float]) -> None:
        self._data = data
        self._processor = processor
        before = self._count()
        time.sleep(_IDLE_SECONDS)
        self._idle = [n / _IDLE_SECONDS for n in self._since(before)]
        """Commands and reads a second of the idle server."""

    def _count(self) -> tuple[int, int]:
        reads = int(self._data.info("stats")["total_reads_processed"])
        return sum(count_commands(self._data).commands.values()), reads

    def _since(self, before: tuple[int, int]) -> list[int]:
        return [now - then for now, then in zip(self._count(), before, strict=True)]

    def measure(self, browser: "_Browser", paths: Sequence[str], requests: int) -> PageCost:
        """Return the cost of pages that are asked for in turn."""
        browser.connect_again()
        for path in islice(cycle(paths), _WARMING):
            browser.page(path)
        latencies, sent = [], 0
        counted, used, began = self._count(), self._processor(), time.perf_counter()
        for path in islice(cycle(paths), requests):
            asked = time.perf_counter()
            sent += len(browser.page(path))
            latencies.append(time.perf_counter() - asked)
        seconds, used = time.perf_counter() - began, self._processor() - used
        # the gauge's own two looks: each read twice, and `INFO` is no command of `count_commands`
        commands, reads = (
            (n - idle * seconds) / requests
            for n, idle in zip(self._since(counted), self._idle, strict=True)
        )
        return PageCost(
            processor_us=round(1e6 * used / requests),
            latency=median_and_p99(latencies),
            commands=round(commands, 1),
            round_trips=round(reads, 1),
            bytes=round(sent / requests),
        )


def _pages(app: App) -> dict[str, list[str]]:
    """Return the addresses of each kind of page."""
    own = _own_matches(app)
    numbers = range(1, max(own.boards.waiting + own.others) + 1)
    return {
        "match, to move": [f"/m/{_longest(app, own.boards.waiting)}"],
        "match, waiting": [f"/m/{_longest(app, own.others)}"],
        "all matches in turn": [f"/m/{board}" for board in numbers if _is_match(app, board)],
        "home": ["/"],
        "games": ["/games"],
        "a player": [f"/players/{VISITOR}"],
    }


def _is_match(app: App, board: int) -> bool:
    """Return whether a number is that of a match, and not of a tournament."""
    try:
        load_state(app, board)
    except Refusal:
        return False
    return True


def _longest(app: App, boards: Sequence[int]) -> int:
    """Return the match with most moves."""
    return max(boards, key=lambda board: load_state(app, board).ply)


def _own_matches(app: App) -> OwnMatches:
    """Return the visitor's matches, as soon as the lists are built."""
    end = time.monotonic() + _SECONDS_TO_BUILD
    while True:
        try:
            own = own_matches(app, app.accounts.id_of(VISITOR))
        except LookupError:
            own = None
        if own is not None and own.boards.waiting:
            return own
        if time.monotonic() > end:
            raise RuntimeError("the lists of matches were not built in time")
        time.sleep(0.1)


class _Browser:
    """One connection to a server, with the cookies that it sets."""

    def __init__(self, url: str) -> None:
        self._connection = http.client.HTTPConnection(urlsplit(url).netloc)
        self._cookies: dict[str, str] = {}

    def log_in(self, password: str) -> None:
        """Log in as the visitor."""
        proof = _PROOF.search(self.page("/login", "identity").decode())
        assert proof is not None
        fields = {"csrf": proof[1], "userid": VISITOR, "password": password}
        self._ask("POST", "/login", 303, body=urlencode(fields))

    def connect_again(self) -> None:
        """Have the next request open a connection, because the server closes one that is not used."""
        self._connection.close()

    def page(self, path: str, encoding: str = "br") -> bytes:
        """Return the body of a page as it was sent; `RuntimeError` if there is none."""
        return self._ask("GET", path, 200, encoding)

    def _ask(
        self, method: str, path: str, status: int, encoding: str = "br", body: str | None = None
    ) -> bytes:
        headers = {
            "Accept-Encoding": encoding,
            "Cookie": "; ".join(f"{name}={value}" for name, value in self._cookies.items()),
            **({"Content-Type": "application/x-www-form-urlencoded"} if body else {}),
        }
        self._connection.request(method, path, body, headers)
        answer = self._connection.getresponse()
        found = answer.read()
        if answer.status != status:
            raise RuntimeError(f"{path} is answered with {answer.status}")
        for cookie in answer.headers.get_all("Set-Cookie", []):
            name, _, value = cookie.partition(";")[0].partition("=")
            self._cookies[name] = value
        return found


@contextmanager
def _empty_page() -> Iterator[tuple[str, int]]:
    """Serve a page without contents; yield its address, and the id of its process."""
    words = [sys.executable, "-m", "bench.baselines.empty_page"]
    with Popen(words, stdout=PIPE, text=True) as process:  # noqa: S603 - our own program
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip(), process.pid
        finally:
            process.terminate()
