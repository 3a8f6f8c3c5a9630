"""The accounts of robots: there is one for each level, and each plays every game for several.

Their ids are the same on every server, so whatever reads a match knows without a look-up which
seats are robots'. An id that is drawn for a person is one of these with a chance of 3 in 2^64.

The ids of bots, which are programs of players, begin in the same way on every server, for the same reason.

The state of a match, its deadlines, and the position at any ply.

The position in the state is a cache: a caller that has just computed it passes it to `evolve`, and otherwise
`position_of` replays the moves. The rules of a game have reasons for an end of their own, such as `goal`; each
game has the sentences for its own.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Final, Self

import msgspec
from msgspec.structs import replace

from domain.clocks import match_clock as clocks
from domain.clocks.match_clock import MatchClock
from domain.fairness import Commitment
from domain.game.engine import LEVELS, RobotLevel
from domain.match.events import Ended, Imported, ImportedResult, MatchSource
from domain.records import AccountId
from domain.rules import AnyRules, Seat, pack_position, rules_by_id, unpack_position

_PREFIX: Final = b"robot\0\0"

ROBOT_ACCOUNTS: Final[Mapping[RobotLevel, AccountId]] = MappingProxyType(
    {level: _PREFIX + bytes([number]) for number, level in enumerate(LEVELS, 1)}
)
"""The account of the robot of each level."""

_LEVEL_OF: Final = {account: level for level, account in ROBOT_ACCOUNTS.items()}


def robot_level(account: AccountId) -> RobotLevel | None:
    """Return the level of a robot's account; None for a person's."""
    return _LEVEL_OF.get(account)


BOT_PREFIX: Final = b"bot\0"
"""How the id of a bot's account begins; no other account gets such an id."""


def is_bot(account: AccountId) -> bool:
    """Return whether an account is a bot's: a program of a player."""
    return account.startswith(BOT_PREFIX)


def robot_name(level: RobotLevel) -> str:
    """Return the userid of a robot, such as `robot-easy`."""
    return f"robot-{level}"


class Reason(StrEnum):
    """The reasons for the end of a match other than its game's rules."""

    AGREEMENT = "agreement"
    """A draw by agreement."""
    REPETITION = "repetition"
    """A draw on one player's proposal, when the same position with the same player to move stands for
    the third time."""
    TIME = "time"
    """All but one ran out of time or resigned; the last ran out of time."""
    RESIGNATION = "resignation"
    """All but one ran out of time or resigned; the last resigned."""
    ABORTED = "aborted"
    """All agreed that the match does not count; nobody wins."""
    DECLINED = "declined"
    """A player refused to play before their first move; nobody wins."""
    RULING = "ruling"
    """An arbiter decided the result."""
    ANNULLED = "annulled"
    """An arbiter annulled the match; nobody wins."""
    TRANSFERRED = "transferred"
    """All agreed to go on at another server; nobody wins here."""


class Case(msgspec.Struct, frozen=True, array_like=True):
    """A claim with all that followed it, or a ruling without a claim; see `domain.match.disputes`."""

    claim: int
    """Its number: that of the event of the claim, or of the ruling without one."""
    seat: Seat | None
    """The seat of the player who made the claim; None if an arbiter did."""
    ply: int
    ruled_at: int = 0
    """The time of the first ruling, ms; 0 before it."""
    arbiter: AccountId = b""
    """The arbiter of the first ruling."""
    appeal: int = 0
    """The number of the event of the appeal; 0 if there is none."""
    final: bool = False
    """Whether there is a ruling on the appeal."""

    @property
    def open(self) -> bool:
        """Whether its claim or its appeal waits for a ruling."""
        return not self.ruled_at or bool(self.appeal and not self.final)


Cases = tuple[Case, ...]
"""The cases of a match, in the order of their numbers."""


class CommitState(msgspec.Struct, frozen=True, array_like=True):
    """The progress of a draw by commit and reveal."""

    commitments: tuple[Commitment, ...]
    """The commitments so far, by seat."""
    seal: tuple[int, int] | None = None
    """Chain and number of the draw's seed, once all have committed."""

    @property
    def missing(self) -> tuple[Seat, ...]:
        """The seats that have not committed."""
        return tuple(seat for seat, one in enumerate(self.commitments) if not one.digest)


class CurrentOffer(msgspec.Struct, frozen=True, array_like=True):
    """An open offer: the seat that made it and those that have accepted."""

    kind: str
    seat: Seat
    accepted: tuple[Seat, ...] = ()

    def survives_move_of(self, mover: Seat) -> bool:
        """Return whether it stays open after a move of that seat.

        A draw may be proposed together with a move. The offers of a game are about a position.
        """
        return self.kind == "draw" and self.seat == mover

    def without(self, seat: Seat) -> Self | None:
        """Return the offer after a seat was taken over by somebody who has neither made it nor accepted it."""
        if self.seat == seat:
            return None
        return replace(self, accepted=tuple(one for one in self.accepted if one != seat))

    def after_answer(self, seat: Seat, *, accept: bool, playing: Sequence[Seat]) -> Self | None:
        """Return the offer after an answer; None if it was rejected or everybody has accepted."""
        accepted = (*self.accepted, seat)
        if not accept or {self.seat, *accepted}.issuperset(playing):
            return None
        return replace(self, accepted=accepted)


