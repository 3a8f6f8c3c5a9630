"""Commands of disputes: claim, appeal, case, cases, rule."""

from domain.errors import Code, Refusal
from services.app.cases import PAGE, cases_of, queue_of
from services.app.disputes import (
    KINDS,
    AppealAction,
    ClaimAction,
    DisputeAction,
    RuleAction,
    Verdict,
    dispute,
    read_grants,
)
from services.app.typed_values import typed_number
from services.language.answer import Answer
from services.language.arguments import read_board
from services.language.handlers.messages import text_of
from services.language.handlers.play import deliver
from services.language.invocation import Invocation
from services.language.texts import case_page, queue_lines


def claim(call: Invocation) -> Answer:
    """Claim that something is wrong in a match."""
    return _act(call, ClaimAction(_read_ply(call), text_of(call)))


def appeal(call: Invocation) -> Answer:
    """Object to the last ruling in a match."""
    return _act(call, AppealAction(text_of(call)))


def rule(call: Invocation) -> Answer:
    """Rule on the case of a match that waits, or of the arbiter's own motion."""
    own_motion = call.line.has("own_motion")
    return _act(call, RuleAction(_read_verdict(call), text_of(call), own_motion=own_motion))


def show_case(call: Invocation) -> Answer:
    """Show the cases of a match."""
    board = read_board(call.line.get("board"), call.words)
    state, cases = cases_of(call.app, call.account(), board)
    if not cases:
        return Answer(call.words.gettext("match %(board)s has no case", board=board))
    return Answer(page=case_page(call.app, board, state, cases, call.words))


def list_cases(call: Invocation) -> Answer:
    """List the cases that wait for a ruling."""
    first = read_board(call.line.get("value") or "1", call.words)
    queued = queue_of(call.app, call.account(), first - 1)
    count = call.app.cases.count()
    lines, words = queue_lines(call.app, queued, call.words), call.words
    if not count:
        return Answer(words.gettext("no cases are waiting for a ruling"))
    waiting = words.ngettext(
        "%(count)s case is waiting for a ruling", "%(count)s cases are waiting for a ruling", count
    )
    if count >= first + PAGE:
        waiting += "; " + words.gettext(
            "`cases userid password %(next)s` shows the next", next=first + PAGE
        )
    return Answer(waiting, "\n".join(lines))


def _act(call: Invocation, action: DisputeAction) -> Answer:
    board = read_board(call.line.get("board"), call.words)
    return deliver(call, dispute(call.app, call.actor, board, action))


def _read_verdict(call: Invocation) -> Verdict:
    line = call.line
    kind = next(kind for kind in KINDS if line.has(kind))
    return Verdict(
        kind,
        ply=_read_ply(call) if line.has("at_ply") else None,
        winners=tuple(filter(None, line.get("winners").split(","))),
        time=read_grants(line.get("grants")) if line.has("grants") else (),
    )


def _read_ply(call: Invocation) -> int:
    ply = typed_number(call.line.get("at_ply").removeprefix("#"))
    if ply is None:
        said = call.words.gettext("write the ply as #4: the number of moves before it")
        raise Refusal(Code.UNKNOWN_PLY, said)
    return ply
