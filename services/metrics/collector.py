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
from services.app.context import App
from services.app.monitoring import read_monitoring_figures, read_servers
from services.app.operator_figures import read_operator_figures
from services.metrics.families import answered
from services.metrics.monitoring_metrics import monitoring_metrics, server_metrics
from services.metrics.operator_metrics import operator_metrics

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
        found = server_metrics(read_servers(self._parts))
        try:
            found += operator_metrics(read_operator_figures(self._parts))
            found += monitoring_metrics(read_monitoring_figures(self._parts))
        except RedisError as error:
            logger.warning("the server's figures can't be read: %s", error)
            return [*found, answered(is_up=False)]
        return [*found, answered(is_up=True)]
