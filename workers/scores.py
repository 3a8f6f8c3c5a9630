"""The projection behind the puzzles' leaderboards: reads the shard logs, and scores what has ended.

A match counts once it has ended: its plies are replayed, and its best score is dated by the ply that
first reached it. So the same logs always give the same boards.
"""

from typing import Final

import msgspec

from domain.match.events import Ended, Envelope, Moved, decode
from domain.match.record import refold
from domain.match.state import MatchState, positions
from domain.rules import pinned
from infra.scores import Row, Scores, puzzle_name
from infra.store.port import Store

CHUNK: Final = 1_000
"""Leaves read together."""


class Scoring:
    """Keeps the leaderboards up with the logs. Several at once do no harm."""

    def __init__(self, store: Store, scores: Scores) -> None:
        self._store = store
        self._scores = scores

    def catch_up(self) -> None:
        """Read what is new in all logs."""
        marks = self._scores.read()
        for shard in range(self._store.shape().shards):
            while self._read(shard, marks.get(shard, 0)):
                marks = self._scores.read()

    def _read(self, shard: int, start: int) -> bool:
        """Read one chunk; tell whether there may be more."""
        leaves = self._store.leaves(shard, start, CHUNK)
        if not leaves:
            return False
        rows = [row for _, leaf in leaves if (row := self._row(leaf))]
        self._scores.add(rows, shard, leaves[-1][0] + 1)
        return len(leaves) == CHUNK

    def _row(self, leaf: bytes) -> tuple[str, Row] | None:
        envelope = _event(leaf)
        if envelope is None or not isinstance(envelope.body, Ended):
            return None
        history = self._store.events(envelope.match)
        state = refold(history)
        rules = pinned(state.rules)
        if state.unplaced or len(state.seats) != 1:
            return None
        rank, ply = _best(state)
        at = _time_of(history, ply)
        return puzzle_name(rules.key, state.options), Row(rank, at, envelope.match, state.seats[0])


def _event(leaf: bytes) -> Envelope | None:
    """Read a leaf, if it is an event and no refusal or anchor."""
    try:
        return decode(leaf)
    except msgspec.ValidationError:
        return None


def _best(state: MatchState) -> tuple[tuple[int, ...], int]:
    """Give the best rank that a puzzle reached, and the first ply at which it stood so."""
    rules = pinned(state.rules)
    ranks = []
    for position in positions(state):
        score = rules.score(position)
        if score is None:
            raise ValueError(f"{state.rules} is played alone and has no score")
        ranks.append(score.rank)
    best = min(ranks)
    return best, ranks.index(best)


def _time_of(history: list[bytes], ply: int) -> int:
    """Give the time of a ply in ms, of the start for ply 0."""
    at = 0
    for envelope in map(decode, history):
        if isinstance(envelope.body, Moved) and envelope.body.ply > ply:
            break
        if at == 0 or isinstance(envelope.body, Moved):
            at = envelope.at
    return at
