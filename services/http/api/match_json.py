"""The JSON of a match."""

from collections.abc import Sequence
from typing import Any

import msgspec

from domain.clocks import match_clock
from domain.clocks.time_control import describe_time_control, write_time_control
from domain.match.history import Snapshot
from domain.match.state import MatchState, deadline, position_at, position_of
from domain.rules import AnyRules, Seat, rules_by_id
from services.app.endings import ending_clause
from services.app.names import shown_names


class Seated(msgspec.Struct, frozen=True):
    """A seat of a match."""

    seat: Seat
    side: str
    """The name of the seat in the game, such as `Light`."""
    userid: str | None
    """None for a player whose account was erased."""
    playing: bool
    """False once the player has resigned or run out of time."""


class OpenOffer(msgspec.Struct, frozen=True):
    """An open offer."""

    kind: str
    seat: Seat
    """The player who made it."""
    accepted: tuple[Seat, ...]
    """The players who have accepted it."""


class Result(msgspec.Struct, frozen=True):
    """How a match has ended."""

    winners: tuple[Seat, ...]
    """The winning seats: all tied seats for a draw, none for a match without a result."""
    reason: str
    text: str
    """The result in words."""


class SeatClock(msgspec.Struct, frozen=True):
    """One seat's clock."""

    seat: Seat
    used_ms: int
    """Time used in all finished turns."""
    left_ms: int | None
    """Time until the flag falls, by the nearest limit; null without a limit."""


class Clock(msgspec.Struct, frozen=True):
    """The clocks of a match, at the time of the request."""

    terms: tuple[str, ...]
    """The terms that differ from the usual ones, as in a challenge."""
    text: str
    """The time control in words."""
    rated: bool
    now: int
    """Milliseconds since 1970, by the server's clock."""
    deadline: int | None
    """When the flag of the player to move falls."""
    reminder: int | None
    """When the player to move is reminded."""
    paused_since: int | None
    seats: tuple[SeatClock, ...]


class BeforeDraw(msgspec.Struct, frozen=True):
    """The state of the players' commitments before the draw."""

    phase: str
    """`commit` until all have accepted, then `reveal`."""
    commitments: tuple[str, ...]
    """By seat, SHA-256 of each player's text, in hex; empty for a player who has not committed."""
    revealed: tuple[Seat, ...]
    """The seats whose texts are known."""
    deadline: int | None
    """When a player who is late counts as having declined, ms since 1970; null without a limit."""


class Place(msgspec.Struct, frozen=True):
    """A match at one ply."""

    ply: int
    last_move: str | None
    to_move: Seat | None
    position: Any
    """The game's own JSON form; null before a draw."""
    legal: tuple[str, ...] | None
    """All legal moves in canonical form; null if they were not requested."""


class Match(msgspec.Struct, frozen=True):
    """The present state of a match."""

    board: int
    game: str
    title: str
    rules: str
    """The pinned rules, such as `pow2/1`."""
    options: tuple[str, ...]
    setup: Any
    """The result of the draw, or null."""
    players: tuple[Seated, ...]
    state: str
    """`waiting` for consent, `active` or `over`."""
    waits_for: tuple[Seat, ...]
    """The seats that are to act: the one to move, or those that have not accepted a match that
    waits."""
    ply: int
    moves: tuple[str, ...]
    at: Place
    """The present position."""
    offer: OpenOffer | None
    result: Result | None
    clock: Clock | None
    """Null for a match without clocks."""
    seq: int
    """Number of the last event."""
    updated: int
    """Time of the last event, in ms."""
    head: str
    """Leaf hash of the last event, in hex; the ETag depends on it."""
    draw: BeforeDraw | None
    """Null after the draw, and for a match without commitments."""


def match_json(
    board: int, snapshot: Snapshot, names: Sequence[str | None], now: int, *, legal: bool
) -> Match:
    """Return a match as the API shows it; `now` in ms."""
    state = snapshot.state
    rules = rules_by_id(state.rules)
    return Match(
        board=board,
        game=rules.key,
        title=rules.title,
        rules=state.rules,
        options=state.options,
        setup=None if state.setup is None else msgspec.json.decode(state.setup),
        players=tuple(
            Seated(seat, rules.sides[seat], name, seat in state.active_seats)
            for seat, name in enumerate(names)
        ),
        state="over" if state.over else "waiting" if state.awaits_entropy else "active",
        waits_for=state.waits,
        ply=state.ply,
        moves=tuple(state.first_moves(state.ply)),
        at=_current_ply_json(state, rules, legal=legal),
        offer=_offer_json(state),
        result=_result_json(state, names),
        clock=_clock_json(state, now),
        seq=state.seq,
        updated=state.at,
        head=snapshot.head.hex(),
        draw=_before_draw_json(state),
    )


def _before_draw_json(state: MatchState) -> BeforeDraw | None:
    if state.gather is None or state.over:
        return None
    return BeforeDraw(
        phase="reveal" if state.sealed else "commit",
        commitments=tuple(one.digest.hex() for one in state.gather.commitments),
        revealed=tuple(seat for seat, text in enumerate(state.texts) if text is not None),
        deadline=deadline(state),
    )


def ply_json(state: MatchState, ply: int, *, legal: bool) -> Place:
    """Return a match as it stood after so many moves, by replay."""
    rules = rules_by_id(state.rules)
    if ply == state.ply:
        return _current_ply_json(state, rules, legal=legal)
    return _position_json(state, rules, position_at(state, ply), ply, legal=legal)


def _offer_json(state: MatchState) -> OpenOffer | None:
    if state.offer is None:
        return None
    return OpenOffer(state.offer.kind, state.offer.seat, state.offer.accepted)


def _current_ply_json(state: MatchState, rules: AnyRules, *, legal: bool) -> Place:
    if state.has_no_position:
        return Place(0, None, None, None, () if legal else None)
    shown = _position_json(
        state, rules, position_of(state), state.ply, legal=legal and not state.over
    )
    if state.over:
        return msgspec.structs.replace(shown, to_move=None, legal=() if legal else None)
    return msgspec.structs.replace(shown, to_move=state.next)


def _position_json(
    state: MatchState, rules: AnyRules, position: Any, ply: int, *, legal: bool
) -> Place:
    over = rules.outcome(position) is not None
    moves = () if over else tuple(rules.legal_moves(position)) if legal else None
    return Place(
        ply=ply,
        last_move=state.first_moves(ply)[-1] if ply else None,
        to_move=None if over else rules.to_move(position),
        position=rules.public_json(position),
        legal=moves if legal else None,
    )


def _result_json(state: MatchState, names: Sequence[str | None]) -> Result | None:
    if state.result is None:
        return None
    text = f"the match is over: {ending_clause(state, shown_names(names))}"
    return Result(state.result.winners, state.result.reason, text)


def _clock_json(state: MatchState, now: int) -> Clock | None:
    clock, mover = state.clock, state.next
    if clock is None:
        return None
    runs = mover is not None and not state.over
    return Clock(
        terms=write_time_control(clock.terms),
        text=describe_time_control(clock.terms),
        rated=clock.terms.rated,
        now=now,
        deadline=match_clock.flag_time(clock, mover) if runs and mover is not None else None,
        reminder=match_clock.reminder_time(clock, mover) if runs and mover is not None else None,
        paused_since=clock.paused or None,
        seats=tuple(
            SeatClock(
                seat,
                match_clock.time_used(clock, seat),
                match_clock.time_left(clock, seat, mover, now),
            )
            for seat in range(len(state.seats))
        ),
    )
