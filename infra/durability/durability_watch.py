"""The watch over durability while a server runs: its settings may change, and a failover may replace it.

| key | what |
|---|---|
| `durable`, in RQ's Redis | the note: empty while the matches' server keeps what it accepts, else why not; it lives 30 s |
| `durable:<run id>`, there too | the settings of a server of the matches, for an hour |
| `b`, and `b:5` on other nodes of a cluster | an empty text, set by a trial write and deleted by the next |

The scheduler verifies the server, or each primary of a cluster, every 10 s, by its settings and by a write
that has to be synced, and writes the note. A drain reads the note with each renewal of its lease, and decides nothing while the note
has a fault. If the note is missing or old, because no scheduler runs, the drain verifies the server
itself. So moves are accepted only where one of the two has verified it within half a minute. Gateways
read the note too, and refuse commands as `unavailable`.

A command worker also verifies every server that it gets connected to, before it sends a command: a
name or an address may lead to another server than before, and a replica may have become the primary.

One node of a cluster that is not durable, or does not answer, stops all moves: the note is one for all.
"""

import logging
import time
from collections.abc import Callable, Iterator
from typing import Any, Final

import redis
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import RedisError, ResponseError

from infra.durability.durability import (
    BARRIER_TIMEOUT,
    DurabilityError,
    DurabilityNotes,
    Mode,
    Occasion,
    append_barrier,
    check_barrier,
    find_faults,
    verify_server,
)
from infra.process.intervals import every
from infra.process.metrics import TRIAL_WRITE_SECONDS
from infra.redis import keys
from infra.redis.clients import info_of, settings_of
from infra.redis.cluster import in_cluster, slot_of_key, slots_of
from infra.redis.node_names import node_name, under_sentinels

logger = logging.getLogger(__name__)

VERIFY_SECONDS: Final = 10.0
"""How often the scheduler verifies a server that is durable."""

FAULT_SECONDS: Final = 2.0
"""How often it verifies one that is not, so that play goes on soon after the fault is gone."""

OLD_SECONDS: Final = 15.0
"""Age of a note after which a drain verifies the server itself: no scheduler seems to run."""

UNSYNCED_TEXT: Final = {
    mode: f"a write was not synced{at} within {BARRIER_TIMEOUT} ms; {remedy}"
    for mode, at, remedy in (
        (Mode.FSYNC, "", "look at the server's disk"),
        (
            Mode.REPLICATED,
            " by enough replicas",
            "look whether they run, and keep append-only files",
        ),
    )
}
"""The fault of a server on which a trial write was not synced."""

PAUSE_SECONDS: Final = 0.5
"""How long a check that fails takes, because the next drain would be there at once."""


_MOST_TRIES: Final = 10_000
"""Keys that are tried to find one in the slots of a node; one with fewer than ten slots may be left out."""


