"""The link to the next match that waits for the visitor."""

import msgspec

from services.app.waiting import URGENT_MS, next_match
from services.http.context import ApiContext
from services.http.web.session import Visitor


class NextMatchLink(msgspec.Struct, frozen=True):
    """The next match in words, in the visitor's language."""

    board: int
    path: str
    text: str
    """Such as `Halves against carol`."""
    left: str
    """Such as `2 days left`; empty without a time limit."""
    urgent: bool
    """Whether less than a day is left."""
    waiting: int
    """The number of all matches that wait, without the one that the visitor comes from."""


def next_match_link(
    context: ApiContext, visitor: Visitor, after: int | None = None
) -> NextMatchLink | None:
    """Return the link to the match that waits next for the visitor, after a board; None without one."""
    if visitor.account is None:
        return None
    found = next_match(context.app, visitor.account, after, visitor.wording)
    if found is None:
        return None
    words = visitor.wording
    text = found.title
    if found.others:
        names = words.names(found.others)
        text = words.gettext("%(game)s against %(players)s", game=found.title, players=names)
    left = None if found.deadline is None else found.deadline - visitor.now
    return NextMatchLink(
        board=found.board,
        path=f"/m/{found.board}",
        text=text,
        left="" if left is None else words.gettext("%(time)s left", time=words.span(left)),
        urgent=left is not None and left < URGENT_MS,
        waiting=found.waiting,
    )
