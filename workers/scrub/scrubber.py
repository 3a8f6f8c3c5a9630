"""The scrubber: it walks through all sections again and again, at a steady pace, and notes what it finds.

What a step finds is looked at a second time a moment later, and counts only if it is found again: in between
something may have been half written by a process that goes on.

The common part of the scrubber's sections: steps, faults, and the parts of a server that they read.
"""

import logging
import time
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple, Protocol

import msgspec
import redis
from msgspec.structs import replace
from redis.exceptions import RedisError, ResponseError

from infra.archive.objects import PageStore, PublishedLeaves
from infra.log.published_log import PublishedLog, PublishedLogs, TileCache
from infra.objects.location import open_objects
from infra.objects.port import ObjectStore, ObjectStoreError
from infra.settings.settings import Settings
from infra.store.failures import DamagedMatches
from infra.store.port import Store
from infra.store.scrub_notes import NotedFault, ScrubNotes, ScrubRecord
from infra.store.trimmed_leaves import TrimmedLeavesError


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


class ScrubSection(Protocol):
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
        return self.store.shards

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


logger = logging.getLogger(__name__)

ROUND_MS: Final = 3_600_000
"""From the beginning of a round to the beginning of the next, at least."""

LOOK_AGAIN_SECONDS: Final = 1.5
"""Until what was found is looked at again."""

ATTEMPTS: Final = 3
"""How often a step is tried that can't read the object store, before that is a fault."""

SAVE_SECONDS: Final = 300.0
"""Between two notes of where it is, each of which is one more sync of the server; a step may be repeated."""


