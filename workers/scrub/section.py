"""The common part of the scrubber's sections: steps, faults, and the parts of a server that they read."""

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

import msgspec
import redis

from infra.archive.objects import PageStore, PublishedLeaves
from infra.log.published_log import PublishedLog, TileCache
from infra.log.published_logs import PublishedLogs
from infra.objects.location import open_objects
from infra.objects.port import ObjectStore
from infra.settings.settings import Settings
from infra.store.port import Store


class ScrubFault(NamedTuple):
    """Something that is not as it must be."""

    about: str
    """The subject, such as `match 17`: a later fault of it takes the place of an earlier one."""
    sentence: str
    board: int = 0
    """The board, if a match is damaged."""
    mend: Callable[[], object] | None = None
    """Makes it right, where its right value is sure; called when it was found twice."""


class Step(NamedTuple):
    """The result of a step."""

    cursor: str | None
    """Where the next one begins; None at the end of the section."""
    faults: Sequence[ScrubFault] = ()
    matches: Sequence[int] = ()
    """The boards of the matches that were checked whole."""
    cut: bool = False
    """Whether something could not be checked now: the section forgets no fault, and the round is not whole."""
    keeps: bool = False
    """Whether the section forgets no fault, though all was checked that it checks."""


class Section(Protocol):
    """A part of the check. A step may be repeated, and takes some dozens of ms at most."""

    name: str

    def step(self, cursor: str) -> Step:
        """Check what follows; an empty cursor means from the beginning."""
        ...


class ScrubParts(msgspec.Struct, frozen=True):
    """The parts of a server that the sections read."""

    settings: Settings
    store: Store
    """With the archive behind it, where there is one."""
    data: redis.Redis
    queue: redis.Redis
    objects: Callable[[], ObjectStore]
    """Returns the object store; `ObjectStoreError` if it can't be used."""
    log_of: Callable[[int], PublishedLog]
    """Returns the published log of a shard; tiles are cached until `forget`."""
    pause: Callable[[float], None] = lambda _: None
    """Called in long steps: it waits as the budget wants it, so many seconds at most, and raises `ScrubStoppedError`."""
    forget: Callable[[], None] = lambda: None
    """Forgets cached tiles: called before each round and each second look, because they hide what has changed."""

    @property
    def shards(self) -> int:
        """The number of shards."""
        return self.store.layout().shards

    def archive(self) -> tuple[PageStore, PublishedLeaves]:
        """Return the objects of the archive."""
        return PageStore(self.objects()), PublishedLeaves(self.log_of, parallel=False)


class ScrubStoppedError(Exception):
    """The run must end in the middle of a long step, which is begun again by the next run."""


def make_parts(
    settings: Settings, store: Store, data: redis.Redis, queue: redis.Redis
) -> ScrubParts:
    """Return the parts of a server, by its settings."""
    logs = PublishedLogs(settings, TileCache(partial=True))
    return ScrubParts(
        settings,
        store,
        data,
        queue,
        lambda: open_objects(settings.store, settings.data),
        logs.of,
        forget=logs.forget,
    )
