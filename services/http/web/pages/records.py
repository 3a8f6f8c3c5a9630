"""Downloads of receipts and proofs: of a match as it stands, and of a move."""

from typing import Any

from litestar import Response

from domain.match.events import Challenged, Imported, MatchStarted, Moved
from domain.match.leaves import decode_event
from domain.match.state import ImportedMatch
from services.app.damaged_match import refuse_damaged
from services.app.receipts import leaf_of_event, proof_of, require_receipt
from services.http.context import ApiContext
from services.http.web.declared import Pages
from services.http.web.pages.exports import attachment
from services.http.web.params import BoardNumber, ContextDependency, Ply, VisitorDependency
from services.http.web.views.match_view import MatchView

pages = Pages()


@pages.get("/m/{board:int}/receipt.txt")
def export_receipt(
    board: BoardNumber, context: ContextDependency, visitor: VisitorDependency
) -> Response[Any]:
    """Return the receipt of a match's last event, which covers all before it."""
    return _receipt(context, board, MatchView.of(context, board, visitor).state.seq)


@pages.get("/m/{board:int}/proof.txt", weight=2)
def export_proof(
    board: BoardNumber, context: ContextDependency, visitor: VisitorDependency
) -> Response[Any]:
    """Return the proof of a match's last event, which covers all before it."""
    return _proof(context, board, MatchView.of(context, board, visitor).state.seq)


@pages.get("/m/{board:int}/{ply:int}/receipt.txt")
def export_move_receipt(
    board: BoardNumber, ply: Ply, context: ContextDependency, visitor: VisitorDependency
) -> Response[Any]:
    """Return the receipt of the move that led to a ply; of the start for ply 0, or of an import before it."""
    return _receipt(
        context, board, _seq_of_ply(context, MatchView.of(context, board, visitor), ply)
    )


@pages.get("/m/{board:int}/{ply:int}/proof.txt", weight=2)
def export_move_proof(
    board: BoardNumber, ply: Ply, context: ContextDependency, visitor: VisitorDependency
) -> Response[Any]:
    """Return the proof of the move that led to a ply; of the start for ply 0, or of an import before it."""
    return _proof(context, board, _seq_of_ply(context, MatchView.of(context, board, visitor), ply))


def _receipt(context: ApiContext, board: int, seq: int) -> Response[Any]:
    text = require_receipt(context.app, board, leaf_of_event(context.app, board, seq))
    return attachment(text, "text/plain", f"receipt-{board}-{seq}.txt")


def _proof(context: ApiContext, board: int, seq: int) -> Response[Any]:
    text = proof_of(context.app, board, leaf_of_event(context.app, board, seq))
    return attachment(text, "text/plain", f"proof-{board}-{seq}.txt")


def _seq_of_ply(context: ApiContext, table: MatchView, ply: int) -> int:
    """Return the number of the event that led to a ply of the match as it stands."""
    table.check_ply(ply)
    with refuse_damaged(context.app.damage, table.board):
        events = [decode_event(data) for data in context.app.store.events(table.board)]
        # the last one, because moves that were taken back were played again
        return max(event.seq for event in events if _leads_to(event.body, ply))


def _leads_to(body: Any, ply: int) -> bool:
    if isinstance(body, Moved):
        return body.ply == ply
    if isinstance(body, Imported):
        return ply <= ImportedMatch.of(body).ply
    return ply == 0 and isinstance(body, MatchStarted | Challenged)
