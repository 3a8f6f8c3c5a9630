"""A station: a real `matchpost serve`, a load on it, and the checks at the end."""

import os
import signal
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from redis import Redis
from redis.exceptions import RedisError

from domain.match.commands import CommandEnvelope
from infra.durability.durability import Mode
from infra.projections.buckets import SPECS
from infra.projections.generations import Generations
from infra.redis import keys
from infra.redis.clients import make_client
from infra.store.port import Store
from infra.store.redis_store import RedisStore
from infra.valkey.server import FOLDER, EmbeddedError, socket_url
from tests.helpers.served import SERVE, Served, until
from trials.faults import checker
from trials.faults.elsewhere import elsewhere
from trials.faults.load import Load
from trials.faults.published import projected
from trials.faults.results import Outcome

DRAINED_SECONDS = 30

FOREIGN_BOARDS = 1_000_000
"""From here on are the boards of commands that no player of the load sends."""


class Station:
    """One server on one data directory, started again as often as need be."""

    def __init__(
        self,
        folder: Path,
        env: Mapping[str, str] | None = None,
        *,
        url: str | None = None,
        argv: Sequence[str] = SERVE,
        data: Path | None = None,
        trims: bool = False,
    ) -> None:
        """`url` names the server to look at, if it is not the embedded one.

        `trims` says that leaves and matches may have left the server for the published log.
        """
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.data = data or folder / "data"
        self.once = folder / "once"
        self._url = url
        # each role in a process of its own, because each is killed alone
        self.served = Served(self.data, {"MATCHPOST_GATHER": "off", **(env or {})}, argv)
        self.record = checker.Record(folder / "record.jsonl")
        self._followed = False
        self._trims = trims

    def connect(self) -> Redis:
        return make_client(self._url or socket_url(self.data))

    def start(self) -> None:
        """Start the server; the first time, wait until there are projections.

        A side worker that is killed while it makes them keeps the next one waiting for 30 s.
        """
        self.served.start()
        if not self._followed:
            with self.connect() as client:
                until(lambda: all(Generations(client, spec).live() for spec in SPECS), 60)
            self._followed = True

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def outcome(
        self, name: str, what: str, wanted: int, times: Sequence[float], **more: Any
    ) -> Outcome:
        """What a run came to that did a fault for each of these times, in seconds."""
        found = Outcome(name=name, what=what, wanted=wanted, **{"faults": len(times)} | more)
        found.acknowledged = self.record.acknowledged()
        found.seconds = max(times, default=0.0)
        found.violations = [*found.violations, *self.violations()]
        return found

    def restart(self) -> None:
        """Stop the server in good order and start it again: its back-off begins again."""
        self.served.end()
        self.served.start()

    def end(self) -> None:
        """Stop the server, if it runs, and close the record."""
        if self.served.process is not None:
            self.served.end()
        self.record.close()

    def children(self, name: str) -> list[int]:
        """Process ids of the server's children with `name` in their command lines.

        Asked very often, by many stations at once: the kernel's own list is cheap to read.
        """
        process = self.served.process
        assert process is not None
        listed = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        if not listed.exists():
            return self.served.children(name)
        return [pid for pid in map(int, listed.read_text().split()) if name in _command_line(pid)]

    def workers(self) -> list[int]:
        return self.children("matchpost worker")

    def servers(self) -> list[int]:
        """Process ids of the Valkey of the data: one, or none."""
        queues = self.queues()
        return [pid for pid in self.children("valkey-server") if pid not in queues]

    def queues(self) -> list[int]:
        """Process ids of the Valkey of the queue: one, or none."""
        return self.children(f"/{FOLDER}/valkey.sock")

    def connect_queue(self) -> Redis:
        """A client of the server of the queue."""
        return make_client(socket_url(self.data / FOLDER))

    def load(self, **options: Any) -> Load:
        """Players; boards that no earlier load of this station has had."""
        boards = {call.match for call in self.record}
        first = max((board for board in boards if board < FOREIGN_BOARDS), default=0) + 1
        return Load(self.connect, self.record, first_board=first, **options)

    def note(
        self, sent: CommandEnvelope, began: int, outcome: tuple[str, int, int] | None = None
    ) -> None:
        """Add a call of nobody of the load to the record: its outcome, or that there is none yet."""
        code, seq, index = outcome or ("", 0, 0)
        call = checker.Invocation(
            client="foreign",
            match=sent.match,
            command=sent.id,
            actor=sent.actor,
            sent=began,
            done=checker.now(),
            result=checker.Result.OK if outcome else checker.Result.UNKNOWN,
            code=code,
            seq=seq,
            index=index,
        )
        self.record.add(call)

    def read(self) -> checker.Held:
        with self.connect() as client:
            return checker.read_held(client, self.data if self._trims else None)

    def open_store(self, client: Redis) -> Store:
        """Return the store as a reader sees it."""
        if self._trims:
            return checker.store_with_archive(client, self.data)
        return RedisStore(client, Mode.FSYNC)

    def wait_until_drained(self) -> None:
        """Wait until no command waits."""

        def drained() -> bool:
            with self.connect() as client:
                return not any(
                    client.xlen(keys.inbox(shard)) for shard in range(self.read_shards())
                )

        until(drained, DRAINED_SECONDS)

    def read_shards(self) -> int:
        with self.connect() as client:
            return int(client.hget(keys.LAYOUT, "shards") or 0)

    def violations(self, *, drained: bool = True, again: bool = True) -> list[str]:
        """Wait until nothing waits (if `drained`), and give what is wrong.

        With `again` the commands are also decided again in another process, and the projections are
        made again.
        """
        found: list[checker.Held] = []

        def ready() -> bool:
            try:
                found[:] = [self.read()]
            except (RedisError, EmbeddedError):  # the server is being started again
                return False
            return found[0].waiting == 0 or not drained

        until(ready, DRAINED_SECONDS)
        violations = checker.check(self.record, found[0])
        if again:
            violations += elsewhere(found[0].events)
            with self.connect() as client:
                violations += projected(self.open_store(client), client)
        return [str(violation) for violation in violations]


def outcomes_of(load: Load, commands: set[bytes], seconds: float = 60) -> None:
    """Wait until each of the commands has an outcome."""

    def known() -> bool:
        load.check()
        return not commands & load.in_flight()

    until(known, seconds)


def progress(load: Load, more: int = 5, seconds: float = 60) -> None:
    """Wait until some more commands have outcomes."""

    def count() -> int:
        return sum(call.result is checker.Result.OK for call in load.record if call.command)

    aim = count() + more

    def made() -> bool:
        load.check()
        return count() >= aim

    until(made, seconds)


def kill(pid: int, number: signal.Signals = signal.SIGKILL) -> int:
    """Send a signal; give the time, in ns."""
    os.kill(pid, number)
    return checker.now()


def since(began: int) -> float:
    return (checker.now() - began) / 1e9


def slowest_outcome(calls: Iterable[checker.Invocation]) -> float:
    """Return the longest time, in seconds, from a command's first sending to its outcome."""
    began: dict[bytes, int] = {}
    slowest = 0
    for call in sorted(calls, key=lambda call: call.sent):
        if call.command:
            first = began.setdefault(call.command, call.sent)
            slowest = max(slowest, call.done - first)
    return slowest / 1e9


def _command_line(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:  # it has ended
        return ""


def gone(path: Path) -> Callable[[], bool]:
    """Whether the file is there no more."""
    return lambda: not path.exists()
