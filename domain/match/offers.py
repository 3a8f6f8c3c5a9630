"""Offers, answers, and the events after all players have agreed."""

from typing import Final

from domain.errors import Code, Refusal
from domain.match.commands import (
    AnswerOffer,
    MakeOffer,
)
from domain.match.decision import Decision, ending_events
from domain.match.events import Ended, Event, OfferAnswered, OfferMade, Paused, Undone
from domain.match.evolve import evolve
from domain.match.sentences import SAY
from domain.match.state import CurrentOffer, MatchState, Reason, position_of, positions
from domain.rules import AnyRules, Seat, pack_position, rules_by_id

OFFER_KINDS: Final = ("draw", "undo", "abort", "pause", "transfer")
"""The offers of every game."""

NOT_IN_TOURNAMENTS: Final = ("undo", "abort", "transfer")
"""The offers that no match of a tournament has, because its result concerns others."""

DEAL: Final = "deal"
"""The offer that the server deals without the texts that players have not revealed."""

_REPETITIONS: Final = 3
"""The number of times that a position must have stood for a draw without consent."""


def make_offer(command: MakeOffer, seat: Seat, state: MatchState) -> Decision:
    """Make an offer; repeating another player's offer accepts it."""
    rules = rules_by_id(state.rules)
    _check_offer(command.kind, rules, state)
    if state.offer is not None:
        if state.offer.kind != command.kind:
            raise Refusal(Code.OFFER_STANDS, SAY("proposed", kind=state.offer.kind))
        if state.offer.seat == seat:
            raise Refusal(Code.OFFER_STANDS, SAY("offered", kind=state.offer.kind))
        return answer_offer(AnswerOffer(accept=True), seat, state)
    if command.kind == "undo":
        _ply_before_last_move_of(seat, state)
    if command.kind == "pause":
        _check_pause(state)
    offered = OfferMade(seat=seat, kind=command.kind)
    if command.kind == "draw" and _repetitions(state) >= _REPETITIONS:
        return Decision((offered, Ended(winners=state.active_seats, reason=Reason.REPETITION)))
    return Decision((offered,))


def can_pause(state: MatchState) -> bool:
    """Return whether the players of a match could agree to a pause now."""
    clock = state.clock
    return clock is not None and not clock.paused and clock.terms.options.pause


def _check_pause(state: MatchState) -> None:
    if state.clock is None:
        raise Refusal(Code.UNKNOWN_OFFER, SAY("clockless"))
    if not can_pause(state):
        raise Refusal(
            Code.UNKNOWN_OFFER, SAY("paused") if state.clock.paused else SAY("unpausable")
        )


def offer_deal(command: MakeOffer | AnswerOffer, seat: Seat, state: MatchState) -> Decision:
    """Propose that the server deals without the missing texts, or answer that, in a sealed match.

    The caller deals once all have agreed, which leaves no offer open.
    """
    if isinstance(command, AnswerOffer):
        return answer_offer(command, seat, state)
    if command.kind != DEAL:
        raise Refusal(Code.NOT_STARTED, SAY("unrevealed"))
    if state.offer is None:
        return Decision((OfferMade(seat=seat, kind=DEAL),))
    if state.offer.seat == seat:
        raise Refusal(Code.OFFER_STANDS, SAY("offered", kind=DEAL))
    return answer_offer(AnswerOffer(accept=True), seat, state)


def _check_offer(kind: str, rules: AnyRules, state: MatchState) -> None:
    if len(state.seats) == 1:
        raise Refusal(Code.UNKNOWN_OFFER, SAY("alone"))
    kinds = (*OFFER_KINDS, *rules.offers)
    if state.pairing is not None and kind in NOT_IN_TOURNAMENTS:
        raise Refusal(Code.AGAINST_TERMS, SAY("of-tournament"))
    if kind not in kinds:
        raise Refusal(Code.UNKNOWN_OFFER, SAY("no-such-offer", kind=kind, kinds=" ".join(kinds)))
    if kind in rules.offers:
        rules.check_offer(position_of(state), kind)


def _repetitions(state: MatchState) -> int:
    """Return how many times the position, with the same player to move, has stood."""
    *earlier, now = positions(state)
    return 1 + earlier.count(now)


def answer_offer(command: AnswerOffer, seat: Seat, state: MatchState) -> Decision:
    """Accept or reject the open offer; its maker takes it back by rejecting it."""
    current = state.offer
    if current is None:
        raise Refusal(Code.NO_OFFER, SAY("no-offer"))
    if current.seat == seat and command.accept:
        raise Refusal(Code.NO_OFFER, SAY("own-offer"))
    if seat in current.accepted:
        raise Refusal(Code.OFFER_STANDS, SAY("accepted", kind=current.kind))
    answered = OfferAnswered(seat=seat, kind=current.kind, accept=command.accept)
    agreed = {current.seat, seat, *current.accepted}
    if command.accept and agreed.issuperset(state.active_seats):
        return _after_agreement(answered, current, state)
    return Decision((answered,))


def _after_agreement(answered: OfferAnswered, current: CurrentOffer, state: MatchState) -> Decision:
    """Return the events after all players have agreed."""
    match current.kind:
        case "draw":
            ended: tuple[Event, ...] = (Ended(winners=state.active_seats, reason=Reason.AGREEMENT),)
        case "abort":
            ended = (Ended(winners=(), reason=Reason.ABORTED),)
        case "transfer":
            ended = (Ended(winners=(), reason=Reason.TRANSFERRED),)
        case "pause":
            ended = (Paused(),)
        case "deal":
            ended = ()
        case "undo":
            return _undo_moves(answered, _ply_before_last_move_of(current.seat, state), state)
        case kind:
            ended = ending_events(
                rules_by_id(state.rules).outcome_by_offer(position_of(state), kind)
            )
    return Decision((answered, *ended))


def _ply_before_last_move_of(seat: Seat, state: MatchState) -> int:
    """Return the number of moves before a seat's last one; raises `Refusal` if it has none."""
    rules = rules_by_id(state.rules)
    before = [rules.to_move(position) for position in positions(state)[state.opening : -1]]
    if seat not in before:
        raise Refusal(Code.UNKNOWN_OFFER, SAY("no-undo"))
    return state.ply - 1 - before[::-1].index(seat)


def _undo_moves(answered: OfferAnswered, ply: int, state: MatchState) -> Decision:
    """Take back all moves after the first `ply`."""
    # `evolve` cuts the moves, and a replay finds the position
    cut = evolve(state, Undone(ply=ply, next=None), state.at)
    position = position_of(cut)
    undone = Undone(ply=ply, next=rules_by_id(state.rules).to_move(position))
    return Decision((answered, undone), pack_position(position))
