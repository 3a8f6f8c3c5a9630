"""What workers count of their own work for Prometheus."""

from domain.match.commands import PlayMove, ResignMatch
from infra.durability.durability import Mode
from infra.durability.durability_watch import DurabilityWatch
from tests.helpers.bench import Bench
from tests.helpers.doctor import value
from tests.helpers.given import ALICE, BOB

ACCEPTED = "matchpost_commands_accepted_total"
REFUSED = "matchpost_commands_refused_total"


def test_a_command_is_counted_once_by_its_kind_or_by_the_code_of_its_refusal(bench: Bench) -> None:
    starts, moves = (value(ACCEPTED, command=kind) for kind in ("start", "move"))
    early, illegal = (value(REFUSED, code=code) for code in ("not-your-turn", "unreadable-move"))
    bench.start(1)
    order = bench.send(ALICE, PlayMove(text="m13-m9"))
    bench.send(ALICE, PlayMove(text="a1-a5"))
    bench.send(BOB, PlayMove(text="nonsense"))
    bench.drain()
    bench.submit(order)  # sent again, it has its outcome
    bench.drain()
    assert value(ACCEPTED, command="start") == starts + 1
    assert value(ACCEPTED, command="move") == moves + 1
    assert value(REFUSED, code="not-your-turn") == early + 1
    assert value(REFUSED, code="unreadable-move") == illegal + 1


def test_a_commit_is_measured_with_the_number_of_its_commands(bench: Bench) -> None:
    bench.start(1, 2)
    commits, commands = (
        value("matchpost_commit_seconds_count"),
        value("matchpost_commit_commands_sum"),
    )
    for board in (1, 2):
        bench.send(BOB, ResignMatch(), board)
    bench.drain()
    assert value("matchpost_commit_seconds_count") == commits + 1
    assert value("matchpost_commit_commands_sum") == commands + 2


def test_a_trial_write_is_measured(bench: Bench) -> None:
    before = value("matchpost_durable_write_seconds_count")
    assert DurabilityWatch(bench.client, bench.client, Mode.FSYNC).verify() == ""
    assert value("matchpost_durable_write_seconds_count") == before + 1
