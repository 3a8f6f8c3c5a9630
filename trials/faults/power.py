"""Power loss: the server killed, and its log cut to what was synced, with noise behind.

A small library, compiled on the spot and preloaded into the server, writes down how long the log
was at each fdatasync. A kill alone loses nothing, since the kernel still has what was written; so
the log is cut at the last synced length, and gets a tail as a disk may leave one: nothing, a part
of what was really written after that, zeros, or rubbish, up to 4 KiB.

The control is the same with `appendfsync everysec`: it must lose acknowledged commands, or this
test shows nothing.

No room: the disk full, and the server's memory. Nothing is acknowledged that is not kept.
"""

import ctypes
import os
import random
import shutil
import signal
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import msgspec

from infra.redis import keys
from infra.valkey.aof import newest_log
from infra.valkey.process import is_alive
from tests.helpers.served import until
from trials.faults.checker import Result, now
from trials.faults.results import Outcome
from trials.faults.station import Station, progress, since

NOISE = 4096
SERIES = 15
"""Cuts on one data directory."""
AT_ONCE = 4
TAILS = ("nothing", "written", "zeros", "rubbish", "written and rubbish")


def compiler() -> str | None:
    """Return a C compiler, if there is one."""
    return shutil.which("cc") or shutil.which("gcc")


def library(folder: Path) -> Path:
    """Compile the library that writes the synced lengths down."""
    folder.mkdir(parents=True, exist_ok=True)
    built = folder / "synced.so"
    source = Path(__file__).with_name("synced.c")
    command = compiler()
    assert command is not None, "power loss needs a C compiler, as cc"
    subprocess.run(
        [command, "-O2", "-Wall", "-Werror", "-shared", "-fPIC", "-o", built, source, "-ldl"],
        check=True,
    )
    return built


def cuts(count: int, folder: Path) -> Outcome:
    """Lose power so many times under load."""
    built = library(folder)
    series = [min(SERIES, count - first) for first in range(0, count, SERIES)]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        jobs = [
            pool.submit(_series, number, size, folder / str(number), built)
            for number, size in enumerate(series)
        ]
        found = [job.result() for job in jobs]
    return _outcome("power", "power loss: log cut at the last fdatasync, with noise", count, found)


def control(count: int, folder: Path) -> Outcome:
    """The same under `everysec`, which nobody checks here: acknowledged commands must be lost.

    Each loss is in a data directory of its own: a history with a hole shows nothing more.
    """
    built = library(folder)
    return _control(
        count, [_series(n, 1, folder / str(n), built, control=True) for n in range(count)]
    )


def first_loss(most: int, folder: Path) -> Outcome:
    """The control until something is lost; some cuts come just after a sync and lose nothing."""
    built = library(folder)
    found: list[_Found] = []
    while len(found) < most and not any(one.violations for one in found):
        found.append(_series(len(found), 1, folder / str(len(found)), built, control=True))
    return _control(len(found), found)


def _control(count: int, found: "list[_Found]") -> Outcome:
    outcome = _outcome("power-everysec", "the same under `everysec`", count, found)
    outcome.expected_to_fail = True
    outcome.details["cuts_that_lost_something"] = sum(bool(one.violations) for one in found)
    return outcome


class _Found(msgspec.Struct):
    """What came of some cuts of one log."""

    tails: list[str] = []
    beyond: int = 0
    """Bytes that had been written and not synced."""
    acknowledged: int = 0
    violations: list[str] = []


def _outcome(name: str, what: str, count: int, found: list[_Found]) -> Outcome:
    tails = [tail for one in found for tail in one.tails]
    return Outcome(
        name=name,
        what=what,
        wanted=count,
        faults=len(tails),
        acknowledged=sum(one.acknowledged for one in found),
        violations=[violation for one in found for violation in one.violations],
        details={
            "tails": dict(Counter(tails)),
            "bytes_written_and_not_synced": sum(one.beyond for one in found),
        },
    )


def _series(seed: int, count: int, folder: Path, built: Path, *, control: bool = False) -> _Found:
    """Play, lose power, start again and look, so many times on one data directory."""
    chance = random.Random(seed)
    synced = folder / "synced"
    station = Station(folder, {"LD_PRELOAD": str(built), "SYNCED_RECORD": str(synced)})
    found = _Found()
    try:
        station.start()
        for _ in range(count):
            _play(station, chance, control=control)
            tail, beyond = _cut(station, synced, chance)
            found.tails.append(tail)
            found.beyond += beyond
            station.start()
            # what was acknowledged must be there before anybody has repeated a command
            found.violations += station.violations(drained=False, again=False)
        if not control:
            found.violations += station.violations()
        found.acknowledged = station.record.acknowledged()
    finally:
        station.end()
    return found


