"""A match's deal beyond its kind: whether it was sealed, and whether staff of the server took part in it."""

from domain.match.deals import DealKind, deal_kind
from domain.match.leaves import decode_event
from domain.match.state import MatchState
from domain.rules import Seat
from services.app.context import App
from services.app.disputes import is_arbiter


def staff_at_deal(app: App, board: int, state: MatchState) -> tuple[Seat, ...]:
    """Return the seats of arbiters in a match of several whose deal the server's operator can choose.

    Arbiters stand for all who run the server. None in a sealed deal, and where chance sets up nothing.
    """
    staff = _has_deal(state) and [
        seat for seat, one in enumerate(state.seats) if is_arbiter(app, one)
    ]
    if not staff:
        return ()
    return () if _kind(app, board) in (None, DealKind.SEALED) else tuple(staff)


def was_sealed(app: App, board: int, state: MatchState) -> bool:
    """Return whether the players of a match kept the texts for its deal themselves, as in a rematch again."""
    return _has_deal(state) and _kind(app, board) in (DealKind.SEALED, DealKind.AGREED)


def _has_deal(state: MatchState) -> bool:
    chance = state.setup is not None or (state.awaits_entropy and not state.over)
    return chance and len(state.seats) > 1


def _kind(app: App, board: int) -> DealKind | None:
    return deal_kind(decode_event(data).body for data in app.store.events(board))
