"""Matches between robots of different levels, and players who choose by chance.

The same match number leads to the same match in any process. Matches come in rounds: those of a
round have the same opening and every order of seats. The opening is the drawn setup, or in a game
without one the first moves of both players, which are chosen by chance.
"""

import random
import time
from collections import Counter
from hashlib import sha256
from itertools import permutations
from math import factorial
from typing import Any, Final

import msgspec

from domain.engine.levels import RobotLevel
from domain.engine.robot_move import match_seed, search_move
from domain.fairness import DrawStream
from domain.rules import AnyRules, latest_rules, rules_id

RANDOM: Final = "random"
"""The player who chooses among the legal moves, all equally likely."""
MOST_PLIES: Final = 300
"""A match that is not over then is drawn."""
_OCCURRENCES: Final = 3
_OPENING_PLIES: Final = 2
"""The plies of an opening in a game whose setup is not drawn."""


class Effort(msgspec.Struct):
    """The moves of a player in some matches, and what they cost."""

    moves: int = 0
    seconds: float = 0.0
    """Processor time, because other work on the machine lengthens any other."""
    worst: float = 0.0
    """The most seconds of a move."""
    nodes: int = 0

    def add(self, other: "Effort") -> None:
        """Count the moves of other matches as well."""
        self.moves += other.moves
        self.seconds += other.seconds
        self.worst = max(self.worst, other.worst)
        self.nodes += other.nodes


class PlannedMatch(msgspec.Struct, frozen=True):
    """A match of a tournament."""

    game: str
    players: tuple[str, ...]
    """The players of the pairing: levels, or `RANDOM`."""
    number: int
    claims: bool = False
    """Whether a match is drawn when a position stands for the third time, as a player may claim."""

    @property
    def seats(self) -> tuple[int, ...]:
        """The player of each seat, as an index of `players`."""
        count = len(self.players)
        return list(permutations(range(count)))[self.number % factorial(count)]

    @property
    def opening(self) -> int:
        """The number of the opening."""
        return self.number // factorial(len(self.players))


class PlayedMatch(msgspec.Struct, frozen=True):
    """A match that is over."""

    shares: tuple[float, ...]
    """The share of the win of each player of the pairing."""
    efforts: tuple[Effort, ...]
    plies: int
    ending: str
    """The reason of the rules, or `repetition`, or `too-long`."""


def play_match(match: PlannedMatch) -> PlayedMatch:
    """Play a match to its end."""
    rules = latest_rules(match.game)
    setup, at, plies = _open(rules, match)
    seats, efforts = match.seats, tuple(Effort() for _ in match.players)
    chance = random.Random(f"player {match.game} {match.number}")  # noqa: S311 - no secret
    seen, ending = Counter([at]), "too-long"
    while plies < MOST_PLIES and (seat := rules.to_move(at)) is not None:
        player = seats[seat]
        began = time.thread_time()
        if match.players[player] == RANDOM:
            move, nodes = chance.choice(list(rules.moves(at))), 0
        else:
            seed = match_seed(match.number + 1, rules_id(rules), setup, plies)
            found = search_move(rules, at, RobotLevel(match.players[player]), seed)
            move, nodes = rules.check(at, rules.read(found.line[0])), found.nodes
        seconds = time.thread_time() - began
        efforts[player].add(Effort(1, seconds, seconds, nodes))
        at, plies = rules.play(at, move), plies + 1
        seen[at] += 1
        if match.claims and seen[at] == _OCCURRENCES:
            ending = "repetition"
            break
    outcome = rules.outcome(at)
    winners = outcome.winners if outcome else tuple(range(len(seats)))
    shares = [0.0] * len(seats)
    for seat in winners:
        shares[seats[seat]] = 1 / len(winners)
    return PlayedMatch(tuple(shares), efforts, plies, outcome.reason if outcome else ending)


def _open(rules: AnyRules, match: PlannedMatch) -> tuple[object | None, Any, int]:
    """Return the setup, the position after the opening, and its plies."""
    options, players = rules.read_options(()), len(match.players)
    name = f"opening {match.game} {match.opening}"
    if rules.needs_draw(options, players):
        setup = rules.draw(options, players, DrawStream(sha256(name.encode()).digest(), name))
        return setup, rules.start(options, players, setup), 0
    return None, *_first_moves(rules, rules.start(options, players, None), name)


def _first_moves(rules: AnyRules, start: Any, name: str) -> tuple[Any, int]:
    """Return a position after random moves, and their number."""
    chance = random.Random(name)  # noqa: S311 - no secret
    at = start
    for _ in range(_OPENING_PLIES):
        at = rules.play(at, chance.choice(list(rules.moves(at))))
    return at, _OPENING_PLIES
