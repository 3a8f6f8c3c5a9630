"""Speed of the rules: legal moves and random play, beside python-chess.

Legal moves are counted as python-chess's own perft counts them: all paths of one length from the start,
where the last ply is counted and not played. Random play picks uniformly among the legal moves, and
computes the outcome after each.
"""

import random
import time
from collections.abc import Callable
from typing import Any, Final

from bench.baselines import NOT_INSTALLED, optional_peer
from bench.harness import BenchEnvironment
from bench.report import Report, median_and_p99
from bench.workload import SEED, games, moves, starts
from domain.fairness import DrawStream
from domain.match.commands import CommandEnvelope, PlayMove
from domain.match.commands import decode_command as read_order
from domain.match.commands import encode_command as write_order
from domain.match.decide import decide
from domain.match.decision import Decision
from domain.match.history import EMPTY_SNAPSHOT, chain_events, pack_snapshot, unpack_snapshot
from domain.rules import AnyRules, latest_rules, rules_id

_DEPTHS: Final = {"pow2": 3}
"""Plies of the perft; 2 for a game that is not listed."""


def run(bench: BenchEnvironment, game: str, plies: int) -> Report:
    """Measure one game's rules; the rate is random plies a second."""
    rules = latest_rules(game)
    counted, count_rate = _best(lambda: _perft_rate(rules))
    played, rate = _best(lambda: _random_rate(rules, plies))
    details: dict[str, Any] = {
        "game": game,
        "perft leaves": counted,
        "perft leaves a second": round(count_rate, 1),
        "random plies": played,
        "decision us": _decision(),
    }
    peers = {}
    if python_chess := optional_peer("python_chess", "chess"):
        _, chess_count_rate = _best(python_chess.perft_rate)
        _, peers["python_chess"] = _best(lambda: python_chess.random_rate(plies))
        details["python_chess perft leaves a second"] = round(chess_count_rate, 1)
        details["perft ratio"] = round(count_rate / chess_count_rate, 2)
    else:
        details["python_chess"] = NOT_INSTALLED
    return Report(rate=rate, unit="random plies", peers=peers, details={**details, **bench.disk()})


def _best(measure: Callable[[], tuple[int, float]]) -> tuple[int, float]:
    """Return the best of three runs, because other load only slows a run down."""
    return max((measure() for _ in range(3)), key=lambda found: found[1])


def _perft_rate(rules: AnyRules) -> tuple[int, float]:
    start = _start(rules)
    began = time.perf_counter()
    leaves = perft(rules, start, _DEPTHS.get(rules.key, 2))
    return leaves, leaves / (time.perf_counter() - began)


def _start(rules: AnyRules) -> Any:
    """Return a first position without options; a random setup always has the same seed."""
    options, players = rules.read_options(()), rules.players[0]
    setup = rules.draw(options, players, DrawStream(bytes(32), rules_id(rules)))
    return rules.start(options, players, setup)


def perft(rules: AnyRules, position: Any, depth: int) -> int:
    """Count the paths of `depth` legal moves."""
    if depth == 1:
        return rules.count_moves(position)
    return sum(
        perft(rules, rules.play(position, move), depth - 1) for move in rules.moves(position)
    )


def _random_rate(rules: AnyRules, plies: int) -> tuple[int, float]:
    chance = random.Random(SEED)  # noqa: S311 - a workload, not a secret
    start, played = _start(rules), 0
    began = time.perf_counter()
    while played < plies:
        position = start
        while played < plies and rules.outcome(position) is None:
            position = rules.play(position, chance.choice(list(rules.moves(position))))
            played += 1
    return played, played / (time.perf_counter() - began)


def _decision() -> dict[str, float]:
    """Time one command: unpack, decide, seal and pack again; pow2, microseconds."""
    times = []
    for game in games(40):
        snapshot = EMPTY_SNAPSHOT
        for order in [*starts([game]), *moves([game])]:
            payload, stored = write_order(order), pack_snapshot(snapshot)
            began = time.perf_counter()
            sent: CommandEnvelope = read_order(payload)
            before = unpack_snapshot(stored)
            decision = decide(sent, before.state)
            if not isinstance(decision, Decision):
                raise RuntimeError(f"a move was refused: {decision.sentence}")
            _, snapshot = chain_events(sent, decision, before, 1)
            pack_snapshot(snapshot, before.state)
            if isinstance(sent.command, PlayMove):
                times.append(time.perf_counter() - began)
    return median_and_p99(times)
