"""What the tests of the puzzles share."""

import random

from domain.rules import current


def start(key, *flags):
    rules = current(key)
    return rules.start(rules.read_options(flags), 1, None)


def play(key, at, *texts):
    rules = current(key)
    for text in texts:
        at = rules.play(at, rules.check(at, rules.read(text)))
    return at


def random_match(key, flags, seed, longest=80, *, until_done=False):
    """Yield the positions and moves of a match played at random, mostly without `done`."""
    rules, rng = current(key), random.Random(f"{key} {flags} {seed}")
    at = start(key, *flags)
    for _ in range(longest):
        if rules.outcome(at) is not None:
            return
        texts = list(rules.legal_moves(at))
        text = rng.choice(texts if until_done or len(texts) == 1 else texts[:-1])
        yield at, text
        at = play(key, at, text)


SYMMETRIES = [
    lambda x, y: (y, x),
    lambda x, y: (14 - x, y),
    lambda x, y: (x, 14 - y),
    lambda x, y: (14 - y, x),
    lambda x, y: (14 - x, 14 - y),
]


def turned(name, symmetry):
    """Give the name of the place that a symmetry of the board takes a place to."""
    column, row = symmetry("abcdefghijklm".index(name[0]) + 1, int(name[1:]))
    return f"{'abcdefghijklm'[column - 1]}{row}"
