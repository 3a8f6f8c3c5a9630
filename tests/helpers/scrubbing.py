"""A whole small server without processes: matches of all kinds, published, archived, listed, and scrubbed."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest
from redis import Redis

from domain.clocks.time_control import TimeControl
from domain.match import commands
from domain.match.history import unpack_snapshot
from domain.records import AccountId
from infra.archive.archive import Archive
from infra.archive.store import StoreWithArchive
from infra.durability.durability import Mode
from infra.log.key_files import generate_keys, keys_folder, read_keys
from infra.log.log_writer import LogWriter
from infra.log.published_log import PublishedLogs
from infra.objects.files import FileObjects
from infra.people.account_macs import AccountMacs, make_mac_key
from infra.people.accounts import AccountRole, Accounts
from infra.people.statements import Statements
from infra.projections import archived_places
from infra.redis.clients import make_client
from infra.settings.settings import Settings
from infra.store.failures import DamagedMatches
from infra.store.gateway import submission_of
from infra.store.layout import initial_layout
from infra.store.leases import LaneLeases
from infra.store.redis_store import RedisStore
from infra.store.scrub_notes import NotedFault, ScrubRecord
from infra.store.seed_chains import SeedChains
from infra.store.watermarks import PublishedSizes
from tests.fakes.app import CHEAP
from tests.helpers.lanes import LANE
from tests.helpers.side import catch_up
from workers.archived_rows import ArchivedRows
from workers.commands.drain import Drain
from workers.retire import Retirement
from workers.scrub import job
from workers.scrub.scrubber import Scrubber, ScrubParts, make_parts

SHARDS: Final = 2
OPENING: Final = ("m13-j7", "a13-d7", "m1-i3")
CLOCK: Final = TimeControl(nag=1, forfeit=3)


@contextmanager
def small_chunks() -> Iterator[None]:
    """Chunks of two archived places, so that few matches make some."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(archived_places, "PLACES", 2)
        patch.setattr(archived_places, "PACKED_AT", 1)
        yield


