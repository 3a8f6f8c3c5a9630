"""The latency of people's moves over HTTP, alone and beside many matches of robots.

A real `serve` with its own settings. The people's moves come at a fixed pace, from a process of its own. The
matches of robots are of the easy one against the medium one: their processes are at work all the time.
"""

import asyncio
import time
from collections.abc import Sequence
from functools import partial
from itertools import chain
from typing import Final

from bench.harness import BenchEnvironment
from bench.http import connection, send_apart
from bench.report import Report, median_and_p99
from bench.served import serving, start_matches
from bench.workload import endless
from domain.game.engine import RobotLevel
from domain.match.commands import CommandEnvelope, StartMatch
from domain.match.history import unpack_snapshot
from domain.match.state import ROBOT_ACCOUNTS
from domain.records import command_id
from domain.rules import latest_rules, rules_id
from infra.settings.settings import Settings
from services.app.context import App

PEOPLE: Final = 10
"""Pairs of people; each plays one match at a time."""

_PAGE: Final = 200
_SETTLE_SECONDS: Final = 5.0
_PATIENCE_SECONDS: Final = 60.0
_WARM_UP_MOVES: Final = 20


def run(
    bench: BenchEnvironment, matches: int, seconds: int, rate: int, robots: int, pause: int
) -> Report:
    """Measure; the headline is the robots' moves a second."""
    played = [
        *endless(2 * PEOPLE, seconds * rate),
        *endless(PEOPLE, _WARM_UP_MOVES, first_board=2 * PEOPLE + 1),
    ]
    settings = {"MATCHPOST_ROBOTS": str(robots), "MATCHPOST_ROBOT_SECONDS": str(pause)}
    with serving(bench, "robots", **settings) as (url, data, _), App(Settings(data=data)) as app:
        requests = start_matches(data, played, PEOPLE, lambda at: at % PEOPLE)
        shares = [requests[game.board] for game in played]
        _measure(url, shares[2 * PEOPLE :], rate)  # the first moves of a server take longer
        quiet = _measure(url, shares[:PEOPLE], rate)
        boards = _start_robots(app, matches, first=3 * PEOPLE + 1)
        _wait_until_robots_play(app, boards, pause)
        before, began = _plies(app, boards), time.perf_counter()
        beside = _measure(url, shares[PEOPLE : 2 * PEOPLE], rate)
        moves, took = _plies(app, boards) - before, time.perf_counter() - began
    alone, loaded = median_and_p99(quiet), median_and_p99(beside)
    details = {
        "people's moves": len(beside),
        "people's moves a second": PEOPLE * rate,
        "matches of robots": matches,
        "robots' moves": moves,
        "processes of robots": robots,
        "latency alone, us": alone,
        "latency beside the robots, us": loaded,
        "p50 ratio": round(loaded["median"] / alone["median"], 2),
        "p99 ratio": round(loaded["p99"] / alone["p99"], 2),
        **bench.disk(),
    }
    return Report(rate=moves / took, unit="moves", peers={}, details=details)


def _start_robots(app: App, matches: int, first: int) -> list[int]:
    """Start matches of the easy robot and the medium one, which take the seats in turn."""
    easy, medium = ROBOT_ACCOUNTS[RobotLevel.EASY], ROBOT_ACCOUNTS[RobotLevel.MEDIUM]
    rules = rules_id(latest_rules("pow2"))
    boards = list(range(first, first + matches))
    app.gateway.submit_all(
        [
            CommandEnvelope(
                board,
                command_id("bench", seats[0], str(board)),
                seats[0],
                StartMatch(rules=rules, options=(), seats=seats),
            )
            for board in boards
            for seats in [(easy, medium) if board % 2 else (medium, easy)]
        ]
    )
    return boards


def _wait_until_robots_play(app: App, boards: Sequence[int], pause: int) -> None:
    """Wait until all robots may move and one has; raise RuntimeError when none does."""
    time.sleep(pause + _SETTLE_SECONDS)
    patience = time.monotonic() + _PATIENCE_SECONDS
    while not _plies(app, boards):
        if time.monotonic() > patience:
            raise RuntimeError("the robots have not moved")
        time.sleep(0.2)


def _plies(app: App, boards: Sequence[int]) -> int:
    """Return how many moves were played in all of some matches."""
    pages = (boards[start : start + _PAGE] for start in range(0, len(boards), _PAGE))
    found = chain.from_iterable(app.store.snapshots(page) for page in pages)
    return sum(unpack_snapshot(data).state.ply for data in found)


def _measure(url: str, shares: Sequence[Sequence[bytes]], rate: int) -> list[float]:
    people = [partial(_play_at_pace, url, share, rate, at) for at, share in enumerate(shares)]
    return send_apart(people).latencies


async def _play_at_pace(url: str, requests: Sequence[bytes], rate: int, at: int) -> list[float]:
    """Send the requests of the pair `at`, so many a second; return the latencies.

    A latency counts from the time at which the move was due, so that no delay hides the next one.
    """
    latencies = []
    async with connection(url) as ask:
        begin = time.perf_counter() + at / (PEOPLE * rate)
        for number, request in enumerate(requests):
            due = begin + number / rate
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            await ask(request)
            latencies.append(time.perf_counter() - due)
    return latencies
