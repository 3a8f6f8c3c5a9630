"""The engine maximises a puzzle's score, and ends the match where nothing better is found."""

import pytest

from domain.engine.search import evaluate
from domain.rules import latest_rules

GOOD = {"one": -34, "two": -30, "duo": -38, "jump": -30}
"""The first part of the rank that 6,000 nodes reach from the start, smaller is better."""


def played(rules, at, line):
    for text in line:
        at = rules.play(at, rules.check(at, rules.read(text)))
    return at


@pytest.mark.parametrize("key", GOOD)
def test_the_line_leads_to_a_good_score(key):
    rules = latest_rules(key)
    at = rules.start(rules.read_options(()), 1, None)
    found = evaluate(rules, at, 6_000, b"seed")
    assert rules.score(played(rules, at, found.line)).rank[0] <= GOOD[key]
    assert 0.7 < found.values[0] <= 1


@pytest.mark.parametrize("key", GOOD)
def test_more_nodes_are_not_worse(key):
    rules = latest_rules(key)
    at = rules.start(rules.read_options(()), 1, None)
    values = [evaluate(rules, at, nodes, b"seed").values for nodes in (1, 300, 6_000)]
    assert values == sorted(values)


def test_the_bound_is_worth_one():
    rules = latest_rules("jump")
    at = rules.start(rules.read_options(("solitaire=a1,a5",)), 1, None)
    found = evaluate(rules, at, 100, b"")
    assert found.values == (1,)
    assert found.line == ("a1-a7",)


def test_the_search_of_a_solved_position_ends_the_match():
    rules = latest_rules("one")
    at = rules.start(rules.read_options(()), 1, None)
    best = evaluate(rules, at, 6_000, b"seed")
    solved = played(rules, at, best.line[:-1] if best.line[-1] == "done" else best.line)
    assert evaluate(rules, solved, 1, b"").line[-1] == "done"
