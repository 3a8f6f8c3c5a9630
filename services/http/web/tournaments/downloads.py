"""Downloads of a tournament: its document, and the receipt and the proof of its last event."""

from typing import Any

from litestar import Response

from services.app.exports import DocumentReader, export_tournament
from services.app.tournaments import visible_state
from services.http.web.declared import Pages
from services.http.web.match.downloads import attachment, proof_file, receipt_file
from services.http.web.params import Asked
from services.http.web.tournaments.page import TournamentNumber

pages = Pages()


@pages.get("/tournaments/{number:int}/document.json", weight=20)
def download_document(number: TournamentNumber, asked: Asked) -> Response[Any]:
    """Return a tournament as a tournament document, which proves its tables."""
    line = export_tournament(asked.app, number, DocumentReader(asked.visitor.account))
    return attachment(line, "application/json", f"tournament-{number}-document.json")


@pages.get("/tournaments/{number:int}/receipt.txt")
def export_receipt(number: TournamentNumber, asked: Asked) -> Response[Any]:
    """Return the receipt of a tournament's last event, which covers all before it."""
    return receipt_file(asked.app, number, _last_event(asked, number))


@pages.get("/tournaments/{number:int}/proof.txt", weight=2)
def export_proof(number: TournamentNumber, asked: Asked) -> Response[Any]:
    """Return the proof of a tournament's last event, which covers all before it."""
    return proof_file(asked.app, number, _last_event(asked, number))


def _last_event(asked: Asked, number: int) -> int:
    return visible_state(asked.app, asked.visitor.account, number).seq
