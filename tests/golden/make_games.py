"""Record whole games played at random, for replay by later versions of the code.

`python tests/golden/make_games.py pow2` plays what `FAMILIES` asks for and `games-pow2.json` does
not hold yet. What is recorded is kept as it is: a game whose replay differs shows that the rules
of its version have changed, and they must not.

A file has one game a line: its rules, family, number in the family, players, options and setup;
its moves; a digest of every position from the start on; how it ended. Among the moves `out=1` says
that seat 1 left, and a last `count!` that the players agreed to that offer.
"""

import hashlib
import json
import random
import sys
from pathlib import Path

from domain.errors import Refusal
from domain.rules import current, pinned, rules_id

GOLDEN = Path(__file__).parent
GAMES = 20
"""How many games of each family are recorded."""
LONGEST = 5000

FAMILIES = {
    "duo": ((1, ""),),
    "goliath": ((2, ""), (2, "-goliath_first"), (2, "-count")),
    "halves": (
        (2, ""), (3, ""), (2, "-invert_win"), (3, "-invert_win"), (2, "-free_edges=4"),
        (2, "-manual_start"), (3, "-manual_start -touch_any"), (2, "-manual_start -must_touch=2"),
        (3, "-keep_chosen -tiles_each=6"), (2, "-keep_most_friendly -no_contract"),
    ),
    "jump": (
        (1, ""),
        (1, "-solitaire=a1,a7,a9,b4,c3,c6,c9,d2,d10,e1,e5,e11,f3,f8,g4,g9,h6,h11,i1,i5,i13,j4"),
    ),
    "line": ((2, ""), (2, "-stones=16"), (2, "-stones=8")),
    "one": ((1, ""),),
    "pow2": (
        (2, ""), (2, "-exact"), (2, "-noborder"), (2, "-fast"), (2, "-middle"), (2, "-free"),
    ),
    "powerdrain": ((2, ""), (2, "-o1"), (2, "-o2"), (2, "-p")),
    "torere": ((2, ""),),
    "two": ((1, ""),),
}  # fmt: skip
"""By game: the number of players and the flags that all games of a family have. Every second game
has further flags of the other families beside, where they go together."""


class RandomChance:
    """A chance for draws of the setup, the same for the same seed."""

    def __init__(self, rng):
        self._rng = rng

    def below(self, purpose, n):
        del purpose
        return self._rng.randrange(n)

    def shuffled(self, purpose, items):
        del purpose
        return self._rng.sample(list(items), len(items))


def digest(rules, position):
    """Give a short digest of a position: its JSON form and who is to move."""
    shown = json.dumps([rules.to_json(position), rules.to_move(position)], sort_keys=True)
    return hashlib.sha256(shown.encode()).hexdigest()[:8]


def ending(outcome):
    """Give an outcome as it is recorded; None where the players agreed to play on."""
    if outcome is None:
        return None
    return {"winners": outcome.winners, "reason": outcome.reason, "detail": outcome.detail}


def replay(game):
    """Yield the position at the start and after each of a recorded game's moves, all checked."""
    rules = pinned(game["rules"])
    at = rules.start(rules.read_options(game["options"]), game["players"], game["setup"])
    yield at
    for text in game["moves"].split():
        if text.endswith("!"):
            return
        if text.startswith("out="):
            at = rules.leave(at, int(text.removeprefix("out=")))
        else:
            at = rules.play(at, rules.check(at, rules.read(text)))
        yield at


def result(game, last):
    """Give how a recorded game ends at its last position: by the rules, or by an offer."""
    rules = pinned(game["rules"])
    if not game["moves"].endswith("!"):
        return ending(rules.outcome(last))
    kind = game["moves"].split()[-1].removesuffix("!")
    rules.check_offer(last, kind)
    return ending(rules.agreed(last, kind))


def flags_of(rules, key, flags, rng, *, alone):
    """Give a family's flags, and unless `alone` some of the others that go with them."""
    chosen = flags.split()
    others = sorted({flag for _, text in FAMILIES[key] for flag in text.split()})
    for flag in () if alone else rng.sample(others, len(others)):
        try:
            rules.read_options([*chosen, flag])
        except Refusal:
            continue
        if rng.random() < 1 / 3:
            chosen.append(flag)
    return rules.write_options(rules.read_options(chosen))


def offered(rules, at):
    """Give the offer of the game's own that would end it here, if there is one."""
    for kind in rules.offers:
        try:
            rules.check_offer(at, kind)
        except Refusal:
            continue
        if rules.agreed(at, kind):
            return kind
    return None


def steps(rules, at, players, rng):
    """Yield the steps of a game played at random."""
    leaving = rng.randrange(players) if players > 2 and rng.random() < 1 / 3 else None
    agreeing = rng.random() < 1 / 2
    for _ in range(LONGEST):
        if rules.outcome(at) is not None:
            return
        if agreeing and (kind := offered(rules, at)):
            yield f"{kind}!"
            return
        if leaving is not None and rng.random() < 1 / 8:
            yield f"out={leaving}"
            at, leaving = rules.leave(at, leaving), None
            continue
        texts = list(rules.legal_moves(at))
        if "done" in texts:  # in puzzles; a choice like any other would come too soon or too late
            texts = ["done"] if rng.random() < 1 / 50 else texts[:-1]
        text = rng.choice(texts)
        yield text
        at = rules.play(at, rules.check(at, rules.read(text)))
    raise AssertionError(f"{rules.key} did not end within {LONGEST} steps")


def record(key, players, flags, number):
    """Play and record one game."""
    rules = current(key)
    rng = random.Random(f"{rules_id(rules)} {players} {flags} {number}")
    written = flags_of(rules, key, flags, rng, alone=number % 2 == 0)
    options = rules.read_options(written)
    drawn = rules.needs_draw(options, players)
    setup = rules.draw(options, players, RandomChance(rng)) if drawn else None
    at = rules.start(options, players, setup)
    game = {
        "rules": rules_id(rules),
        "family": f"{players} {flags}".strip(),
        "number": number,
        "players": players,
        "options": written,
        "setup": setup,
        "moves": " ".join(steps(rules, at, players, rng)),
    }
    positions = list(replay(game))
    game["digests"] = " ".join(digest(rules, at) for at in positions)
    game["result"] = result(game, positions[-1])
    return game


def read_games(path):
    """Give the recorded games of a file."""
    return json.loads(path.read_text()) if path.exists() else []


def main(key):
    """Record what is missing of a game's families."""
    path = GOLDEN / f"games-{key}.json"
    games = read_games(path)
    name = rules_id(current(key))
    have = {(game["rules"], game["family"], game["number"]) for game in games}
    for players, flags in FAMILIES[key]:
        for number in range(GAMES):
            if (name, f"{players} {flags}".strip(), number) not in have:
                games.append(record(key, players, flags, number))
    lines = ",\n".join(json.dumps(game, separators=(",", ":")) for game in games)
    path.write_text(f"[\n{lines}\n]\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
