"""The metrics of the figures of the whole server: processes by role and host, projections, mail, servers."""

from collections.abc import Iterable, Mapping, Sequence

from prometheus_client.core import Metric

from infra.health.heartbeats import Role
from infra.redis.server_info import ServerFigures
from services.app.monitoring import MailFigures, MonitoringFigures, ProjectionFigures
from services.metrics.families import counter, gauge, number


def monitoring_metrics(figures: MonitoringFigures) -> list[Metric]:
    """Return the metrics of these figures."""
    found = [
        *_role_metrics(figures),
        *_projection_metrics(figures.projections),
        *_mail_metrics(figures.mail),
    ]
    overdue = "Matches whose reminder or flag has been due for more than a minute."
    found.append(number("overdue_matches", overdue, figures.overdue))
    aside = "Commands that could not be decoded, and were set aside."
    found.append(number("set_aside_commands", aside, figures.set_aside))
    found.append(number("damaged_matches", "Matches that can't be read.", figures.damaged))
    required = "Replicas that have to sync each move; 0 without durability `replicated`."
    found.append(number("replicas_required", required, figures.replicas))
    accepted = "Whether moves are accepted, by the last verification of durability; 0 without one."
    found.append(number("moves_accepted", accepted, figures.fault == ""))
    return found


def _role_metrics(figures: MonitoringFigures) -> Iterable[Metric]:
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
    for role in Role:
        expected.add_metric([role], role in figures.expected)
        alive.add_metric([role], sum(one.alive for one in figures.roles if one.role is role))
    for one in figures.roles:
        place = [one.role, one.host]
        on_host.add_metric(place, one.alive)
        silent.add_metric(place, one.silent)
        oldest.add_metric(place, one.oldest_ms / 1000)
    return [expected, alive, on_host, silent, oldest]


def _projection_metrics(projections: Sequence[ProjectionFigures]) -> Iterable[Metric]:
    leaves = gauge("projection_lag_leaves", "Leaves that a projection has not read.", "projection")
    oldest = gauge(
        "projection_lag_seconds", "How long ago the first of them was received.", "projection"
    )
    failures = gauge(
        "projection_failures", "Places where a projection can't take in a leaf.", "projection"
    )
    building = gauge("projection_building", "Whether it is being rebuilt.", "projection")
    for one in projections:
        leaves.add_metric([one.name], one.leaves)
        oldest.add_metric([one.name], one.oldest_ms / 1000)
        failures.add_metric([one.name], one.failures)
        building.add_metric([one.name], one.is_building)
    return [leaves, oldest, failures, building]


def _mail_metrics(mail: MailFigures) -> Iterable[Metric]:
    yield number("mail_waiting", "E-mails that wait to be sent.", mail.waiting)
    oldest = "How long the first of them has been due."
    yield number("mail_oldest_seconds", oldest, mail.oldest_ms / 1000)
    up = "Whether the relay took the connection when it was tried last."
    yield number("mail_relay_up", up, mail.is_relay_up)


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
