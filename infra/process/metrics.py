"""Counters and measurements of the work of this process, for Prometheus; `services.metrics` serves them.

A metric keeps its name, labels and unit. A label has few values, and never an account or a match. An operator's
page, docs/monitoring.md, has all of them.
"""

from functools import cache, partial
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from domain.errors import Code

REGISTRY: Final = CollectorRegistry()
"""The metrics of this process."""

_LATENCIES: Final = (
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0,
)  # fmt: skip

_counter: Final = partial(Counter, registry=REGISTRY)
_gauge: Final = partial(Gauge, registry=REGISTRY)
_histogram: Final = partial(Histogram, registry=REGISTRY, buckets=_LATENCIES)

_ACCEPTED: Final = _counter(
    "matchpost_commands_accepted_total",
    "Commands that this process has decided and committed as accepted, by kind.",
    ["command"],
)
_REFUSED: Final = _counter(
    "matchpost_commands_refused_total",
    "Commands that this process has decided and committed as refused, by code.",
    ["code"],
)
_SUBMITTED: Final = _counter(
    "matchpost_submissions_total",
    "Commands that players sent, by answer: queued, known, or the code of those that no inbox took.",
    ["answer"],
)
_OUTCOME_WAIT: Final = _histogram(
    "matchpost_outcome_wait_seconds",
    "How long a player's command took from its submission to its outcome.",
)
OUTCOMES_PENDING: Final = _counter(
    "matchpost_outcomes_pending_total",
    "Commands whose sender heard `pending`, because no outcome came in time.",
)
_COMMIT_SECONDS: Final = _histogram(
    "matchpost_commit_seconds",
    "How long a commit took, with the sync that makes it durable.",
)
_COMMIT_SIZE: Final = _histogram(
    "matchpost_commit_commands",
    "Commands of a commit, which share a sync.",
    buckets=(1, 2, 4, 8, 16, 32, 64, 128, 256),
)
TRIAL_WRITE_SECONDS: Final = _histogram(
    "matchpost_durable_write_seconds",
    "How long a trial write of the scheduler took until it was durable.",
)
PROJECTED: Final = _counter(
    "matchpost_projected_leaves_total",
    "Leaves that this process has read for the projections.",
)
_SENT: Final = _counter(
    "matchpost_mail_deliveries_total",
    "E-mails that this process has given to the relay, by result: sent, later, no-address, unwanted.",
    ["result"],
)
_PUSHED: Final = _counter(
    "matchpost_push_deliveries_total",
    "Notifications that this process has given to push services, by result: sent, later, away, gone, refused.",
    ["result"],
)
_HOOKED: Final = _counter(
    "matchpost_hook_deliveries_total",
    "Tries of this process to send to webhooks and channels, by kind and result: sent, failed.",
    ["kind", "result"],
)
SECURITY_EVENTS: Final = _counter(
    "matchpost_security_events_total",
    "Events of the security log in this process, also those whose lines were left out.",
    ["event"],
)
_RECEIVED: Final = _counter(
    "matchpost_mail_received_total",
    "E-mails that came in, by result: accepted, later, refused, failed.",
    ["result"],
)
STREAMS_OPEN: Final = _gauge(
    "matchpost_streams_open", "Streams of events that are open in this process."
)
STREAMS_LIMIT: Final = _gauge(
    "matchpost_streams_limit", "Streams of events that this process takes."
)
_INFO: Final = _gauge(
    "matchpost_process_info",
    "Role, name and version of this process; always 1.",
    ["role", "name", "version"],
)
ALARMS: Final = _counter(
    "matchpost_alarms_total",
    "Lines with ALARM that this process has logged.",
)

# cached because a look-up by labels takes longer than counting
_accepted: Final = cache(_ACCEPTED.labels)
_refused: Final = cache(_REFUSED.labels)
_submitted: Final = cache(_SUBMITTED.labels)


def count_decisions(command: str, code: str, times: int) -> None:
    """Count so many commands of this kind that were committed; `code` is empty if they were accepted."""
    (_refused(code) if code else _accepted(command)).inc(times)


def count_submissions(answer: str, times: int = 1) -> None:
    """Count commands that an inbox has answered: `queued`, `known`, or the code by which they were refused."""
    _submitted(answer).inc(times)


def count_commit(commands: int, seconds: float) -> None:
    """Count a commit of so many commands, and how long it took."""
    _COMMIT_SIZE.observe(commands)
    _COMMIT_SECONDS.observe(seconds)


def count_outcome_wait(seconds: float) -> None:
    """Count how long a command has waited for its outcome."""
    _OUTCOME_WAIT.observe(seconds)


def count_sent_hook(kind: str, result: str) -> None:
    """Count a try to send to a webhook or a channel."""
    _HOOKED.labels(kind, result).inc()


def count_sent_push(result: str) -> None:
    """Count a notification that was given to a push service, or that one could not take."""
    _PUSHED.labels(result).inc()


def count_sent_mail(result: str) -> None:
    """Count an e-mail that was given to the relay; `result` is its delivery status."""
    _SENT.labels(result).inc()


def count_received_mail(result: str) -> None:
    """Count an e-mail that came in."""
    _RECEIVED.labels(result).inc()


def describe_process(role: str, name: str, version: str) -> None:
    """Set the role, the name and the version of this process."""
    _INFO.labels(role, name, version).set(1)


# a counter that begins with its first 1 is no increase to Prometheus
_refused(str(Code.INTERNAL))
for _answer in ("queued", "known", Code.BUSY, Code.UNAVAILABLE, Code.DAMAGED):
    _submitted(str(_answer))
for _status in ("sent", "later", "no-address", "unwanted"):
    _SENT.labels(_status)
for _result in ("accepted", "later", "refused", "failed"):
    _RECEIVED.labels(_result)
