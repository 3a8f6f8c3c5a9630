"""Pages in a browser: requests, bytes and the time to the first board, cold and warm.

A real `serve` and a real Chromium, logged in as a player whose matches are under way. A relay between them counts, so
that workers and streams are in the figures, too. Each load is in a browser context of its own, that has kept nothing; the
warm one is the same page again in the same context. All is measured at full speed and at a quarter of the processor.
"""

import asyncio
import shutil
import statistics
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, Literal
from urllib.parse import urlsplit

from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from bench.harness import BenchEnvironment, NoBrowserError
from bench.http import play_matches
from bench.report import Report
from bench.served import serving, start_matches
from bench.workload import endless
from infra.people.sessions import Sessions
from infra.settings.settings import Settings
from services.app.context import App

BROWSERS: Final = ("chromium", "chromium-browser", "google-chrome")
"""Names of programs, one of which is to be there."""
_MATCHES: Final = 12
_PLIES: Final = 12
_SLOW: Final = 4
"""Times that a processor is slower at a quarter of its speed."""
_REST_MS: Final = 1_500
"""Milliseconds after the load in which a page fetches what can wait."""

_WATCH: Final = """
const seen = window.seen = {};
function look() {
  const board = document.querySelector("main svg.board, main img");
  if (board && (board.tagName !== "IMG" || board.complete)) {
    seen.found ??= performance.now();
    if (seen.found < performance.now()) seen.board ??= performance.now();
  }
  if (document.querySelector("#board-area.choosing")) seen.usable ??= performance.now();
  if (!seen.board || !seen.usable) requestAnimationFrame(look);
}
requestAnimationFrame(look);
"""
"""A frame sees a board before it is painted, and the next one after that."""

_SETTLED: Final = """() => seen.board
  && (seen.usable || !document.querySelector("#board-area[data-moves]:not([data-moves=''])"))"""
_PROCESSOR: Final = "main thread's processor time, ms"


def run(bench: BenchEnvironment, runs: int) -> Report:
    """Measure; the headline is how often a second the first board of a cold match page could be shown."""
    played = endless(_MATCHES, _PLIES)
    with serving(bench, "browser") as (url, data, _):
        play_matches(url, start_matches(data, played), played, 1)
        with App(Settings(data=data)) as app:
            session = Sessions(app.data).open(app.accounts.id_of("light0"), "bench").text
        paths = {"match": f"/m/{played[0].board}", "home": "/", "game": "/games/pow2"}
        with _counted(url) as traffic, _browser() as browser:
            found = {
                f"{name}, {speed}": _loads(browser, traffic, path, session, runs, slower)
                for name, path in paths.items()
                for speed, slower in (("full speed", 1), ("a quarter of the processor", _SLOW))
            }
    first = found["match, full speed"]["cold"]["first board, ms"]
    return Report(
        rate=1_000 / first,
        unit="first boards",
        peers={},
        details={"loads of each": runs, **found, **bench.disk()},
    )


@contextmanager
def _browser() -> Iterator[Browser]:
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        raise NoBrowserError("`bench browser` needs Chromium; Debian's package is `chromium`")
    with sync_playwright() as playwright:
        # its sandbox needs a user who is not root, and it loads only pages of this server
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        try:
            yield browser
        finally:
            browser.close()


class _Traffic:
    """Connections that pass through unchanged, and are counted."""

    def __init__(self, port: int) -> None:
        self.url = ""
        self.requests = 0
        self.received = 0
        self._port = port

    async def pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Pass on one connection of the browser until either side closes it."""
        above, server = await asyncio.open_connection("127.0.0.1", self._port)
        ways = (self._copy(reader, server, "sent"), self._copy(above, writer, "received"))
        # a browser that closes drops the connections that it has open
        await asyncio.gather(*ways, return_exceptions=True)

    async def _copy(
        self,
        source: asyncio.StreamReader,
        target: asyncio.StreamWriter,
        way: Literal["sent", "received"],
    ) -> None:
        try:
            while data := await source.read(65_536):
                if way == "sent":
                    self.requests += data.count(b" HTTP/1.1\r\n")
                else:
                    self.received += len(data)
                target.write(data)
                await target.drain()
        finally:
            target.close()


@contextmanager
def _counted(url: str) -> Iterator[_Traffic]:
    """Run a relay to a server in a thread."""
    traffic = _Traffic(urlsplit(url).port or 80)
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    started = asyncio.start_server(traffic.pass_on, "127.0.0.1", 0)
    server = asyncio.run_coroutine_threadsafe(started, loop).result()
    traffic.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield traffic
    finally:
        loop.call_soon_threadsafe(server.close)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()


def _loads(
    browser: Browser, traffic: _Traffic, path: str, session: str, runs: int, slower: int
) -> dict[str, dict[str, float]]:
    """Return the medians of cold and of warm loads of a page."""
    cold, warm = [], []
    for _ in range(runs):
        context = browser.new_context(locale="en-GB", viewport={"width": 1280, "height": 900})
        context.add_cookies([{"name": "session", "value": session, "url": traffic.url}])
        page = _page(context, slower)
        cold.append(_load(page, traffic, path))
        warm.append(_load(page, traffic, path))
        context.close()
    return {"cold": _medians(cold), "warm": _medians(warm)}


def _page(context: BrowserContext, slower: int) -> Page:
    page = context.new_page()
    page.add_init_script(_WATCH)
    context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": slower})
    return page


def _load(page: Page, traffic: _Traffic, path: str) -> dict[str, float]:
    tools = page.context.new_cdp_session(page)
    tools.send("Performance.enable", {"timeDomain": "threadTicks"})
    requests, received = traffic.requests, traffic.received
    before = _processor_ms(tools.send("Performance.getMetrics"))
    page.goto(f"{traffic.url}{path}", wait_until="load")
    page.wait_for_function(_SETTLED)
    page.wait_for_timeout(_REST_MS)
    seen: dict[str, float] = page.evaluate("seen")
    used = _processor_ms(tools.send("Performance.getMetrics")) - before
    tools.detach()
    found = {
        "requests": traffic.requests - requests,
        "bytes": traffic.received - received,
        "first board, ms": seen["board"],
        _PROCESSOR: used,
    }
    return {**found, "usable board, ms": seen["usable"]} if "usable" in seen else found


def _processor_ms(answer: dict[str, Any]) -> float:
    """Return the processor time of a page's main thread, from the browser's metrics."""
    figures = {one["name"]: float(one["value"]) for one in answer["metrics"]}
    return 1_000 * figures["TaskDuration"]


def _medians(loads: Sequence[dict[str, float]]) -> dict[str, float]:
    return {name: round(statistics.median(load[name] for load in loads)) for name in loads[0]}
