"""Cases as text: claims, rulings, appeals, and their statements."""

from collections.abc import Sequence

from domain.match.dispute_events import Claimed, ResultChanged, Ruled, SetBack, TimeGiven
from domain.match.events import AccountId, Event
from domain.match.state import MatchState, Reason
from services.app.cases import CaseStep, CaseView, QueuedCase
from services.app.context import App
from services.app.names import names_of
from services.language.render.dates import instant, span
from services.language.render.match_text import NamedMatch

_ERASED = "(the text was erased)"


def case_page(app: App, board: int, state: MatchState, cases: Sequence[CaseView]) -> str:
    """Return all cases of a match."""
    scene = NamedMatch.of(app, board, state)
    names = names_of(app, [step.event.actor for case in cases for step in case.steps])
    return "\n\n".join(_case_lines(scene, case, names) for case in cases)


def _case_lines(scene: NamedMatch, case: CaseView, names: dict[AccountId, str]) -> str:
    steps = [line for step in case.steps for line in _step_lines(scene, step, names)]
    head = f"match {case.board}, case {case.number}, about #{case.ply}: {case_status(case)}"
    return "\n".join([head, *steps])


def case_status(case: CaseView) -> str:
    """Return where a case stands."""
    if case.waits:
        what = "the appeal" if case.steps[-1].kind == "appeal" else "it"
        return f"{what} waits for a ruling since {instant(case.since)}"
    if case.final:
        return "an arbiter has ruled on the appeal, and that is final"
    return f"an arbiter has ruled; a player can appeal until {instant(case.appeal_until)}"


def _step_lines(scene: NamedMatch, step: CaseStep, names: dict[AccountId, str]) -> list[str]:
    # indented after every kind of line end, so that no line looks like the server's own
    text = [f"    {line}" for line in (step.text or _ERASED).splitlines()]
    who = names[step.event.actor]
    return [f"  {instant(step.event.at)} {who} {step_words(scene, step)}:", *text]


def step_words(scene: NamedMatch, step: CaseStep) -> str:
    """Return what a player or an arbiter did, after their name."""
    match step.body:
        case Claimed(seat=seat):
            return "claims, as an arbiter" if seat is None else "claims"
        case Ruled(upheld=False):
            return "rules, as an arbiter: dismissed"
        case Ruled():
            return f"rules, as an arbiter: {describe_remedies(scene, step.remedies)}"
        case _:
            return "appeals"


def describe_remedies(scene: NamedMatch, remedies: Sequence[Event]) -> str:
    """Return what a ruling changes in a match."""
    return "; ".join(_remedy(scene, event) for event in remedies)


def _remedy(scene: NamedMatch, event: Event) -> str:
    match event:
        case SetBack():
            return f"the match goes back to #{event.ply} and goes on there"
        case ResultChanged(reason=Reason.ANNULLED):
            return "the match is annulled, and counts for nothing"
        case ResultChanged(winners=winners):
            if len(winners) == len(scene.names):
                return "the match is a draw"
            return f"{scene.everyone(winners)} win{'s' * (len(winners) == 1)} the match"
        case TimeGiven():
            return f"{scene.who(event.seat)} gets {span(event.ms)} more"
        case _:
            raise ValueError(f"a {type(event).__name__} is no part of a ruling")


def queue_lines(app: App, queued: Sequence[QueuedCase]) -> list[str]:
    """Return a line for each case of the queue."""
    accounts = [step.event.actor for one in queued if one.view for step in one.view.steps]
    names = names_of(app, accounts)
    return [_queue_line(one, names) for one in queued]


def _queue_line(one: QueuedCase, names: dict[AccountId, str]) -> str:
    case = one.case
    place = f"{instant(case.since)} match {case.board}, case {case.claim}"
    if one.view is None or one.state is None:
        return f"{place}: the match can't be read now"
    last = one.view.steps[-1]
    text = " ".join((last.text or _ERASED).split())
    shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
    return f"{place}, {one.state.rules} #{one.view.ply}: {last.kind} of {names[last.event.actor]}: {shown}"


_SHOWN = 80
"""Characters of a statement in a line of the queue."""
