"""Texts for the reader of a game's moves, by the million: valid, mutated, random, odd and long.

    python trials/fuzz/notations.py [COUNT] [SEED]

Every text is either refused as unreadable or read as a move; writing that move and reading it again
gives the same move. A variant of a valid text, in another case, order or spacing, is read as the
move itself. Prints what was read, and the slowest single read. The first failure ends it.
"""

import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, Final

from domain.boards.pow2_board import NAMES
from domain.games.pow2.rules import HAND, Pow2Move
from domain.rules import UnreadableMove, latest_rules

sys.path.insert(0, str(Path(__file__).parents[2]))

COUNT: Final = 1_000_000
_PROGRESS: Final = 100_000
RULES: Final[Any] = latest_rules("pow2")
_ASCII: Final = "".join(map(chr, range(128)))
_NOTATION: Final = "abcdefghijklm0123456789-:, "
_ODD: Final = (
    "\u212a\uff4d\uff11\u0661\u00b9\u2028\u2029\u00a0\u200b\u200d\ufeff\u0130\u0131\u00df\u2010\u2013\u2212"
    "\u202e\u0301\ud800\udfff\U0001f600\U0010ffff\x00\x1b\x7f\x85"
)

Text = tuple[str, Pow2Move | None]
"""A text, and the move it must be read as, if that is known."""


def a_move(chance: random.Random) -> Pow2Move:
    """Any move there is a notation for, legal somewhere or not."""
    target = chance.randrange(len(NAMES))
    if chance.random() < 0.1:
        return Pow2Move(HAND, target)
    placed = chance.sample(range(len(NAMES)), chance.choice((0, 0, 1, 1, 2, 3, 5, 10, 64)))
    return Pow2Move(chance.randrange(len(NAMES)), target, sum(1 << at for at in placed))


def written(chance: random.Random) -> Text:
    move = a_move(chance)
    return RULES.write(move), move


def variant(chance: random.Random) -> Text:
    """A text of a move in another case, order or spacing."""
    text, move = written(chance)
    movement, colon, placed = text.partition(":")
    names = placed.split(",")
    chance.shuffle(names)
    cased = chance.choice((str.upper, str.lower, str.swapcase, str.title))
    signs = cased(movement + colon + ",".join(names))
    blanks = [chance.choice(("", "", "", " ", "  ", "\t", "\n", "\r\n")) for _ in signs]
    return "".join(blank + sign for blank, sign in zip(blanks, signs, strict=True)), move


def mutated(chance: random.Random) -> Text:
    """A text of a move with some signs lost, doubled, changed or moved."""
    signs = list(written(chance)[0])
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(signs) + 1)
        change: Callable[[], list[str]] = chance.choice(
            (list, lambda: [chance.choice(_NOTATION)], lambda: [chance.choice(_ODD)])
        )
        signs[at : at + chance.randint(0, 2)] = change()
    return "".join(signs), None


def in_notation(chance: random.Random) -> Text:
    return "".join(chance.choices(_NOTATION, k=chance.randint(0, 40))), None


def anything(chance: random.Random) -> Text:
    """Any signs of ASCII and some odd ones beyond."""
    signs = chance.choice((_ASCII, _ODD, _ASCII + _ODD))
    return "".join(chance.choices(signs, k=chance.randint(0, 60))), None


def any_unicode(chance: random.Random) -> Text:
    """Any signs at all, halves of pairs too."""
    return "".join(chr(chance.randrange(0x110000)) for _ in range(chance.randint(0, 30))), None


def pieces(chance: random.Random) -> Text:
    """Names and signs put together by chance."""
    parts = [
        chance.choice(NAMES) if chance.random() < 0.6 else chance.choice("-:,-:, ")
        for _ in range(chance.randint(0, 12))
    ]
    return "".join(parts), None


def long(chance: random.Random) -> Text:
    """Longer than any move, at and around the limit and far above it."""
    size = chance.choice((500, 511, 512, 513, 600, 5_000))
    part = chance.choice(("a1,", "m13-j7:", " ", "-", ":", ",", "x", "a1-a5:a1,", "9", "\u212a"))
    return (part * size)[:size], None


KINDS: Final = (
    *(written, variant, variant, mutated, mutated, mutated),
    *(in_notation, in_notation, pieces, pieces, anything, any_unicode),
)


def texts(seed: int) -> Iterator[tuple[str, Text]]:
    """Return texts without end, each with its kind; a hundredth are long ones."""
    chance = random.Random(seed)
    while True:
        make = long if chance.random() < 0.01 else chance.choice(KINDS)
        yield make.__name__, make(chance)


def check(text: str, meant: Pow2Move | None) -> tuple[str, float]:
    """Read a text; say what came of it, and how many seconds the reading took."""
    began = time.thread_time()  # of the processor: others' work is no reading
    try:
        move, sentence = RULES.read(text), ""
    except UnreadableMove as refusal:
        move, sentence = None, refusal.sentence
    took = time.thread_time() - began
    # 24 signs are repeated, each with up to ten characters when it has to be escaped
    assert len(sentence) < 400, sentence
    if move is None and meant is None:
        return "refused", took
    assert meant is None or move == meant, f"{text!r} is {meant}, not {move} {sentence}"
    again = RULES.write(move)
    assert RULES.read(again) == move, f"{text!r}, written {again!r}, is read as another move"
    assert RULES.write(RULES.read(again)) == again
    return "read", took


def main(count: int = COUNT, seed: int = 1) -> None:
    """Read so many texts, and print the figures."""
    found: Counter[str] = Counter()
    slowest = (0.0, "")
    began = time.perf_counter()
    for number, (kind, (text, meant)) in enumerate(islice(texts(seed), count), 1):
        result, took = check(text, meant)
        found[f"{kind}, {result}"] += 1
        found[result] += 1
        slowest = max(slowest, (took, text))
        if number % _PROGRESS == 0:
            print(f"{number} texts after {time.perf_counter() - began:.0f} s", flush=True)
    for line, many in sorted(found.items()):
        print(f"{many:>9}  {line}")
    print(f"slowest single read: {slowest[0] * 1000:.2f} ms, of {len(slowest[1])} characters")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]))
