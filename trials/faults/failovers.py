"""Failovers, slots that move, servers cut off, and a queue server killed, under durability `replicated`.

A failover has ended when each part of the data has a primary and a replica that follows it.

Failovers under asynchronous replication: what is lost is noticed, logged, and restored as far as it was published.

Before a primary is killed its replica gets nothing any more, until leaves are published that the replica
does not have. So each failover takes published leaves back, and acknowledged commands with them.
"""

import random
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from infra.durability.durability import Mode
from infra.redis import keys
from infra.redis.cluster import slot_of_key
from tests.helpers.clusters import Node
from tests.helpers.served import until
from trials.faults import failover_station
from trials.faults.checker import Held, Invocation, Result, Violation, now
from trials.faults.kills import OUTCOME_SECONDS
from trials.faults.load import Load
from trials.faults.results import Outcome
from trials.faults.station import outcomes_of, progress, since

Kind = type[failover_station.GuardedCluster] | type[failover_station.GuardedPair]

Fault = Callable[[failover_station.FailoverStation, random.Random], str]
"""Does one fault, waits until the servers are whole again, and returns which it was."""

HEALED_SECONDS: Final = 180.0
"""Patience, not a promise: the machine may have other work to do."""

ISOLATED_SECONDS: Final = 1.0
"""How long a primary stays cut off after another has taken its place: to do what harm it can."""

MOST_BETWEEN: Final = 40
"""Commands with outcomes between two faults."""

MOVED_SLOTS: Final = 24


def heal(station: failover_station.FailoverStation) -> None:
    """Wait until each primary has a replica that follows it."""
    until(station.servers.whole, HEALED_SECONDS)


def kill_primary(station: failover_station.FailoverStation, chance: random.Random) -> str:
    """Kill a primary, and start it again once its replica has been promoted."""
    servers = station.servers
    primary = chance.choice(servers.serving())
    replica = servers.replica_of(primary)
    primary.kill()
    until(lambda: failover_station.role_of(replica) == "master", HEALED_SECONDS)
    primary.start()
    heal(station)
    return "killed"


def force_failover(station: failover_station.FailoverStation, chance: random.Random) -> str:
    """Promote a replica while its primary runs."""
    servers = station.servers
    primary = chance.choice(servers.serving())
    replica = servers.replica_of(primary)
    force = chance.random() < 0.5
    servers.fail_over(primary, force=force)
    until(lambda: failover_station.role_of(replica) == "master", HEALED_SECONDS)
    heal(station)
    return "without its consent" if force else "agreed with the primary"


def cut_off(station: failover_station.FailoverStation, chance: random.Random) -> str:
    """Cut a primary off from all other servers, and perhaps from clients, until its replica was promoted."""
    servers = station.servers
    primary = chance.choice(servers.serving())
    replica = servers.replica_of(primary)
    clients, silently = chance.random() < 0.5, chance.random() < 0.5
    servers.firewall.cut(failover_station.isolation(primary, clients=clients), silently=silently)
    try:
        until(lambda: failover_station.role_of(replica) == "master", HEALED_SECONDS)
        time.sleep(ISOLATED_SECONDS)
    finally:
        servers.firewall.heal()
    heal(station)
    how = "silently" if silently else "by closed connections"
    return f"{how}, {'from clients too' if clients else 'not from clients'}"


def move_slots(station: failover_station.FailoverStation, chance: random.Random) -> str:
    """Move the slots around a shard's to another primary: at once, or key by key."""
    servers = station.servers
    assert isinstance(servers, failover_station.GuardedCluster)
    shard = chance.randrange(station.read_shards())
    slots = servers.range_around(keys.log(shard), MOVED_SLOTS)
    source = servers.owner(slots[0])
    target = chance.choice([node for node in servers.serving() if node is not source])
    at_once = chance.random() < 0.5
    (servers.move_slots if at_once else servers.move_keys)(slots, source, target)
    heal(station)
    return "at once" if at_once else "key by key"


def kill_queue(station: failover_station.FailoverStation, chance: random.Random) -> str:
    station.kill_queue(chance)
    return "killed"


CLUSTER, SENTINEL = "cluster", "sentinel"
KINDS: Final[Mapping[str, Kind]] = {
    CLUSTER: failover_station.GuardedCluster,
    SENTINEL: failover_station.GuardedPair,
}

FAULTS: Final[Mapping[str, tuple[Fault, str]]] = {
    "kill-primary": (kill_primary, "SIGKILL of a primary"),
    "failover": (force_failover, "a replica promoted while its primary runs"),
    "cut-off": (cut_off, "a primary cut off from the others, and half of the time from clients"),
    "move-slots": (move_slots, "slots moved to another primary"),
    "kill-queue": (kill_queue, "SIGKILL of the queue's server"),
}
"""Each fault by its name, with what it is."""