class ImportedMatch(msgspec.Struct, frozen=True, array_like=True):
    """The source of an imported match, as its state has it."""

    source: MatchSource
    ply: int
    """The number of moves that are the source's."""
    result: ImportedResult | None
    """How it had ended there; None if it goes on here."""

    @classmethod
    def of(cls, event: Imported) -> Self:
        """Return what is kept of an event."""
        return cls(event.source, len(event.moves.split()), event.result)


class Invitation(msgspec.Struct, frozen=True, array_like=True):
    """An invitation that some players have yet to accept."""

    seats: tuple[Seat, ...]
    """Those that have not accepted."""
    lapses: int
    """When the match ends unless all have accepted, ms."""
    server_deals: bool = False
    """Whether the server deals as soon as all have accepted, and nobody has a text to reveal."""


class LeftSeat(msgspec.Struct, frozen=True, array_like=True):
    """A seat that a substitute has taken over."""

    seat: Seat
    account: AccountId
    """The account of the player who had it before."""
    ply: int
    """The number of moves then."""


class MatchState(msgspec.Struct, frozen=True, array_like=True):
    """A match after its last event. A snapshot stores it.

    `rules` is empty before the first event.
    """

    rules: str = ""
    options: tuple[str, ...] = ()
    seats: tuple[AccountId, ...] = ()
    setup: str | None = None
    seq: int = 0
    """The number of the last event."""
    at: int = 0
    """The time of the last event, ms."""
    ply: int = 0
    """The number of moves."""
    moves: str = ""
    """The canonical texts of the moves, separated by blanks."""
    next: Seat | None = None
    """The seat to move."""
    acted: int = 0
    """Bit s is set once seat s has moved."""
    out: tuple[tuple[Seat, int], ...] = ()
    """Seats that have resigned or run out of time, each with the ply at which it did."""
    offer: CurrentOffer | None = None
    result: Ended | None = None
    texts: tuple[bytes | None, ...] = ()
    """Before a draw that waits for entropy: each seat's text, None for missing ones."""
    position: bytes | None = None
    """`pack_position` of the position after `ply` moves; None if it has not been computed."""
    clock: MatchClock | None = None
    """None for a match without clocks."""
    gather: CommitState | None = None
    """Before a draw by commit and reveal; None otherwise."""
    cases: Cases = ()
    """Claims, with all that followed them."""
    imported: ImportedMatch | None = None
    """None for a match that began here."""
    invitation: Invitation | None = None
    """Of a match by name that some of its players have yet to accept, or had when it ended; None otherwise."""
    pairing: tuple[int, int] | None = None
    """The tournament that the match is of, and its pairing there; None for other matches."""
    left_seats: tuple[LeftSeat, ...] = ()
    """The seats that substitutes have taken over, in the order of the events."""
    opening: int = 0
    """How many of the first moves the match was given; they are no player's, and are never taken back."""

    @property
    def started(self) -> bool:
        """Whether there is a match."""
        return bool(self.rules)

    @property
    def invited(self) -> tuple[Seat, ...]:
        """The seats that have yet to accept a match by name that is not over."""
        return self.invitation.seats if self.invitation is not None and not self.over else ()

    @property
    def awaits_entropy(self) -> bool:
        """Whether the match waits for its players' entropy, or for their consent to an import."""
        return bool(self.texts) and not self.over

    @property
    def has_no_position(self) -> bool:
        """Whether there is no position, because the match waits for entropy or ended before its draw."""
        return bool(self.texts) and self.imported is None

    @property
    def waits(self) -> tuple[Seat, ...]:
        """The seats to act: the one to move, or those to accept, commit or reveal."""
        if not self.awaits_entropy:
            mover = () if self.next is None else (self.next,)
            return mover if not self.invited else tuple(dict.fromkeys((*mover, *self.invited)))
        if self.gather is not None and self.gather.seal is None:
            return self.gather.missing
        return tuple(seat for seat, text in enumerate(self.texts) if text is None)

    @property
    def sealed(self) -> bool:
        """Whether all players have committed and the match waits for their texts."""
        return self.awaits_entropy and self.gather is not None and self.gather.seal is not None

    @property
    def active_seats(self) -> tuple[Seat, ...]:
        """The seats that play on."""
        seats = range(len(self.seats))
        if not self.out:
            return tuple(seats)
        out = {seat for seat, _ in self.out}
        return tuple(seat for seat in seats if seat not in out)

    @property
    def over(self) -> bool:
        """Whether the match has ended."""
        return self.result is not None

    @property
    def played(self) -> bool:
        """Whether every seat has moved, in a match that was not over before it was imported."""
        ended_before = self.imported is not None and self.imported.result is not None
        return not ended_before and self.acted == (1 << len(self.seats)) - 1

    @property
    def rated(self) -> bool:
        """Whether the match counts for ratings once it is over.

        An imported one never does, nor one with a substitute, because nobody has played it alone. One that is lost on time or
        by a ruling counts from the agreed moves of its losers on.
        """
        least = self.clock.terms.rated_from if self.clock else 1
        whole = self.imported is None and not self.left_seats
        forfeited = self.result is not None and self.result.reason in (Reason.TIME, Reason.RULING)
        # `played` alone is about one move, because moves that are taken back were made
        early = forfeited and least > 1 and self._moves_of_losers < least
        return self.played and bool(least) and whole and not early

    @property
    def _moves_of_losers(self) -> int:
        """The fewest moves of a seat that has lost, or of all seats if none has; without those that the match was given."""
        seats, won = range(len(self.seats)), self.result.winners if self.result else ()
        losers = [seat for seat in seats if seat not in won] or seats
        moved = clocks.seats_of_turns(self.clock.turns) if self.clock else []
        return min(map(moved.count, losers))

    def has_sat(self, account: AccountId) -> bool:
        """Return whether an account has or had a seat."""
        return account in self.seats or any(one.account == account for one in self.left_seats)

    def first_moves(self, plies: int) -> list[str]:
        """Return the first `plies` moves."""
        return self.moves.split(" ")[:plies] if self.ply else []


