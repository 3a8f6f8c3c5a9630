"""Records the games of the demo server: the engine plays against itself, at levels that vary.

The same engine records the same bytes, because each choice of a move is seeded by game and ply.
"""

from collections.abc import Iterator, Sequence
from hashlib import sha256
from itertools import cycle, islice
from pathlib import Path
from typing import Any, Final

import msgspec

from domain.engine.robot_move import choose_move
from domain.errors import Refusal
from domain.game.engine import RobotLevel
from domain.game.puzzle import DONE
from domain.rules import AnyRules, GameOutcome, Seat, latest_rules, rules_id
from services.demo.recorded_matches import RecordedGame, write_game

MOST_PLIES: Final = 90
"""Plies after which a game is broken off, because nobody gets on."""

_HEADER: Final = (
    "# Games that the engine of matchpost has played against itself: rules, options, levels, winners,",
    "# offer that ended it, seats of the moves if they don't alternate, moves. Made by `matchpost demo --record FILE`.",
)

_EASY, _MEDIUM, _HARD = RobotLevel

_PAIRS: Final = (
    (_EASY, _EASY), (_EASY, _MEDIUM), (_MEDIUM, _EASY), (_MEDIUM, _MEDIUM), (_MEDIUM, _EASY),
    (_EASY, _MEDIUM), (_MEDIUM, _MEDIUM), (_EASY, _EASY), (_HARD, _MEDIUM), (_MEDIUM, _HARD),
)  # fmt: skip
"""The levels of games for two, in turn."""

_TRIPLES: Final = (
    (_EASY, _MEDIUM, _EASY),
    (_MEDIUM, _EASY, _EASY),
    (_MEDIUM, _MEDIUM, _EASY),
    (_EASY, _EASY, _MEDIUM),
)
_SOLVERS: Final = ((_EASY,), (_MEDIUM,), (_EASY,), (_HARD,), (_MEDIUM,))


class GameSeries(msgspec.Struct, frozen=True):
    """So many games with the same options."""

    key: str
    options: tuple[str, ...]
    count: int
    levels: Sequence[tuple[RobotLevel, ...]] = _PAIRS


SERIES: Final = (
    GameSeries("pow2", (), 30),
    GameSeries("pow2", ("-fast",), 8),
    GameSeries("goliath", (), 22),
    GameSeries("goliath", ("-count",), 8),
    GameSeries("line", (), 26),
    # chance would draw another setup for every match
    GameSeries("powerdrain", ("-o1", "-p"), 12),
    GameSeries("powerdrain", ("-o2", "-p"), 8),
    GameSeries("halves", ("-manual_start",), 22),
    GameSeries("halves", ("-manual_start",), 8, _TRIPLES),
    GameSeries("torere", (), 20),
    GameSeries("jump", (), 10, _SOLVERS),
    GameSeries("one", (), 8, _SOLVERS),
    GameSeries("two", (), 8, _SOLVERS),
    GameSeries("duo", (), 10, _SOLVERS),
)
"""The games of the demo server."""


def record(file: Path, series: Sequence[GameSeries] = SERIES) -> Iterator[str]:
    """Play the games of `series`, write them into a file, and yield after each series what was written."""
    with file.open("w", encoding="utf-8") as out:
        out.writelines(f"{line}\n" for line in _HEADER)
        for one in series:
            for game in play_series(one):
                out.write(f"{write_game(game)}\n")
                out.flush()
            yield f"{' '.join([one.key, *one.options])}: {one.count} games"


def play_series(series: GameSeries) -> Iterator[RecordedGame]:
    """Play the games of a series."""
    for number, levels in enumerate(islice(cycle(series.levels), series.count)):
        yield play_game(series.key, series.options, levels, f"{series} {number}")


def play_game(
    key: str, options: tuple[str, ...], levels: tuple[RobotLevel, ...], seed: str
) -> RecordedGame:
    """Play a game to its end, by an offer of the game if one decides it, or for `MOST_PLIES`."""
    rules = latest_rules(key)
    position = rules.start(rules.read_options(options), len(levels), None)
    seats: list[Seat] = []
    moves: list[str] = []
    offer, outcome = "", None
    while outcome is None and len(moves) < MOST_PLIES:
        seat = rules.to_move(position)
        assert seat is not None
        own = sha256(f"{seed} {len(moves)}".encode()).digest()
        move = choose_move(rules, position, levels[seat], own)
        if len(levels) == 1 and len(moves) == MOST_PLIES - 1:
            move = DONE
        seats.append(seat)
        moves.append(move)
        position = rules.play(position, rules.check(position, rules.read(move)))
        offer, outcome = _ending(rules, position)
    return RecordedGame(
        rules=rules_id(rules),
        options=options,
        levels=levels,
        winners=outcome.winners if outcome else (),
        offer=offer,
        seats=tuple(seats),
        moves=tuple(moves),
    )


def _ending(rules: AnyRules, position: Any) -> tuple[str, GameOutcome | None]:
    """Return how a game is over at a position, with the offer that decides it; None if it goes on."""
    for kind in rules.offers if rules.outcome(position) is None else ():
        try:
            rules.check_offer(position, kind)
        except Refusal:
            continue
        if found := rules.outcome_by_offer(position, kind):
            return kind, found
    return "", rules.outcome(position)
