"""The scrubber: no false alarm, where it goes on, what it forgets, and how fast it is; also on a cluster."""

import logging
import time
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from threading import Event, Thread
from typing import Any
from unittest.mock import Mock

import pytest
from redis import Redis
from redis.exceptions import ConnectionError as RedisConnectionError

from domain.fairness import ChainSeed
from domain.match.commands import CommandEnvelope, PlayMove, ResignMatch
from domain.match.decide import decide
from domain.match.decision import DecisionContext, Rejection
from domain.match.history import unpack_snapshot
from domain.match.state import MatchState
from infra.audit.leaf_totals import new_secret
from infra.objects.files import FileObjects
from infra.objects.port import ObjectStoreError
from infra.redis import keys
from infra.redis.cluster import ClusterClient, slot_of_key
from infra.store.failures import DamagedMatches
from infra.store.log_gate import LogGate
from infra.store.scrub_notes import LISTS, NotedFault, ScrubNotes, ScrubRecord
from infra.valkey.server import EmbeddedServer
from services.cli import export, verify, verify_all, verify_mirror
from services.doctor import Level, gather, judge
from tests.helpers.audited_server import Inline
from tests.helpers.clusters import Cluster
from tests.helpers.every_command import (
    ELSEWHERE,
    KINDS,
    RECORD,
    SENDERS,
    STATES,
    Turns,
    every_command,
)
from tests.helpers.scrubbing import OPENING, SHARDS, ScrubbedServer, populated, small_chunks
from tests.helpers.server_copy import dump_of, restore
from workers.projections import maintenance
from workers.scrub import tables
from workers.scrub.pages import ArchivePages
from workers.scrub.scrubber import ROUND_MS, Budget, Scrubber, ScrubFault, ScrubStoppedError, Step
from workers.scrub.stored_keys import StoredKeys


class Walk:
    """A section of some steps, which finds what a function returns at a place."""

    def __init__(self, name, steps, find=lambda _: ()):
        self.name = name
        self._steps = steps
        self._find = find
        self.visits: list[int] = []

    def step(self, cursor: str) -> Step:
        place = int(cursor or 0)
        self.visits.append(place)
        after = None if place + 1 == self._steps else str(place + 1)
        return Step(after, self._find(place), [place + 1])


def scrubber_of(client: Redis, *sections, now=lambda: ROUND_MS, **more):
    record, damage = ScrubRecord(client), DamagedMatches(client)
    return Scrubber(sections, record, damage, now, lambda _: None, **more)


def away(_: int) -> Sequence[ScrubFault]:
    raise ObjectStoreError("the store is away")


def test_a_round_on_a_server_that_is_well_finds_nothing(server: ScrubbedServer) -> None:
    assert server.scrub() == []
    changes = lambda: server.client.info("persistence")["rdb_changes_since_last_save"]  # noqa: E731
    before = changes()
    assert server.scrub() == []
    assert changes() - before <= 8, "the fields of its own note at the end, and nothing else"
    notes = ScrubRecord(server.client).read()
    assert (notes.last_matches > 12, notes.section) == (True, "")


def test_a_new_scrubber_goes_on_where_the_last_one_was(redis_client: Redis) -> None:
    walks = Walk("one", 3), Walk("two", 2)
    first = scrubber_of(redis_client, *walks)
    for _ in range(4):
        assert first.step()
    first.save()
    second = scrubber_of(redis_client, *walks)
    assert second.step()
    assert (walks[0].visits, walks[1].visits) == ([0, 1, 2], [0, 1])
    assert not second.step()
    notes = ScrubRecord(redis_client).read()
    assert (notes.round, notes.last_matches, notes.section) == (1, 5, "")


def test_the_next_round_begins_an_hour_after_the_last_began(redis_client: Redis) -> None:
    now = [ROUND_MS]
    walk = Walk("one", 1)
    scrubber = scrubber_of(redis_client, walk, now=lambda: now[0])
    assert [scrubber.step(), scrubber.step()] == [True, False]
    now[0] += ROUND_MS - 1
    assert not scrubber.step()
    now[0] += 1
    assert scrubber.step()
    assert walk.visits == [0, 0]


