"""Downloads of a match: documents, texts, pictures of its board, receipts and proofs."""

from typing import Any, Final

import msgspec
from litestar import Response

from domain.drawing import draw_text
from domain.match.events import Challenged, Imported, MatchStarted, Moved, OpeningGiven
from domain.match.evolve import ply_after
from domain.match.history import decode_event
from domain.match.state import MatchState, positions
from services.app.context import App
from services.app.damaged_match import refuse_damaged
from services.app.exports import DocumentReader, export_game_text, export_match
from services.app.receipts import leaf_of_event, proof_of, require_receipt
from services.http.web.boards.board_view import with_board_theme
from services.http.web.declared import Pages
from services.http.web.forms import VisitorForm
from services.http.web.match.view import MatchView
from services.http.web.params import Asked, BoardNumber, PlainPicture, Ply, Theme
from services.http.web.session import USUAL
from services.words.endings import board_svg
from services.words.matches import summary
from services.words.named_match import NamedMatch

pages = Pages()

_FOR_A_DAY: Final = "private, max-age=86400"

_MAX_DRAWN: Final = 400
"""Moves of a match that are drawn, from its start."""


def attachment(text: str | bytes, kind: str, name: str) -> Response[Any]:
    """Return a file to download."""
    headers = {
        "Content-Disposition": f'attachment; filename="{name}"',
        "Cache-Control": "private, no-cache",
    }
    return Response(text, media_type=kind, headers=headers)


def _match(asked: VisitorForm, board: int) -> MatchView:
    return MatchView.of(asked.context, board, asked.visitor)


def _load_with_position(asked: VisitorForm, board: int) -> MatchView:
    """Return a match; raises `not-started` if it has no position yet."""
    table = _match(asked, board)
    table.check_ply(0)
    return table


@pages.get("/m/{board:int}/match.json")
def export_json(board: BoardNumber, asked: Asked) -> Response[Any]:
    """Return a match as JSON that `matchpost referee` reads, with its players and its result."""
    table = _load_with_position(asked, board)
    state = table.state
    document = {
        "board": board,
        "game": table.rules.key,
        "rules": state.rules,
        "players": len(state.seats),
        "options": list(state.options),
        "setup": None if state.setup is None else msgspec.json.decode(state.setup),
        "moves": list(table.moves),
        "userids": list(table.userids),
        "result": None
        if state.result is None
        else {"winners": list(state.result.winners), "reason": state.result.reason},
    }
    data = msgspec.json.format(msgspec.json.encode(document), indent=2)
    return attachment(data, "application/json", f"match-{board}.json")


@pages.get("/m/{board:int}/document.json", weight=20)
def download_document(board: BoardNumber, asked: Asked) -> Response[Any]:
    """Return a match as a match document, which proves its moves."""
    line = export_match(asked.app, board, DocumentReader(asked.visitor.account))
    return attachment(line, "application/json", f"match-{board}-document.json")


@pages.get("/m/{board:int}/match.txt", weight=10)
def export_text(board: BoardNumber, asked: Asked) -> Response[Any]:
    """Return a match as text: its players, and every move with the board after it."""
    table = _load_with_position(asked, board)
    scene = NamedMatch.of(asked.app, board, table.state)
    more = [_cut_note(table.state)] if table.state.ply > _MAX_DRAWN else []
    text = "\n\n\n".join([summary(scene), *_boards_with_moves(table), *more])
    return attachment(f"{text}\n", "text/plain", f"match-{board}.txt")


@pages.get("/m/{board:int}/game.txt", weight=2)
def download_game_text(board: BoardNumber, asked: Asked) -> Response[Any]:
    """Return a match as a game text: headers, and its moves."""
    text = export_game_text(asked.app, board, asked.visitor.account)
    return attachment(text, "text/plain", f"match-{board}-game.txt")


def _boards_with_moves(table: MatchView) -> list[str]:
    rules, state = table.rules, _shorten(table.state)
    played = state.first_moves(state.ply)
    moves = ["the start", *(f"#{n}  {move}" for n, move in enumerate(played, 1))]
    drawings = [
        draw_text(rules, position, rules.displays[0], table.names) for position in positions(state)
    ]
    return [f"{move}\n\n{drawing}" for move, drawing in zip(moves, drawings, strict=True)]


