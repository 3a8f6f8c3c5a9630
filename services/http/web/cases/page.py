"""Pages of disputes: making a claim, a case with its ruling, and the queue of the arbiters.

A case as its page shows it: the board, the clocks, refused commands, and where it is recorded.
"""

from collections.abc import Sequence
from functools import partial
from hashlib import sha256
from typing import Annotated, Any

import msgspec
from litestar import Response
from litestar.params import PathParameter
from litestar.response import Redirect
from markupsafe import Markup

from domain.errors import Code, Refusal
from domain.match.clocks import ClockTurn, clock_turns
from domain.match.history import RefusedLeaf, decode_event, decode_refusal, is_event, replay
from domain.match.state import MatchState
from domain.sentences import Translation
from infra.audit.build_document import ReadMatch, read_match
from infra.languages.wording import Wording
from infra.store.watermarks import read_published_sizes
from services.app.cases import PAGE, CaseStep, CaseView, case_of, cases_of, queue_of
from services.app.context import App
from services.app.damaged_match import refuse_damaged
from services.app.disputes import (
    HOUR,
    AppealAction,
    ClaimAction,
    DisputeAction,
    RuleAction,
    Verdict,
    check_may_see,
    dispute,
    ruling_of,
    try_ruling,
)
from services.app.exports import evidence_of
from services.app.names import names_by_seat, names_of
from services.app.play import submit
from services.app.sentences import SAY
from services.app.typed_values import typed_number
from services.http.context import ApiContext
from services.http.web.boards.board_view import draw_match
from services.http.web.declared import Pages
from services.http.web.forms import Form, OwnForm
from services.http.web.lists.match_rows import ListPart, first_row
from services.http.web.match.view import MatchView
from services.http.web.params import BoardNumber, CaseNumber, ClaimPly, Own, OwnPage, PageNumber
from services.http.web.render import redirect_to, render
from services.http.web.session import Visitor
from services.words.cases import case_state, next_turn, remedies_said, step_name, step_sentence
from services.words.named_match import NamedMatch


class StepView(msgspec.Struct, frozen=True):
    """A claim, a ruling or an appeal, as a page shows it."""

    at: int
    who: str
    words: str
    """Their act, such as `made a claim`."""
    text: str | None
    """None for a text that was erased."""
    kind: str


class TurnView(msgspec.Struct, frozen=True):
    """A line of the clock ledger."""

    name: str
    turn: ClockTurn


class RefusalView(msgspec.Struct, frozen=True):
    """A refused command."""

    at: int
    name: str
    move: str
    """As it was written, if it could be read; else empty."""
    code: str


class CasePage(msgspec.Struct, frozen=True):
    """Everything that the page of a case shows."""

    case: CaseView
    scene: NamedMatch
    status: str
    steps: tuple[StepView, ...]
    svg: Markup | None
    """The board at the ply of the claim, as it was then; None if the match had no position."""
    turns: tuple[TurnView, ...]
    refusals: tuple[RefusalView, ...]
    leaves: int
    """How many leaves of the log the match has."""
    index: int
    """The place of the case's first event in the log."""
    published: bool
    """Whether the published log has it."""
    shard: int


def case_page(app: App, state: MatchState, case: CaseView, words: Wording) -> CasePage:
    """Return the page of a case; `damaged` if the match can't be read."""
    scene = NamedMatch.of(app, case.board, state, words)
    with refuse_damaged(app.damage, case.board):
        match = read_match(app.store, case.board)
        assert match is not None
        history = [decode_event(data) for data in match.events]
    index = _index_of(match, case.number)
    turns = [TurnView(scene.names[turn.seat], turn) for turn in clock_turns(history)]
    return CasePage(
        case=case,
        scene=scene,
        status=case_state(case, words),
        steps=_steps(app, scene, case.steps),
        svg=_board(app, replay(match.events[: case.number]), case.ply, words),
        turns=tuple(turns),
        refusals=_refusals(app, match, words),
        leaves=len(match.leaves),
        index=index,
        published=index < read_published_sizes(app.data, app.store.shards)[match.shard].size,
        shard=match.shard,
    )