class Scrubber:
    """Checks everything in rounds; call `step` again and again. One at a time for a server.

    `now` returns the time in ms; `wait` waits so many seconds; `is_closed` returns whether a shard is closed, of
    which some sections check nothing; `forget` is that of `ScrubParts`.
    """

    def __init__(
        self,
        sections: Sequence[ScrubSection],
        record: ScrubRecord,
        damage: DamagedMatches,
        now: Callable[[], int],
        wait: Callable[[float], None] = time.sleep,
        is_closed: Callable[[], bool] = lambda: False,
        *,
        forget: Callable[[], None] = lambda: None,
    ) -> None:
        self._sections = {section.name: section for section in sections}
        self._record = record
        self._damage = damage
        self._now = now
        self._wait = wait
        self._is_closed = is_closed
        self._forget = forget
        self._notes = record.read()
        self._saved = time.monotonic()

    @property
    def is_due(self) -> bool:
        """Whether a round is under way, or the next should begin."""
        return bool(self._notes.section) or is_due(self._notes, self._now())

    def step(self) -> bool:
        """Check a little; return False if a round has ended and the next is not due yet."""
        if not self._notes.section:
            if not self.is_due:
                return False
            self._begin()
        section = self._sections.get(self._notes.section)
        if section is None:  # of another version
            self._notes = replace(self._notes, cut=True, keeps=True)
            self._advance(None)
            return True
        closed = self._is_closed()
        step = self._checked(section)
        cut = step.cut or closed or self._is_closed()
        notes = self._notes
        self._notes = replace(notes, cut=notes.cut or cut, keeps=notes.keeps or cut or step.keeps)
        self._note(section, step)
        self._advance(step.cursor)
        return True

    def round(self) -> list[NotedFault]:
        """Check everything now, whatever is due, and return all that was found."""
        self._begin()
        while self._notes.section:
            self.step()
        return self._record.faults()

    def save(self) -> None:
        """Write down where it is."""
        self._record.write(self._notes)
        self._saved = time.monotonic()

    def _begin(self) -> None:
        self._forget()
        first = next(iter(self._sections))
        self._notes = replace(
            self._notes,
            section=first,
            cursor="",
            round=self._notes.round + 1,
            began=self._now(),
            since=self._notes.since or self._now(),
            matches=0,
            cut=False,
            keeps=False,
        )

    def _checked(self, section: ScrubSection) -> Step:
        """Return the result of a step; what it finds was found twice."""
        first = self._attempted(section)
        if not first.faults:
            return first
        self._wait(LOOK_AGAIN_SECONDS)
        self._forget()
        second = self._attempted(section)
        if second.cut:
            return second
        before = {fault.about for fault in first.faults}
        return second._replace(faults=[one for one in second.faults if one.about in before])

    def _attempted(self, section: ScrubSection) -> Step:
        for attempt in range(1, ATTEMPTS + 1):
            try:
                return section.step(self._notes.cursor)
            except (ObjectStoreError, TrimmedLeavesError) as error:
                if attempt == ATTEMPTS:
                    fault = ScrubFault("object store", f"it can't be read: {error}")
                    return Step(None, [fault], cut=True)
                self._wait(LOOK_AGAIN_SECONDS)
            except (RedisError, ScrubStoppedError) as error:
                if not isinstance(error, ResponseError):
                    raise
                return _stopped(section, error)
            except Exception as error:
                # what is damaged in a way that nobody thought of must not stop the check of all else
                logger.exception("the scrubber stopped in its section %s", section.name)
                return _stopped(section, error)
        raise AssertionError("unreachable")

    def _note(self, section: ScrubSection, step: Step) -> None:
        now, number = self._now(), self._notes.round
        faults = [
            NotedFault(section.name, one.about, one.sentence, now, number) for one in step.faults
        ]
        if faults:
            # first, so that the round that follows a kill has another number, and forgets what it does not find
            self.save()
        for one in step.faults:
            if one.mend:
                one.mend()
        for fault in self._record.add(faults):
            logger.error("ALARM: the scrubber found: %s: %s", fault.about, fault.sentence)
        damaged = {fault.board: fault.sentence for fault in step.faults if fault.board}
        for board, sentence in damaged.items():
            self._damage.note(board, sentence)
        if step.matches:
            known = self._damage.all()
            for board in step.matches:
                if board in known and board not in damaged:
                    self._damage.forget(board)
        self._notes = replace(self._notes, matches=self._notes.matches + len(step.matches))

    def _advance(self, cursor: str | None) -> None:
        """Go on to the next step, section or round."""
        notes = self._notes
        if cursor is not None:
            self._notes = replace(notes, cursor=cursor)
            self._save_if_due()
            return
        if not notes.keeps:
            self._forget_mended(notes.section)
        names = list(self._sections)
        place = names.index(notes.section) + 1 if notes.section in names else len(names)
        if place < len(names):
            self._notes = replace(notes, section=names[place], cursor="", keeps=False)
            self._save_if_due()
        else:
            self._end()
            self.save()

    def _save_if_due(self) -> None:
        if time.monotonic() - self._saved >= SAVE_SECONDS:
            self.save()

    def _end(self) -> None:
        notes = self._notes = replace(self._notes, section="", cursor="")
        faults = len(self._record.faults())
        seconds = (self._now() - notes.began) / 1000
        if notes.cut:
            logger.warning("a round was cut short: %d faults, %.0f s", faults, seconds)
            return
        self._notes = replace(
            notes, last_began=notes.began, last_ended=self._now(), last_matches=notes.matches
        )
        logger.info("a whole round: %d matches, %d faults, %.0f s", notes.matches, faults, seconds)

    def _forget_mended(self, section: str) -> None:
        """Forget what this round has not found again in a section that it has ended, and in those of other versions."""
        self._record.forget(
            [
                fault
                for fault in self._record.faults()
                if (fault.section == section or fault.section not in self._sections)
                and fault.round < self._notes.round
            ]
        )


def _stopped(section: ScrubSection, error: Exception) -> Step:
    return Step(
        None,
        [ScrubFault(section.name, f"the check of them stopped, and goes no further: {error!r}")],
        cut=True,
    )


def is_due(notes: ScrubNotes, now: int) -> bool:
    """Return whether a round is under way, or the next should begin; also after the clock was set back."""
    return bool(notes.section) or not 0 <= now - notes.began < ROUND_MS


class Budget:
    """Keeps work to a share of a core: `wait` after each piece of it. `sleep` waits so many seconds."""

    def __init__(
        self,
        percent: int,
        sleep: Callable[[float], None],
        timer: Callable[[], float] = time.monotonic,
    ) -> None:
        self._rest = 100 / percent - 1
        self._sleep = sleep
        self._timer = timer
        self._began = timer()
        self._owed = 0.0

    def wait(self, most: float = 10.0) -> None:
        """Wait until the work since the last call is at most the share, `most` seconds at most."""
        self._owed += (self._timer() - self._began) * self._rest
        self._began = self._timer()
        if self._owed >= _LEAST_SLEEP:
            self._sleep(min(self._owed, most))
            self._owed = 0.0
            self._began = self._timer()


_LEAST_SLEEP: Final = 0.1

TRANSIENT: Final = (ObjectStoreError, TrimmedLeavesError, RedisError)
"""Errors that say nothing about what is stored."""
