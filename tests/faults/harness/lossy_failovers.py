"""Failovers under asynchronous replication: what is lost is noticed, logged, and restored as far as it was published.

Before a primary is killed its replica gets nothing any more, until leaves are published that the replica
does not have. So each failover takes published leaves back, and acknowledged commands with them.
"""

import random
from collections.abc import Iterable
from pathlib import Path

from infra.durability.durability import Mode
from infra.redis import keys
from infra.redis.cluster import slot_of_key
from tests.faults.harness.checker import Violation
from tests.faults.harness.failover_station import FailoverStation
from tests.faults.harness.failovers import (
    HEALED_SECONDS,
    KINDS,
    MOST_BETWEEN,
    Kind,
    heal,
    late,
    recovered,
)
from tests.faults.harness.held import Held
from tests.faults.harness.record import Invocation, Result
from tests.faults.harness.results import Outcome
from tests.faults.harness.station import progress
from tests.faults.harness.topologies import GuardedCluster, cut_replication, role_of
from tests.helpers.clusters import Node
from tests.helpers.served import until


class LossyStation(FailoverStation):
    """A station without a barrier, so that acknowledged commands may be lost."""

    def __init__(self, folder: Path, kind: Kind) -> None:
        super().__init__(folder, kind, Mode.MANAGED)
        self.lost = 0
        """Acknowledged commands that were neither published nor replicated, as of the last check."""

    def shards_on(self, primary: Node) -> list[int]:
        """Return the shards that a primary serves."""
        every = range(self.count)
        if isinstance(self.servers, GuardedCluster):
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
    servers.firewall.cut(cut_replication(primary, replica), silently=True)
    try:

        def ahead() -> int:
            published = station.published()
            return sum(published[shard] > ends[shard] for shard in shards)

        until(ahead, HEALED_SECONDS)
        primary.kill()
        lost = ahead()
    finally:
        servers.firewall.heal()
    until(lambda: role_of(replica) == "master", HEALED_SECONDS)
    primary.start()
    heal(station)
    until(station.is_open, HEALED_SECONDS)
    return lost


def under_load(kind: str, count: int, folder: Path) -> Outcome:
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
        return Outcome(
            name=f"{kind}-lossy",
            what="SIGKILL of a primary whose replica lags, under durability `managed`",
            wanted=count,
            faults=len(times),
            acknowledged=station.record.acknowledged(),
            violations=station.violations(),
            late=late(times),
            seconds=max(times, default=0.0),
            details={
                "shards_rolled_back": rolled_back,
                "unpublished_commands_lost": station.lost,
                "reads_taken_back": station.taken_back,
                "stale_reads": station.stale,
            },
        )
