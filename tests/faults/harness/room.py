"""No room: the disk full, and the server's memory. Nothing is acknowledged that is not kept."""

import ctypes
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.faults.harness.record import Result, now
from tests.faults.harness.results import Outcome
from tests.faults.harness.station import Station, progress, since
from tests.helpers.served import until

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
    times, said, outages = [], set[str](), 0
    try:
        station.start()
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
                outages += 1
        late = [f"it took {t:.1f} s to go on" for t in times if t > RESUMED_SECONDS]
        return Outcome(
            name=name,
            what=what,
            wanted=count,
            faults=outages,
            acknowledged=station.record.acknowledged(),
            violations=station.violations(),
            late=late,
            seconds=max(times, default=0.0),
            details={"what_users_are_told": sorted(said)},
        )
    finally:
        station.end()


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
