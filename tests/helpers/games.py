"""Whole games, played by chance and the same each time."""

import random

from domain.rules import latest_rules


def whole_game(key: str = "pow2", limit: int = 400) -> list[str]:
    """The moves of the first random game that ends by the rules within `limit` moves."""
    rules = latest_rules(key)
    for seed in range(200):
        chance = random.Random(seed)
        moves: list[str] = []
        position = rules.start(rules.read_options([]), 2, None)
        while rules.outcome(position) is None and len(moves) < limit:
            legal = list(rules.legal_moves(position))
            # the longest text places the most pieces, which ends the game sooner
            moves.append(max(chance.sample(legal, min(len(legal), 8)), key=len))
            position = rules.play(position, rules.read(moves[-1]))
        if rules.outcome(position) is not None:
            return moves
    raise AssertionError(f"no random game of {key} ends within {limit} moves")
