"""A sample of the faults of a cluster and of a Sentinel pair; `trials/faults/run.py` does the full figures."""

from pathlib import Path

import pytest

from trials.faults import failovers
from trials.faults import failovers as lossy_failovers
from trials.faults.results import Outcome

pytestmark = pytest.mark.slow


def expect(outcome: Outcome) -> None:
    assert outcome.good, f"{outcome.name}: {outcome.faults} done, {outcome.violations}"


@pytest.mark.long
@pytest.mark.parametrize("fault", ["kill-primary", "cut-off", "move-slots", "kill-queue"])
def test_a_cluster_loses_no_acknowledged_command(tmp_path: Path, fault: str) -> None:
    expect(failovers.under_load("cluster", fault, 2, tmp_path))


@pytest.mark.long
def test_a_failover_of_a_sentinel_pair_loses_no_acknowledged_command(tmp_path: Path) -> None:
    expect(failovers.under_load("sentinel", "kill-primary", 1, tmp_path))


@pytest.mark.long
@pytest.mark.parametrize("kind", list(failovers.KINDS))
def test_what_an_asynchronous_failover_loses_is_logged_and_restored_as_far_as_it_was_published(
    tmp_path: Path, kind: str
) -> None:
    expect(lossy_failovers.under_load(kind, 1, tmp_path))
