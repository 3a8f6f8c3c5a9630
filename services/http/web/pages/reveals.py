"""The list of texts that a browser has to reveal for deals."""

from typing import Final

import msgspec

from infra.projections.match_lists import MatchFilter
from services.app.matches import load_state
from services.http.context import ApiContext
from services.http.web.declared import Pages
from services.http.web.params import ContextDependency, KeptTexts, VisitorDependency
from services.http.web.session import AnyRequest

pages = Pages()

_MOST: Final = 200

_DIGITS: Final = 16
"""Hex digits of a commitment by which a browser names a text that it keeps."""


class RevealRequest(msgspec.Struct, frozen=True):
    """A text that a match waits for."""

    board: int
    commitment: str
    """In hex. The browser finds the text by it."""


@pages.get("/draws")
def list_reveals(
    request: AnyRequest,
    context: ContextDependency,
    visitor: VisitorDependency,
    have: KeptTexts = "",
) -> list[RevealRequest]:
    """Return the texts that the visitor's matches wait for; none without a log-in.

    `have` are the texts that the browser keeps; it is noted that they were seen.
    """
    if visitor.account is None:
        return []
    rows = context.app.lists.of(visitor.account, MatchFilter.NEXT, None, 0, _MOST)
    requests = (
        _reveal_request(context, row.board, visitor.account) for row in rows if not row.started
    )
    found = [one for one in requests if one is not None]
    kept = have.split(".")
    seen = [one.board for one in found if one.commitment[:_DIGITS] in kept]
    # commitments are public: a link from elsewhere can't make a browser ask for JSON
    if "application/json" in request.headers.get("accept", ""):
        context.app.seen_texts.note(visitor.account, seen, context.app.store.now())
    return found


def _reveal_request(context: ApiContext, board: int, account: bytes) -> RevealRequest | None:
    state = load_state(context.app, board)
    seat = state.seats.index(account)
    if state.gather is None or not state.sealed or seat not in state.waits:
        return None
    return RevealRequest(board, state.gather.commitments[seat].digest.hex())
