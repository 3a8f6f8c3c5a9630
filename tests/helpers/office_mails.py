"""Parts of mails to an office, and what became of them."""

from domain.match.history import unpack_snapshot

MOVE = "pow2 move 1 alice mad-hatter m13-j7"

UNASKED = [
    {"Auto-Submitted": "auto-replied"},
    {"Auto-Submitted": "auto-generated"},
    {"Precedence": "bulk"},
    {"List-Id": "<chess.example.org>"},
]


def moves(office, board=1):
    """The moves of a match."""
    (data,) = office.app.store.snapshots([board])
    return unpack_snapshot(data).state.moves.split()