class ScrubbedServer:
    """A server of two shards in a folder, on a Valkey, or a cluster, that is empty.

    Its queue is another database of the same server, or of that at `queue`.
    """

    def __init__(self, client: Redis, url: str, folder: Path, queue: str = "") -> None:
        self.client = client
        self.url = url
        self.folder = folder
        self.settings = Settings(
            data=folder, redis_url=url, queue_url=f"{queue or url}?db=1", durability=Mode.FSYNC
        )
        self.queue = make_client(f"{queue or url}?db=1")
        self.queue.flushdb()
        generate_keys(keys_folder(self.settings), "example.org")
        make_mac_key(keys_folder(self.settings))
        self.objects = FileObjects(folder / "log")
        self.plain = RedisStore(client, Mode.FSYNC)
        self.plain.create(initial_layout(client, SHARDS, 1))
        self.seeds = SeedChains(self.plain, folder / "seeds")
        self.accounts = Accounts(client, CHEAP, macs=AccountMacs(keys_folder(self.settings)))
        self._numbers = 0

    @property
    def store(self) -> StoreWithArchive:
        """The store with its archive, of which nothing is cached."""
        parts = self.parts()
        archive = Archive(parts.archive, lambda: SHARDS)
        return StoreWithArchive(
            self.client, Mode.FSYNC, archive, open_logs=lambda: PublishedLogs(self.settings)
        )

    def parts(self) -> ScrubParts:
        archive = Archive(lambda: parts.archive(), lambda: SHARDS)  # noqa: PLW0108 - it is made below
        store = StoreWithArchive(
            self.client, Mode.FSYNC, archive, open_logs=lambda: PublishedLogs(self.settings)
        )
        parts = make_parts(self.settings, store, self.client, self.queue)
        return parts

    def scrubber(self) -> Scrubber:
        """A scrubber that does not wait between two looks."""
        return job.make_scrubber(self.parts(), lambda _: None)

    def scrub(self) -> list[NotedFault]:
        """What a whole round finds, and nothing that was found before."""
        record = ScrubRecord(self.client)
        record.forget(record.faults())
        for board in DamagedMatches(self.client).all():
            DamagedMatches(self.client).forget(board)
        return self.scrubber().round()

    def send(
        self, board: int, actor: AccountId, command: commands.Command
    ) -> commands.CommandEnvelope:
        """Queue a command with an id of its own."""
        self._numbers += 1
        order = commands.CommandEnvelope(board, self._numbers.to_bytes(16), actor, command)
        self.plain.submit([submission_of(order, 0, "test")])
        return order

    def drain(self) -> None:
        lanes = LaneLeases(self.queue, [].append)
        Drain(self.plain, lanes, self.queue, LANE, seeds=self.seeds, data=self.client).run()

    def start(
        self, *seats: AccountId, rules: str = "pow2/1", terms: TimeControl | None = None
    ) -> int:
        """Start a match, and return its board; it is decided by the next drain."""
        self._numbers += 1
        id_ = self._numbers.to_bytes(16)
        board = self.plain.allocate(id_)
        start = commands.StartMatch(rules=rules, options=(), seats=tuple(seats), terms=terms)
        order = commands.CommandEnvelope(board, id_, seats[0], start)
        self.plain.submit([submission_of(order, 0, "test")])
        return board

    def play(self, board: int, *players: AccountId, moves: int = 3) -> None:
        """Play the first moves, each seat its own, with a refused one between."""
        for number, move in enumerate(OPENING[:moves]):
            self.send(board, players[number % 2], commands.PlayMove(text=move))
            if not number:
                self.send(board, players[0], commands.PlayMove(text="a1-a2"))
            self.drain()

    def over(self, count: int, *players: AccountId) -> list[int]:
        """Play matches that end at once."""
        boards = [self.start(*players) for _ in range(count)]
        self.drain()
        for moves in (1, 2):
            for board in boards:
                self.send(board, players[moves - 1], commands.PlayMove(text=OPENING[moves - 1]))
            self.drain()
        for board in boards:
            self.send(board, players[0], commands.ResignMatch())
        self.drain()
        return boards

    def refused(self, count: int, actor: AccountId, boards: list[int]) -> None:
        """Have so many commands refused, of these matches in turn: each is a leaf of the log."""
        for number in range(count):
            self.send(boards[number % len(boards)], actor, commands.PlayMove(text="m13-j7"))
        self.drain()

    def claim(self, board: int, actor: AccountId, ply: int, text: str) -> None:
        digest = self._state_text(board, actor, text)
        self.send(board, actor, commands.MakeClaim(ply=ply, text=digest))
        self.drain()

    def rule(self, board: int, arbiter: AccountId, text: str, **ruling: Any) -> None:
        state = unpack_snapshot(self.plain.snapshots([board])[0]).state
        digest = self._state_text(board, arbiter, text)
        (case,) = state.cases
        command = commands.GiveRuling(claim=case.claim, upheld=True, text=digest, **ruling)
        self.send(board, arbiter, command)
        self.drain()
        after = unpack_snapshot(self.plain.snapshots([board])[0]).state
        assert after.cases[0].ruled_at

    def _state_text(self, board: int, actor: AccountId, text: str) -> bytes:
        """Store the statement of the next command, and return its digest."""
        id_ = (self._numbers + 1).to_bytes(16)
        return Statements(self.client, lambda: SHARDS).put(board, actor, text, id_).digest

    def publish(self) -> list[int]:
        sizes = []
        secrets = read_keys(keys_folder(self.settings)).secrets
        for shard in range(SHARDS):
            writer = LogWriter(self.objects, shard, [one.signer(shard) for one in secrets])
            writer.load()
            if not writer.has_checkpoint:
                writer.append([])
            while leaves := [leaf for _, leaf in self.plain.leaves(shard, writer.size, 1_000)]:
                writer.append(leaves)
            PublishedSizes(self.client, self.queue).record(shard, writer.size, writer.root)
            sizes.append(writer.size)
        return sizes

    def list_all(self) -> None:
        """Bring lists, notices and ratings up to date."""
        catch_up(self.plain, self.client, buckets=2)

    def retire(self, sizes: list[int], boards: set[int]) -> int:
        """Retire these matches, and return their number."""
        done = 0
        for shard, size in enumerate(sizes):
            pages, leaves = self.parts().archive()
            work = Retirement(
                self.plain,
                pages,
                leaves,
                shard,
                limit=lambda size=size: size,
                after_ms=0,
                rows=ArchivedRows(self.client, SHARDS),
            )
            # the others are not looked at
            work.kept = set(self.plain.ended_boards(shard, 1 << 50, 10_000)) - boards
            while work.step() is not None:
                pass
            done += work.retired
        return done


def populated(
    client: Redis, url: str, folder: Path, finished: int = 12, long: int = 270, queue: str = ""
) -> ScrubbedServer:
    """A server with accounts, matches that go on, a draw, a clock, a refused start, and some that are over."""
    server = ScrubbedServer(client, url, folder, queue)
    alice, bob, carol = (
        server.accounts.signup(name, f"{name}-secret") for name in ("alice", "bob", "carol")
    )
    server.accounts.add_addresses_of(alice, ["alice@example.org"])
    server.accounts.set_role("carol", AccountRole.ARBITER, held=True)
    plain = server.start(alice, bob)
    timed = server.start(bob, carol, terms=CLOCK)
    drawn = server.start(alice, carol, rules="powerdrain/1")
    server.start(bob, alice, rules="nonsense/1")
    server.drain()
    assert drawn
    server.play(plain, alice, bob)
    server.play(timed, bob, carol, moves=2)
    ended = server.over(finished, alice, bob)
    server.claim(ended[-1], bob, 1, "that was not my move")
    server.rule(ended[-1], carol, "it goes on there", back_to=1)
    server.claim(ended[-2], bob, 2, "a claim that is open")
    server.refused(long, alice, [one for one in ended if one % SHARDS == 0])
    sizes = server.publish()
    server.list_all()
    retired = set(ended[: finished // 2])
    assert server.retire(sizes, retired) == len(retired)
    return server
