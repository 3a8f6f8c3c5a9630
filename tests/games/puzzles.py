"""What the tests of the puzzles share."""

import random

from domain.rules import latest_rules
from tests.games import playing


def start(key, *flags):
    rules = latest_rules(key)
    return rules.start(rules.read_options(flags), 1, None)


def play(key, at, *texts):
    return playing.play(latest_rules(key), at, *texts)


def random_match(key, flags, seed, longest=80, *, until_done=False):
    """Yield the positions and moves of a match played at random, mostly without `done`."""
    rules, rng = latest_rules(key), random.Random(f"{key} {flags} {seed}")
    at = start(key, *flags)
    for _ in range(longest):
        if rules.outcome(at) is not None:
            return
        texts = list(rules.legal_moves(at))
        text = rng.choice(texts if until_done or len(texts) == 1 else texts[:-1])
        yield at, text
        at = play(key, at, text)
