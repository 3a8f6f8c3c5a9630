"""A puzzle on pages: its points beside the best, and a line of moves that can be undone and redone."""

from collections.abc import Sequence
from typing import Self

import msgspec

from domain.game.protocol import PuzzleScore
from domain.game.puzzle import DONE, Puzzle
from domain.rules import AnyRules
from infra.projections.leaderboards import LeaderboardRow
from services.http.web.replay.variations import Variation


class Points(msgspec.Struct, frozen=True):
    """The points of a visitor, the best of all players, and the proven limit."""

    now: int | None
    """None for a visitor without any."""
    best: int | None
    """None while nobody has finished the puzzle."""
    most: int
    board: int = 0
    """The match with the best points; 0 for none."""

    @classmethod
    def of(
        cls, rules: AnyRules, rows: Sequence[LeaderboardRow], rank: Sequence[int] | None
    ) -> Self | None:
        """Return the points of a rank; None for a game without points."""
        if not isinstance(rules, Puzzle):
            return None
        best = rows[0] if rows else None
        return cls(
            now=rules.points(rank) if rank else None,
            best=rules.points(best.rank) if best else None,
            most=rules.most_points,
            board=best.board if best else 0,
        )

    @property
    def below(self) -> int:
        """How many points the visitor's are below the limit."""
        return self.most - (self.now or 0)


class PuzzleLine(msgspec.Struct, frozen=True):
    """The moves of a solution so far, and those that were undone."""

    line: Variation
    undone: tuple[str, ...]
    """The next to redo first."""

    @property
    def score(self) -> PuzzleScore | None:
        """The score so far."""
        return self.line.rules.score(self.line.position)

    @property
    def stuck(self) -> bool:
        """Whether no move is left."""
        return self.line.rules.outcome(self.line.position) is not None

    @property
    def undo(self) -> str:
        """The address with one move less; empty at the start."""
        moves = self.line.moves
        return self._url(moves[:-1], (moves[-1], *self.undone)) if moves else ""

    @property
    def redo(self) -> str:
        """The address with the move that was undone last; empty if there is none."""
        moves = self.line.moves
        return self._url((*moves, self.undone[0]), self.undone[1:]) if self.undone else ""

    @property
    def restart(self) -> str:
        """The address of the start, from which all moves can be redone."""
        return self._url((), (*self.line.moves, *self.undone))

    def with_move(self, text: str) -> str:
        """Return the address with one more move; the one that was undone last keeps the others."""
        address = self.line.url_with_move(text)
        if self.undone and text == self.undone[0]:
            return self.redo
        return address

    def _url(self, moves: Sequence[str], undone: Sequence[str]) -> str:
        query = dict(self.line.query)
        query.pop("undone", None)
        if undone:
            query["undone"] = " ".join(undone)
        return msgspec.structs.replace(self.line, query=query).url(moves)


def without_end(moves: Sequence[str]) -> list[str]:
    """Return moves without the one that ends a puzzle, because handing in ends it."""
    return [move for move in moves if move != DONE]
