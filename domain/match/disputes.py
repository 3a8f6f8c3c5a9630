"""Claims, rulings and appeals.

A case begins with a claim, or with a ruling of an arbiter's own motion, and has the number of that
event. It is open until an arbiter rules, and again from an appeal until another arbiter rules. Play
and clocks go on meanwhile. A ruling edits nothing: what it changes follows in events of its own.
"""

from collections.abc import Sequence
from typing import Any, Final

from msgspec.structs import replace

from domain.clocks.time_control import DAY
from domain.errors import Code, Refusal
from domain.match.commands import GiveRuling, MakeAppeal, MakeClaim
from domain.match.decision import Decision, seat_of
from domain.match.events import Appealed, Claimed, Event, ResultChanged, Ruled, SetBack, TimeGiven
from domain.match.evolve import evolve
from domain.match.sentences import SAY
from domain.match.state import Case, MatchState, Reason, position_of
from domain.records import AccountId
from domain.rules import pack_position, rules_by_id

CLAIMS_LIMIT: Final = 3
"""The most claims of a player in a match."""

APPEAL_DAYS: Final = 14
APPEAL_MS: Final = APPEAL_DAYS * DAY
"""How long after a ruling an appeal is possible."""

_GRANT_DAYS: Final = 3650
"""The most days that a ruling grants a seat."""

_TEXT_BYTES: Final = 32

DisputeCommand = MakeClaim | GiveRuling | MakeAppeal


def decide_dispute(
    command: DisputeCommand, actor: AccountId, state: MatchState, now: int
) -> Decision:
    """Decide a claim, a ruling or an appeal, at any time of a match and after its end."""
    if not state.started:
        raise Refusal(Code.UNKNOWN_BOARD, SAY("no-match"))
    if len(command.text) != _TEXT_BYTES:
        raise Refusal(Code.BAD_REQUEST, SAY("digest"))
    match command:
        case MakeClaim():
            return Decision((_claim(command, actor, state),))
        case MakeAppeal():
            return Decision((_appeal(command, actor, state, now),))
        case GiveRuling():
            return _ruling(command, actor, state)


def open_case(state: MatchState) -> Case | None:
    """Return the case whose claim or appeal waits for a ruling, the oldest of several."""
    return next((case for case in state.cases if case.open), None)


def find_case(state: MatchState, claim: int) -> Case:
    """Return a case by the number of its first event; raises `Refusal` with `unknown-claim`."""
    for case in state.cases:
        if case.claim == claim:
            return case
    raise Refusal(Code.UNKNOWN_CLAIM, SAY("no-claim", claim=claim))


def appealable_until(case: Case) -> int:
    """Return until when the ruling on a case may be appealed against, ms; 0 if it can't or is not there."""
    return case.ruled_at + APPEAL_MS if case.ruled_at and not case.appeal else 0


def may_be_ruled_on(state: MatchState, now: int) -> bool:
    """Return whether a claim or an appeal waits for a ruling, or an appeal may come after `now`, ms."""
    return any(case.open or now < appealable_until(case) for case in state.cases)


def _claim(command: MakeClaim, actor: AccountId, state: MatchState) -> Claimed:
    seat = state.seats.index(actor) if actor in state.seats else None
    if not 0 <= command.ply <= state.ply:
        raise Refusal(Code.UNKNOWN_PLY, SAY("no-ply", meant=command.ply, ply=state.ply))
    if waits := open_case(state):
        raise Refusal(Code.CLAIM_STANDS, SAY("claim-stands", claim=waits.claim))
    own = [case for case in state.cases if seat is not None and case.seat == seat]
    if len(own) >= CLAIMS_LIMIT:
        raise Refusal(Code.TOO_MANY, SAY("claims", most=CLAIMS_LIMIT))
    return Claimed(seat=seat, ply=command.ply, text=command.text)


def _appeal(command: MakeAppeal, actor: AccountId, state: MatchState, now: int) -> Appealed:
    seat, case = seat_of(actor, state), find_case(state, command.claim)
    if not case.ruled_at:
        raise Refusal(Code.TOO_EARLY, SAY("unruled", claim=case.claim))
    if case.appeal:
        raise Refusal(Code.ALREADY_APPEALED, SAY("appealed", claim=case.claim))
    if now >= appealable_until(case):
        raise Refusal(Code.TOO_LATE, SAY("appeal-late", days=APPEAL_DAYS))
    return Appealed(seat=seat, claim=case.claim, text=command.text)


