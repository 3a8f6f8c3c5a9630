"""Figures of the whole server among the metrics of a process: they are read from Redis for each scrape.

Processes that serve them show the same, so a query takes their maximum and never their sum.

The metrics of a server's status: lanes, queues, logs, archive, scrubber, robots, processes, projections and mail.

The metrics of the servers of the data and of the queue.

Gauges and counters of figures that were read, not counted, in the form of prometheus_client.

Their names begin with `matchpost_`, and a name ends in its unit: `_seconds`, `_bytes`, `_total` for a counter.
"""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from redis.exceptions import RedisError

from infra.health.heartbeats import HeartbeatRecord, Role
from infra.health.status import Status
from infra.process.metrics import REGISTRY
from infra.redis.server import ServerFigures, read_server_figures
from services.app.context import App

_PREFIX: Final = "matchpost_"


def number(name: str, meaning: str, value: float) -> GaugeMetricFamily:
    """Return a gauge without labels."""
    return GaugeMetricFamily(_PREFIX + name, meaning, value=value)


def gauge(name: str, meaning: str, *labels: str) -> GaugeMetricFamily:
    """Return a gauge with labels, to which values are added."""
    return GaugeMetricFamily(_PREFIX + name, meaning, labels=labels)


def counter(name: str, meaning: str, *labels: str) -> CounterMetricFamily:
    """Return a counter with labels, to which values are added; its name gets `_total`."""
    return CounterMetricFamily(_PREFIX + name, meaning, labels=labels)


def answered(*, is_up: bool) -> GaugeMetricFamily:
    """Return the gauge that says whether the figures of the whole server could be read."""
    return number("queue_up", "Whether the servers of data and queue answered.", is_up)


def status_metrics(status: Status) -> list[Metric]:
    """Return the metrics of a status."""
    return [
        *_lane_metrics(status),
        *_queue_metrics(status),
        *(_log_metrics(status) if status.settings.durability.durable else ()),
        *_archive_metrics(status),
        *_scrub_metrics(status),
        *_robot_metrics(status),
        *_role_metrics(status),
        *_projection_metrics(status),
        *_mail_metrics(status),
        *_move_metrics(status),
    ]


def _lane_metrics(status: Status) -> Iterable[Metric]:
    waiting = gauge("inbox_commands", "Commands that wait, by lane.", "lane")
    oldest = gauge("inbox_oldest_seconds", "How long the oldest has waited, by lane.", "lane")
    held = gauge("lane_held", "Whether a drain works on it, by lane.", "lane")
    outcomes = gauge("last_turn_outcomes", "Outcomes of the last turn, by lane.", "lane")
    took = gauge("last_turn_seconds", "How long the last turn took, by lane.", "lane")
    ended = gauge("last_turn_timestamp_seconds", "When the last turn ended, by lane.", "lane")
    for lane in status.queue.lanes:
        waiting.add_metric([lane.lane], lane.waiting)
        oldest.add_metric([lane.lane], lane.oldest_ms / 1000)
        held.add_metric([lane.lane], lane.lease == "held")
        if lane.last is not None:
            outcomes.add_metric([lane.lane], lane.last.outcomes)
            took.add_metric([lane.lane], lane.last.ms / 1000)
            ended.add_metric([lane.lane], lane.last.at / 1000)
    return [waiting, oldest, held, outcomes, took, ended]


def _queue_metrics(status: Status) -> Iterable[Metric]:
    jobs = gauge("queue_jobs", "Jobs of RQ, by queue and state.", "queue", "state")
    workers = gauge("queue_workers", "Workers of RQ, by queue.", "queue")
    for queue in status.queue.queues:
        jobs.add_metric([queue.name, "waiting"], queue.waiting)
        jobs.add_metric([queue.name, "started"], queue.started)
        jobs.add_metric([queue.name, "failed"], queue.failed)
        workers.add_metric([queue.name], queue.workers)
    return [jobs, workers]


