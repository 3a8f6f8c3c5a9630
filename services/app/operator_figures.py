"""The figures of `matchpost queue` and of the metrics: queues, logs, archive and robots."""

import msgspec

from domain.clocks.calendar import DAY
from infra.health.log_figures import LogFigures, read_log_figures
from infra.health.retirement_limits import archive_figures
from infra.projections.robot_figures import RobotFigures, read_robot_figures
from infra.store.last_runs import RetireRun, last_retire_run
from infra.store.queue_figures import LaneFigures, QueueFigures, read_figures
from infra.store.scrub_notes import ScrubRecord
from services.app.context import App


class RetirementFigures(msgspec.Struct, frozen=True):
    """The archive, and what is to come into it."""

    archived: int
    """Matches in the archive."""
    ended: int
    """Matches that are over, and in Redis."""
    due: int
    """Those of them that ended long enough ago to be retired."""
    last: RetireRun | None
    """The last run of the retire job, if one is known."""


class ScrubFigures(msgspec.Struct, frozen=True):
    """The check of all that is stored."""

    matches: int
    """Matches that the present round has checked."""
    oldest_ms: int
    """For how long something may not have been checked."""
    faults: int
    """Faults that are not mended."""
    ended: int
    """When the last whole round ended, ms; 0 before the first."""
    ms: int
    """How long it took."""
    last_matches: int
    """Matches that it checked."""


class OperatorFigures(msgspec.Struct, frozen=True):
    """All figures at one moment."""

    lanes: tuple[LaneFigures, ...]
    queues: tuple[QueueFigures, ...]
    log: LogFigures | None
    """None with durability `none`, with which nothing is published."""
    archive: RetirementFigures
    scrub: ScrubFigures
    robots: RobotFigures

    @property
    def waiting(self) -> int:
        """Return how many commands wait in all inboxes."""
        return sum(lane.waiting for lane in self.lanes)


def read_operator_figures(parts: App) -> OperatorFigures:
    """Return the figures; errors of the two servers pass through."""
    layout, now = parts.store.layout(), parts.store.now()
    queue = read_figures(parts.data, parts.queue, layout)
    durable = parts.settings.durability.durable
    until = now - parts.settings.archive_after * DAY
    found = archive_figures(parts.data, layout.shards, until)
    last = last_retire_run(parts.queue, layout.shards)
    return OperatorFigures(
        lanes=queue.lanes,
        queues=queue.queues,
        log=read_log_figures(parts.data, layout.shards, now) if durable else None,
        archive=RetirementFigures(found.archived, found.ended, found.late, last),
        scrub=_scrub_figures(parts, now),
        robots=read_robot_figures(parts.data, now),
    )


def _scrub_figures(parts: App, now: int) -> ScrubFigures:
    record = ScrubRecord(parts.data)
    notes = record.read()
    return ScrubFigures(
        matches=notes.matches,
        oldest_ms=notes.oldest_ms(now),
        faults=len(record.faults()),
        ended=notes.last_ended,
        ms=max(0, notes.last_ended - notes.last_began),
        last_matches=notes.last_matches,
    )
