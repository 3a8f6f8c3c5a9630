"""Pages of reports: the form for one, the moderators' queue, and the sanctions against the visitor."""

from collections.abc import Sequence
from typing import Annotated, Final
from urllib.parse import urlencode
from uuid import uuid4

import msgspec
from litestar import Response
from litestar.params import PathParameter, QueryParameter
from litestar.response import Redirect

from domain.errors import Code, Refusal
from domain.records import AccountId
from infra.people.moderation import PlayerReport, ReportKind, ReportReason, Sanction, SanctionKind
from services.app import moderation
from services.app.context import App
from services.app.moderation import ReportVerdict, ReportView
from services.app.names import names_of
from services.app.sanctions import read_days
from services.app.sentences import SAY
from services.app.typed_values import read_choice, typed_number
from services.http.web.admin.sections import render_section
from services.http.web.declared import Pages
from services.http.web.forms import Form, OwnForm
from services.http.web.params import Own, OwnPage, SavedMark, Userid
from services.http.web.render import redirect_to, render
from services.http.web.session import Visitor
from services.words.moderation import kind_name, reason_names, sanction_names, sanction_said

pages = Pages()

Kind = Annotated[ReportKind, QueryParameter()]
Place = Annotated[str, QueryParameter(max_length=24)]
# of a time in ms since 1970
_DIGITS_OF_TIME: Final = 15

WrittenAt = Annotated[int, QueryParameter(name="at", ge=0, le=10**15)]
Sent = Annotated[str, QueryParameter(max_length=2)]
RowId = Annotated[str, PathParameter(max_length=24)]


class SanctionRow(msgspec.Struct, frozen=True):
    """A sanction, as a page shows it."""

    sanction: Sanction
    said: str
    """The sanction and its end in words, without a full stop."""
    holds: bool


class ReportRow(msgspec.Struct, frozen=True):
    """A report, as a moderator sees it."""

    view: ReportView
    kind: str
    reason: str
    about: str
    reporter: str
    sanctions: Sequence[SanctionRow]


class AppealRow(msgspec.Struct, frozen=True):
    """An appeal that waits, as a moderator sees it."""

    name: str
    row: SanctionRow
    may_answer: bool


@pages.get("/report")
def show_report_form(
    own_page: OwnPage,
    kind: Kind = ReportKind.PLAYER,
    place: Place = "",
    at: WrittenAt = 0,
    sent: Sent = "",
) -> Response[str]:
    """Show the form to report a text or a player; or that a report was received."""
    fields = {"kind": (kind,), "place": (place,), "at": (str(at),)}
    return _form(own_page.visitor, Form(fields), sent=bool(sent))


def _form(
    visitor: Visitor, form: Form, reason: Refusal | None = None, *, sent: bool = False
) -> Response[str]:
    words = visitor.wording
    return render(
        "report.html",
        visitor,
        form=form,
        what=kind_name(read_choice(ReportKind, form.get("kind")), words),
        reasons=reason_names(words),
        sent=sent,
        reason=reason,
    )


@pages.post("/report")
def send_report(own: Own) -> Response[str] | Redirect:
    """Report a text or a player."""
    kind = read_choice(ReportKind, own.get("kind"))
    try:
        _send(own.app, own.account, kind, own)
    except Refusal as reason:
        return _form(own.visitor, own, reason)
    return redirect_to(f"/report?{urlencode({'kind': kind, 'sent': 1})}")


def _send(app: App, account: AccountId, kind: ReportKind, form: Form) -> PlayerReport:
    reason, words = read_choice(ReportReason, form.get("reason")), form.raw("words")
    place, at = form.get("place"), _number(form.get("at"))
    match kind:
        case ReportKind.MESSAGE:
            return moderation.report_message(app, account, at, reason, words)
        case ReportKind.CHAT:
            return moderation.report_chat(app, account, _number(place), at, reason, words)
        case ReportKind.NOTE:
            return moderation.report_note(app, account, place, reason, words)
        case ReportKind.PLAYER:
            return moderation.report_player(app, account, place, reason, words)
        case ReportKind.TOURNAMENT:
            return moderation.report_tournament(app, account, _number(place), reason, words)