def test_what_is_found_once_only_is_no_fault_and_one_is_forgotten_when_it_is_not_found_again(
    redis_client, caplog
):
    bad = [True]
    fault = ScrubFault("match 7", "event 2: it is missing", board=7)
    for later in ([], [ScrubFault("b", "half written")]):
        looks = iter([[ScrubFault("a", "half written")], later])
        found_once = Walk("one", 1, lambda _, looks=looks: next(looks))
        assert scrubber_of(redis_client, found_once).round() == []
        redis_client.delete(keys.SCRUB)
    walk = Walk("one", 8, lambda place: [fault] if bad[0] and place == 6 else [])
    scrubber = scrubber_of(redis_client, walk)
    for _ in range(2):
        assert [(one.about, one.sentence) for one in scrubber.round()] == [fault[:2]]
    assert DamagedMatches(redis_client).all() == {7: "event 2: it is missing"}
    alarms = [one.message for one in caplog.records if one.levelno == logging.ERROR]
    assert alarms == ["ALARM: the scrubber found: match 7: event 2: it is missing"]
    bad[0] = False
    assert scrubber.round() == []
    assert DamagedMatches(redis_client).all() == {}


def test_a_section_that_fails_is_a_fault_and_the_others_go_on(redis_client: Redis) -> None:
    def fail(_: int) -> Sequence[ScrubFault]:
        raise ZeroDivisionError("of damaged bytes")

    last = Walk("three", 2)
    found = scrubber_of(redis_client, Walk("one", 2, fail), Walk("two", 2, away), last).round()
    assert [(one.section, one.about) for one in found] == [("one", "one"), ("two", "object store")]
    assert last.visits == [0, 1]


def test_each_object_is_read_once_in_a_round_and_again_in_the_next(server, monkeypatch):
    reads: list[str] = []
    get = FileObjects.get
    monkeypatch.setattr(
        FileObjects, "get", lambda self, name: reads.append(name) or get(self, name)
    )
    parts = server.parts()
    matches = sum(server.client.bitcount(keys.archived(shard)) for shard in range(SHARDS))
    server.client.delete(keys.SCRUB)
    scrubber = scrubber_of(server.client, ArchivePages(parts), forget=parts.forget)
    assert scrubber.round() == []
    once = [name for name in reads if "/tile/" in name]
    assert len(once) == len(set(once))
    assert len(reads) < 3 * matches
    bundle = next(name for name in once if "/entries/" in name)
    data = server.objects.get(bundle)
    server.objects.replace(bundle, data.replace(b"pow2", b"pow3"), data)
    assert scrubber.round()


LEAF = ScrubFault("match 17", "leaf 900 is not the one that is published")
CUTS = [ObjectStoreError("503 slow down"), ZeroDivisionError("of damaged bytes"), None]


@pytest.mark.parametrize("error", CUTS, ids=["object store away", "check fails", "shard closed"])
def test_a_section_that_was_cut_short_forgets_nothing_and_makes_no_whole_round(redis_client, error):
    now, cut, damaged = [ROUND_MS], [False], [True]
    record, damage = ScrubRecord(redis_client), DamagedMatches(redis_client)

    def find(place: int) -> Sequence[ScrubFault]:
        if cut[0] and error and place == 1:
            raise error
        return [LEAF] if damaged[0] and place == 2 and not cut[0] else []

    def scrub() -> list[str]:
        now[0] += ROUND_MS
        is_closed = lambda: cut[0] and not error and record.read().cursor in ("", "1")  # noqa: E731
        while True:  # each step by a process of its own
            scrubber = Scrubber(
                (Walk("one", 4, find), Walk("two", 1)),
                *(record, damage, lambda: now[0], lambda _: None, is_closed),
            )
            if not scrubber.step():
                return [one.about for one in record.faults() if one.section == "one"]
            scrubber.save()

    assert scrub() == ["match 17"]
    whole = record.read()
    cut[0] = True
    assert "match 17" in scrub()
    after = record.read()
    assert (after.round, after.section) == (whole.round + 1, "")
    assert (after.last_began, after.last_ended) == (whole.last_began, whole.last_ended)
    assert after.oldest_ms(now[0]) == ROUND_MS
    cut[0] = damaged[0] = False
    assert scrub() == []
    assert record.read().last_ended == now[0]


def test_what_was_found_stays_if_the_object_store_goes_away_before_the_second_look(redis_client):
    looks = iter([[LEAF], ObjectStoreError("1"), ObjectStoreError("2"), ObjectStoreError("3")])

    def find(_: int) -> Sequence[ScrubFault]:
        found = next(looks)
        if isinstance(found, ObjectStoreError):
            raise found
        return found

    (found,) = scrubber_of(redis_client, Walk("one", 1, find)).round()
    assert (found.about, found.sentence) == ("object store", "it can't be read: 3")


