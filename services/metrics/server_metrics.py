"""The metrics of the servers of the data and of the queue."""

from collections.abc import Mapping, Sequence

from prometheus_client.core import Metric

from infra.redis.server_info import ServerFigures
from services.metrics.families import counter, gauge


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
