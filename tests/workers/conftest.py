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
    "test_a_change_of_a_match_is_published_once_a_batch_with_its_last_event",
    "test_a_chunk_is_decided_while_the_one_before_is_committed",
    "test_what_was_decided_on_a_commit_that_did_not_apply_is_decided_again",
    "test_a_game_that_fails_costs_its_own_match_only",
    "test_a_start_waits_while_the_node_of_its_players_is_away",
    "test_what_can_not_be_read_of_a_match_costs_that_match_only",
    "test_after_random_play_everything_about_a_match_is_as_its_events_say",
    "test_a_command_that_waits_while_its_match_is_archived_is_answered_and_leaves",
    "test_matches_that_are_over_leave_and_others_stay",
    "test_a_match_with_a_claim_stays_until_the_last_ruling_is_final",
    "test_wherever_it_is_killed_nothing_is_lost_and_nothing_begins_twice",
    "test_a_tournament_with_a_leaver_a_forfeit_and_a_late_result_is_played_to_confirmed_places",
})  # fmt: skip
"""Tests with a `bench` that run on one server and on a cluster."""

LONG_ON_A_CLUSTER = frozenset({
    "test_several_processes_build_what_the_live_worker_has_made_though_one_is_killed",
    "test_acknowledged_commands_that_were_lost_have_their_outcomes_and_boards_again",
    "test_refusals_before_the_discarded_leaves_are_still_counted",
    "test_two_that_restore_at_the_same_time_write_each_leaf_once",
    "test_data_that_differ_in_a_match_alone_are_not_restored",
})  # fmt: skip
"""Those that do so in the long run, because they take long there."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    test = metafunc.function.__name__
    if test in ON_A_CLUSTER | LONG_ON_A_CLUSTER and "bench" in metafunc.fixturenames:
        marks = pytest.mark.long if test in LONG_ON_A_CLUSTER else ()
        cluster = pytest.param("cluster", marks=marks)
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
