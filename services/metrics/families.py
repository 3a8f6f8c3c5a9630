"""Gauges and counters of figures that were read, not counted, in the form of prometheus_client.

Their names begin with `matchpost_`, and a name ends in its unit: `_seconds`, `_bytes`, `_total` for a counter.
"""

from typing import Final

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

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
