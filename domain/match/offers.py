"""Offers, answers, and the events after all players have agreed."""

from typing import Final

from domain.errors import Code, Refusal
from domain.match.commands import (
    Answer,
    Offer,
)
from domain.match.decision import Decided, endings
from domain.match.events import Answered, Ended, Event, Offered, Paused, Undone
from domain.match.state import (
    MatchState,
    Offering,
    Reason,
    evolve,
    position_of,
    positions,
)
from domain.rules import AnyRules, Seat, pack, pinned

OFFER_KINDS: Final = ("draw", "undo", "abort", "pause")
"""The offers of every game."""

_REPEATED: Final = 3
"""The number of times that a position must have stood for a draw without consent."""


def offer(command: Offer, seat: Seat, state: MatchState) -> Decided:
    """Make an offer; repeating another player's offer accepts it."""
    rules = pinned(state.rules)
    _check_offer(command.kind, rules, state)
    if state.offer is not None:
        if state.offer.kind != command.kind:
            raise Refusal(Code.OFFER_STANDS, f"a {state.offer.kind} is proposed; answer that first")
        if state.offer.seat == seat:
            raise Refusal(Code.OFFER_STANDS, f"your offer of a {state.offer.kind} stands already")
        return answer(Answer(accept=True), seat, state)
    if command.kind == "undo":
        _last_move_of(seat, state)
    if command.kind == "pause" and (state.clock is None or state.clock.paused):
        why = "is paused already" if state.clock else "has no clocks"
        raise Refusal(Code.UNKNOWN_OFFER, f"a pause can't be proposed: the match {why}")
    offered = Offered(seat=seat, kind=command.kind)
    if command.kind == "draw" and _stood(state) >= _REPEATED:
        return Decided((offered, Ended(winners=state.seats_in, reason=Reason.REPETITION)))
    return Decided((offered,))


def _check_offer(kind: str, rules: AnyRules, state: MatchState) -> None:
    if len(state.seats) == 1:
        raise Refusal(Code.UNKNOWN_OFFER, "there is nobody to propose anything to")
    kinds = (*OFFER_KINDS, *rules.offers)
    if kind not in kinds:
        raise Refusal(Code.UNKNOWN_OFFER, f"{kind!r} can't be proposed; {' and '.join(kinds)} can")
    if kind in rules.offers:
        rules.check_offer(position_of(state), kind)


def _stood(state: MatchState) -> int:
    """Return how many times the position, with the same player to move, has stood."""
    *earlier, now = positions(state)
    return 1 + earlier.count(now)


def answer(command: Answer, seat: Seat, state: MatchState) -> Decided:
    """Accept or reject the open offer."""
    current = state.offer
    if current is None:
        raise Refusal(Code.NO_OFFER, "no offer stands; one lapses when another player moves")
    if current.seat == seat:
        raise Refusal(Code.NO_OFFER, "your own offer is for the others to answer")
    if seat in current.accepted:
        raise Refusal(Code.OFFER_STANDS, f"you have accepted the {current.kind} already")
    answered = Answered(seat=seat, kind=current.kind, accept=command.accept)
    agreed = {current.seat, seat, *current.accepted}
    if command.accept and agreed.issuperset(state.seats_in):
        return _agreed(answered, current, state)
    return Decided((answered,))


def _agreed(answered: Answered, current: Offering, state: MatchState) -> Decided:
    """Return the events after all players have agreed."""
    match current.kind:
        case "draw":
            ended: tuple[Event, ...] = (Ended(winners=state.seats_in, reason=Reason.AGREEMENT),)
        case "abort":
            ended = (Ended(winners=(), reason=Reason.ABORTED),)
        case "pause":
            ended = (Paused(),)
        case "undo":
            return _undo(answered, _last_move_of(current.seat, state), state)
        case kind:
            ended = endings(pinned(state.rules).agreed(position_of(state), kind))
    return Decided((answered, *ended))


def _last_move_of(seat: Seat, state: MatchState) -> int:
    """Return the number of moves before a seat's last one; raises `Refusal` if it has none."""
    rules = pinned(state.rules)
    before = [rules.to_move(position) for position in positions(state)[:-1]]
    if seat not in before:
        raise Refusal(Code.UNKNOWN_OFFER, "you have no move to take back")
    return len(before) - 1 - before[::-1].index(seat)


def _undo(answered: Answered, ply: int, state: MatchState) -> Decided:
    """Take back all moves after the first `ply`."""
    # `evolve` cuts the moves, and a replay finds the position
    cut = evolve(state, Undone(ply=ply, next=None), state.at)
    position = position_of(cut)
    undone = Undone(ply=ply, next=pinned(state.rules).to_move(position))
    return Decided((answered, undone), pack(position))
