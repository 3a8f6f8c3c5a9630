"""A match as its page shows it to somebody."""

from collections.abc import Sequence
from typing import Any, Self
from uuid import uuid4

import msgspec

from domain.match.state import MatchState
from domain.rules import AnyRules, Seat, game_by_key, rules_by_id
from domain.rules.protocol import PuzzleScore
from infra.people.messages import CHAT_LIMIT
from services.app.matches import check_ply, load_snapshot
from services.app.messages import read_chat
from services.app.names import FORMER_PLAYER, names_by_seat, shown_names
from services.http.context import ApiContext
from services.http.match_json import Match, match_json
from services.http.web.session import Visitor
from services.http.web.views.board_view import BoardView, draw_match


class ChatLine(msgspec.Struct, frozen=True):
    """A line of a match's chat."""

    at: int
    name: str
    text: str
    new: bool
    """Whether the visitor has not read it before."""


class MatchView(msgspec.Struct, frozen=True):
    """A match, and the visitor's seat in it."""

    board: int
    state: MatchState
    view: Match
    names: tuple[str, ...]
    now: int
    """By the server's clock, ms."""
    seat: Seat | None
    """None for a spectator."""
    key: str
    """The key of the commands that this page sends; see `match_actions`."""

    @classmethod
    def of(cls, context: ApiContext, board: int, visitor: Visitor) -> Self:
        """Return the view of a match; raises what `load_snapshot` raises."""
        snapshot = load_snapshot(context.app, board)
        state = snapshot.state
        users = context.app.accounts.name_of(state.seats)
        now = context.app.store.now()
        account = visitor.account
        seat = state.seats.index(account) if account in state.seats else None
        view = match_json(board, snapshot, users, now, legal=False)
        return cls(board, state, view, shown_names(users), now, seat, uuid4().hex)

    @property
    def rules(self) -> AnyRules:
        """The rules it is played by."""
        return rules_by_id(self.state.rules)

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
        """The visitor's opponent in a match of two; empty for a spectator or a deleted account."""
        if self.seat is None or len(self.names) != 2:  # noqa: PLR2004
            return ""
        name = self.names[1 - self.seat]
        return "" if name == FORMER_PLAYER else name

    @property
    def in_play(self) -> bool:
        """Whether the visitor can still act in it."""
        return self.seat in self.state.active_seats and not self.state.over

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
        """Whether the visitor has made a move, and so can no longer decline."""
        return self.seat is not None and bool(self.state.acted >> self.seat & 1)

    @property
    def moves(self) -> Sequence[str]:
        """All moves played."""
        return self.state.first_moves(self.state.ply)

    @property
    def turn(self) -> str:
        """The player to move; empty if there is none."""
        return "" if self.state.next is None else self.names[self.state.next]

    def check_ply(self, ply: int) -> int:
        """Return the ply; raises `unknown-ply` or `not-started` if the match has no position there."""
        return check_ply(self.board, self.state, ply)

    def shown(self) -> BoardView | None:
        """Return the board; None while the match has no position."""
        if self.state.has_no_position:
            return None
        here = f"/m/{self.board}"
        return BoardView(
            svg=draw_match(self.state, self.state.ply, self.names),
            moves=f"{here}/moves" if self.mine else "",
            check=f"{here}/check",
            ply=self.state.ply,
            turn=self.turn,
            game=game_by_key(self.rules.key),
        )

    def score(self, position: Any) -> PuzzleScore | None:
        """Return the score of a puzzle at a position."""
        return self.rules.score(position)


def chat_lines(context: ApiContext, table: MatchView) -> list[ChatLine]:
    """Return the chat of the match; empty for a visitor who does not play in it."""
    if table.seat is None or table.puzzle:
        return []
    account = table.state.seats[table.seat]
    read = context.app.messages.chat_read_until(account, table.board)
    stored = read_chat(context.app, table.board, account, CHAT_LIMIT)
    names = names_by_seat(context.app, [line.sender for line in stored])
    return [
        ChatLine(line.at, name, line.text, line.sender != account and line.at > read)
        for line, name in zip(stored, names, strict=True)
    ]
