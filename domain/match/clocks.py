"""Commands about clocks: reminders and flags, the end of a pause, vacations; and the turns that clocks have counted."""

from collections.abc import Collection, Iterable, Iterator

import msgspec

from domain.clocks import match_clock as clocks
from domain.clocks.match_clock import MatchClock, time_left, time_of_turn
from domain.errors import Code, Refusal
from domain.match.commands import EndVacation, FlagPlayer, RemindPlayer, StartVacation
from domain.match.deals import end_without_texts
from domain.match.decision import Decision, DecisionContext, seat_to_move
from domain.match.events import (
    Absent,
    Challenged,
    Declined,
    Ended,
    Event,
    Flagged,
    MatchStarted,
    Moved,
    Nagged,
    Resumed,
    Returned,
    SeatTakenOver,
    SetBack,
    Undone,
)
from domain.match.evolve import evolve
from domain.match.history import EventEnvelope
from domain.match.moves import leave_match
from domain.match.sentences import SAY
from domain.match.state import MatchState, Reason, deadline, deadline_of, initial, robot_level
from domain.records import SERVER_ACCOUNT, AccountId
from domain.rules import MissingRules, Seat, rules_by_id


def is_robots_turn(state: MatchState) -> bool:
    """Return whether a robot is to move."""
    return state.next is not None and robot_level(state.seats[state.next]) is not None


def late_seats(state: MatchState, now: int) -> list[Seat]:
    """Return the seats that are to act and whose time is over at `now`, ms."""
    seats = state.invited or state.waits
    return [seat for seat in seats if (deadline_of(state, seat) or now + 1) <= now]


def all_late_are_robots(state: MatchState, now: int) -> bool:
    """Return whether robots, and nobody else, are late at `now`, ms."""
    late = late_seats(state, now)
    return bool(late) and all(robot_level(state.seats[seat]) for seat in late)


def check_time(state: MatchState, now: int) -> None:
    """Refuse a command after the mover's time is over, because only the flag can follow.

    A robot's move counts until its flag has fallen: it is late only because its server was down.
    """
    flag = deadline(state)
    if flag is not None and now >= flag and not is_robots_turn(state):
        side = rules_by_id(state.rules).sides[seat_to_move(state)]
        raise Refusal(Code.TIME_OVER, SAY("flag", side=side))


def check_commit_time(state: MatchState, now: int) -> None:
    """Refuse a command after the time to accept or to reveal is over, because the match ends then.

    As long as only robots are late, it waits for them.
    """
    flag = deadline(state)
    if flag is not None and now >= flag and not all_late_are_robots(state, now):
        raise Refusal(Code.TIME_OVER, SAY("late"))


def decide_timeout(
    command: RemindPlayer | FlagPlayer,
    actor: AccountId,
    state: MatchState,
    now: int,
    unseen: Collection[Seat] = (),
) -> Decision:
    """Decide a command of the scheduler; nobody else may send it. `unseen` is as in the context."""
    if actor != SERVER_ACCOUNT:
        raise Refusal(Code.NOT_A_PLAYER, SAY("server-only"))
    if not state.started:
        raise Refusal(Code.UNKNOWN_BOARD, SAY("no-match"))
    unstarted = state.invited or (state.awaits_entropy and state.gather is not None)
    if unstarted and isinstance(command, FlagPlayer):
        _check_due(deadline(state), now)
        _check_ply(command, state)
        late = late_seats(state, now)
        if state.sealed:
            return end_without_texts(late, unseen)
        ended = Ended(winners=(), reason=Reason.DECLINED)
        return Decision((*(Declined(seat=seat) for seat in late), ended))
    if state.over or state.next is None or state.clock is None or state.invited:
        raise Refusal(Code.MATCH_OVER, SAY("no-clock"))
    rules = rules_by_id(state.rules)
    if isinstance(rules, MissingRules):
        # nobody can move, so nobody loses by time
        raise Refusal(Code.UNKNOWN_RULES, rules.text)
    _check_ply(command, state)
    mover = state.next
    if isinstance(command, RemindPlayer):
        check_time(state, now)
        _check_due(clocks.reminder_time(state.clock, mover), now)
        return Decision((Nagged(seat=mover),))
    _check_due(deadline(state), now)
    return leave_match(Flagged(seat=mover), Reason.TIME, state)


