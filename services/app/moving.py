"""The move of a server's data to another server, a pair or a cluster, while nobody plays; the operator alone does it."""

import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, NamedTuple

from msgspec.structs import replace
from redis import Redis

from infra.durability.durability import verify
from infra.health.heartbeats import read_heartbeats
from infra.languages.wording import IN_ENGLISH
from infra.process.failpoints import failpoint
from infra.process.machine import memory_limit
from infra.redis.addresses import Topology, check_url, redact_url, topology_of
from infra.redis.clients import make_client, time_ms
from infra.redis.cluster import servers_of
from infra.settings.settings import Settings
from infra.store.layout import decode_layout
from infra.store.moving import MoveError, Source, Stage, Target, copy_all, find_differences
from infra.valkey.aof import append_only_files
from infra.valkey.directory import DataDirectory
from infra.valkey.server import EmbeddedServer, is_embedded, queue_url

_LINE_SECONDS: Final = 10.0
"""Seconds between two lines on how far a step is."""


class Verified(NamedTuple):
    """The result of a verification of all data."""

    summary: str
    faults: list[str]
    """Sentences; none if all holds."""


class MoveSteps:
    """The steps of a move: each is said when it is done, with its time, and noted in the data folder."""

    def __init__(self, settings: Settings, say: Callable[[str], None]) -> None:
        self._file = DataDirectory(settings.data).moves
        self._say = say
        self._begun = self._said = time.monotonic()

    def note(self, sentence: str) -> None:
        """Note and say a sentence."""
        now = time.time_ns() // 1_000_000
        self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with self._file.open("a", encoding="utf-8") as file:
            print(f"{IN_ENGLISH.stamp(now)}: {sentence}", file=file)
        self._say(sentence)
        self._begun = self._said = time.monotonic()

    def done(self, sentence: str) -> None:
        """Note and say that a step is done, with the seconds since the last one."""
        self.note(f"{sentence}: {time.monotonic() - self._begun:.1f} s")

    def tick(self, number: int) -> None:
        """Print how many keys are done, from time to time."""
        if time.monotonic() - self._said >= _LINE_SECONDS:
            self._said = time.monotonic()
            self._say(f"{number} keys so far")


def move_data(
    settings: Settings, url: str, verify_all: Callable[[Settings], Verified], steps: MoveSteps
) -> None:
    """Copy the data to the server at `url`, compare and verify them there, and mark those here as moved.

    The settings are those of the server as it will be, but for its URL. `MoveError`, with a sentence, if that can't be
    done; errors of the servers, of durability and of the layout pass through. It may be repeated after any error.
    """
    there = replace(settings, redis_url=url)
    with _both(settings, url) as (here, target), Source(here) as source:
        stage = target.stage()
        if source.has_moved() and stage is Stage.COPIED:
            _finish(target, there, steps)
            return
        layout = decode_layout(source.fields())
        if stage is Stage.MOVED:
            raise MoveError(
                "the server has these data from an earlier move already, and may have gone on with them: name an empty one"
            )
        if stage is not Stage.COPIED:
            steps.note(f"the data go to {redact_url(url)}, and nobody can write to them meanwhile")
            target.begin()
            number = copy_all(source, target, steps.tick)
            steps.done(f"copied {number} keys of {layout.shards} shards")
        if names := find_differences(source, target, steps.tick):
            raise MoveError(
                f"the keys {', '.join(names)} are not the same at both servers: somebody writes there; stop that, empty "
                "the server, and run the same command again"
            )
        if stage is not Stage.COPIED:
            target.give_layout(source.fields())
            failpoint("move.copied")
        steps.done("compared all keys, byte by byte")
        verified = verify_all(there)
        if verified.faults:
            raise MoveError(
                f"the data do not hold, at both servers: {verified.faults[0]}; nothing was switched, and "
                "`matchpost verify --all` shows all faults"
            )
        steps.done(f"verified there: {verified.summary}")
        source.mark_moved(redact_url(url), time_ms(target.client))
        failpoint("move.marked")
        _finish(target, there, steps)


def _finish(target: Target, settings: Settings, steps: MoveSteps) -> None:
    """Let the data be used at the target, and say what is next."""
    target.finish(time_ms(target.client))
    steps.note("moved; the data here are marked, and no server starts with them")
    replicas = f" and MATCHPOST_REPLICAS={settings.replicas}" if settings.replicas > 1 else ""
    steps.note(
        f"next: set MATCHPOST_REDIS_URL to that URL, with MATCHPOST_DURABILITY={settings.durability}{replicas}; leave "
        f"the rest of {settings.data} where it is; start the server, and run `matchpost doctor`"
    )


def take_move_back(settings: Settings, url: str, steps: MoveSteps) -> None:
    """Let the data be used here again after a move to `url`; `MoveError` if somebody has used them there since."""
    with _both(settings, url) as (here, target), Source(here) as source:
        if not source.has_moved():
            raise MoveError("the data here were not moved")
        stage = target.stage()
        if stage is Stage.EMPTY:
            raise MoveError("the data were not moved to that server: it is empty")
        if stage is not Stage.COPYING:
            if names := find_differences(source, target, steps.tick):
                raise MoveError(
                    f"the server there has been used since: {names[0]} is another one; go back by a backup of it "
                    "(docs/backup.md)"
                )
            target.give_up()
        source.take_back()
        steps.note(f"the move to {redact_url(url)} is taken back: the data here are used again")


@contextmanager
def _both(settings: Settings, url: str) -> Iterator[tuple[Redis, Target]]:
    """Yield a client of the server that has the data, and the target, both checked."""
    check_url(url)
    if topology_of(url) is Topology.CLUSTER and settings.queue_url is None:
        raise MoveError(
            "a cluster needs another server for the queue: set MATCHPOST_QUEUE_URL for this command, too"
        )
    with make_client(url) as there:
        verify(there, settings.durability, settings.replicas)
        with _open_source(settings) as here:
            if _run_ids(here) & _run_ids(there):
                raise MoveError("that is the server which has the data")
            target = Target(there, _name_of(settings), settings.durability, settings.replicas)
            yield here, target


@contextmanager
def _open_source(settings: Settings) -> Iterator[Redis]:
    """Yield a client of the server that has the data, on which no process works."""
    if is_embedded(settings):
        if not append_only_files(DataDirectory(settings.data).files):
            raise MoveError(f"there are no data of an embedded server in {settings.data}")
        durable, limit = settings.durability.durable, memory_limit(settings.maxmemory)
        server = EmbeddedServer(settings.data, durable=durable, maxmemory=limit)
        with server, server.client() as client:
            yield client
        return
    assert settings.redis_url is not None
    with make_client(settings.redis_url) as client:
        with make_client(queue_url(settings)) as queue:
            now = time_ms(client)
            alive = [b for b in read_heartbeats(queue) if not (b.is_gone or b.is_silent(now))]
        if alive:
            names = ", ".join(f"{one.role} on {one.host}" for one in alive[:3])
            raise MoveError(f"stop all processes of the server first: {names}")
        yield client


def _run_ids(client: Redis) -> set[str]:
    infos = [node.info("server") for node in servers_of(client)]
    return {str(info["run_id"]) for info in infos if info.get("run_id")}


def _name_of(settings: Settings) -> str:
    """Return what the target notes of where its data come from."""
    if is_embedded(settings):
        return f"{socket.gethostname()}:{settings.data.absolute()}"
    return redact_url(settings.redis_url or "")
