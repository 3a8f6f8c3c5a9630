"""The metrics of the figures that `matchpost queue` shows: lanes, queues, logs, archive, scrubber and robots."""

from collections.abc import Iterable

from prometheus_client.core import Metric

from infra.health.log_figures import LogFigures
from infra.projections.robot_figures import RobotFigures
from services.app.operator_figures import OperatorFigures, RetirementFigures, ScrubFigures
from services.metrics.families import gauge, number


def operator_metrics(figures: OperatorFigures) -> list[Metric]:
    """Return the metrics of these figures."""
    log = _log_metrics(figures.log) if figures.log else ()
    return [
        *_lane_metrics(figures),
        *_queue_metrics(figures),
        *log,
        *_archive_metrics(figures.archive),
        *_scrub_metrics(figures.scrub),
        *_robot_metrics(figures.robots),
    ]


def _lane_metrics(figures: OperatorFigures) -> Iterable[Metric]:
    waiting = gauge("inbox_commands", "Commands that wait, by lane.", "lane")
    oldest = gauge("inbox_oldest_seconds", "How long the oldest has waited, by lane.", "lane")
    held = gauge("lane_held", "Whether a drain works on it, by lane.", "lane")
    outcomes = gauge("last_turn_outcomes", "Outcomes of the last turn, by lane.", "lane")
    took = gauge("last_turn_seconds", "How long the last turn took, by lane.", "lane")
    ended = gauge("last_turn_timestamp_seconds", "When the last turn ended, by lane.", "lane")
    for lane in figures.lanes:
        waiting.add_metric([lane.lane], lane.waiting)
        oldest.add_metric([lane.lane], lane.oldest_ms / 1000)
        held.add_metric([lane.lane], lane.lease == "held")
        if lane.last is not None:
            outcomes.add_metric([lane.lane], lane.last.outcomes)
            took.add_metric([lane.lane], lane.last.ms / 1000)
            ended.add_metric([lane.lane], lane.last.at / 1000)
    return [waiting, oldest, held, outcomes, took, ended]


def _queue_metrics(figures: OperatorFigures) -> Iterable[Metric]:
    jobs = gauge("queue_jobs", "Jobs of RQ, by queue and state.", "queue", "state")
    workers = gauge("queue_workers", "Workers of RQ, by queue.", "queue")
    for queue in figures.queues:
        jobs.add_metric([queue.name, "waiting"], queue.waiting)
        jobs.add_metric([queue.name, "started"], queue.started)
        jobs.add_metric([queue.name, "failed"], queue.failed)
        workers.add_metric([queue.name], queue.workers)
    return [jobs, workers]


def _log_metrics(log: LogFigures) -> Iterable[Metric]:
    yield number("log_leaves", "Leaves in the logs.", log.leaves)
    yield number("log_published_leaves", "Leaves that are published.", log.published)
    yield number("log_unpublished_leaves", "Leaves that are not yet.", log.unpublished)
    waited = log.unpublished_ms / 1000
    yield number("log_unpublished_seconds", "How long the first of them has waited.", waited)
    faulty = "Shards whose log can't be published now."
    yield number("log_faulty_shards", faulty, log.faulty_shards)
    yield number("closed_shards", "Shards that take no command.", log.closed_shards)


def _archive_metrics(archive: RetirementFigures) -> Iterable[Metric]:
    yield number("archived_matches", "Matches in the archive.", archive.archived)
    yield number("ended_matches", "Matches that are over, and not in it.", archive.ended)
    yield number("archive_due_matches", "Those of them that are due.", archive.due)
    last = archive.last
    if last is not None:
        at = last.at / 1000
        yield number("last_retirement_timestamp_seconds", "When the last run ended.", at)
        yield number("last_retirement_seconds", "How long it took.", last.ms / 1000)
        yield number("last_retirement_matches", "Matches that it retired.", last.retired)
        yield number("last_retirement_kept", "Due matches that it left.", last.kept)


def _scrub_metrics(scrub: ScrubFigures) -> Iterable[Metric]:
    checked = "Matches that the present round of the scrubber has checked."
    yield number("scrub_matches", checked, scrub.matches)
    oldest = "For how long something may not have been checked."
    yield number("scrub_oldest_seconds", oldest, scrub.oldest_ms / 1000)
    yield number("scrub_faults", "Faults that it has found and that are not mended.", scrub.faults)
    if scrub.ended:
        at = scrub.ended / 1000
        yield number("last_scrub_timestamp_seconds", "When its last whole round ended.", at)
        yield number("last_scrub_seconds", "How long that took.", scrub.ms / 1000)


def _robot_metrics(robots: RobotFigures) -> Iterable[Metric]:
    yield number("robots_waiting", "Matches in which a robot is to act.", robots.waiting)
    oldest = "How long ago the last event of the first of them was."
    yield number("robots_oldest_seconds", oldest, robots.oldest_ms / 1000)
    yield number("robots_failed", "Matches in which a robot could not act.", len(robots.failures))
