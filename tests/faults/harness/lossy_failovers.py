"""Failovers under asynchronous replication: what is lost is noticed, logged, and restored as far as it was published.

Before a primary is killed its replica gets nothing any more, until leaves are published that the replica
does not have. So each failover takes published leaves back, and acknowledged commands with them.
"""

import random
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from redis.exceptions import RedisError

from infra.durability import Mode
from infra.log.key_files import FOLDER_NAME, read_public_keys
from infra.log.names import shard_key
from infra.redis import keys
from infra.redis.slot_map import slot_of_key
from infra.store.closed_shards import ClosedShards
from infra.store.log_gate import read_ends
from infra.store.published_sizes import read_published_sizes
from tests.faults.harness.checker import Violation
from tests.faults.harness.failover_station import FailoverStation
from tests.faults.harness.failovers import HEALED_SECONDS, MOST_BETWEEN, Kind, heal
from tests.faults.harness.held import Held
from tests.faults.harness.kills import OUTCOME_SECONDS
from tests.faults.harness.published import (
    ObjectWatcher,
    check_checkpoints,
    check_objects,
    read_objects,
)
from tests.faults.harness.record import Invocation, Result, now
from tests.faults.harness.results import Outcome
from tests.faults.harness.station import outcomes_of, progress, since
from tests.faults.harness.topologies import GuardedCluster, cut_replication, role_of
from tests.helpers.clusters import Node
from tests.helpers.served import until

_ALARM: Final = "leaves are published, and the data end"
"""What the log of `serve` says of a shard that was rolled back."""


class LossyStation(FailoverStation):
    """A station without a barrier, whose published log is watched."""

    def __init__(self, folder: Path, kind: Kind) -> None:
        super().__init__(folder, kind, Mode.MANAGED)
        self.watcher = ObjectWatcher(self.data / "log")
        self.lost = 0
        """Acknowledged commands that were neither published nor replicated, as of the last check."""

    def start(self) -> None:
        """Make the keys of the log, and start the server and the watcher."""
        made = self.served.run("keygen")
        assert made.returncode == 0, made.stderr
        super().start()
        self.count = self.shards()
        self._stack.enter_context(self.watcher)

    def alarms(self) -> int:
        """Return how often the log of `serve` says that a shard was rolled back."""
        return (self.folder / "serve.log").read_text().count(_ALARM)

    def published(self) -> list[int]:
        """Return the published size of each shard, as the queue server has it."""
        with self.connect_queue() as queue:
            return [one.size for one in read_published_sizes(queue, self.count)]

    def ends(self) -> list[int]:
        """Return how many leaves each log has."""
        with self.connect() as client:
            return read_ends(client, range(self.count))

    def is_restored(self) -> bool:
        """Return whether no shard is closed and no log lacks published leaves."""
        try:
            with self.connect() as client:
                closed = ClosedShards(client).read(range(self.count))
            sizes = list(zip(self.published(), self.ends(), strict=True))
        except RedisError:  # a connection of before the failover
            return False
        return not closed and all(published <= end for published, end in sizes)

    def shards_on(self, primary: Node) -> list[int]:
        """Return the shards that a primary serves."""
        every = range(self.count)
        if isinstance(self.servers, GuardedCluster):
            owner = self.servers.owner
            return [one for one in every if owner(slot_of_key(keys.log(one))) is primary]
        return list(every)

    def check(self, held: Held) -> list[Violation]:
        """Return what is wrong, beside the loss of commands that were never published."""
        leaves = {shard: [leaf for _, leaf in log] for shard, log in held.logs.items()}
        self.watcher.look()
        found = [*self.watcher.violations]
        objects = read_objects(self.data / "log")
        (public,) = read_public_keys(self.data / FOLDER_NAME)
        for shard, of_shard in leaves.items():
            notes = self.watcher.notes.get(f"s{shard:02}/checkpoint", [])
            found += check_objects(shard, of_shard, objects)
            found += check_checkpoints(of_shard, notes, shard_key(public, shard))
        kept, lost = divide(self.record, held)
        self.lost = len({call.command for call in lost})
        return [*found, *self.check_calls(kept, held)]

    def violations(self, *, drained: bool = True, again: bool = True) -> list[str]:
        """Wait until all is published, and return what is wrong."""
        until(lambda: self.is_restored() and self.published() == self.ends(), HEALED_SECONDS)
        return super().violations(drained=drained, again=again)


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
    until(station.is_restored, HEALED_SECONDS)
    return lost


def faults(name: str, what: str, kind: Kind, count: int, folder: Path) -> Outcome:
    """Have failovers take leaves back so many times under load."""
    chance = random.Random(count)
    times: list[float] = []
    rolled_back = 0
    with LossyStation(folder, kind) as station:
        with station.play(players=4, pace=0.02, lossy=True) as load:
            for _ in range(count):
                progress(load, chance.randint(10, MOST_BETWEEN), HEALED_SECONDS)
                before = station.alarms()
                rolled_back += lose_leaves(station, chance)
                ended = now()
                assert station.alarms() > before, "nothing was logged of the loss"
                outcomes_of(load, load.in_flight(), HEALED_SECONDS)
                progress(load, 5, HEALED_SECONDS)
                times.append(since(ended))
        return Outcome(
            name=name,
            what=what,
            wanted=count,
            faults=len(times),
            acknowledged=station.record.acknowledged(),
            violations=station.violations(),
            late=[
                f"an outcome came {t:.1f} s after the shards were restored"
                for t in times
                if t > OUTCOME_SECONDS
            ],
            seconds=max(times, default=0.0),
            details={
                "shards_rolled_back": rolled_back,
                "unpublished_commands_lost": station.lost,
                "reads_taken_back": station.taken_back,
                "stale_reads": station.stale,
            },
        )
