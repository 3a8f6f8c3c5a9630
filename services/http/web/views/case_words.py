"""Cases in the words of the pages: where one stands, what was done in it, and what a ruling changes."""

from collections.abc import Sequence

from domain.match.dispute_events import Claimed, ResultChanged, Ruled, SetBack, TimeGiven
from domain.match.events import Event
from domain.match.state import Reason
from domain.rules import Seat
from domain.sentences import text_in
from infra.languages.wording import Wording
from services.app.cases import CaseStep, CaseView
from services.language.render.match_text import NamedMatch


def case_state(case: CaseView, words: Wording) -> str:
    """Return where a case stands, as a sentence."""
    if case.waits and case.steps[-1].kind == "appeal":
        return words.gettext(
            "The appeal has waited for a ruling since %(moment)s.", moment=words.moment(case.since)
        )
    if case.waits:
        return words.gettext(
            "It has waited for a ruling since %(moment)s.", moment=words.moment(case.since)
        )
    if case.final:
        return words.gettext("An arbiter has ruled on the appeal, and that is final.")
    return words.gettext(
        "An arbiter has ruled; a player can appeal until %(moment)s.",
        moment=words.moment(case.appeal_until),
    )


def step_sentence(scene: NamedMatch, step: CaseStep, words: Wording) -> str:
    """Return what a player or an arbiter did, after their name."""
    match step.body:
        case Claimed(seat=None):
            return words.gettext("disputes, as an arbiter")
        case Claimed():
            return words.gettext("disputes")
        case Ruled(upheld=False):
            return words.gettext("rules, as an arbiter: all stays as it is")
        case Ruled():
            return words.gettext(
                "rules, as an arbiter: %(what)s", what=remedies_said(scene, step.remedies, words)
            )
        case _:
            return words.gettext("appeals")


def step_name(kind: str, name: str, words: Wording) -> str:
    """Return the last step of a case in the queue, such as `Dispute of alice`."""
    if kind == "appeal":
        return words.gettext("Appeal of %(name)s", name=name)
    return words.gettext("Dispute of %(name)s", name=name)


def remedies_said(scene: NamedMatch, remedies: Sequence[Event], words: Wording) -> str:
    """Return what a ruling changes in a match."""
    if not remedies:
        return words.gettext("nothing changes")
    return "; ".join(_remedy(scene, event, words) for event in remedies)


def next_turn(scene: NamedMatch, seat: Seat, words: Wording) -> str:
    """Return whose turn it is after a ruling."""
    return words.gettext("it is the turn of %(player)s", player=_who(scene, seat, words))


def _who(scene: NamedMatch, seat: Seat, words: Wording) -> str:
    """Return a player's side and name, such as `Light (alice)`."""
    return f"{text_in(scene.rules.sides[seat], words)} ({scene.names[seat]})"


def _remedy(scene: NamedMatch, event: Event, words: Wording) -> str:
    match event:
        case SetBack():
            return words.ngettext(
                "the match goes back to where it was after %(count)s move, and goes on there",
                "the match goes back to where it was after %(count)s moves, and goes on there",
                event.ply,
            )
        case ResultChanged(reason=Reason.ANNULLED):
            return words.gettext("the match is annulled, and counts for nothing")
        case ResultChanged(winners=winners) if len(winners) == len(scene.names):
            return words.gettext("the match is a draw")
        case ResultChanged(winners=winners):
            named = words.names([_who(scene, seat, words) for seat in winners])
            if len(winners) > 1:
                return words.gettext("%(players)s win the match", players=named)
            return words.gettext("%(player)s wins the match", player=named)
        case TimeGiven():
            return words.gettext(
                "%(player)s gets %(span)s more",
                player=_who(scene, event.seat, words),
                span=words.span(event.ms),
            )
        case _:
            raise ValueError(f"a {type(event).__name__} is no part of a ruling")
