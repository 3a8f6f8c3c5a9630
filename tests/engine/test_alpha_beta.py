"""Alpha-beta finds the values of plain minimax, the shortest win, and the longest defence."""

import random

import pytest

from domain.engine.alpha_beta import AlphaBetaSearch
from domain.engine.model import GameModel
from domain.engine.random_numbers import RandomNumbers
from domain.rules import latest_rules
from tests.engine.positions import random_positions


def minimax(rules, at, known):
    """Return the first seat's share of the win if both play their best to the end."""
    if at not in known:
        seat = rules.to_move(at)
        if seat is None:
            winners = rules.outcome(at).winners
            known[at] = (0 in winners) / len(winners)
        else:
            values = [minimax(rules, rules.play(at, move), known) for move in rules.moves(at)]
            known[at] = min(values) if seat else max(values)
    return known[at]


def late_positions(key, number, plies):
    """Yield positions a few plies before the end of random matches."""
    rules, rng = latest_rules(key), random.Random(number)
    for _ in range(number):
        at, before = rules.start(rules.read_options(()), 2, None), []
        while rules.to_move(at) is not None:
            before.append(at)
            at = rules.play(at, rng.choice(rules.moves(at)))
        yield rules, before[-min(plies, len(before))]


def searched(rules, at, nodes, seed=b"seed"):
    model = GameModel(rules, at)
    search = AlphaBetaSearch(model, at, RandomNumbers(seed))
    search.run(nodes)
    return search, model


def test_the_values_are_those_of_minimax():
    """Line passes players who can't place, so seats don't always alternate here."""
    seen = set()
    for rules, at in late_positions("line", 20, 6):
        search, _ = searched(rules, at, 10**6)
        value = minimax(rules, at, {})
        assert search.values == (value, 1 - value)
        seen.add((rules.to_move(at), value))
    assert len(seen) > 2


@pytest.mark.parametrize("key", ["pow2", "goliath", "torere"])
def test_a_win_in_one_is_played(key):
    for rules, at in late_positions(key, 10, 1):
        search, _ = searched(rules, at, 30_000)
        line = search.best_line()
        after = rules.play(at, line[0])
        if rules.to_move(after) is None:
            winner = rules.outcome(after).winners
            assert search.values[winner[0]] == 1
        else:
            moves = [rules.play(at, move) for move in rules.moves(at)]
            seat = rules.to_move(at)
            assert not any(
                rules.to_move(one) is None and rules.outcome(one).winners == (seat,)
                for one in moves
            )


def test_a_search_ends_with_its_budget():
    """One more position may be visited, and the first move is always looked at."""
    for rules, at in random_positions(random.Random(9)):
        if rules.players == (2,):
            for nodes in (1, 30, 2_000):
                search, model = searched(rules, at, nodes)
                most = 2 * rules.count_moves(at) + 2
                assert model.nodes <= nodes + most, rules.key
                assert search.best_line()


def test_a_seed_chooses_among_equal_moves():
    rules = latest_rules("line")
    at = rules.start(rules.read_options(()), 2, None)
    chosen = {searched(rules, at, 64, bytes([seed]))[0].best_line()[0] for seed in range(8)}
    assert len(chosen) > 1