def _play(station: Station, chance: random.Random, *, control: bool) -> None:
    """Play for a while, and end everything in the middle of it."""
    if control:
        # a server that does not sync is found out at the next verification, so let one pass first
        with station.connect_queue() as queue:
            until(lambda: queue.get(keys.DURABILITY) == b"", 30)
        with station.connect() as client:
            client.config_set("appendfsync", "everysec")
    (server,) = station.servers()
    with station.load(players=4, plies=40, pace=0) as load:
        progress(load, chance.randrange(10, 60))
        # all at once: the supervisor would start the server again, and dies with its children
        station.served.end(signal.SIGKILL)
        until(lambda: not is_alive(server), 10)


def _cut(station: Station, synced: Path, chance: random.Random) -> tuple[str, int]:
    """Cut the log; give the kind of tail, and how much had been written beyond the sync."""
    log = newest_log(station.data / "valkey")
    assert log is not None
    length, name = synced.read_text().split()
    data = log.read_bytes()
    # a log begun since has not been synced at all
    end = int(length) if name == log.name else 0
    whole, beyond = data[:end], data[end:]
    tail = chance.choice(TAILS)
    written = beyond[: chance.randrange(min(len(beyond), NOISE) + 1)]
    rubbish = chance.randbytes(chance.randrange(1, NOISE + 1))
    ends = {
        "nothing": b"",
        "written": written,
        "zeros": bytes(len(rubbish)),
        "rubbish": rubbish,
        "written and rubbish": written + rubbish[: NOISE - len(written)],
    }
    log.write_bytes(whole + ends[tail])
    return tail, len(beyond)


DISK_BYTES = 24 << 20
RESUMED_SECONDS = 30.0
"""From when there is room again until commands have outcomes; the supervisor's longest back-off
and a lease are in it."""

MOVES_WITHOUT_ROOM = 6
"""Attempts of clients that must fail before room is made."""


def may_mount() -> bool:
    """Whether this process may mount a file system of its own."""
    return os.geteuid() == 0 and shutil.which("mount") is not None


def disk(count: int, folder: Path) -> Outcome:
    """Fill the disk under load, and make room again, so many times."""
    with _small_disk(folder / "disk") as place:
        filler = place / "filler"
        # the data directory and nothing else is on the small disk
        station = Station(folder, data=place)

        def fill(station: Station) -> None:
            del station
            with filler.open("wb") as file:
                _fill(file.fileno())

        def clear(station: Station) -> None:
            del station
            filler.unlink()

        return _run("disk-full", "the disk full under load, then not", station, count, fill, clear)


def memory(count: int, folder: Path) -> Outcome:
    """Take the server's memory away under load, and give it back, so many times."""

    def fill(station: Station) -> None:
        with station.connect() as client:
            used = int(client.info("memory")["used_memory"])
            client.config_set("maxmemory", used - (1 << 16))

    def clear(station: Station) -> None:
        with station.connect() as client:
            client.config_set("maxmemory", 0)

    what = "`maxmemory` reached under load, then not"
    return _run("memory-full", what, Station(folder), count, fill, clear)


Step = Callable[[Station], None]


def _run(name: str, what: str, station: Station, count: int, fill: Step, clear: Step) -> Outcome:
    times, said = [], set[str]()
    with station:
        with station.load(players=3, pace=0.02) as load:
            for _ in range(count):
                progress(load, 20)
                began = now()
                fill(station)
                until(lambda began=began: _failed(station, began) >= MOVES_WITHOUT_ROOM, 90)  # type: ignore[misc]
                said.add(_told(station))
                clear(station)
                cleared = now()
                progress(load, 5, seconds=90)
                times.append(since(cleared))
        late = [f"it took {t:.1f} s to go on" for t in times if t > RESUMED_SECONDS]
        details = {"what_users_are_told": sorted(said)}
        return station.outcome(name, what, count, times, late=late, details=details)


def _failed(station: Station, began: int) -> int:
    return sum(call.sent > began and call.result is not Result.OK for call in station.record)


def _told(station: Station) -> str:
    """What a user at the terminal hears meanwhile."""
    done = station.served.run("do", "signup", f"user{now()}", "mad-hatter")
    lines = done.stderr.strip().splitlines() or done.stdout.strip().splitlines()
    sentence = lines[-1] if lines else ""
    return f"{done.returncode}: {sentence.replace(str(station.data), 'DATA')}"


def _fill(descriptor: int) -> None:
    """Write until there is no room."""
    size = 1 << 20
    while size:
        try:
            os.write(descriptor, bytes(size))
        except OSError:
            size //= 2


@contextmanager
def _small_disk(place: Path) -> Iterator[Path]:
    place.mkdir(parents=True)
    size = f"size={DISK_BYTES},mode=700"
    subprocess.run(["mount", "-t", "tmpfs", "-o", size, "tmpfs", place], check=True)
    try:
        yield place
    finally:
        # lazily: a process that is just ending may still have a file open
        ctypes.CDLL(None, use_errno=True).umount2(os.fsencode(place), 2)
