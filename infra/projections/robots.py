"""Matches in which a robot is to act: to move, to answer an offer, to accept a match or to reveal a text.

| key | what |
|---|---|
| `rows` | hash: board -> packed `MatchListRow` of each running match with a robot |
| `waiting` | sorted set: boards in which a robot is to act; score: time of the last event, ms |

A match is in the bucket of its board. Its row goes with its end.

How many matches wait for a robot, and in which a robot could not act: for the doctor and for monitoring.
"""

from collections.abc import Iterable, Mapping, Sequence
from heapq import merge
from itertools import islice
from typing import Any, Final

import msgspec
import redis

from domain.game.engine import RobotLevel
from domain.match.state import robot_level
from domain.records import AccountId
from infra.projections.buckets import ROBOTS, Bucket, RedisRead, RedisWrite
from infra.projections.generations import Query
from infra.projections.match_list_fold import evolve_kept
from infra.projections.match_lists import ROWS, MatchListRow, pack, unpack
from infra.projections.projection import Fact, Projection
from infra.store.failures import RobotFailures

WAITING: Final = "waiting"


class RobotTurn(msgspec.Struct, frozen=True, order=True):
    """A match in which a robot is to act."""

    since: int
    """The time of its last event, ms."""
    board: int
    seq: int = 0
    """The number of that event."""
    people: tuple[AccountId, ...] = ()
    """The players who are no robots."""
    slow: bool = False
    """Whether a robot is to act that thinks long: `robot-hard` takes some hundred times as long as the others."""


class RobotTurns(Query):
    """Queries of the matches in which a robot is to act."""

    spec = ROBOTS

    live_seconds = 10.0
    """The scheduler asks every few seconds; after a rebuild it learns of new turns so much later."""

    def due(self, until: int, count: int) -> list[RobotTurn]:
        """Return the first matches whose last event was at `until` ms or before; O(count)."""
        generation = self._generation()
        with self._client.pipeline(transaction=False) as pipe:
            for bucket in generation.all:
                pipe.zrange(
                    bucket.key(WAITING),
                    0,
                    until,
                    byscore=True,
                    offset=0,
                    num=count,
                    withscores=True,
                )
            parts = [
                [RobotTurn(int(at), int(board)) for board, at in one] for one in pipe.execute()
            ]
        turns = list(islice(merge(*parts), count))
        rows = self._rows(generation, ROWS, [turn.board for turn in turns]) if turns else []
        # a row that has gone since then belongs to a match that is over
        return [
            _turn(turn, unpack(row))
            for turn, row in zip(turns, rows, strict=True)
            if row is not None
        ]

    def waiting(self, boards: Iterable[int]) -> dict[int, int]:
        """Return those of some matches in which a robot is to act, each with the number of its last event."""
        generation, wanted = self._generation(), list(boards)
        with self._client.pipeline(transaction=False) as pipe:
            for board in wanted:
                pipe.zscore(generation.of(board).key(WAITING), board)
            scores = pipe.execute()
        rows = self._rows(generation, ROWS, wanted)
        return {
            board: unpack(row).seq
            for board, score, row in zip(wanted, scores, rows, strict=True)
            if score is not None and row is not None
        }

    def count(self) -> int:
        """Return the number of matches in which a robot is to act."""
        return self._count(self._generation(), WAITING)


class RobotTurnsProjection(Projection):
    """Keeps the matches in which a robot is to act."""

    spec = ROBOTS

    def owners(self, fact: Fact) -> Sequence[int]:
        """Return the board of a match with a robot."""
        return (fact.event.match,) if fact.setup.has_robot else ()

    def needs(self, facts: Sequence[Fact], bucket: Bucket) -> Sequence[RedisRead]:
        """Return the read of the matches' rows."""
        del bucket
        boards = dict.fromkeys(fact.event.match for fact in facts)
        return [("HMGET", ROWS, *boards)] if boards else []

    def fold(self, facts: Sequence[Fact], found: Sequence[Any], bucket: Bucket) -> list[RedisWrite]:
        """Return the changes of rows and of the sorted set."""
        del bucket
        if not facts:
            return []
        boards = dict.fromkeys(fact.event.match for fact in facts)
        rows = {
            board: unpack(data)
            for board, data in zip(boards, found[0], strict=True)
            if data is not None
        }
        for fact in facts:
            board = fact.event.match
            if (after := evolve_kept(rows.get(board), fact)) is not None:
                rows[board] = after
        return [write for row in rows.values() for write in _writes(row)]


def _turn(turn: RobotTurn, row: MatchListRow) -> RobotTurn:
    people = tuple(account for account in row.seats if robot_level(account) is None)
    slow = any(robot_level(row.seats[seat]) is RobotLevel.HARD for seat in (*row.waits, *row.asked))
    return RobotTurn(turn.since, turn.board, row.seq, people, slow)


def _writes(row: MatchListRow) -> list[RedisWrite]:
    board = str(row.board)
    if row.over:
        return [("HDEL", ROWS, board), ("ZREM", WAITING, board)]
    acting = {*row.waits, *row.asked}
    turn = any(robot_level(row.seats[seat]) for seat in acting)
    listed = ("ZADD", WAITING, row.at, board) if turn else ("ZREM", WAITING, board)
    return [("HSET", ROWS, board, pack(row)), listed]


_ANY_TIME = 1 << 52


class RobotFigures(msgspec.Struct, frozen=True):
    """Robots at one moment."""

    waiting: int = 0
    """Matches in which a robot is to act."""
    oldest_ms: int = 0
    """How long ago the last event of the first of them was, those apart in which a robot can't act."""
    failures: Mapping[int, str] = {}
    """Why a robot could not act, by board."""


def read_robot_figures(client: redis.Redis, now: int) -> RobotFigures:
    """Return the figures; none are waiting while the projection is being rebuilt."""
    failures = {board: one.why for board, one in RobotFailures(client).all().items()}
    turns = RobotTurns(client)
    try:
        first = turns.due(_ANY_TIME, len(failures) + 1)
        waiting = turns.count()
    except LookupError:
        return RobotFigures(failures=failures)
    since = next((one.since for one in first if one.board not in failures), now)
    return RobotFigures(waiting, max(0, now - since), failures)