def _ruling(command: GiveRuling, actor: AccountId, state: MatchState) -> Decision:
    if state.has_sat(actor):
        raise Refusal(Code.NOT_AN_ARBITER, SAY("own-case"))
    if command.claim is not None:
        _check_open(find_case(state, command.claim), actor)
    ruled = Ruled(claim=command.claim, upheld=command.upheld, text=command.text)
    remedies, position = _remedies(command, state)
    return Decision((ruled, *remedies), position)


def _check_open(case: Case, arbiter: AccountId) -> None:
    if case.final:
        raise Refusal(Code.ALREADY_RULED, SAY("final", claim=case.claim))
    if not case.open:
        raise Refusal(Code.ALREADY_RULED, SAY("ruled", claim=case.claim))
    if arbiter == case.arbiter:
        raise Refusal(Code.NOT_AN_ARBITER, SAY("same-arbiter"))


def _remedies(command: GiveRuling, state: MatchState) -> tuple[Sequence[Event], bytes | None]:
    """Return the events that follow a ruling, and the packed position if they change it."""
    result = command.winners is not None or command.annul
    ends = (command.back_to is not None, command.winners is not None, command.annul)
    if not command.upheld:
        if any(ends) or command.time:
            raise Refusal(Code.BAD_RULING, SAY("remedy-dismissed"))
        return (), None
    if not any(ends) and not command.time:
        raise Refusal(Code.BAD_RULING, SAY("no-remedy"))
    goes_on = command.back_to is not None or not (state.over or result)
    if sum(ends) > 1 or (command.time and not goes_on):
        raise Refusal(Code.BAD_RULING, SAY("one-remedy"))
    if state.result is not None and state.result.reason == Reason.TRANSFERRED:
        raise Refusal(Code.BAD_RULING, SAY("transferred"))
    # also while an imported match waits for its players' consent, and if not all accepted one by name
    if (state.texts or state.invitation) and (
        command.back_to is not None or command.winners is not None
    ):
        raise Refusal(Code.BAD_RULING, SAY("undrawn"))
    if result:
        return (_result(command, state),), None
    if command.back_to is None:
        return _grants(command, state), None
    back, position = set_back(state, command.back_to)
    after = evolve(state, back, state.at, pack_position(position))
    return (back, *_grants(command, after)), after.position


def set_back(state: MatchState, ply: int) -> tuple[SetBack, Any]:
    """Return the event that sets a match back to a ply, and the position then."""
    if not 0 <= ply <= state.ply:
        raise Refusal(Code.UNKNOWN_PLY, SAY("no-ply", meant=ply, ply=state.ply))
    if ply < state.opening:
        raise Refusal(Code.BAD_RULING, SAY("opening-stays", ply=state.opening))
    back = tuple(sorted(seat for seat, at in state.out if at >= ply))
    event = SetBack(ply=ply, next=None, back=back)
    # `evolve` cuts the moves, and a replay finds the position
    position = position_of(evolve(state, event, state.at))
    rules = rules_by_id(state.rules)
    if rules.outcome(position) is not None:
        raise Refusal(Code.BAD_RULING, SAY("terminal", ply=ply))
    return replace(event, next=rules.to_move(position)), position


def _result(command: GiveRuling, state: MatchState) -> ResultChanged:
    winners = command.winners
    if winners is None:
        return ResultChanged(winners=(), reason=Reason.ANNULLED)
    if not winners or sorted(set(winners) & set(range(len(state.seats)))) != list(winners):
        raise Refusal(Code.BAD_RULING, SAY("winners"))
    return ResultChanged(winners=winners, reason=Reason.RULING)


def _grants(command: GiveRuling, state: MatchState) -> tuple[TimeGiven, ...]:
    seats = [seat for seat, _ in command.time]
    if not seats:
        return ()
    if state.clock is None:
        raise Refusal(Code.BAD_RULING, SAY("no-clocks"))
    fits = all(0 < ms <= _GRANT_DAYS * DAY for _, ms in command.time)
    if not fits or len(set(seats)) != len(seats) or not set(seats) <= set(state.active_seats):
        raise Refusal(Code.BAD_RULING, SAY("grants", days=_GRANT_DAYS))
    return tuple(TimeGiven(seat=seat, ms=ms) for seat, ms in command.time)
