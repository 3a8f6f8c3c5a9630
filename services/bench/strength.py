"""Strength of robots: matches between two levels, and between a level and random moves.

In a game for three the pairings are of three players. What is printed is a table in Markdown, that of
docs/robots.md. Parts that were run separately can be merged, because a result has sums only.
"""

from collections.abc import Iterable, Sequence
from multiprocessing import get_context
from pathlib import Path
from typing import Final

import msgspec

from domain.rules import all_games, game_by_key
from services.bench.harness import BenchEnvironment
from services.bench.report import Report
from services.bench.tournament import Effort, PlannedMatch, PlayedMatch, play_match

_EVEN: Final = 1e-9
"""Shares that differ by less are equal."""


class PairingResult(msgspec.Struct):
    """The sums of the matches of one pairing."""

    game: str
    players: tuple[str, ...]
    efforts: tuple[Effort, ...]
    firsts: list[int]
    """For each player the matches won alone."""
    shares: list[float]
    """For each player the sum of the shares of wins: in a game for two a draw is half a point."""
    matches: int = 0
    plies: int = 0
    too_long: int = 0

    @property
    def key(self) -> tuple[str, tuple[str, ...]]:
        """The game and the players."""
        return self.game, self.players

    def count(self, played: PlayedMatch) -> None:
        """Count a match."""
        self.matches += 1
        self.plies += played.plies
        self.too_long += played.ending == "too-long"
        for player, share in enumerate(played.shares):
            self.shares[player] += share
            self.firsts[player] += share > 1 - _EVEN
            self.efforts[player].add(played.efforts[player])

    def merge(self, other: "PairingResult") -> None:
        """Count the matches of another part of the same pairing."""
        self.matches += other.matches
        self.plies += other.plies
        self.too_long += other.too_long
        for player, effort in enumerate(other.efforts):
            self.shares[player] += other.shares[player]
            self.firsts[player] += other.firsts[player]
            self.efforts[player].add(effort)


class StrengthReport(Report, frozen=True, kw_only=True):
    """The results of all pairings, printed as a table in Markdown."""

    def print(self, name: str) -> None:
        """Print the table."""
        del name
        print(table(msgspec.convert(self.details["pairings"], list[PairingResult])))


def run(  # noqa: PLR0913 - one for each flag
    bench: BenchEnvironment,
    *,
    key: str | None,
    pairings: Sequence[str],
    matches: int,
    skip: int,
    processes: int,
    merge: Sequence[Path],
    claims: bool,
) -> Report:
    """Play the matches, or merge the results of earlier runs; the rate is of robots' moves."""
    if merge:
        return _report(_merged(merge))
    games = [game_by_key(key)] if key else all_games()
    lineups = [
        (game.key, players)
        for game in games
        for count in game.latest.players
        for players in _lineups(count, pairings)
    ]
    numbers = range(skip, skip + matches)
    plan = [PlannedMatch(*lineup, number, claims) for lineup in lineups for number in numbers]
    results = {lineup: _no_matches(*lineup) for lineup in lineups}
    task = bench.progress.add_task("matches", total=len(plan))
    with get_context("spawn").Pool(processes) as pool:
        for match, played in zip(plan, pool.imap(play_match, plan), strict=True):
            results[match.game, match.players].count(played)
            bench.progress.advance(task)
    return _report(list(results.values()))


def _lineups(players: int, pairings: Iterable[str]) -> list[tuple[str, ...]]:
    """Return who meets in a game for so many players; nobody in a puzzle."""
    lineups = [tuple(pairing.split("-")) for pairing in pairings]
    return [lineup for lineup in lineups if len(lineup) == players]


def _no_matches(game: str, players: tuple[str, ...]) -> PairingResult:
    efforts = tuple(Effort() for _ in players)
    return PairingResult(game, players, efforts, [0] * len(players), [0.0] * len(players))


def _merged(paths: Iterable[Path]) -> list[PairingResult]:
    """Return the results of earlier runs, those of the same pairing added up."""
    found: dict[tuple[str, tuple[str, ...]], PairingResult] = {}
    for path in paths:
        printed = msgspec.json.decode(path.read_bytes())
        for result in msgspec.convert(printed["details"]["pairings"], list[PairingResult]):
            if result.key in found:
                found[result.key].merge(result)
            else:
                found[result.key] = result
    return list(found.values())


def _report(results: Sequence[PairingResult]) -> Report:
    efforts = [effort for result in results for effort in result.efforts if effort.nodes]
    seconds = sum(effort.seconds for effort in efforts)
    moves = sum(effort.moves for effort in efforts)
    return StrengthReport(
        rate=moves / seconds if seconds else 0.0,
        unit="moves of robots",
        peers={},
        details={"pairings": msgspec.to_builtins(results)},
    )


def table(results: Iterable[PairingResult]) -> str:
    """Return the table in Markdown.

    Matches that were too long are counted among the drawn ones.
    Costs are in the order of the players; processor time is in milliseconds.
    """
    head = (
        "game", "players", "matches", "won", "drawn", "lost", "points of 100", "too long",
        "plies", "ms a move", "worst ms", "nodes a move",
    )  # fmt: skip
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    lines += ["| " + " | ".join(_row(result)) + " |" for result in results]
    return "\n".join(lines)


def _row(result: PairingResult) -> tuple[str, ...]:
    """Return the cells of a pairing: seen from the first player, except those with one for each."""
    several = len(result.players) > 2  # noqa: PLR2004 - then each player's own are shown
    won, drawn = result.firsts[0], result.matches - sum(result.firsts)
    points = [f"{100 * share / result.matches:.1f}" for share in result.shares]
    return (
        result.game,
        ", ".join(result.players),
        str(result.matches),
        ", ".join(map(str, result.firsts)) if several else str(won),
        str(drawn),
        "" if several else str(result.matches - won - drawn),
        ", ".join(points) if several else points[0],
        str(result.too_long),
        f"{result.plies / result.matches:.0f}",
        ", ".join(f"{1e3 * one.seconds / max(one.moves, 1):.1f}" for one in result.efforts),
        ", ".join(f"{1e3 * one.worst:.0f}" for one in result.efforts),
        ", ".join(f"{one.nodes / max(one.moves, 1):.0f}" for one in result.efforts),
    )
