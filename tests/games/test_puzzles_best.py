"""The best that is known of the puzzles, played by the rules and scored as the bounds say."""

import json
from pathlib import Path

import pytest

from domain.rules import rules_by_id
from tests.games.puzzles import play, start

BEST = json.loads((Path(__file__).parent / "puzzles-best.json").read_text())


@pytest.mark.parametrize("best", BEST, ids=lambda best: best["what"])
def test_the_best_known_match_scores_what_is_on_record(best):
    rules = rules_by_id(best["rules"])
    at = start(rules.key)
    for text in best["moves"].split():
        assert rules.write(rules.check(at, rules.read(text))) == text
        at = play(rules.key, at, text)
    assert rules.score(at).detail == best["detail"]


@pytest.mark.parametrize(
    ("key", "index", "said"),
    [
        ("one", 0, "40 of the 44 lines at most, for which 12 stones are enough"),
        ("two", 0, "38 at most (25 stones)"),
        ("two", 1, "37 when no line may hold more than two (25 stones)"),
        ("duo", 0, "48 at most (44 and 4)"),
        ("duo", 1, "40 when no colour is passed before the end"),
    ],
)
def test_every_proven_bound_has_been_reached(key, index, said):
    best = [best for best in BEST if best["rules"] == f"{key}/1"][index]
    score = rules_by_id(best["rules"]).score(play(key, start(key), *best["moves"].split()))
    assert said in score.bound
    assert all(number in said for number in score.detail.split()[:1])


def test_no_colour_is_passed_in_the_even_match_and_one_is_in_the_other():
    passed, even = (best["moves"].split() for best in BEST if best["rules"] == "duo/1")
    for texts, alternating in ((passed, False), (even, True)):
        colours = [play("duo", start("duo"), *texts[:ply]).colour for ply in range(len(texts))]
        assert (colours == [ply % 2 for ply in range(len(texts))]) == alternating
