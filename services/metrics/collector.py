"""Figures of the whole server among the metrics of a process: they are read from Redis for each scrape.

Processes that serve them show the same, so a query takes their maximum and never their sum.
"""

import logging
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from prometheus_client import CollectorRegistry
from prometheus_client.core import Metric
from prometheus_client.registry import Collector
from redis.exceptions import RedisError

from infra.process.metrics import REGISTRY
from infra.redis.server_info import read_server_figures
from services.app.context import App
from services.metrics.families import answered
from services.metrics.server_metrics import server_metrics
from services.metrics.status_metrics import status_metrics

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
