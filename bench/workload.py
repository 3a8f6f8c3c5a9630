"""The workload of the benchmarks: whole games, played beforehand by random legal moves, and matches that are over."""

import random
from collections.abc import Iterator, Sequence
from itertools import cycle, islice
from typing import Final, NamedTuple

import msgspec

from domain.clocks.time_control import TimeControl
from domain.match import commands, events, history
from domain.match.commands import CommandEnvelope, PlayMove, ResignMatch, StartMatch
from domain.records import command_id
from domain.rules import latest_rules, rules_id
from infra.archive.directory_pages import DirectoryEntry, MatchSummary

SEED: Final = 20_260_101
"""Seed of the random play, so that runs can be compared."""

_PLIES_AT_MOST: Final = 400


class PlannedGame(msgspec.Struct, frozen=True):
    """A game to submit: its board, its players and its moves in order."""

    board: int
    seats: tuple[bytes, bytes]
    moves: tuple[str, ...]


def games(count: int, first_board: int = 1) -> list[PlannedGame]:
    """Return `count` games of pow2, played to their end by random legal moves."""
    chance = random.Random(SEED)  # noqa: S311 - a workload, not a secret
    return [
        PlannedGame(board, _seats(board), tuple(_random_play(chance)))
        for board in range(first_board, first_board + count)
    ]


_BACK_AND_FORTH: Final = ("m13-j7", "a13-c11", "j7-m13", "c11-a13")


def endless(count: int, plies: int, first_board: int = 1) -> list[PlannedGame]:
    """Return `count` games of exactly `plies` moves in which both sides go back and forth."""
    played = tuple(islice(cycle(_BACK_AND_FORTH), plies))
    return [
        PlannedGame(board, _seats(board), played)
        for board in range(first_board, first_board + count)
    ]


def _seats(board: int) -> tuple[bytes, bytes]:
    return (b"L%07d" % board, b"D%07d" % board)


def _random_play(chance: random.Random) -> Iterator[str]:
    rules = latest_rules("pow2")
    position = rules.start(rules.read_options(()), 2, None)
    for _ in range(_PLIES_AT_MOST):
        if rules.outcome(position) is not None:
            return
        move = chance.choice(list(rules.legal_moves(position)))
        yield move
        position = rules.play(position, rules.read(move))


def starts(
    played: Sequence[PlannedGame], terms: TimeControl | None = None
) -> Iterator[CommandEnvelope]:
    """Yield the commands that start the matches; without terms the matches have no clocks."""
    rules = rules_id(latest_rules("pow2"))
    for game in played:
        order = StartMatch(rules=rules, options=(), seats=game.seats, terms=terms)
        yield _sent(game, 0, game.seats[0], order)


def moves(
    played: Sequence[PlannedGame], chance: random.Random | None = None
) -> Iterator[CommandEnvelope]:
    """Yield all moves, the first of every match before the second of any; with `chance` in another order each time."""
    turn = list(played)
    for ply in range(max(len(game.moves) for game in played)):
        if chance is not None:
            chance.shuffle(turn)
        for game in turn:
            if ply < len(game.moves):
                order = PlayMove(text=game.moves[ply], ply=ply)
                yield _sent(game, ply + 1, game.seats[ply % 2], order)


def resignations(played: Sequence[PlannedGame]) -> Iterator[CommandEnvelope]:
    """Yield a command by which each match ends."""
    for game in played:
        yield _sent(game, len(game.moves) + 1, game.seats[0], ResignMatch())


def _sent(
    game: PlannedGame, number: int, actor: bytes, command: commands.Command
) -> CommandEnvelope:
    id_ = command_id("bench", actor, f"{game.board}:{number}")
    return CommandEnvelope(game.board, id_, actor, command)


_BEGAN, _EVERY, _LONGEST = 1_700_000_000_000, 60_000, 14 * 86_400_000
"""When the first match begins, when the next, and the longest one, ms: 50 of a list are in some 40 directory pages."""


class ListedMatch(NamedTuple):
    """A match that is over, with two leaves only: no list depends on moves. Its entry is as long as that of 40 plies."""

    entry: DirectoryEntry
    first: bytes
    last: bytes


def finished(count: int, players: int) -> Iterator[ListedMatch]:
    """Yield matches of two of so many players, by chance; four of five are pow2."""
    chance = random.Random(SEED)  # noqa: S311 - a workload, not a secret
    accounts = [b"P%07d" % number for number in range(max(2, players))]
    games = [rules_id(latest_rules(game)) for game in ("torere", *["pow2"] * 4)]
    for board in range(1, count + 1):
        rules, seats = games[board % 5], tuple(chance.sample(accounts, 2))
        begun = _BEGAN + board * _EVERY
        over = begun + chance.randrange(_LONGEST)
        start = events.MatchStarted(rules=rules, options=(), seats=seats, setup=None, next=0)
        end = events.Ended(winners=(0,), reason="resignation")
        first, last = (
            history.encode_event(
                history.EventEnvelope(1, board, seq, at, bytes(16), seats[0], history.NO_HASH, body)
            )
            for seq, at, body in ((1, begun, start), (2, over, end))
        )
        summary = MatchSummary(rules, (), seats, (0,), end.reason, (1, 2), 40, True, True)
        head, places, digests = (
            history.leaf_hash(last),
            chance.randbytes(120),
            chance.randbytes(336),
        )
        entry = DirectoryEntry(board, head, 43, begun, over, places, summary, digests, ())
        yield ListedMatch(entry, first, last)