class DurabilityWatch:
    """Verifies the server of the matches and reads the note; `data` is of it, `queue` of RQ's Redis.

    With durability `none` every answer is that moves can be taken.
    """

    def __init__(
        self,
        data: redis.Redis,
        queue: redis.Redis,
        mode: Mode,
        replicas: int = 1,
        *,
        timer: Callable[[], float] = time.monotonic,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._data = data
        self._notes = DurabilityNotes(queue)
        self._mode = mode
        self._replicas = replicas
        self._pause = pause
        self.tick = every(VERIFY_SECONDS, self._verify_and_log, timer)
        """For the scheduler, which calls it each second."""
        self._logged = ""
        self._written: set[str] = set()
        """The keys of trial writes that are there now."""
        self._alone = not (in_cluster(data) or under_sentinels(data))
        self._verified: set[tuple[Any, Any]] = set()
        """The servers that were verified when a connection was made; one that is promoted becomes another."""

    def verify_connections(self) -> None:
        """Verify each server that `data` is connected to from now on; call it before the first use."""
        if not self._mode.verified:
            return
        if slots := slots_of(self._data):
            slots.on_connect(self._connected)
        else:
            self._data.connection_pool.connection_kwargs["redis_connect_func"] = self._connected

    def _connected(self, connection: Any) -> None:
        connection.on_connect()
        server: Any = _ConnectedServer(connection)  # it has the methods that are needed
        information = server.info()
        if in_cluster(self._data) and information.get("role") == "slave":
            return  # it is asked for the map of slots alone, and takes no write
        identity = information.get("run_id"), information.get("master_replid")
        if identity in self._verified:
            return
        try:
            verify_server(server, Occasion.JOIN, self._mode, self._replicas, self._notes)
        except DurabilityError as error:
            node = "" if self._alone else f"{connection.host}:{connection.port}: "
            raise UnverifiedServerError(f"{node}{error}") from error
        self._verified.add(identity)

    def check(self) -> bool:
        """Return whether commands may be decided now; if not, after a pause of `PAUSE_SECONDS`."""
        fault = self.fault()
        self._log(fault)
        if fault:
            self._pause(PAUSE_SECONDS)
        return not fault

    def fault(self) -> str:
        """Return why moves can't be accepted, by the note or else by a verification; empty if they can."""
        if not self._mode.durable:
            return ""
        note = self._notes.read()
        return note.fault if note and note.age < OLD_SECONDS else self.verify()

    def verify(self) -> str:
        """Verify the server now, write the note, and return the fault; empty if there is none.

        Who may ask for the server's settings notes them for the others.
        """
        fault = self._verify()
        try:
            self._notes.write(fault)
        except RedisError as error:
            # without a note every drain verifies the server itself
            logger.warning("the note of durability can't be written: %s", error)
        return fault

    def confirm(self) -> bool:
        """Return whether all that was written until now is durable; for outcomes that are found stored.

        A server that syncs each write before it answers shows no other. But it shows a write before its
        replicas have synced it.
        """
        if self._mode is not Mode.REPLICATED:
            return True
        try:
            return self._write(*_trial_keys(self._data).values())
        except ResponseError:  # without enough replicas the server takes no write
            return False

    def _verify_and_log(self) -> float:
        fault = self.verify() if self._mode.durable else ""
        self._log(fault)
        return FAULT_SECONDS if fault else VERIFY_SECONDS

    def look(self) -> list[str]:
        """Return the faults of all servers by their state and settings; nothing is written."""
        return list(self._faults(Occasion.LOOK))

    def _faults(self, occasion: Occasion) -> Iterator[str]:
        return find_faults(self._data, self._mode, self._replicas, self._notes, occasion)

    def _verify(self) -> str:
        where = ""
        try:
            if fault := next(self._faults(Occasion.WATCH), ""):
                return fault
            for where, key in _trial_keys(self._data).items():
                with TRIAL_WRITE_SECONDS.time():
                    synced = self._write(key)
                if not synced:
                    return f"{where}{UNSYNCED_TEXT[self._mode]}"
        except UnverifiedServerError as error:
            return str(error)
        except RedisError as error:
            return f"{where}the server of the matches does not answer, or refuses a write ({error})"
        return ""

    def _write(self, *names: str) -> bool:
        """Write durably, because settings alone don't show that the disk works."""
        with self._data.pipeline(transaction=False) as pipe:
            for name in names:
                # the shortest writes that there are, because an idle server writes little else
                if name in self._written:
                    pipe.delete(name)
                else:
                    pipe.set(name, "")
            append_barrier(pipe, self._mode, replicas=self._replicas)
            replies = pipe.execute()
        self._written.symmetric_difference_update(names)
        if 0 in replies[: len(names)]:
            return self._write(*names)  # another process has deleted it, so nothing was written
        return not self._mode.verified or check_barrier(replies[-1], self._mode, self._replicas)

    def _log(self, fault: str) -> None:
        if fault and fault != self._logged:
            logger.error("ALARM: no move is accepted: %s", fault)
        elif self._logged and not fault:
            logger.warning("the server keeps what it accepts again; moves go on")
        self._logged = fault


def _trial_keys(data: redis.Redis) -> dict[str, str]:
    """Return a key of trial writes for each server that takes writes, by the server's name with a colon."""
    slots = slots_of(data)
    if slots is None:
        name = node_name(data)
        return {f"{name}: " if name else "": keys.BARRIER}
    nodes = {address: "node {}:{}: ".format(*address) for address in slots.primary_addresses()}
    found: dict[str, str] = {}
    for number in range(_MOST_TRIES):
        if len(found) == len(nodes):
            break
        key = keys.barrier(number)
        if node := nodes.get(slots.address_of(slot_of_key(key))):
            found.setdefault(node, key)
    return found


class UnverifiedServerError(RedisConnectionError):
    """The server that a connection leads to is not durable; nothing was sent to it."""


class _ConnectedServer:
    """The server at the other end of one connection, as `infra.durability.durability.verify_server` asks it."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def _ask(self, *words: str | int) -> Any:
        self._connection.send_command(*words, check_health=False)
        reply = self._connection.read_response()
        if isinstance(reply, ResponseError):
            raise reply
        return reply

    def info(self) -> Any:
        """Return INFO, parsed."""
        return info_of(self._ask("INFO"))

    def config_get(self, *names: str) -> dict[str, str]:
        """Return settings of the server."""
        return settings_of(self._ask("CONFIG", "GET", *names))

    def waitaof(self, here: int, replicas: int, milliseconds: int) -> Any:
        """Send a barrier on this connection."""
        return self._ask("WAITAOF", here, replicas, milliseconds)
