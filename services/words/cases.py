"""Cases in words: where one stands, what was done in it, and what a ruling changes in a match."""

from collections.abc import Sequence

from domain.match.events import Claimed, Event, ResultChanged, Ruled, SetBack, TimeGiven
from domain.match.state import Reason
from domain.rules import Seat
from infra.languages.wording import Wording
from services.app.cases import CaseStep, CaseView
from services.words.named_match import NamedMatch


def case_state(case: CaseView, words: Wording) -> str:
    """Return where a case stands, without a full stop."""
    if case.waits and case.steps[-1].kind == "appeal":
        return words.gettext(
            "the appeal has been waiting for a ruling since %(moment)s",
            moment=words.moment(case.since),
        )
    if case.waits:
        return words.gettext(
            "it has been waiting for a ruling since %(moment)s", moment=words.moment(case.since)
        )
    if case.final:
        return words.gettext("an arbiter has ruled on the appeal; that is final")
    return words.gettext(
        "an arbiter has ruled; players can appeal until %(moment)s",
        moment=words.moment(case.appeal_until),
    )


def claim_made(scene: NamedMatch, event: Claimed) -> str:
    """Return who made a claim, and about what."""
    words = scene.words
    by = words.gettext("an arbiter") if event.seat is None else scene.who(event.seat)
    at = about(event.ply, words)
    return words.gettext("%(player)s made a claim %(about)s", player=by, about=at)


def about(ply: int, words: Wording) -> str:
    """Return what of a match a claim is about, such as `about move 3`."""
    if not ply:
        return words.gettext("about the start")
    return words.gettext("about move %(number)s", number=ply)


def step_sentence(scene: NamedMatch, step: CaseStep) -> str:
    """Return what a player or an arbiter did, after their name."""
    words = scene.words
    match step.body:
        case Claimed(seat=None):
            return words.gettext("made a claim, as an arbiter")
        case Claimed():
            return words.gettext("made a claim")
        case Ruled(upheld=False):
            return words.gettext("ruled, as an arbiter: nothing changes")
        case Ruled():
            return words.gettext(
                "ruled, as an arbiter: %(what)s", what=remedies_said(scene, step.remedies)
            )
        case _:
            return words.gettext("appealed")


def step_name(kind: str, name: str, words: Wording) -> str:
    """Return the last step of a case in the queue, such as `claim of alice`."""
    if kind == "appeal":
        return words.gettext("%(name)s’s appeal", name=name)
    return words.gettext("%(name)s’s claim", name=name)


def remedies_said(scene: NamedMatch, remedies: Sequence[Event]) -> str:
    """Return what a ruling changes in a match."""
    if not remedies:
        return scene.words.gettext("nothing changes")
    return "; ".join(remedy(scene, event) for event in remedies)


def next_turn(scene: NamedMatch, seat: Seat) -> str:
    """Return whose turn it is after a ruling."""
    return scene.words.gettext("it is %(player)s’s turn", player=scene.who(seat))


def remedy(scene: NamedMatch, event: Event) -> str:
    """Return one change in a match, as a clause."""
    words = scene.words
    match event:
        case SetBack(ply=0):
            return words.gettext("the match goes back to the start and continues from there")
        case SetBack():
            return words.ngettext(
                "the match goes back to the position after %(count)s move and continues from there",
                "the match goes back to the position after %(count)s moves and continues from there",
                event.ply,
            )
        case ResultChanged():
            return _result(scene, event)
        case TimeGiven():
            return words.gettext(
                "%(player)s gets %(span)s more",
                player=scene.who(event.seat),
                span=words.span(event.ms),
            )
        case _:
            raise ValueError(f"a {type(event).__name__} is no part of a ruling")


def _result(scene: NamedMatch, event: ResultChanged) -> str:
    words, winners = scene.words, event.winners
    if event.reason == Reason.ANNULLED:
        return words.gettext("the match is annulled and doesn’t count")
    if len(winners) == len(scene.names):
        return words.gettext("the match is a draw")
    named = scene.everyone(winners)
    if len(winners) > 1:
        return words.gettext("%(players)s win the match", players=named)
    return words.gettext("%(player)s wins the match", player=named)
