"""Private notes about matches: what a player writes down about one for nobody else.

A note is written on the page of its match, and finds it again in the lists of the player's own matches.

What is stored of it: `infra.people.match_notes`.
"""

from collections.abc import Iterable

from domain.records import AccountId
from services.app.context import App
from services.app.matches import load_state
from services.app.messages import normalize_line_ends


def write_note(app: App, account: AccountId, board: int, text: str) -> None:
    """Store a note about a match in place of the one before; only its author can read it."""
    load_state(app, board)
    app.notes.put(account, board, normalize_line_ends(text))


def boards_with_note(app: App, account: AccountId, words: str) -> frozenset[int]:
    """Return the matches with a note of the account that has all these words, in any order and case."""
    wanted = words.lower().split()
    notes = app.notes.all(account)
    return frozenset(board for board, text in notes.items() if _has_all(text.lower(), wanted))


def _has_all(text: str, wanted: Iterable[str]) -> bool:
    return all(one in text for one in wanted)