def _number(text: str) -> int:
    number = typed_number(text, _DIGITS_OF_TIME)
    if number is None:
        raise Refusal(Code.BAD_REQUEST, SAY("no-message"))
    return number


# the visitor's own sanctions


@pages.get("/account/sanctions")
def show_sanctions(own_page: OwnPage, saved: SavedMark = "") -> Response[str]:
    """Show the sanctions against the visitor, with a form to appeal."""
    return _sanctions(own_page, saved=saved)


def _sanctions(own: OwnForm, reason: Refusal | None = None, saved: str = "") -> Response[str]:
    rows = _rows(own, moderation.sanctions_of(own.app, own.account))
    return render("sanctions.html", own.visitor, rows=rows, saved=saved, reason=reason)


def _rows(own: OwnForm, found: Sequence[Sanction]) -> list[SanctionRow]:
    now, words = own.app.store.now() if found else 0, own.visitor.wording
    return [SanctionRow(one, sanction_said(one, words), one.holds(now)) for one in found]


@pages.post("/account/sanctions/{sanction:str}/appeal")
def appeal(sanction: RowId, own: Own) -> Response[str] | Redirect:
    """Appeal against a sanction."""
    try:
        moderation.appeal_sanction(own.app, own.account, sanction, own.raw("words"))
    except Refusal as reason:
        return _sanctions(own, reason)
    return redirect_to("/account/sanctions?saved=appeal")


# moderators


@pages.get("/admin/reports")
def show_reports(own_page: OwnPage, saved: SavedMark = "") -> Response[str]:
    """Show the reports and appeals that wait, to a moderator."""
    return _queue(own_page, saved=saved)


def _queue(
    own: OwnForm, *, saved: str = "", at: str = "", reason: Refusal | None = None
) -> Response[str]:
    app, account, words = own.app, own.account, own.visitor.wording
    views = moderation.waiting_reports(app, account)
    waiting = moderation.appeals(app, account)
    people = [one for view in views for one in (view.report.about, view.report.reporter)]
    names = names_of(app, [*people, *(player for player, _ in waiting)], words)
    reasons = reason_names(words)
    reports = [
        ReportRow(
            view=view,
            kind=kind_name(view.report.kind, words),
            reason=reasons[view.report.reason],
            about=names[view.report.about],
            reporter=names[view.report.reporter],
            sanctions=_rows(own, view.sanctions),
        )
        for view in views
    ]
    appeals = [
        AppealRow(names[player], row, account not in (player, row.sanction.by))
        for player, one in waiting
        for row in _rows(own, [one])
    ]
    return render_section(
        "reports.html",
        own,
        "reports",
        reports=reports,
        appeals=appeals,
        choices=sanction_names(words),
        key=uuid4().hex,
        saved=saved,
        at=at,
        reason=reason,
    )


@pages.post("/admin/reports/{report:str}")
def decide(report: RowId, own: Own) -> Response[str] | Redirect:
    """Decide on a report."""
    try:
        chosen = own.get("sanction")
        verdict = ReportVerdict(
            sanction=read_choice(SanctionKind, chosen) if chosen else None,
            days=read_days(own.get("days")),
            removes=own.get("removes") == "on",
            why=own.raw("why"),
        )
        actor = own.actor(f"{own.key} {report}")
        moderation.decide_report(own.app, actor, report, verdict)
    except Refusal as reason:
        return _queue(own, at=report, reason=reason)
    return redirect_to("/admin/reports?saved=report")


@pages.post("/admin/appeals/{userid:str}/{sanction:str}")
def answer(userid: Userid, sanction: RowId, own: Own) -> Response[str] | Redirect:
    """Answer an appeal: lift the sanction, or let it stand."""
    try:
        lifts = own.get("do") == "lift"
        actor = own.actor(f"{own.key} {sanction}")
        moderation.lift_sanction(own.app, actor, userid, sanction, lifts=lifts, why=own.get("why"))
    except Refusal as reason:
        return _queue(own, at=sanction, reason=reason)
    return redirect_to("/admin/reports?saved=appeal")
