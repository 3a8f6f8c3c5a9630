"""All metrics that the program has, and values of those that were counted."""

from prometheus_client.core import Metric

from infra.health.heartbeats import Role
from infra.health.log_figures import LogFigures
from infra.process.metrics import REGISTRY
from infra.projections.robot_figures import RobotFigures
from infra.redis.server_info import ServerFigures
from infra.store.last_runs import LaneTurn, RetireRun
from infra.store.queue_figures import LaneFigures, QueueFigures
from services.app.monitoring import (
    MailFigures,
    MonitoringFigures,
    ProjectionFigures,
    RoleFigures,
)
from services.app.operator_figures import OperatorFigures, RetirementFigures, ScrubFigures
from services.http import middleware  # it has metrics of its own
from services.metrics.families import answered
from services.metrics.monitoring_metrics import monitoring_metrics, server_metrics
from services.metrics.operator_metrics import operator_metrics

assert middleware.REGISTRY is REGISTRY

OPERATOR = OperatorFigures(
    lanes=(LaneFigures("0/1", 1, 1, "held", LaneTurn(1, 1, 1, "here/1", 1)),),
    queues=(QueueFigures("matchpost-commands", 1, 1, 1, 1),),
    log=LogFigures(1, 1, 1, 1, 1, 1),
    archive=RetirementFigures(1, 1, 1, RetireRun(0, 1, 1, 1, "here/1", 1)),
    scrub=ScrubFigures(1, 1, 1, 1, 1, 1),
    robots=RobotFigures(1, 1, {1: "why"}),
)
MONITORING = MonitoringFigures(
    expected=frozenset(Role),
    roles=(RoleFigures(Role.WEB, "here", 1, 1, 1),),
    projections=(ProjectionFigures("lists", 1, 1, 1, is_building=True),),
    mail=MailFigures(1, 1, is_relay_up=True),
    overdue=1,
    set_aside=1,
    damaged=1,
    fault="",
    replicas=1,
)
NODE = ServerFigures("here:6379", is_up=True, memory=1, memory_limit=1)


def metric_types() -> dict[str, str]:
    """Return the kind of each metric that any process has, by name as Prometheus has it."""
    figures = [
        *server_metrics({"data": [NODE]}),
        *operator_metrics(OPERATOR),
        *monitoring_metrics(MONITORING),
        answered(is_up=True),
    ]
    counted = [one for one in REGISTRY.collect() if one.name.startswith("matchpost_")]
    found = {_full_name(one): one.type for one in (*figures, *counted)}
    # when a counter or a histogram began, which prometheus_client adds
    began = [one for one in counted if one.type in ("counter", "histogram")]
    return found | {f"{one.name}_created": "gauge" for one in began}


def _full_name(metric: Metric) -> str:
    return f"{metric.name}_total" if metric.type == "counter" else metric.name


def value(name: str, **labels: str) -> float:
    """Return the value of a sample that this process has counted; 0 if there is none yet."""
    return REGISTRY.get_sample_value(name, labels) or 0.0