def _log_metrics(status: Status) -> Iterable[Metric]:
    log = status.log
    yield number("log_leaves", "Leaves in the logs.", log.leaves)
    yield number("log_published_leaves", "Leaves that are published.", log.size)
    yield number("log_unpublished_leaves", "Leaves that are not yet.", log.unpublished)
    waited = log.waited_ms(status.now) / 1000
    yield number("log_unpublished_seconds", "How long the first of them has waited.", waited)
    faulty = "Shards whose log can't be published now."
    yield number("log_faulty_shards", faulty, len(status.log_faults))
    yield number("closed_shards", "Shards that take no command.", len(status.closed))


def _archive_metrics(status: Status) -> Iterable[Metric]:
    archive, last = status.archive, status.last_retirement
    yield number("archived_matches", "Matches in the archive.", archive.archived)
    yield number("ended_matches", "Matches that are over, and not in it.", archive.ended)
    yield number("archive_due_matches", "Those of them that are due.", archive.late)
    if last is not None:
        at = last.at / 1000
        yield number("last_retirement_timestamp_seconds", "When the last run ended.", at)
        yield number("last_retirement_seconds", "How long it took.", last.ms / 1000)
        yield number("last_retirement_matches", "Matches that it retired.", last.retired)
        yield number("last_retirement_kept", "Due matches that it left.", last.kept)


def _scrub_metrics(status: Status) -> Iterable[Metric]:
    scrub, faults = status.scrub, len(status.scrub_faults)
    checked = "Matches that the present round of the scrubber has checked."
    yield number("scrub_matches", checked, scrub.matches)
    oldest = "For how long something may not have been checked."
    yield number("scrub_oldest_seconds", oldest, scrub.oldest_ms(status.now) / 1000)
    yield number("scrub_faults", "Faults that it has found and that are not mended.", faults)
    if scrub.last_ended:
        at = scrub.last_ended / 1000
        yield number("last_scrub_timestamp_seconds", "When its last whole round ended.", at)
        yield number("last_scrub_seconds", "How long that took.", scrub.last_ms / 1000)


def _robot_metrics(status: Status) -> Iterable[Metric]:
    robots = status.robots
    yield number("robots_waiting", "Matches in which a robot is to act.", robots.waiting)
    oldest = "How long ago the last event of the first of them was."
    yield number("robots_oldest_seconds", oldest, robots.oldest_ms / 1000)
    yield number("robots_failed", "Matches in which a robot could not act.", len(robots.failures))


def _role_metrics(status: Status) -> Iterable[Metric]:
    expected = gauge("role_expected", "Whether a role has to run, by role.", "role")
    alive = gauge("role_processes", "Processes that send signs of life, by role.", "role")
    on_host = gauge(
        "host_processes", "Processes that send signs of life, by role and host.", "role", "host"
    )
    silent = gauge(
        "host_silent_processes",
        "Processes that do not any longer, by role and host.",
        "role",
        "host",
    )
    oldest = gauge(
        "heartbeat_age_seconds", "Age of the oldest sign of life, by role and host.", "role", "host"
    )
    places: dict[tuple[Role, str], list[HeartbeatRecord]] = {}
    for beat in status.beats:
        places.setdefault((beat.role, beat.host), []).append(beat)
    living = {
        place: [one for one in beats if not one.is_silent(status.now) and not one.is_gone]
        for place, beats in sorted(places.items())
    }
    for role in Role:
        expected.add_metric([role], role in status.expected)
        there = [len(beats) for place, beats in living.items() if place[0] is role]
        alive.add_metric([role], sum(there))
    for place, beats in living.items():
        on_host.add_metric(place, len(beats))
        silent.add_metric(place, len(places[place]) - len(beats))
        age = max((status.now - beat.at for beat in beats), default=0)
        oldest.add_metric(place, max(0, age) / 1000)
    return [expected, alive, on_host, silent, oldest]