def _check_ply(command: RemindPlayer | FlagPlayer, state: MatchState) -> None:
    if command.ply not in (None, state.ply):
        raise Refusal(Code.STALE_PLY, SAY("ply", ply=state.ply))


def _check_due(instant: int | None, now: int) -> None:
    if instant is None or now < instant:
        raise Refusal(Code.TOO_EARLY, SAY("not-due"))


def end_pause(seat: Seat, state: MatchState) -> Decision:
    """End a pause."""
    if state.clock is None or not state.clock.paused:
        raise Refusal(Code.NOT_PAUSED, SAY("not-paused"))
    return Decision((Resumed(seat=seat),))


def decide_vacation(
    command: StartVacation | EndVacation, seat: Seat, state: MatchState, now: int
) -> Event:
    """Begin or shorten a vacation."""
    if state.clock is None:
        raise Refusal(Code.BAD_OPTION, SAY("no-clocks"))
    if isinstance(command, EndVacation):
        # the past part of the vacation stays
        return Returned(seat=seat, until=max(command.until, now))
    if command.until <= now:
        raise Refusal(Code.TOO_LATE, SAY("vacation-over"))
    if clocks.vacation_left(state.clock, seat) == 0:
        raise Refusal(Code.BAD_OPTION, SAY("no-vacation"))
    return Absent(seat=seat, until=command.until)


def add_vacations(
    decision: Decision, state: MatchState, context: DecisionContext, now: int
) -> Decision:
    """Add the players' vacations to a decision by which clocks begin to run, or run for another player.

    Any other is returned unchanged.
    """
    beginning = Challenged | MatchStarted | SetBack | SeatTakenOver
    if not any(isinstance(event, beginning) for event in decision.events):
        return decision
    for event in decision.events:
        state = evolve(state, event, now)
    clock = state.clock
    if clock is None or state.over:
        return decision
    absent = tuple(
        Absent(seat=seat, until=until)
        for seat, account in enumerate(state.seats)
        if seat in state.active_seats
        and (until := context.away.get(account, 0)) > now
        and not _is_on_vacation(clock, seat, until)
        and clocks.vacation_left(clock, seat) != 0
    )
    return msgspec.structs.replace(decision, events=(*decision.events, *absent))


def _is_on_vacation(clock: MatchClock, seat: Seat, until: int) -> bool:
    """Return whether the clock already stands still for the seat until then."""
    return any(one.seat == seat and one.until >= until for one in clock.stops)


class ClockTurn(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A turn that is over: with a move, or because it became another seat's turn, or the match ended."""

    seat: Seat
    began: int
    """Instant, ms."""
    ended: int
    """Instant, ms."""
    counted: int
    """How much of it the clock counts, ms."""
    left: int | None
    """The rest of the seat's time at its end by the nearest limit, ms; None without a limit."""


def clock_turns(events: Iterable[EventEnvelope]) -> Iterator[ClockTurn]:
    """Yield the turns of a history that are over; none for a match without clocks."""
    state = initial()
    for envelope in events:
        after = evolve(state, envelope.body, envelope.at)
        if state.clock is not None and state.next is not None and _is_over(state, envelope, after):
            yield ClockTurn(
                seat=state.next,
                began=state.clock.since,
                ended=envelope.at,
                counted=time_of_turn(state.clock, state.next, envelope.at),
                left=time_left(state.clock, state.next, state.next, envelope.at),
            )
        state = after


def _is_over(before: MatchState, envelope: EventEnvelope, after: MatchState) -> bool:
    """Return whether an event ends the running turn; a turn may be over in the ms in which it began."""
    body: Event = envelope.body
    return (
        isinstance(body, Moved | Undone | SetBack)
        or after.next != before.next
        or _began(after) != _began(before)
    )


def _began(state: MatchState) -> int | None:
    return state.clock.since if state.clock else None
