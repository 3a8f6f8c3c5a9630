"""The result of a match, said to the visitor who looks at it."""

from typing import Literal

import msgspec

from domain.match.state import Reason, position_of
from domain.rules import MissingRules
from domain.sentences import text_in
from infra.languages.wording import Wording
from infra.projections.rating_changes import RatingChange
from services.app.context import App
from services.http.web.views.match_view import MatchView

Verdict = Literal["won", "lost", "drawn", "void", "seen"]


class SaidResult(msgspec.Struct, frozen=True):
    """A result in words."""

    verdict: Verdict
    """`void` for a match that does not count, `seen` for one of others."""
    text: str
    """A sentence."""


def said_result(table: MatchView, words: Wording) -> SaidResult:
    """Return the result of a match that is over."""
    result = table.state.result
    assert result is not None
    _ = words.gettext
    reason = result.reason
    if not result.winners:
        return SaidResult("void", _without_winner(reason, words))
    detail = _rules_say(table)
    if len(result.winners) == len(table.state.seats) and not table.puzzle:
        return SaidResult("drawn", _draw(reason, detail, words))
    if table.puzzle:
        return SaidResult("seen", _("Finished: %(detail)s.", detail=detail))
    if table.seat is None:
        winners = words.names([table.names[seat] for seat in result.winners])
        return SaidResult("seen", _others(winners, len(result.winners), reason, detail, words))
    if table.seat in result.winners:
        return SaidResult("won", _victory(reason, detail, words))
    return SaidResult("lost", _defeat(table, reason, detail, words))


def rating_change(app: App, table: MatchView) -> RatingChange | None:
    """Return what the match has changed in the visitor's rating; None if nothing is known of it."""
    clock, seat = table.state.clock, table.seat
    if not table.state.over or seat is None or clock is None or not clock.terms.rated:
        return None
    (changes,) = app.ratings.changes([(table.rules.key, table.board)])
    return changes[seat] if seat < len(changes) else None


def _victory(reason: str, detail: str, words: Wording) -> str:
    _ = words.gettext
    match reason:
        case Reason.RESIGNATION:
            return _("You won by resignation.")
        case Reason.TIME:
            return _("You won on time.")
        case Reason.RULING:
            return _("You won by a ruling.")
    return _("You won: %(detail)s.", detail=detail) if detail else _("You won.")


def _defeat(table: MatchView, reason: str, detail: str, words: Wording) -> str:
    _ = words.gettext
    match reason:
        case Reason.RESIGNATION if table.seat in table.state.active_seats:
            return _("You lost by resignation.")
        case Reason.RESIGNATION:
            return _("You resigned.")
        case Reason.TIME:
            return _("You lost on time.")
        case Reason.RULING:
            return _("You lost by a ruling.")
    return _("You lost: %(detail)s.", detail=detail) if detail else _("You lost.")


def _others(names: str, count: int, reason: str, detail: str, words: Wording) -> str:
    _ = words.gettext
    if count > 1:
        return _("%(names)s share the win.", names=names)
    match reason:
        case Reason.RESIGNATION:
            return _("%(name)s won by resignation.", name=names)
        case Reason.TIME:
            return _("%(name)s won on time.", name=names)
        case Reason.RULING:
            return _("%(name)s won by a ruling.", name=names)
    if detail:
        return _("%(name)s won: %(detail)s.", name=names, detail=detail)
    return _("%(name)s won.", name=names)


def _draw(reason: str, detail: str, words: Wording) -> str:
    _ = words.gettext
    match reason:
        case Reason.AGREEMENT:
            return _("Draw by agreement.")
        case Reason.REPETITION:
            return _("Draw: the position has stood three times.")
        case Reason.RULING:
            return _("Draw by a ruling.")
    return _("Draw: %(detail)s.", detail=detail) if detail else _("Draw.")


def _without_winner(reason: str, words: Wording) -> str:  # noqa: PLR0911 - one for each ending
    _ = words.gettext
    match reason:
        case Reason.ABORTED:
            return _("Called off by agreement. The match does not count.")
        case Reason.TRANSFERRED:
            return _("The match goes on at another server, and does not count here.")
        case Reason.DECLINED:
            return _("Declined. The match does not count.")
        case Reason.ANNULLED:
            return _("Annulled by an arbiter. The match does not count.")
        case Reason.RESIGNATION:
            return _("The puzzle was given up.")
        case Reason.TIME:
            return _("The time for the puzzle ran out.")
    return _("The match does not count.")


def _rules_say(table: MatchView) -> str:
    """Return the words of the game's rules for an ending by them, without a full stop."""
    if table.state.has_no_position or isinstance(table.rules, MissingRules):
        return ""
    outcome = table.rules.outcome(position_of(table.state))
    return text_in(outcome.text, table.language).rstrip(".") if outcome else ""
