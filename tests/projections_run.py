# ruff: noqa: I001 - the path is set first
"""Proves on a server under load that what the side workers keep is what a rebuild makes.

    .venv/bin/python tests/projections_run.py --events 100000

Matches of all games are played by chance on an embedded server with fsync. Two side workers feed the
projections and are killed with SIGKILL again and again. In the end every projection is built anew, up
to the same leaf, and compared key by key; then all are fed from zero once more, for the figures.
"""

import argparse
import logging
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread
from typing import Self

sys.path.insert(0, str(Path(__file__).parents[1]))

from redis import Redis

from tests.helpers.bench import Bench
from tests.helpers.corpus import Corpus
from tests.helpers.side import settle
from infra.redis.clients import make_client
from infra.durability.durability import Mode
from infra.valkey.server import EmbeddedServer
from infra.projections.buckets import BUCKETS
from infra.projections.lag import lag
from infra.projections.buckets import SPECS
from infra.store.redis_store import RedisStore
from workers.projections import PROJECTIONS
from workers.projections.verify import ProjectionVerifier
from workers.projections.worker import ProjectionWorker


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


class Killing:
    """Side workers, of which one is killed, and replaced, every so often."""

    def __init__(self, url: str, log: Path, seconds: float) -> None:
        self.kills = 0
        self._url = url
        self._log = log
        self._seconds = seconds
        self._ended = Event()
        self._chance = random.Random(1)
        self._thread = Thread(target=self._run)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _run(self) -> None:
        with self._log.open("wb") as log:
            workers = [self._start(log), self._start(log)]
            while not self._ended.wait(self._chance.random() * 2 * self._seconds):
                place = self._chance.randrange(2)
                workers[place].send_signal(signal.SIGKILL)
                workers[place].wait()
                workers[place] = self._start(log)
                self.kills += 1
            for worker in workers:
                worker.terminate()
                worker.wait()

    def _start(self, log: object) -> subprocess.Popen[bytes]:
        argv = [sys.executable, __file__, "--side", self._url]
        return subprocess.Popen(argv, stdout=log, stderr=log)  # type: ignore[call-overload, no-any-return]


def main(argv: Sequence[str] | None = None) -> int:
    """Run, print what was found, and give the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--events", type=int, default=100_000, help="leaves of all logs")
    parser.add_argument("--seconds", type=float, default=2.0, help="between two kills, on average")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--buckets", type=int, default=BUCKETS, help="of each projection")
    parser.add_argument("--side", metavar="URL", help="be a side worker of that server")
    arguments = parser.parse_args(argv)
    if arguments.side:
        be_side(arguments.side)
        return 0
    with (
        TemporaryDirectory() as folder,
        EmbeddedServer(Path(folder) / "data") as server,
        server.client(blocking_timeout=5) as client,
    ):
        bench = Bench(client, Path(folder) / "seeds")
        log = Path(folder) / "side.log"
        play(bench, server.url, log, arguments)
        differences = compare(bench, client)
        measure(bench, client)
        say_log(log)
    return 1 if differences else 0


def be_side(url: str) -> None:
    """Work as a side worker does, as long as it is let."""
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(message)s")
    with make_client(url) as client:
        ProjectionWorker(RedisStore(client, Mode.FSYNC), client).run(lambda: False)


def play(bench: Bench, url: str, log: Path, arguments: argparse.Namespace) -> None:
    """Play until there are so many leaves, and until the side workers have taken all in."""
    settle(ProjectionWorker(bench.store, bench.client, buckets=arguments.buckets))
    corpus = Corpus(bench, arguments.seed)
    with stopwatch("played"), Killing(url, log, arguments.seconds) as killing:
        while corpus.leaves() < arguments.events:
            corpus.step()
    say(f"{corpus.leaves():,} leaves; {killing.kills} side workers killed")
    say(", ".join(f"{count:,} {name}" for name, count in corpus.commands.most_common()))
    with stopwatch("caught up"):
        settle(ProjectionWorker(bench.store, bench.client), 300)
    behind = {spec.name: lag(bench.store, bench.client, spec).events for spec in SPECS}
    assert not any(behind.values()), behind


def compare(bench: Bench, client: Redis) -> int:
    """Compare each with a rebuild; gives how many differ."""
    differences = 0
    for projection in PROJECTIONS:
        began = time.monotonic()
        result = ProjectionVerifier(bench.store, client, projection).run()
        said = f"DIFFERS at {result.difference}" if result.difference else "equal"
        seconds = time.monotonic() - began
        say(f"| {projection.spec.name} | {result.keys:,} | {said} | {seconds:.1f} s |")
        differences += bool(result.difference)
    generations = [key.decode() for key in client.keys("{p:*}:*:at")]
    say(f"live generations: {', '.join(sorted(generations))}")
    return differences


def measure(bench: Bench, client: Redis) -> None:
    """Feed all from zero, for the cost of an event."""
    client.delete(*client.keys("{p:*"))
    leaves = sum(bench.store.watermark().ends)
    again = ProjectionWorker(bench.store, client)
    before, served, began = os.times(), server_seconds(client), time.monotonic()
    settle(again, 600)
    seconds, after = time.monotonic() - began, os.times()
    cpu = after.user + after.system - before.user - before.system
    there = server_seconds(client) - served
    say(
        f"all fed from zero: {seconds:.1f} s, {leaves / seconds:,.0f} leaves/s; processor time of a "
        f"leaf: {cpu / leaves * 1e6:.1f} us here, {there / leaves * 1e6:.1f} us in the server"
    )


def server_seconds(client: Redis) -> float:
    """Give the processor time that the server's main thread has used."""
    used: dict[str, float] = client.info("cpu")
    return used["used_cpu_user_main_thread"] + used["used_cpu_sys_main_thread"]


def say_log(log: Path) -> None:
    """Print what the side workers had to say, once each."""
    lines = log.read_text().splitlines()
    alarms = [line for line in lines if "ALARM" in line or "Error" in line or "anew" in line]
    say(f"{len(lines)} lines in the side workers' logs, of which to be looked at:")
    for line in dict.fromkeys(alarms):
        say(f"  {line}")


@contextmanager
def stopwatch(what: str) -> Iterator[None]:
    """Print how long something took."""
    began = time.monotonic()
    yield
    say(f"{what} in {time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    sys.exit(main())
