"""Tournaments between robots are the same when they are repeated, and have exchanged sides."""

import json
import subprocess
from pathlib import Path
from typing import Any

import msgspec
import pytest

from services.bench import tournament
from services.bench.strength import PairingResult, table
from services.bench.tournament import PlannedMatch, PlayedMatch, play_match
from tests.helpers.served import SCRIPT


def bench(*words: str) -> str:
    done = subprocess.run(
        [SCRIPT, "bench", "strength", *words], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def results(printed: str) -> list[PairingResult]:
    found: dict[str, Any] = json.loads(printed)
    return msgspec.convert(found["details"]["pairings"], list[PairingResult])


def without_times(result: PairingResult) -> PairingResult:
    for effort in result.efforts:
        effort.seconds = effort.worst = 0.0
    return result


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tournament, "MOST_PLIES", 12)


def test_parts_add_up_to_the_whole_whatever_the_number_of_processes(tmp_path: Path) -> None:
    words = ("--game", "torere", "--pairings", "medium-easy,easy-random", "--json")
    whole = results(bench(*words, "--games", "4", "--processes", "2"))
    parts = [tmp_path / "a.json", tmp_path / "b.json"]
    parts[0].write_text(bench(*words, "--games", "2"))
    parts[1].write_text(bench(*words, "--games", "2", "--skip", "2"))
    merged = results(bench("--merge", *map(str, parts), "--json"))
    assert list(map(without_times, merged)) == list(map(without_times, whole))
    assert [one.matches for one in whole] == [4, 4]
    assert all(sum(one.shares) == pytest.approx(4) for one in whole)
    assert whole[1].efforts[1].nodes == 0 < whole[1].efforts[0].nodes


def test_three_players_meet_in_a_game_for_three_alone() -> None:
    words = ("--game", "halves", "--pairings", "easy-random-random,random-random", "--games", "6")
    three, two = sorted(results(bench(*words, "--json")), key=lambda one: -len(one.players))
    assert three.players == ("easy", "random", "random")
    assert two.players == ("random", "random")
    assert sum(three.shares) == pytest.approx(6)
    row = table([three]).splitlines()[-1]
    assert row.startswith("| halves | easy, random, random | 6 | ")
    assert row.count("|") == table([two]).splitlines()[-1].count("|")


def test_sides_are_exchanged_in_the_same_opening() -> None:
    first, second, third = (
        PlannedMatch("torere", ("easy", "random"), number) for number in range(3)
    )
    assert (first.seats, second.seats) == ((0, 1), (1, 0))
    assert first.opening == second.opening != third.opening
    of_three = [PlannedMatch("halves", ("hard", "medium", "easy"), number) for number in range(6)]
    assert len({one.seats for one in of_three}) == 6
    assert {one.opening for one in of_three} == {0}


@pytest.mark.usefixtures("played")
def test_a_match_that_takes_too_long_is_drawn_and_counted() -> None:
    found = play_match(PlannedMatch("pow2", ("random", "random"), 0))
    assert (found.ending, found.plies, found.shares) == ("too-long", 12, (0.5, 0.5))


def test_a_third_occurrence_is_a_draw_where_it_is_claimed() -> None:
    endings = [
        [
            play_match(PlannedMatch("torere", ("random", "random"), number, claims)).ending
            for number in range(12)
        ]
        for claims in (False, True)
    ]
    assert set(endings[0]) == {"no-move"}
    assert "repetition" in endings[1]


def test_the_table_counts_from_the_first_player() -> None:
    result = PairingResult(
        "line", ("hard", "easy"), (tournament.Effort(), tournament.Effort()), [0, 0], [0.0, 0.0]
    )
    for shares in ((1.0, 0.0), (1.0, 0.0), (0.0, 1.0), (0.5, 0.5)):
        effort = tournament.Effort(2, 0.25, 0.125, 300)
        result.count(PlayedMatch(shares, (effort, effort), 40, "no-move"))
    assert table([result]).splitlines()[-1] == (
        "| line | hard, easy | 4 | 2 | 1 | 1 | 62.5 | 0 | 40 | 125.0, 125.0 | 125, 125 | 150, 150 |"
    )


def test_a_pairing_of_no_level_is_refused() -> None:
    done = subprocess.run(
        [SCRIPT, "bench", "strength", "--pairings", "hard-grandmaster"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert "invalid list of pairings value" in done.stderr