def _projection_metrics(status: Status) -> Iterable[Metric]:
    leaves = gauge("projection_lag_leaves", "Leaves that a projection has not read.", "projection")
    oldest = gauge(
        "projection_lag_seconds", "How long ago the first of them was received.", "projection"
    )
    failures = gauge(
        "projection_failures", "Places where a projection can't take in a leaf.", "projection"
    )
    building = gauge("projection_building", "Whether it is being rebuilt.", "projection")
    for one in status.projections:
        name = [one.spec.name]
        leaves.add_metric(name, one.events)
        age = 0 if one.oldest is None else max(0, status.now - one.oldest)
        oldest.add_metric(name, age / 1000)
        failures.add_metric(name, len(one.failures))
        building.add_metric(name, one.building)
    return [leaves, oldest, failures, building]


def _mail_metrics(status: Status) -> Iterable[Metric]:
    mail = status.outbox
    yield number("mail_waiting", "E-mails that wait to be sent.", mail.waiting)
    yield number(
        "mail_oldest_seconds", "How long the first of them has been due.", mail.late / 1000
    )
    up = "Whether the relay took the connection when it was tried last."
    yield number("mail_relay_up", up, not mail.down)


def _move_metrics(status: Status) -> Iterable[Metric]:
    overdue = "Matches whose reminder or flag has been due for more than a minute."
    yield number("overdue_matches", overdue, sum(one.overdue for one in status.shards))
    aside = "Commands that could not be decoded, and were set aside."
    yield number("set_aside_commands", aside, sum(one.aside for one in status.shards))
    yield number("damaged_matches", "Matches that can't be read.", len(status.damaged))
    required = "Replicas that have to sync each move; 0 without durability `replicated`."
    yield number("replicas_required", required, status.replicas)
    accepted = "Whether moves are accepted, by the last verification of durability; 0 without one."
    yield number("moves_accepted", accepted, status.move_fault == "")


def server_metrics(servers: Mapping[str, Sequence[ServerFigures]]) -> list[Metric]:
    """Return the metrics of the servers of the data and of the queue."""
    names = ("server", "node")
    up = gauge("server_up", "Whether a server answered.", *names)
    memory = gauge("server_memory_bytes", "Memory that its data take.", *names)
    limit = gauge("server_memory_limit_bytes", "Memory that they may take.", *names)
    clients = gauge("server_clients", "Connections to it.", *names)
    replicas = gauge("server_replicas", "Replicas that are connected.", *names)
    written = gauge("server_log_ok", "Whether its append-only file could be written last.", *names)
    commands = counter("server_commands", "Commands that it has executed.", *names)
    seconds = counter("server_cpu_seconds", "Seconds that its main thread has computed.", *names)
    for server, nodes in servers.items():
        for one in nodes:
            place = [server, one.node]
            up.add_metric(place, one.is_up)
            if not one.is_up:
                continue
            memory.add_metric(place, one.memory)
            if one.memory_limit:
                limit.add_metric(place, one.memory_limit)
            clients.add_metric(place, one.clients)
            replicas.add_metric(place, one.replicas)
            written.add_metric(place, one.is_written)
            commands.add_metric(place, one.commands)
            seconds.add_metric(place, one.cpu_seconds)
    return [up, memory, limit, clients, replicas, written, commands, seconds]


logger = logging.getLogger(__name__)


@contextmanager
def server_figures(
    parts: App, registry: CollectorRegistry = REGISTRY
) -> Iterator[CollectorRegistry]:
    """Add the figures of the whole server to the metrics while entered."""
    collector = _FiguresCollector(parts)
    registry.register(collector)
    try:
        yield registry
    finally:
        registry.unregister(collector)


class _FiguresCollector(Collector):
    """Reads the figures for each scrape."""

    def __init__(self, parts: App) -> None:
        self._parts = parts

    def describe(self) -> Iterable[Metric]:
        """Return no names, so that nothing is read when this is registered."""
        return ()

    def collect(self) -> Iterable[Metric]:
        """Return the figures; of servers that do not answer only that they do not."""
        parts = self._parts
        servers = {"data": parts.data, "queue": parts.queue}
        found = server_metrics({name: read_server_figures(one) for name, one in servers.items()})
        try:
            found += status_metrics(parts.status())
        except RedisError as error:
            logger.warning("the server's figures can't be read: %s", error)
            return [*found, answered(is_up=False)]
        return [*found, answered(is_up=True)]