def under_load(kind: str, fault: str, count: int, folder: Path) -> Outcome:
    """Do a fault so many times under load; nothing that was acknowledged may be lost."""
    chance = random.Random(count)
    do, what = FAULTS[fault]
    times: list[float] = []
    done: Counter[str] = Counter()
    with failover_station.FailoverStation(folder, KINDS[kind]) as station:
        with station.play(players=4, pace=0.02) as load:
            for _ in range(count):
                progress(load, chance.randint(10, MOST_BETWEEN), HEALED_SECONDS)
                done[do(station, chance)] += 1
                times.append(recovered(load))
        said = f"{what}, under durability `replicated`"
        found = station.outcome(f"{kind}-{fault}", said, count, times, late=late(times))
        found.details = {"how": dict(done), **station.explained()}
        return found


def recovered(load: Load) -> float:
    """Return the seconds until all commands in flight have outcomes, and play goes on by itself."""
    ended = now()
    outcomes_of(load, load.in_flight(), HEALED_SECONDS)
    progress(load, 5, HEALED_SECONDS)
    return since(ended)


def late(times: Sequence[float]) -> list[str]:
    """Return a sentence for each time that is too long."""
    return [f"an outcome came {t:.1f} s after the failover" for t in times if t > OUTCOME_SECONDS]


class LossyStation(failover_station.FailoverStation):
    """A station without a barrier, so that acknowledged commands may be lost."""

    def __init__(self, folder: Path, kind: Kind) -> None:
        super().__init__(folder, kind, Mode.MANAGED)
        self.lost = 0
        """Acknowledged commands that were neither published nor replicated, as of the last check."""

    def shards_on(self, primary: Node) -> list[int]:
        every = range(self.count)
        if isinstance(self.servers, failover_station.GuardedCluster):
            owner = self.servers.owner
            return [one for one in every if owner(slot_of_key(keys.log(one))) is primary]
        return list(every)

    def check(self, held: Held) -> list[Violation]:
        """Return what is wrong, beside the loss of commands that were never published."""
        kept, lost = divide(self.record, held)
        self.lost = len({call.command for call in lost})
        return [*self.check_published(held), *self.check_calls(kept, held)]


def divide(calls: Iterable[Invocation], held: Held) -> tuple[list[Invocation], list[Invocation]]:
    """Return the calls without those of commands that were acknowledged and have no outcome any more; and those.

    What was published is in the logs, because every log checkpoint is checked against them. So these
    commands were not published.
    """
    every = list(calls)
    gone = {
        call.command
        for call in every
        if call.command
        and call.result is Result.OK
        and call.command not in held.outcomes.get(call.match, {})
    }
    return (
        [call for call in every if call.command not in gone],
        [call for call in every if call.command in gone],
    )


def lose_leaves(station: LossyStation, chance: random.Random) -> int:
    """Have a failover take published leaves back; return how many shards lost some."""
    servers = station.servers
    primary = chance.choice(servers.serving())
    replica = servers.replica_of(primary)
    shards = station.shards_on(primary)
    ends = station.ends()
    servers.firewall.cut(failover_station.cut_replication(primary, replica), silently=True)
    try:

        def ahead() -> int:
            published = station.published()
            return sum(published[shard] > ends[shard] for shard in shards)

        until(ahead, HEALED_SECONDS)
        primary.kill()
        lost = ahead()
    finally:
        servers.firewall.heal()
    until(lambda: failover_station.role_of(replica) == "master", HEALED_SECONDS)
    primary.start()
    heal(station)
    until(station.is_open, HEALED_SECONDS)
    return lost


def lossy_under_load(kind: str, count: int, folder: Path) -> Outcome:
    """Have failovers take leaves back so many times under load."""
    chance = random.Random(count)
    times: list[float] = []
    rolled_back = 0
    with LossyStation(folder, KINDS[kind]) as station:
        with station.play(players=4, pace=0.02, lossy=True) as load:
            for _ in range(count):
                progress(load, chance.randint(10, MOST_BETWEEN), HEALED_SECONDS)
                before = station.alarms()
                rolled_back += lose_leaves(station, chance)
                assert station.alarms() > before, "nothing was logged of the loss"
                times.append(recovered(load))
        what = "SIGKILL of a primary whose replica lags, under durability `managed`"
        found = station.outcome(f"{kind}-lossy", what, count, times, late=late(times))
        lost = {"shards_rolled_back": rolled_back, "unpublished_commands_lost": station.lost}
        found.details = {**lost, **station.explained()}
        return found