@pages.get("/m/{board:int}/{ply:int}/board.svg", weight=2)
def show_picture(
    board: BoardNumber,
    ply: Ply,
    asked: Asked,
    plain: PlainPicture = False,  # noqa: FBT002 - in an address it has a name
    theme: Theme = USUAL.board,
) -> Response[Any]:
    """Draw a match at a ply, `plain` without its players; cached for a day, because it hardly ever changes."""
    table = _match(asked, board)
    table.check_ply(ply)
    svg = with_board_theme(board_svg(table.state, ply, table.names, plates=not plain), theme)
    return Response(svg, media_type="image/svg+xml", headers={"Cache-Control": _FOR_A_DAY})


def _shorten(state: MatchState) -> MatchState:
    """Return the match, cut to the moves that are drawn."""
    if state.ply <= _MAX_DRAWN:
        return state
    moves = " ".join(state.first_moves(_MAX_DRAWN))
    return msgspec.structs.replace(state, ply=_MAX_DRAWN, moves=moves, position=None)


def _cut_note(state: MatchState) -> str:
    """Return a note that boards are missing, with the moves that are not drawn."""
    more = " ".join(state.first_moves(state.ply)[_MAX_DRAWN:])
    return f"Boards are drawn up to #{_MAX_DRAWN}; the {state.ply - _MAX_DRAWN} moves after it are:\n\n{more}"


@pages.get("/m/{board:int}/receipt.txt")
def export_receipt(board: BoardNumber, asked: Asked) -> Response[Any]:
    """Return the receipt of a match's last event, which covers all before it."""
    return receipt_file(asked.app, board, _match(asked, board).state.seq)


@pages.get("/m/{board:int}/proof.txt", weight=2)
def export_proof(board: BoardNumber, asked: Asked) -> Response[Any]:
    """Return the proof of a match's last event, which covers all before it."""
    return proof_file(asked.app, board, _match(asked, board).state.seq)


@pages.get("/m/{board:int}/{ply:int}/receipt.txt")
def export_move_receipt(board: BoardNumber, ply: Ply, asked: Asked) -> Response[Any]:
    """Return the receipt of the move that led to a ply; of the start for ply 0, or of an import before it."""
    return receipt_file(asked.app, board, _seq_of_ply(asked.app, _match(asked, board), ply))


@pages.get("/m/{board:int}/{ply:int}/proof.txt", weight=2)
def export_move_proof(board: BoardNumber, ply: Ply, asked: Asked) -> Response[Any]:
    """Return the proof of the move that led to a ply; of the start for ply 0, or of an import before it."""
    return proof_file(asked.app, board, _seq_of_ply(asked.app, _match(asked, board), ply))


def receipt_file(app: App, board: int, seq: int) -> Response[Any]:
    """Return the receipt of an event of a match or a tournament as a file."""
    text = require_receipt(app, board, leaf_of_event(app, board, seq))
    return attachment(text, "text/plain", f"receipt-{board}-{seq}.txt")


def proof_file(app: App, board: int, seq: int) -> Response[Any]:
    """Return the proof of an event of a match or a tournament as a file."""
    text = proof_of(app, board, leaf_of_event(app, board, seq))
    return attachment(text, "text/plain", f"proof-{board}-{seq}.txt")


def _seq_of_ply(app: App, table: MatchView, ply: int) -> int:
    """Return the number of the event that led to a ply of the match as it stands."""
    table.check_ply(ply)
    with refuse_damaged(app.damage, table.board):
        events = [decode_event(data) for data in app.store.events(table.board)]
        # the last one, because moves that were taken back were played again
        return max(event.seq for event in events if _leads_to(event.body, ply))


def _leads_to(body: Any, ply: int) -> bool:
    if isinstance(body, Moved):
        return body.ply == ply
    if isinstance(body, Imported | OpeningGiven):
        return ply <= ply_after(body, 0)
    return ply == 0 and isinstance(body, MatchStarted | Challenged)
