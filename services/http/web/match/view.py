"""A match as its page shows it to somebody."""

from collections.abc import Sequence
from hashlib import sha256
from typing import Any, NamedTuple, Self
from uuid import uuid4

import msgspec

from domain.clocks.match_clock import flag_time
from domain.clocks.time_control import DAY
from domain.game.protocol import PuzzleScore
from domain.match.conditional_moves import ConditionalMoves, unpack
from domain.match.imports import describe_source
from domain.match.state import Invitation, MatchState, deadline, robot_level
from domain.records import AccountId
from domain.rules import AnyRules, Seat, game_by_key, rules_by_id
from domain.sentences import ENGLISH, Translation
from infra.people.account_lists import MatchMarks
from infra.people.messages import PlayerMessage, mark_of
from infra.redis.reads import Read, read_nothing
from services.app.context import App
from services.app.matches import (
    MatchPhase,
    check_exists,
    check_ply,
    may_be_analysed,
    paused_since,
    phase_of,
    read_snapshot,
    running_seat,
    seals_its_draw,
)
from services.app.names import shown_name, shown_names
from services.http.context import ApiContext
from services.http.web.boards.board_view import BoardView, draw_match
from services.http.web.session import Visitor


def position_digest(state: MatchState) -> str:
    """Return what tells a position from others at the same ply, to which a match may come by moves that are taken back."""
    return sha256(state.moves.encode()).hexdigest()[:12]


class ChatLine(msgspec.Struct, frozen=True):
    """A line of a match's chat."""

    at: int
    name: str
    text: str
    new: bool
    """Whether the visitor has not read it before."""
    own: bool
    """Whether the visitor has written it."""
    first_of_day: bool
    """Whether it is the first of its day, by UTC."""


class MatchView(msgspec.Struct, frozen=True):
    """A match, and the visitor's seat in it."""

    board: int
    state: MatchState
    names: tuple[str, ...]
    userids: Sequence[str | None]
    """None for a deleted account."""
    now: int
    """By the server's clock, ms."""
    seat: Seat | None
    """None for a spectator."""
    key: str
    """The key of the commands that this page sends; see `match_actions`."""
    conditional_moves: ConditionalMoves
    """The visitor's own."""
    locator: bytes | None
    """Where the leaves of the match are in the log of its shard; None if it was not read."""
    disputable: bool = False
    """Whether the page offers a claim: to a player of the match, but not of a puzzle, and to an arbiter."""
    language: Translation = ENGLISH
    """The visitor's."""

    @classmethod
    def of(cls, context: ApiContext, board: int, visitor: Visitor) -> Self:
        """Return the view of a match; `unknown-board`, or `damaged` if it can't be read."""
        found = visitor.match
        if found is None:
            ((stored, moves),) = context.app.store.snapshots_with_conditional_moves([board])
            snapshot = check_exists(board, read_snapshot(context.app, board, stored))
            users = context.app.accounts.name_of(snapshot.state.seats)
        else:
            snapshot, moves, users = found.snapshot, found.moves, found.userids
        locator = found.locator if found else None
        state = snapshot.state
        now = visitor.now or context.app.store.now()
        account = visitor.account
        seat = state.seats.index(account) if account in state.seats else None
        own = ConditionalMoves() if seat is None else unpack(moves).get(seat, ConditionalMoves())
        # a puzzle has nobody to dispute a move with
        player = seat is not None and bool(len(state.seats) > 1 or state.cases)
        disputable = player or bool(visitor.profile and visitor.profile.arbiter)
        language = visitor.wording
        names, key = shown_names(users, language), uuid4().hex
        return cls(board, state, names, users, now, seat, key, own, locator, disputable, language)

    @property
    def rules(self) -> AnyRules:
        """The rules it is played by."""
        return rules_by_id(self.state.rules)

    @property
    def title(self) -> str:
        """The name of the game."""
        return self.rules.title

    @property
    def phase(self) -> MatchPhase:
        """Whether it waits for consent or its draw, is going on, or is over."""
        return phase_of(self.state)

    @property
    def origin(self) -> str:
        """Where an imported match was played before, in words; empty for one that began here."""
        imported = self.state.imported
        return describe_source(imported.source) if imported else ""

    @property
    def seals(self) -> bool:
        """Whether the draw is still to come, from texts to which the players commit."""
        return seals_its_draw(self.state)

    @property
    def draw_deadline(self) -> int | None:
        """When a player who has not committed or revealed counts as having declined, ms; None without a limit."""
        return deadline(self.state)

    @property
    def invitation(self) -> Invitation | None:
        """The invitation, until all have accepted or the match is over."""
        return None if self.state.over else self.state.invitation

    @property
    def deadline(self) -> int | None:
        """When the flag of the player to move falls, ms; None in a pause, without a limit, and before and after the play."""
        mover = running_seat(self.state)
        return (
            flag_time(self.state.clock, mover) if self.state.clock and mover is not None else None
        )

    @property
    def paused_since(self) -> int | None:
        """When the pause began, ms; None without a pause."""
        return paused_since(self.state)

    @property
    def mine(self) -> bool:
        """Whether it is the visitor's turn."""
        return self.seat is not None and self.seat == self.state.next

    @property
    def puzzle(self) -> bool:
        """Whether it is played alone."""
        return len(self.state.seats) == 1

    @property
    def repeatable(self) -> bool:
        """Whether the visitor can ask for a rematch."""
        again = self.seat is not None and self.state.over and not self.puzzle
        return again and shown_name(None, self.language) not in self.names

    @property
    def among_robots(self) -> bool:
        """Whether all other players of the match are robots, who read no chat."""
        others = [one for seat, one in enumerate(self.state.seats) if seat != self.seat]
        return bool(others) and all(robot_level(one) is not None for one in others)

    @property
    def position_digest(self) -> str:
        """The digest of the position, which the form of a move sends."""
        return position_digest(self.state)

    @property
    def in_play(self) -> bool:
        """Whether the visitor can still act in it."""
        return self.seat in self.state.active_seats and not self.state.over

    @property
    def plans(self) -> bool:
        """Whether the visitor can prepare conditional moves now."""
        waits = self.in_play and self.phase == "active" and not self.puzzle
        return waits and not self.mine and not self.state.has_no_position

    @property
    def asked(self) -> bool:
        """Whether the match waits for the visitor's consent."""
        state = self.state
        waits = state.invited or (state.waits if state.awaits_entropy else ())
        return self.in_play and self.seat in waits

    @property
    def makers(self) -> list[str]:
        """The players who challenge those that have yet to accept."""
        state = self.state
        return [
            name
            for seat, name in enumerate(self.names)
            if seat not in (state.invited or state.waits) and not robot_level(state.seats[seat])
        ]

    @property
    def awaited(self) -> list[str]:
        """The players who have yet to accept, or to reveal their texts."""
        return [self.names[seat] for seat in self.state.invited or self.state.waits]

    @property
    def server_deals(self) -> bool:
        """Whether the server deals as soon as all have accepted."""
        invitation = self.state.invitation
        return bool(self.state.invited and invitation and invitation.server_deals)

    @property
    def reveals(self) -> bool:
        """Whether it waits for the visitor's text for the draw."""
        return self.asked and self.state.sealed

    @property
    def answers(self) -> bool:
        """Whether an offer waits for the visitor's answer."""
        offer = self.state.offer
        if offer is None or not self.in_play:
            return False
        return self.seat != offer.seat and self.seat not in offer.accepted

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

    @property
    def analysable(self) -> bool:
        """Whether the match may be analysed now, and has a move."""
        return bool(self.state.ply) and may_be_analysed(self.state)

    def check_ply(self, ply: int) -> int:
        """Return the ply; raises `unknown-ply` or `not-started` if the match has no position there."""
        return check_ply(self.board, self.state, ply)

    def shown(self, *, turned: bool = False) -> BoardView | None:
        """Return the board, for a `turned` one from the second seat; None while the match has no position."""
        if self.state.has_no_position:
            return None
        here = f"/m/{self.board}"
        return BoardView(
            svg=draw_match(
                self.state,
                self.state.ply,
                self.names,
                plates=False,
                turned=turned,
                language=self.language,
            ),
            moves=f"{here}/moves" if self.mine else "",
            check=f"{here}/check",
            ply=self.state.ply,
            turn=self.turn,
            game=game_by_key(self.rules.key),
        )

    def shown_at(self, ply: int, *, turned: bool = False) -> BoardView:
        """Return the board after so many moves, to be looked at only."""
        svg = draw_match(
            self.state, ply, self.names, plates=False, turned=turned, language=self.language
        )
        return BoardView(svg, "", "", ply, "", game_by_key(self.rules.key))

    def score(self, position: Any) -> PuzzleScore | None:
        """Return the score of a puzzle at a position."""
        return self.rules.score(position)


