"""Random kills: whichever process chance names, when chance has it, under load."""

import random
import signal
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from tests.faults.harness.kills import OUTCOME_SECONDS, RESTART_EVERY
from tests.faults.harness.record import now
from tests.faults.harness.results import Outcome
from tests.faults.harness.station import Station, kill, outcomes_of, progress, since
from tests.helpers.served import until

CHILDREN = {
    "worker": "matchpost worker",
    "side": "matchpost side",
    "scheduler": "matchpost scheduler",
    "Valkey": "/data/valkey.sock",
    "queue": "/queue/valkey.sock",
}
"""What is killed, but for `serve` itself, by a part of its command line."""

WEIGHTS = {"worker": 5, "side": 3, "scheduler": 2, "Valkey": 3, "queue": 3, "serve": 1}
"""How often each is killed, by chance."""

MOST_BETWEEN = 60
"""Commands with outcomes between two kills."""


def random_kills(kills: int, folder: Path) -> Outcome:
    """Kill so many times; all that was in flight must have outcomes soon after each restart."""
    chance = random.Random(kills)
    station = Station(folder, {"MATCHPOST_WORKERS": "2"})
    station.start()
    times: list[float] = []
    killed: Counter[str] = Counter()
    try:
        with station.load(players=6, pace=0.01) as load:
            for number in range(kills):
                if number and number % RESTART_EVERY == 0:
                    station.restart()
                progress(load, chance.randint(1, MOST_BETWEEN))
                (name,) = chance.choices(list(WEIGHTS), list(WEIGHTS.values()))
                replaced = _kill(station, name, chance)
                in_flight = load.in_flight()
                replaced()
                began = now()
                outcomes_of(load, in_flight)
                times.append(since(began))
                killed[name] += 1
        late = [
            f"an outcome came {t:.1f} s after the restart" for t in times if t > OUTCOME_SECONDS
        ]
        return Outcome(
            name="random",
            what="SIGKILL of a worker, the side worker, the Valkey or `serve`, by chance",
            wanted=kills,
            faults=killed.total(),
            acknowledged=station.record.acknowledged(),
            violations=station.violations(),
            late=late,
            seconds=max(times, default=0.0),
            details={"killed": dict(killed)},
        )
    finally:
        station.end()


def _kill(station: Station, name: str, chance: random.Random) -> Callable[[], object]:
    """Kill one; give what waits for its replacement."""
    if name == "serve":
        station.served.end(signal.SIGKILL)
        return station.start
    line = CHILDREN[name]
    until(lambda: station.children(line), 30)
    before = station.children(line)
    kill(chance.choice(before))
    return lambda: until(lambda: set(station.children(line)) - {*before}, 30)
