"""Commands about clocks: reminders and flags, the end of a pause, vacations."""

from domain.clocks import ledger as clocks
from domain.errors import Code, Refusal
from domain.match.commands import (
    Away,
    Flag,
    Nag,
    Return,
)
from domain.match.decision import Decided, mover_of
from domain.match.events import (
    THE_SERVER,
    Absent,
    AccountId,
    Declined,
    Ended,
    Event,
    Flagged,
    Nagged,
    Resumed,
    Returned,
    Withheld,
)
from domain.match.playing import leave
from domain.match.state import (
    MatchState,
    Reason,
    deadline,
    deadline_of,
)
from domain.rules import MissingRules, Seat, pinned


def check_time(state: MatchState, now: int) -> None:
    """Refuse a command after the mover's time is over, because only the flag can follow."""
    flag = deadline(state)
    if flag is not None and now >= flag:
        side = pinned(state.rules).sides[mover_of(state)]
        raise Refusal(Code.TIME_OVER, f"the time of {side} is over; the flag falls now")


def check_gathering_time(state: MatchState, now: int) -> None:
    """Refuse a command after the time to commit or to reveal is over, because the match ends then."""
    flag = deadline(state)
    if flag is not None and now >= flag:
        raise Refusal(Code.TIME_OVER, "the time to accept or to reveal is over; the match ends now")


def keep(command: Nag | Flag, actor: AccountId, state: MatchState, now: int) -> Decided:
    """Decide a command of the scheduler; nobody else may send it."""
    if actor != THE_SERVER:
        raise Refusal(Code.NOT_A_PLAYER, "only the server reminds and flags")
    if not state.started:
        raise Refusal(Code.UNKNOWN_BOARD, "there is no such match")
    if state.gathering and isinstance(command, Flag) and state.gather is not None:
        return _end_waiting(state, now)
    if state.over or state.next is None or state.clock is None:
        raise Refusal(Code.MATCH_OVER, "no clock runs in the match")
    rules = pinned(state.rules)
    if isinstance(rules, MissingRules):
        # nobody can move, so nobody loses by time
        raise Refusal(Code.UNKNOWN_RULES, rules.sentence)
    if command.ply not in (None, state.ply):
        raise Refusal(Code.STALE_PLY, f"the match stands at #{state.ply} now")
    mover = state.next
    if isinstance(command, Nag):
        check_time(state, now)
        _check_due(clocks.reminder(state.clock, mover), now)
        return Decided((Nagged(seat=mover),))
    _check_due(deadline(state), now)
    return leave(Flagged(seat=mover), Reason.TIME, state)


def _end_waiting(state: MatchState, now: int) -> Decided:
    """End a match because some players did not commit or reveal in time."""
    _check_due(deadline(state), now)
    late = [seat for seat in state.waits if (deadline_of(state, seat) or now + 1) <= now]
    kind = Withheld if state.sealed else Declined
    ended = Ended(winners=(), reason=Reason.DECLINED)
    return Decided((*(kind(seat=seat) for seat in late), ended))


def _check_due(instant: int | None, now: int) -> None:
    if instant is None or now < instant:
        raise Refusal(Code.TOO_EARLY, "no reminder and no flag is due yet")


def resume(seat: Seat, state: MatchState) -> Decided:
    """End a pause."""
    if state.clock is None or not state.clock.paused:
        raise Refusal(Code.NOT_PAUSED, "the match is not paused")
    return Decided((Resumed(seat=seat),))


def absence(command: Away | Return, seat: Seat, state: MatchState, now: int) -> Event:
    """Begin or shorten a vacation."""
    if state.clock is None:
        raise Refusal(Code.BAD_OPTION, "the match has no clocks that could stop")
    if isinstance(command, Return):
        # the past part of the vacation stays
        return Returned(seat=seat, until=max(command.until, now))
    if command.until <= now:
        raise Refusal(Code.TOO_LATE, "the vacation is over already")
    return Absent(seat=seat, until=command.until)