def _index_of(match: ReadMatch, seq: int) -> int:
    events = [
        index for index, leaf in zip(match.indexes, match.leaves, strict=True) if is_event(leaf)
    ]
    return events[seq - 1]


def _steps(app: App, scene: NamedMatch, steps: Sequence[CaseStep]) -> tuple[StepView, ...]:
    names = names_of(app, [step.event.actor for step in steps], scene.words)
    return tuple(
        StepView(
            step.event.at,
            names[step.event.actor],
            step_sentence(scene, step),
            step.text,
            step.kind,
        )
        for step in steps
    )


def _board(app: App, state: MatchState, ply: int, language: Translation) -> Markup | None:
    if state.has_no_position:
        return None
    names = names_by_seat(app, state.seats, language)
    return draw_match(state, ply, names, language=language)


def _refusals(app: App, match: ReadMatch, language: Translation) -> tuple[RefusalView, ...]:
    found: list[RefusedLeaf] = [decode_refusal(leaf) for leaf in match.leaves if not is_event(leaf)]
    names = names_of(app, [one.actor for one in found], language)
    return tuple(RefusalView(one.at, names[one.actor], one.move or "", one.code) for one in found)


pages = Pages()


@pages.get("/m/{board:int}/claim", weight=2)
def show_claim_form(board: BoardNumber, own_page: OwnPage, ply: ClaimPly = None) -> Response[str]:
    """Show the form for a claim, which says what follows from it."""
    visitor = own_page.visitor
    table = MatchView.of(own_page.context, board, visitor)
    check_may_see(own_page.app, own_page.account, table.state)
    at = table.state.ply if ply is None else min(ply, table.state.ply)
    return render(
        "claim.html",
        visitor,
        table=table,
        ply=at,
        svg=None
        if table.state.has_no_position
        else draw_match(table.state, at, table.names, language=visitor.wording),
        move=table.state.first_moves(at)[-1] if at else "",
    )


@pages.post("/m/{board:int}/claim")
def make_claim(board: BoardNumber, own: Own) -> Redirect:
    """Make a claim."""
    action = ClaimAction(_number(own.get("ply"), Code.UNKNOWN_PLY), own.get("text"))
    return _act(board, own, action)


@pages.post("/m/{board:int}/appeal")
def make_appeal(board: BoardNumber, own: Own) -> Redirect:
    """Appeal against a ruling."""
    claim = _number(own.get("case"), Code.UNKNOWN_CLAIM)
    return _act(board, own, AppealAction(own.get("text"), claim))


@pages.post("/m/{board:int}/rule")
def give_ruling(board: BoardNumber, own: Own) -> Response[str] | Redirect:
    """Show what a ruling will do; or submit it, once that was shown."""
    claim = _number(own.get("case"), Code.UNKNOWN_CLAIM)
    verdict = _verdict(own)
    if own.get("do") != "preview":
        return _act(board, own, RuleAction(verdict, own.get("text"), claim))
    account, context, visitor = own.account, own.context, own.visitor
    state, case = case_of(own.app, account, board, claim)
    names = context.app.accounts.name_of(state.seats)
    ruling = ruling_of(state, names, verdict, claim)
    tried = try_ruling(account, state, ruling, context.app.store.now())
    scene = NamedMatch.of(context.app, board, tried.after, visitor.wording)
    what = remedies_said(scene, tried.remedies)
    if tried.after.next is not None and tried.remedies:
        what += f"; {next_turn(scene, tried.after.next)}"
    return _case(context, visitor, state, case, form=own, preview=what)


@pages.get("/m/{board:int}/case", weight=3)
def show_case(board: BoardNumber, own_page: OwnPage, number: CaseNumber = None) -> Response[str]:
    """Show a case of a match, by default the one that waits, or else the last."""
    state, case = case_of(own_page.app, own_page.account, board, number)
    return _case(own_page.context, own_page.visitor, state, case)