class MatchWriting(msgspec.Struct, frozen=True):
    """Texts at a match that its page shows to a visitor."""

    chat: list[ChatLine]
    """Empty for a visitor who does not play in it."""
    mark: str
    """Changes with the chat."""
    note: str
    """The visitor's note about the match."""
    marks: MatchMarks = MatchMarks()
    """The visitor's lists that the match is on."""
    muted: bool = False
    """Whether the visitor has muted its chat."""


class ReadWriting(NamedTuple):
    """The results of `writing_reads`."""

    note: str
    marks: MatchMarks
    muted: bool
    chat_read: int
    """Up to when, ms, the visitor has read the chat."""
    chat: tuple[list[PlayerMessage], str] | None
    """Its lines, and what its mark is made of; None if it is not shown."""


def writing_reads(
    app: App, account: AccountId | None, board: int, *, with_chat: bool
) -> tuple[Read[Any], ...]:
    """Return the reads of a `ReadWriting`."""
    if account is None:
        return tuple(map(read_nothing, ("", MatchMarks(), False, 0, None)))
    return (
        app.notes.read_note(account, board),
        app.follows.read_marks(account, board),
        app.messages.muted.read_has(account, board),
        *(
            (app.messages.read_chat_mark(account, board), app.messages.read_chat_page(board))
            if with_chat
            else (read_nothing(0), read_nothing(None))
        ),
    )


def match_writing(
    app: App, table: MatchView, account: AccountId | None, found: ReadWriting
) -> MatchWriting:
    """Return the texts that were read, and mark the chat as read."""
    own = found.note, found.marks, found.muted
    if account is None or found.chat is None:
        return MatchWriting([], "", *own)
    (lines, mark), board, read = found.chat, table.board, found.chat_read
    if lines and lines[-1].at > read:
        app.messages.mark_chat_read(account, board, lines)
    senders = dict(zip(table.state.seats, table.names, strict=True))
    chat = [
        ChatLine(
            line.at,
            senders.get(line.sender) or shown_name(None, table.language),
            line.text,
            line.sender != account and line.at > read,
            line.sender == account,
            not at or line.at // DAY != lines[at - 1].at // DAY,
        )
        for at, line in enumerate(lines)
    ]
    return MatchWriting(chat, mark_of(mark), *own)
