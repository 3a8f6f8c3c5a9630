"""A match as its page shows it to somebody."""

from collections.abc import Sequence
from typing import Any, Self
from uuid import uuid4

import msgspec

from domain.match.state import MatchState
from domain.rules import AnyRules, Seat, game_of, pinned
from domain.rules.protocol import Score
from infra.letters import CHAT_LIMIT
from services.api.context import ApiContext
from services.api.views import Match, match_view
from services.app.matches import check_ply, load_snapshot
from services.app.messages import heard
from services.app.names import FORMER_PLAYER, names_by_seat, shown_names
from services.web.boards import Shown, drawn
from services.web.visitors import Visitor


class Line(msgspec.Struct, frozen=True):
    """Something said at a board."""

    at: int
    name: str
    text: str
    new: bool
    """Whether the visitor has not read it before."""


class Table(msgspec.Struct, frozen=True):
    """A match, and where the visitor sits at it."""

    board: int
    state: MatchState
    view: Match
    names: tuple[str, ...]
    now: int
    """By the server's clock, ms."""
    seat: Seat | None
    """None for a spectator."""
    key: str
    """Of the commands that this page may send; see `acts`."""

    @classmethod
    def of(cls, context: ApiContext, board: int, visitor: Visitor) -> Self:
        """Look a match up; refused as `load_snapshot` does."""
        snapshot = load_snapshot(context.app, board)
        state = snapshot.state
        users = context.app.accounts.name_of(state.seats)
        now = context.app.store.now()
        account = visitor.account
        seat = state.seats.index(account) if account in state.seats else None
        view = match_view(board, snapshot, users, now, legal=False)
        return cls(board, state, view, shown_names(users), now, seat, uuid4().hex)

    @property
    def rules(self) -> AnyRules:
        """The rules it is played by."""
        return pinned(self.state.rules)

    @property
    def mine(self) -> bool:
        """Whether it is the visitor's turn."""
        return self.seat is not None and self.seat == self.state.next

    @property
    def puzzle(self) -> bool:
        """Whether it is played alone."""
        return len(self.state.seats) == 1

    @property
    def opponent(self) -> str:
        """The visitor's opponent in a match of two, unless that is a former player; else empty."""
        if self.seat is None or len(self.names) != 2:  # noqa: PLR2004
            return ""
        name = self.names[1 - self.seat]
        return "" if name == FORMER_PLAYER else name

    @property
    def in_play(self) -> bool:
        """Whether the visitor can still act in it."""
        return self.seat in self.state.seats_in and not self.state.over

    @property
    def asked(self) -> bool:
        """Whether the match waits for the visitor's consent."""
        waits = self.view.state == "waiting" and self.in_play
        return waits and self.seat in self.view.waits_for

    @property
    def reveals(self) -> bool:
        """Whether it waits for the visitor's text for the draw."""
        return self.asked and self.state.sealed

    @property
    def moved(self) -> bool:
        """Whether the visitor has made a move, and so can't decline any more."""
        return self.seat is not None and bool(self.state.acted >> self.seat & 1)

    @property
    def moves(self) -> Sequence[str]:
        """All moves played."""
        return self.state.moves_of(self.state.ply)

    @property
    def turn(self) -> str:
        """The player to move; empty if there is none."""
        return "" if self.state.next is None else self.names[self.state.next]

    def check_ply(self, ply: int) -> int:
        """Return the ply, unless the match has no position there: `unknown-ply`, `not-started`."""
        return check_ply(self.board, self.state, ply)

    def shown(self) -> Shown | None:
        """Return the board; None before a match has one."""
        if self.state.unplaced:
            return None
        here = f"/m/{self.board}"
        return Shown(
            svg=drawn(self.state, self.state.ply, self.names),
            moves=f"{here}/moves" if self.mine else "",
            check=f"{here}/check",
            ply=self.state.ply,
            turn=self.turn,
            game=game_of(self.rules.key),
        )

    def score(self, position: Any) -> Score | None:
        """Return the score of a puzzle at a position."""
        return self.rules.score(position)


def said_at(context: ApiContext, table: Table) -> list[Line]:
    """Return the chat of the match, to its players alone."""
    if table.seat is None or table.puzzle:
        return []
    account = table.state.seats[table.seat]
    read = context.app.letters.chat_read(account, table.board)
    letters = heard(context.app, table.board, account, CHAT_LIMIT)
    names = names_by_seat(context.app, [letter.sender for letter in letters])
    return [
        Line(letter.at, name, letter.text, letter.sender != account and letter.at > read)
        for letter, name in zip(letters, names, strict=True)
    ]