def _case(
    context: ApiContext,
    visitor: Visitor,
    state: MatchState,
    case: CaseView,
    *,
    form: Form | None = None,
    preview: str = "",
) -> Response[str]:
    account = visitor.require_account()
    rules_here = context.app.is_arbiter(account) and account not in state.seats
    now = visitor.now or context.app.store.now()
    others = cases_of(context.app, account, case.board)[1]
    return render(
        "case.html",
        visitor,
        page=case_page(context.app, state, case, visitor.wording),
        case=case,
        others=[one for one in others if one.number != case.number],
        can_rule=rules_here and case.waits and account not in case.arbiters,
        can_appeal=account in state.seats and case.can_appeal(now),
        typed=form.get if form else _nothing,
        winners=form.all("winner") if form else (),
        preview=preview,
        key=(form or Form({})).key,
        # the form for a ruling has an address below the match's, and this page is not above that
        returns_to=f"/m/{case.board}/case?case={case.number}",
    )


def _nothing(_: str) -> str:
    return ""


@pages.get("/m/{board:int}/case/{number:int}/evidence.json", weight=20)
def download_evidence(
    board: BoardNumber,
    number: Annotated[int, PathParameter(ge=1, le=10**9)],
    own_page: OwnPage,
) -> Response[Any]:
    """Return the evidence of a case as a match document."""
    line = evidence_of(own_page.app, own_page.account, board, number)
    headers = {
        "Content-Disposition": f'attachment; filename="match-{board}-case-{number}.json"',
        "Cache-Control": "private, no-cache",
    }
    return Response(line, media_type="application/json", headers=headers)


@pages.get("/cases", weight=3)
def show_queue(own_page: OwnPage, page: PageNumber = 1) -> Response[str]:
    """Show the cases that wait for a ruling, the oldest first, to an arbiter."""
    visitor = own_page.visitor
    start = first_row(page, PAGE)
    queued = queue_of(own_page.app, own_page.account, start)
    views = [one.view for one in queued if one.view]
    total = own_page.app.cases.count()
    return render(
        "cases.html",
        visitor,
        queued=queued,
        now=visitor.now,
        step_name=partial(step_name, words=visitor.wording),
        names=names_of(
            own_page.app,
            [step.event.actor for view in views for step in view.steps],
            visitor.wording,
        ),
        part=ListPart.of(
            visitor.wording.gettext("Cases"),
            start=start,
            shown=len(queued),
            total=total,
            path="/cases",
            size=PAGE,
        ),
    )


def _act(board: int, own: OwnForm, action: DisputeAction) -> Redirect:
    submit(own.app, dispute(own.app, own.actor(_key(own)), board, action))
    number = f"?case={action.claim}" if not isinstance(action, ClaimAction) else ""
    return redirect_to(f"/m/{board}/case{number}")


def _key(form: Form) -> str:
    """Return the key of the command: a form sent twice is one command, with other fields another."""
    rest = sorted((name, form.all(name)) for name in form.fields if name not in ("csrf", "key"))
    return f"{form.key} dispute {sha256(repr(rest).encode()).hexdigest()[:32]}"


def _verdict(form: Form) -> Verdict:
    kind = form.get("verdict")
    grants = tuple(
        (name.removeprefix("time-"), _span(form.get(name)))
        for name in form.fields
        if name.startswith("time-") and form.get(name) and kind in ("back", "time")
    )
    back = kind == "back"
    return Verdict(
        kind,
        ply=_number(form.get("ply"), Code.UNKNOWN_PLY) if back else None,
        winners=form.all("winner") if kind == "result" else (),
        time=grants,
    )


def _span(text: str) -> int:
    """Read hours as a form has them."""
    return _number(text, Code.BAD_RULING) * HOUR


def _number(text: str, code: Code) -> int:
    number = typed_number(text)
    if number is None:
        raise Refusal(code, SAY("whole-number"))
    return number
