"""A store, lanes and a drain on the real server, worked within the test's own process."""

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from redis import Redis

from infra.mail.queues import MailingMessageStore
from infra.redis.cluster import ClusterClient
from tests.fakes.sink import Sink
from tests.helpers.bench import Bench
from tests.helpers.mailing import Mailing
from workers.commands import decision_limits

ON_A_CLUSTER = frozenset({
    "test_drain", "test_restore", "test_retired_matches",
})  # fmt: skip
"""Modules whose tests with a `bench` run on one server and on a cluster."""

ALSO_ON_A_CLUSTER = frozenset({
    "test_after_random_play_everything_about_a_match_is_as_its_events_say",
    "test_a_command_that_waits_while_its_match_is_archived_is_answered_and_leaves",
    "test_several_processes_build_what_the_live_worker_has_made_though_one_is_killed",
    "test_a_tournament_with_a_leaver_a_forfeit_and_a_late_result_is_played_to_confirmed_places",
})  # fmt: skip
"""Tests of other modules that do so."""


LONG_ON_A_CLUSTER = frozenset({
    "test_several_processes_build_what_the_live_worker_has_made_though_one_is_killed",
    "test_restore",
})  # fmt: skip
"""Of both, modules and tests that take long there: only the long run has them on a cluster."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    module, test = metafunc.module.__name__.rpartition(".")[2], metafunc.function.__name__
    chosen = module in ON_A_CLUSTER or test in ALSO_ON_A_CLUSTER
    if chosen and "bench" in metafunc.fixturenames:
        long = {module, test} & LONG_ON_A_CLUSTER
        cluster = pytest.param("cluster", marks=pytest.mark.long if long else ())
        metafunc.parametrize("bench", ["server", cluster], indirect=True)


@pytest.fixture
def bench(request: pytest.FixtureRequest, redis_client: Redis, tmp_path: Path) -> Bench:
    if getattr(request, "param", "server") == "server":
        return Bench(redis_client, tmp_path / "seeds")
    return Bench(request.getfixturevalue("cluster_client"), tmp_path / "seeds", redis_client)


@pytest.fixture
def bench_url(request: pytest.FixtureRequest, bench: Bench) -> str:
    """The URL of the server, or the cluster, of the bench."""
    name = "cluster" if isinstance(bench.client, ClusterClient) else "valkey"
    return str(request.getfixturevalue(name).url)


@pytest.fixture
def cpu_limit() -> Iterator[None]:
    """The limit's signals are the process's own, so they are handled only while a test needs it."""
    before = [(number, signal.getsignal(number)) for number in (signal.SIGVTALRM, signal.SIGPROF)]
    decision_limits.LIMITED.install()
    yield
    decision_limits.LIMITED._stop()
    decision_limits.LIMITED._installed = False
    for number, handler in before:
        signal.signal(number, handler)


@pytest.fixture
def short_cpu_limit(monkeypatch: pytest.MonkeyPatch, cpu_limit: None) -> None:
    """The same limit with a quarter of the time, for tests of the timers themselves."""
    del cpu_limit
    monkeypatch.setattr(decision_limits, "TICK_SECONDS", decision_limits.TICK_SECONDS / 4)
    monkeypatch.setattr(decision_limits, "KILL_SECONDS", decision_limits.KILL_SECONDS / 4)


@pytest.fixture
def sink() -> Iterator[Sink]:
    with Sink() as one:
        yield one


@pytest.fixture
def mailing(redis_client: Redis, tmp_path: Path, sink: Sink) -> Mailing:
    return Mailing(redis_client, tmp_path, sink)


@pytest.fixture
def letters(mailing: Mailing) -> MailingMessageStore:
    """Messages and chat, of which mails are sent."""
    return MailingMessageStore(mailing.client, lambda: 4, lambda: mailing.bench.now)
