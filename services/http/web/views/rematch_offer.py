"""The rematch that a player of a finished match has asked for, as the page of that match shows it."""

from typing import Self

import msgspec

from domain.match.state import Reason
from services.app.context import App
from services.app.rematch import rematch_of
from services.http.web.views.match_view import MatchView
from services.http.web.wording import Wording


class RematchOffer(msgspec.Struct, frozen=True):
    """A rematch that was asked for, to a player of the match before it."""

    board: int
    text: str
    """How far it is, as a sentence."""
    asked: bool
    """Whether it waits for the visitor's answer."""
    waits: bool
    """Whether it waits for the others' answers, so that the visitor can withdraw."""

    @classmethod
    def of(cls, app: App, table: MatchView, words: Wording) -> Self | None:
        """Return the rematch of a match; None if nobody has asked for it, and for who can't."""
        found = rematch_of(app, table.board) if table.repeatable else None
        if found is None or table.seat is None:
            return None
        board, state = found
        _, names = words.gettext, dict(zip(table.state.seats, table.names, strict=True))
        invited = [] if state.over else [state.seats[seat] for seat in state.invited]
        others = [names[one] for one in state.seats if one in invited]
        asked = table.state.seats[table.seat] in invited
        if state.result is not None and state.result.reason == Reason.DECLINED:
            text = _("The rematch was declined.")
        elif asked:
            makers = [names[one] for one in state.seats if one not in invited]
            text = words.ngettext(
                "%(names)s wants a rematch.",
                "%(names)s want a rematch.",
                len(makers),
                names=words.names(makers),
            )
        elif others:
            text = _(
                "You want a rematch. Waiting for %(names)s to accept.", names=words.names(others)
            )
        else:
            text = _("The rematch is over.") if state.over else _("The rematch has begun.")
        return cls(board, text, asked, bool(others) and not asked)
