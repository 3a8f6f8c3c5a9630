"""Tamper tests: changes by chance, each alone, and who finds it.

    .venv/bin/python trials/tamper/run.py 1000 [seed] [--table]

makes so many changes, prints those that nobody finds, and with `--table` the table of trials/testing.md.
"""

import logging
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory
from typing import NamedTuple

from redis import Redis
from redis.exceptions import ResponseError

from infra.store.closed_shards import ClosedShards
from infra.store.log_gate import LogGate
from infra.valkey.server import EmbeddedServer
from services.doctor import Level, gather, judge
from tests.helpers.scrubbing import SHARDS, populated, small_chunks
from tests.helpers.server_copy import ServerCopy, dump_of, restore
from trials.tamper.changes import Change, Tampering, seeds
from workers.scrub.job import sections
from workers.scrub.scrubber import ScrubFault, ScrubSection

ROOT = Path(__file__).parents[2]
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))


STOPPED = "the check stopped:"
"""So begins the sentence of a change that no check foresees."""


class Found(NamedTuple):
    """Who has found a change, and the first sentence."""

    change: Change
    who: str
    """Empty if nobody has."""
    sentence: str


class TamperBench:
    """A server that was played on, to be changed and put back."""

    def __init__(self, client: Redis, url: str, folder: Path) -> None:
        self.server = populated(client, url, folder)
        self._early = ServerCopy(folder, client)
        self._play_on()
        if self.server.scrub():
            raise AssertionError("the server is not well before it is changed")
        self._copy = ServerCopy(folder, client, self.server.queue)
        self.tampering = Tampering(
            self.server, dump_of(client), self._early.data(), self._early.files
        )
        self._usual = self._findings()

    def _play_on(self) -> None:
        """Let time pass, so that there are earlier values to roll back to."""
        server = self.server
        alice, bob, carol = map(server.accounts.id_of, ("alice", "bob", "carol"))
        server.accounts.change_addresses_of(alice, ["other@example.org"])
        server.accounts.change_password("bob", "bob-secret", "bob-secret-2")
        server.start(alice, carol, rules="powerdrain/1")
        more = server.over(4, bob, alice)
        board = server.start(carol, alice)
        server.drain()
        server.play(board, carol, alice)
        sizes = server.publish()
        server.list_all()
        server.retire(sizes, set(more[:2]))

    def find(self, seed: int) -> Found:
        """Make a change, see who finds it, and put everything back."""
        change = self.tampering.change(seed)
        try:
            return Found(change, *self._found())
        finally:
            self._copy.restore()

    def find_rolled_back(
        self, *, data: bool = False, objects: bool = False, seeds: bool = False
    ) -> tuple[str, str]:
        """Put a whole part of the server back to the earlier state, and see who finds it."""
        try:
            if data:
                restore(self.server.client, self._early.data())
            folders = [name for name, yes in (("log", objects), ("seeds", seeds)) if yes]
            for name in folders:
                rmtree(self.server.folder / name)
            for file, content in self._early.files.items():
                if file.parts[0] in folders:
                    (self.server.folder / file).parent.mkdir(parents=True, exist_ok=True)
                    (self.server.folder / file).write_bytes(content)
            return self._found()
        finally:
            self._copy.restore()

    def _findings(self) -> set[str]:
        found = judge(gather(self.server.settings))
        return {f"{one.about}: {one.what}" for one in found if one.level is Level.BAD}

    def _found(self) -> tuple[str, str]:
        """Who finds it: the gate, the doctor as it is, or the scrubber, which the doctor repeats."""
        server = self.server
        gate = LogGate(server.client, server.queue)
        with suppress(ResponseError):  # where a log is none, nothing is drained
            gate.look(range(SHARDS))
        if closed := ClosedShards(server.client).read(range(SHARDS)):
            shard = min(closed)
            return "gate", closed[shard].reason
        parts = sections(server.parts())
        if fault := next((one for part in parts for one in found_by(part)), None):
            return "scrubber", f"{fault.about}: {fault.sentence}"
        if new := sorted(self._findings() - self._usual):
            return "doctor", new[0]
        return "", ""


def found_by(section: ScrubSection) -> Iterator[ScrubFault]:
    """Yield the faults that a section of the scrubber finds, each found twice."""
    cursor: str | None = ""
    while cursor is not None:
        try:
            step = section.step(cursor)
        except Exception as error:  # noqa: BLE001 - the scrubber goes on with the next section, too
            yield ScrubFault(section.name, f"{STOPPED} {error!r}")
            return
        again = {one.about for one in section.step(cursor).faults} if step.faults else set()
        yield from (one for one in step.faults if one.about in again)
        cursor = step.cursor


@contextmanager
def tamper_bench() -> Iterator[TamperBench]:
    """A bench on a Valkey of its own."""
    logging.disable(logging.CRITICAL)
    try:
        with (
            TemporaryDirectory() as folder,
            EmbeddedServer(Path(folder) / "valkey") as valkey,
            valkey.client(blocking_timeout=5) as client,
            small_chunks(),
        ):
            yield TamperBench(client, valkey.url, Path(folder) / "data")
    finally:
        logging.disable(logging.NOTSET)


def table(found: Iterable[Found]) -> str:
    """The table of who finds what, with an example of each."""
    rows: dict[tuple[str, str], list[Found]] = {}
    for one in found:
        rows.setdefault((one.change.kind, one.change.how), []).append(one)
    lines = ["| record | change | number | found by | for example |", "|---|---|---|---|---|"]
    for (kind, how), some in sorted(rows.items()):
        who = ", ".join(
            f"{name or 'NOBODY'} {n}" for name, n in Counter(o.who for o in some).most_common()
        )
        example = some[0].sentence.replace("|", "/")
        lines.append(f"| {kind} | {how} | {len(some)} | {who} | {example} |")
    return "\n".join(lines)


def main(words: list[str]) -> int:
    numbers = [int(word) for word in words if word.isdigit()]
    count, first = [*numbers, 1000, 0][:2] if len(numbers) != 1 else (numbers[0], 0)
    began, found = time.monotonic(), []
    with tamper_bench() as bench:
        for seed in seeds(count, first):
            one = bench.find(seed)
            found.append(one)
            if not one.who or STOPPED in one.sentence:
                print(f"NOT FOUND: seed {seed}: {one}", flush=True)
    missed = sum(not one.who or STOPPED in one.sentence for one in found)
    if "--table" in words:
        print(table(found))
    who = Counter(one.who or "nobody" for one in found)
    print(f"{count} changes in {time.monotonic() - began:.0f} s: {dict(who)}, {missed} not found")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