def initial() -> MatchState:
    """Return the state of a match before its first event."""
    return MatchState()


def next_due(state: MatchState) -> int:
    """Return the time of the next reminder or flag, ms; 0 if none is due without another event."""
    if state.over or (state.clock is None and not state.invited):
        return 0
    if state.next is None or state.clock is None or state.invited:
        return deadline(state) or 0
    return clocks.next_due(state.clock, state.next) or 0


def deadline(state: MatchState) -> int | None:
    """Return the time of the next flag, ms; None if none is due without another event.

    A player has as long to commit or to reveal as a move may take, without vacations. There is no
    limit for accepting a match without commitments. An invitation has its own time.
    """
    if state.invitation is not None and state.invited:
        return state.invitation.lapses
    if state.clock is None:
        return None
    if state.next is not None:
        return clocks.flag_time(state.clock, state.next)
    if state.gather is None or not state.awaits_entropy:
        return None
    return min(
        (at for seat in state.waits if (at := deadline_of(state, seat)) is not None), default=None
    )


def deadline_of(state: MatchState, seat: Seat) -> int | None:
    """Return when the time of a seat to act is over, ms; None without a limit."""
    if state.invitation is not None and state.invited:
        return state.invitation.lapses
    return None if state.clock is None else clocks.flag_time(state.clock, seat)


def reminder_is_due(state: MatchState, now: int = 0) -> bool:
    """Return whether a reminder, not a flag, is due at `now`, ms.

    A reminder that is late is not sent after the flag is due.
    """
    if state.clock is None or state.next is None or state.invited:
        return False
    flag = deadline(state)
    return clocks.reminder_time(state.clock, state.next) is not None and (
        flag is None or now < flag
    )


def position_of(state: MatchState) -> Any:
    """Return the current position, cached or replayed; a struct of the game's type."""
    if state.position is not None:
        return unpack_position(state.rules, state.position)
    return position_at(state, state.ply)


def position_at(state: MatchState, plies: int) -> Any:
    """Return the position after the first `plies` moves, by replay; 0 is the start."""
    return positions(state)[plies]


def positions(state: MatchState) -> list[Any]:
    """Return all `ply` + 1 positions from the start to now, by replay."""
    rules = rules_by_id(state.rules)
    position = without_leavers(state, rules, first_position(state), 0)
    found = [position]
    for ply, move in enumerate(state.first_moves(state.ply), 1):
        position = without_leavers(state, rules, rules.play(position, rules.read(move)), ply)
        found.append(position)
    return found


def without_leavers(state: MatchState, rules: AnyRules, position: Any, ply: int) -> Any:
    """Return the position without the seats that left at that ply while two others went on."""
    for gone, (seat, at) in enumerate(state.out, 1):
        if at == ply and len(state.seats) - gone > 1:
            position = rules.remove_seat(position, seat)
    return position


def first_position(state: MatchState) -> Any:
    """Return the position before the first move, with all players in it."""
    rules = rules_by_id(state.rules)
    setup = None if state.setup is None else msgspec.json.decode(state.setup)
    return rules.start(rules.read_options(state.options), len(state.seats), setup)


def cache_position(state: MatchState) -> MatchState:
    """Return the same state with the position computed."""
    if state.position is not None or not state.started or state.has_no_position:
        return state
    return replace(state, position=pack_position(position_of(state)))
