"""The mark on the pages of a match: how much of it is in the published log."""

from collections.abc import Sequence
from typing import Self

import msgspec

from infra.store import locators
from services.app.receipts import gives_receipts
from services.http.context import ApiContext
from services.http.web.views.match_view import MatchView


class RecordedMark(msgspec.Struct, frozen=True):
    """How much of a match is published, as of a second ago."""

    receipts: bool
    """Whether the server signs receipts."""
    published: bool
    """Whether all of the match is published."""
    start: bool
    """Whether its first event is."""
    plies: int
    """So many of its moves at least are published: more may be, among the last ones."""
    elsewhere: int
    """So many of its moves were played on another server, and this log has only that they were brought."""

    def has(self, ply: int) -> bool:
        """Return whether the published log has a move of this server that led to a ply."""
        return self.elsewhere < ply <= self.plies

    @classmethod
    def of(cls, context: ApiContext, table: MatchView) -> Self | None:
        """Return the mark of a match; None on a server that neither publishes nor signs receipts."""
        app, board = context.app, table.board
        size = context.published_sizes.of(app.store.layout().shard_of(board))
        receipts = gives_receipts(app)
        if not size and not receipts:
            return None
        indexes = _indexes(context, table)
        # each move is a leaf of its own, so at most so many moves wait
        waiting = sum(index >= size for index in indexes)
        return cls(
            receipts=receipts,
            published=not waiting,
            start=bool(indexes) and indexes[0] < size,
            plies=max(0, table.state.ply - waiting),
            elsewhere=table.state.imported.ply if table.state.imported else 0,
        )


def _indexes(context: ApiContext, table: MatchView) -> Sequence[int]:
    """Return where the leaves of a match are in the log of its shard."""
    if table.locator is None:
        return context.app.store.leaf_indexes(table.board)
    return locators.decode(table.locator)