def test_a_round_that_meets_a_section_of_another_version_is_not_whole(redis_client: Redis):
    record = ScrubRecord(redis_client)
    record.add([NotedFault("gone", "match 17", "of a section that there is no more", 1, 1)])
    record.write(ScrubNotes(section="gone", round=1, began=1))
    scrubber = scrubber_of(redis_client, Walk("one", 1))
    assert scrubber.step()
    assert record.read().last_ended == 0
    assert [one.about for one in record.faults()] == ["match 17"]
    assert scrubber.round() == []


def test_lists_that_are_too_long_to_be_checked_each_round_are_forgotten_when_they_are_rebuilt(
    server: ScrubbedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = ScrubRecord(server.client)
    parts = server.parts()
    for mend in (maintenance.rebuild, maintenance.check):
        assert server.scrub() == []
        record.add([NotedFault(LISTS, "standings", "they differ", 1, 1)])
        began = record.read().last_began
        with monkeypatch.context() as patched:
            patched.setattr(tables, "MOST_LEAVES", 1)
            assert [one.about for one in server.scrubber().round()] == ["standings"]
        assert record.read().last_began > began  # as far as a round goes there, it was whole
        mend(parts.store, parts.data, maintenance.named(["standings"]), Mock())
        assert record.faults() == []


@pytest.mark.parametrize("error", [RedisConnectionError("gone"), ScrubStoppedError()])
def test_a_run_that_must_end_leaves_the_step_to_the_next(redis_client: Redis, error: Exception):
    errors = [error]

    def stop(place: int) -> Sequence[ScrubFault]:
        if place == 1 and errors:
            raise errors.pop()
        return ()

    walk = Walk("one", 2, stop)
    scrubber = scrubber_of(redis_client, walk)
    assert scrubber.step()
    with pytest.raises(type(error)):
        scrubber.step()
    assert scrubber.step()
    assert walk.visits == [0, 1, 1]


def test_work_is_kept_to_its_share_of_a_core() -> None:
    now, slept = [0.0], []
    budget = Budget(5, slept.append, lambda: now[0])
    for _ in range(10):
        now[0] += 0.02
        budget.wait()
    assert sum(slept) == pytest.approx(10 * 0.02 * 19)
    now[0] += 60
    budget.wait(1.0)
    assert slept[-1] == 1.0


@pytest.mark.long
def test_no_false_alarm_while_players_go_on(server: ScrubbedServer) -> None:
    """Matches are started, played, refused, ended, published, listed and retired meanwhile."""
    alice, bob = map(server.accounts.id_of, ("alice", "bob"))
    stopping, failed = Event(), []

    def work() -> None:
        try:
            while not stopping.is_set():
                board = server.start(alice, bob)
                server.drain()
                server.play(board, alice, bob)
                server.send(board, alice, PlayMove(text=OPENING[0]))
                server.send(board, bob, ResignMatch())
                server.drain()
                sizes = server.publish()
                server.list_all()
                server.retire(sizes, {board - 2})
                server.accounts.change_addresses_of(alice, [f"a{board}@example.org"])
                server.accounts.signup(f"player{board}", "mad-hatter")
        except Exception as error:
            failed.append(error)
            raise

    before = int(server.client.get(keys.BOARDS) or 0)  # type: ignore[arg-type]
    player = Thread(target=work)
    player.start()
    try:
        found: list[Any] = [one for _ in range(6) for one in server.scrub()]
    finally:
        stopping.set()
        player.join()
    assert (failed, found) == ([], [])
    assert int(server.client.get(keys.BOARDS) or 0) > before  # type: ignore[arg-type]
    assert server.scrub() == []


def test_no_false_alarm_about_a_shard_that_is_closed_until_it_is_restored(server: ScrubbedServer):
    early = dump_of(server.client)
    alice, bob = map(server.accounts.id_of, ("alice", "bob"))
    board = server.start(alice, bob, rules="powerdrain/1")
    server.drain()
    for _ in range(2):
        server.send(board, alice, ResignMatch())
        server.drain()
    server.publish()
    restore(server.client, early)
    assert LogGate(server.client, server.queue).look(range(SHARDS)) == {board % SHARDS}
    before = ScrubRecord(server.client).read()
    assert server.scrub() == []
    assert ScrubRecord(server.client).read().last_ended == before.last_ended


# refused commands of every kind, in matches in every state: all that checks them says that they hold


ARCHIVED = ("over", "declined")
"""States of matches that are in the archive afterwards."""


def begin(server: ScrubbedServer, turns: Turns) -> int:
    """Begin a match, and bring it as far as these commands do."""
    server._numbers += 1
    board = server.plain.allocate(server._numbers.to_bytes(16))
    for actor, command in turns:
        server.send(board, actor, command)
        server.drain()
    return board


def refused_of(state: MatchState, now: int) -> Turns:
    """One refused command of each kind, by each sender, for each code."""
    sealed = (state.gather and state.gather.seal) or (1, 1)
    context = DecisionContext(now, ChainSeed(*sealed, bytes(32)))
    found = {}
    for sender, command in every_command(state, now):
        decided = decide(CommandEnvelope(1, bytes(16), sender, command), state, context)
        if isinstance(decided, Rejection):
            found.setdefault((type(command), sender, decided.code), (sender, command))
    return list(found.values())


@pytest.mark.long
def test_no_refused_command_in_any_state_spoils_the_proof_of_a_match(
    server: ScrubbedServer, tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    now = round(time.time() * 1000)
    server.objects.create(f"imports/{ELSEWHERE.digest.hex()}", RECORD)
    server.client.sadd(keys.ERASED_ACCOUNTS, *SENDERS)
    boards = {name: begin(server, turns(now)) for name, turns in STATES.items()}
    sent: set[type] = set()
    for name, board in boards.items():
        state = unpack_snapshot(server.plain.snapshots([board])[0]).state
        commands = refused_of(state, now)
        assert commands, name
        for sender, command in commands:
            server.send(board, sender, command)
            sent.add(type(command))
        server.drain()
        assert unpack_snapshot(server.plain.snapshots([board])[0]).state == state, name
    assert sent == set(KINDS)
    sizes = server.publish()
    server.list_all()
    archived = {boards[name] for name in ARCHIVED}
    assert server.retire(sizes, archived) == len(archived)
    for name, board in boards.items():
        assert verify.run(str(board), server.settings) == 0, name
        capsysbinary.readouterr()
        if name != "not there":
            assert export.run(str(board), server.settings) == 0
            document = tmp_path / f"{board}.json"
            document.write_bytes(capsysbinary.readouterr().out)
            assert verify.run(str(document), server.settings) == 0, name
    verify_all.begin_process(server.settings, new_secret(), niceness=0)
    try:
        assert [*verify_all.check_everything(Inline(), SHARDS).faults] == []
    finally:
        verify_all._processes.pop().app.close()
    verify_mirror.begin_process(str(server.folder / "log"), tmp_path, ())
    _, mirrored = verify_mirror.check_mirror(Inline(), range(SHARDS), ())
    assert [*mirrored.sentences()] == []
    assert server.scrub() == []
    said = [one for one in judge(gather(server.settings)) if one.about in ("matches", "scrub")]
    assert [one.what for one in said if one.level > Level.OK] == []


# on a cluster, where the walk through all keys goes from node to node


def key_on(client: ClusterClient, node: int) -> str:
    """Return a key of a shard that is not there, on the nth node."""
    names = (f"{{s99.{number}}}:in" for number in count())
    primary = client.slots.primaries()[node]
    return next(name for name in names if client.slots.node_of(slot_of_key(name)) is primary)


@pytest.mark.slow
def test_keys_that_nobody_writes_are_found_on_each_node_and_a_walk_begins_again_when_slots_move(
    cluster: Cluster, cluster_client: ClusterClient, valkey: EmbeddedServer, tmp_path: Path
):
    with small_chunks():
        server = populated(cluster_client, cluster.url, tmp_path, queue=valkey.url)
        assert server.scrub() == []
        nodes = range(len(cluster_client.slots.primaries()))
        strangers = {f"key {key_on(cluster_client, node)}" for node in nodes}
        for about in strangers:
            cluster_client.set(about.removeprefix("key "), "?")
        assert {fault.about for fault in server.scrub()} == strangers
    walk = StoredKeys(server.parts())
    slots, *_ = str(walk.step("").cursor).split("/")
    # of another map of slots, and of a version that knew of one server
    for old in (f"{int(slots) + 1}/2/0", "17"):
        found, node, _ = str(walk.step(old).cursor).split("/")
        assert (found, node in ("0", "1")) == (slots, True)
    seen: list[Step] = [walk.step("")]
    while (cursor := seen[-1].cursor) is not None:
        seen.append(walk.step(cursor))
    assert {one.cursor.split("/")[1] for one in seen if one.cursor} >= {"1", "2"}
