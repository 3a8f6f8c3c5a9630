"""Prometheus metrics of this process, at a separate address."""

import logging
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Final

from prometheus_client import CollectorRegistry, start_http_server
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from redis.exceptions import RedisError

from infra.log.log_figures import LogFigures
from infra.projections.robot_figures import RobotFigures
from services.app.context import App
from services.app.operator_figures import (
    OperatorFigures,
    RetirementFigures,
    ScrubFigures,
    read_operator_figures,
)
from services.http.middleware import REGISTRY

logger = logging.getLogger(__name__)

_OFF: Final = "off"


@contextmanager
def serving_metrics(address: str) -> Iterator[str]:
    """Serve the metrics on `host:port` while entered, and yield their URL; empty if they are off.

    They are not at the address of the pages, because they show strangers how busy the server is.
    Raises `OSError` with a sentence if the address can't be used.
    """
    if address == _OFF:
        yield ""
        return
    host, _, port = address.rpartition(":")
    try:
        server, thread = start_http_server(
            int(port), host.removeprefix("[").removesuffix("]"), REGISTRY
        )
    except (OSError, OverflowError) as error:
        raise OSError(f"MATCHPOST_METRICS can't be {address}: {error}") from error
    try:
        url = f"http://{host}:{server.server_port}/metrics"
        logger.info("metrics are at %s", url)
        yield url
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def queue_metrics(
    parts: App, registry: CollectorRegistry = REGISTRY
) -> Iterator[CollectorRegistry]:
    """Add the figures of the queue to the metrics while entered; they are read when asked for."""
    collector = _QueueCollector(parts)
    registry.register(collector)
    try:
        yield registry
    finally:
        registry.unregister(collector)


class _QueueCollector(Collector):
    """Reads the figures of `matchpost queue` for each scrape."""

    def __init__(self, parts: App) -> None:
        self._parts = parts

    def describe(self) -> Iterable[Metric]:
        """Return no names, so that nothing is read when this is registered."""
        return ()

    def collect(self) -> Iterable[Metric]:
        """Return the figures, or only that a server does not answer."""
        up = GaugeMetricFamily("matchpost_queue_up", "Whether both servers answered.")
        try:
            figures = read_operator_figures(self._parts)
        except RedisError as error:
            logger.warning("the queue's figures can't be read: %s", error)
            up.add_metric((), 0)
            return [up]
        up.add_metric((), 1)
        log = _log_metrics(figures.log) if figures.log else ()
        return [
            up,
            *_lane_metrics(figures),
            *_queue_metrics(figures),
            *log,
            *_archive_metrics(figures.archive),
            *_scrub_metrics(figures.scrub),
            *_robot_metrics(figures.robots),
        ]


def _lane_metrics(figures: OperatorFigures) -> Iterable[Metric]:
    waiting = _gauge("inbox_commands", "Commands that wait, by lane.", "lane")
    oldest = _gauge("inbox_oldest_seconds", "How long the oldest has waited, by lane.", "lane")
    held = _gauge("lane_held", "Whether a drain works on it, by lane.", "lane")
    outcomes = _gauge("last_turn_outcomes", "Outcomes of the last turn, by lane.", "lane")
    took = _gauge("last_turn_seconds", "How long the last turn took, by lane.", "lane")
    ended = _gauge("last_turn_timestamp_seconds", "When the last turn ended, by lane.", "lane")
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
    jobs = _gauge("queue_jobs", "Jobs of RQ, by queue and state.", "queue", "state")
    workers = _gauge("queue_workers", "Workers of RQ, by queue.", "queue")
    for queue in figures.queues:
        jobs.add_metric([queue.name, "waiting"], queue.waiting)
        jobs.add_metric([queue.name, "started"], queue.started)
        jobs.add_metric([queue.name, "failed"], queue.failed)
        workers.add_metric([queue.name], queue.workers)
    return [jobs, workers]


def _log_metrics(log: LogFigures) -> Iterable[Metric]:
    yield _number("log_leaves", "Leaves in the logs.", log.leaves)
    yield _number("log_published_leaves", "Leaves that are published.", log.published)
    yield _number("log_unpublished_leaves", "Leaves that are not yet.", log.unpublished)
    waited = log.unpublished_ms / 1000
    yield _number("log_unpublished_seconds", "How long the first of them has waited.", waited)
    faulty = "Shards whose log can't be published now."
    yield _number("log_faulty_shards", faulty, log.faulty_shards)
    yield _number("closed_shards", "Shards that take no command.", log.closed_shards)


def _archive_metrics(archive: RetirementFigures) -> Iterable[Metric]:
    yield _number("archived_matches", "Matches in the archive.", archive.archived)
    yield _number("ended_matches", "Matches that are over, and not in it.", archive.ended)
    yield _number("archive_due_matches", "Those of them that are due.", archive.due)
    last = archive.last
    if last is not None:
        at = last.at / 1000
        yield _number("last_retirement_timestamp_seconds", "When the last run ended.", at)
        yield _number("last_retirement_seconds", "How long it took.", last.ms / 1000)
        yield _number("last_retirement_matches", "Matches that it retired.", last.retired)
        yield _number("last_retirement_kept", "Due matches that it left.", last.kept)


def _scrub_metrics(scrub: ScrubFigures) -> Iterable[Metric]:
    checked = "Matches that the present round of the scrubber has checked."
    yield _number("scrub_matches", checked, scrub.matches)
    oldest = "For how long something may not have been checked."
    yield _number("scrub_oldest_seconds", oldest, scrub.oldest_ms / 1000)
    yield _number("scrub_faults", "Faults that it has found and that are not mended.", scrub.faults)
    if scrub.ended:
        at = scrub.ended / 1000
        yield _number("last_scrub_timestamp_seconds", "When its last whole round ended.", at)
        yield _number("last_scrub_seconds", "How long that took.", scrub.ms / 1000)


def _robot_metrics(robots: RobotFigures) -> Iterable[Metric]:
    yield _number("robots_waiting", "Matches in which a robot is to act.", robots.waiting)
    oldest = "How long ago the last event of the first of them was."
    yield _number("robots_oldest_seconds", oldest, robots.oldest_ms / 1000)
    yield _number("robots_failed", "Matches in which a robot could not act.", len(robots.failures))


def _number(name: str, meaning: str, value: float) -> Metric:
    return GaugeMetricFamily(f"matchpost_{name}", meaning, value=value)


def _gauge(name: str, meaning: str, *labels: str) -> GaugeMetricFamily:
    return GaugeMetricFamily(f"matchpost_{name}", meaning, labels=labels)
