"""Record whole games played at random, for replay by later versions of the code.

`python -m tests.golden.make_games KEY` plays what `FAMILIES` in `tests/games/KEY/record.py` asks
for and `games.json` beside it does not hold yet. Every second game of a family has further flags
of the other families as well, where they go together. What is recorded is kept as it is: a game whose replay differs shows that the rules
of its version have changed, and they must not.

A file has one game a line: its rules, family, number in the family, players, options and setup;
its moves; a digest of every position from the start on; how it ended. Among the moves `out=1` says
that seat 1 left, and a last `count!` that the players agreed to that offer.
"""

import hashlib
import json
import random
import sys
from importlib import import_module
from pathlib import Path

from domain.errors import Refusal
from domain.rules import latest_rules, rules_by_id, rules_id

GAMES_FOLDER = Path(__file__).parents[1] / "games"
GAMES = 20
"""How many games of each family are recorded."""
LONGEST = 5000


def record_of(key):
    """Return the module that says what is recorded of a game."""
    return import_module(f"tests.games.{key}.record")


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
    """Return a short digest of a position: its JSON form and who is to move."""
    shown = json.dumps([rules.to_json(position), rules.to_move(position)], sort_keys=True)
    return hashlib.sha256(shown.encode()).hexdigest()[:8]


def ending(outcome):
    """Return an outcome as it is recorded; None where the players agreed to play on."""
    if outcome is None:
        return None
    return {"winners": outcome.winners, "reason": outcome.reason, "detail": outcome.detail}


def replay(game):
    """Yield the position at the start and after each of a recorded game's moves, all checked."""
    rules = rules_by_id(game["rules"])
    at = rules.start(rules.read_options(game["options"]), game["players"], game["setup"])
    yield at
    for text in game["moves"].split():
        if text.endswith("!"):
            return
        if text.startswith("out="):
            at = rules.remove_seat(at, int(text.removeprefix("out=")))
        else:
            at = rules.play(at, rules.check(at, rules.read(text)))
        yield at


def result(game, last):
    """Return how a recorded game ends at its last position: by the rules, or by an offer."""
    rules = rules_by_id(game["rules"])
    if not game["moves"].endswith("!"):
        return ending(rules.outcome(last))
    kind = game["moves"].split()[-1].removesuffix("!")
    rules.check_offer(last, kind)
    return ending(rules.outcome_by_offer(last, kind))


def flags_of(rules, key, flags, rng, *, alone):
    """Return a family's flags, and unless `alone` some of the others that go with them."""
    chosen = flags.split()
    others = sorted({flag for _, text in record_of(key).FAMILIES for flag in text.split()})
    for flag in () if alone else rng.sample(others, len(others)):
        try:
            rules.read_options([*chosen, flag])
        except Refusal:
            continue
        if rng.random() < 1 / 3:
            chosen.append(flag)
    return rules.write_options(rules.read_options(chosen))


def offered(rules, at):
    """Return the offer of the game's own that would end it here, if there is one."""
    for kind in rules.offers:
        try:
            rules.check_offer(at, kind)
        except Refusal:
            continue
        if rules.outcome_by_offer(at, kind):
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
            at, leaving = rules.remove_seat(at, leaving), None
            continue
        texts = list(rules.legal_moves(at))
        if "done" in texts:  # in puzzles; a choice like any other would come too soon or too late
            texts = ["done"] if rng.random() < 1 / 50 else texts[:-1]
        text = rng.choice(texts)
        yield text
        at = rules.play(at, rules.check(at, rules.read(text)))
    raise AssertionError(f"{rules.key} did not end within {LONGEST} steps")


def record(key, players, flags, number):
    rules = latest_rules(key)
    rng = random.Random(f"{rules_id(rules)} {players} {flags} {number}")
    written = flags_of(rules, key, flags, rng, alone=number % 2 == 0)
    options = rules.read_options(written)
    drawn = rules.needs_draw(options, players)
    setup = rules.draw(options, players, RandomChance(rng)) if drawn else None
    at = rules.start(options, players, setup)
    game = {
        "rules": rules_id(rules), "family": f"{players} {flags}".strip(), "number": number,
        "players": players, "options": written, "setup": setup,
        "moves": " ".join(steps(rules, at, players, rng)),
    }  # fmt: skip
    positions = list(replay(game))
    game["digests"] = " ".join(digest(rules, at) for at in positions)
    game["result"] = result(game, positions[-1])
    return game


def path_of(key):
    """Return the file of a game's recorded games."""
    return GAMES_FOLDER / key / "games.json"


def read_games(key):
    path = path_of(key)
    return json.loads(path.read_text()) if path.exists() else []


def main(key):
    """Record what is missing of a game's families."""
    games = read_games(key)
    name = rules_id(latest_rules(key))
    have = {(game["rules"], game["family"], game["number"]) for game in games}
    for players, flags in record_of(key).FAMILIES:
        for number in range(GAMES):
            if (name, f"{players} {flags}".strip(), number) not in have:
                games.append(record(key, players, flags, number))
    lines = ",\n".join(json.dumps(game, separators=(",", ":")) for game in games)
    path_of(key).write_text(f"[\n{lines}\n]\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
