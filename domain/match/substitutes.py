"""Substitutes: another player takes over a seat of a tournament's match as it stands."""

from domain.errors import Code, Refusal
from domain.match.commands import SubstitutePlayer
from domain.match.decision import Decision
from domain.match.events import SeatTakenOver
from domain.match.sentences import SAY
from domain.match.state import MatchState
from domain.records import SERVER_ACCOUNT, AccountId


def substitute_player(command: SubstitutePlayer, actor: AccountId, state: MatchState) -> Decision:
    """Let a substitute take over a seat; only the server may, in a match of a tournament that goes on."""
    if actor != SERVER_ACCOUNT:
        raise Refusal(Code.NOT_A_PLAYER, SAY("substitute-server"))
    if not state.started:
        raise Refusal(Code.UNKNOWN_BOARD, SAY("no-match"))
    if state.pairing is None:
        raise Refusal(Code.AGAINST_TERMS, SAY("substitute-alone"))
    if state.over:
        raise Refusal(Code.MATCH_OVER, SAY("over"))
    if command.seat not in state.active_seats:
        raise Refusal(Code.BAD_REQUEST, SAY("substitute-seat"))
    if command.account in state.seats:
        raise Refusal(Code.BAD_REQUEST, SAY("twice"))
    taken = SeatTakenOver(seat=command.seat, account=command.account, next=state.next)
    return Decision((taken,))
