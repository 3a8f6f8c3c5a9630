"""Reports, sanctions against oneself, and what moderators decide."""

from typing import Annotated

import msgspec
from litestar.params import JSONBody, PathParameter

from domain.errors import Code, Refusal
from infra.people.moderation import PlayerReport, ReportKind, ReportReason, Sanction, SanctionKind
from infra.people.tokens import Scope
from services.app import moderation
from services.app.context import App
from services.app.moderation import ReportVerdict
from services.app.names import userids_of
from services.app.sentences import SAY
from services.http.api.auth import Own
from services.http.api.bodies import Key, RequestBody
from services.http.api.declared import ApiRoutes, refuses
from services.http.api.values import one_of

api = ApiRoutes("moderation")

Id = Annotated[str, PathParameter(max_length=24, description="the id of a report or a sanction")]
Name = Annotated[str, PathParameter(max_length=24, description="a userid")]


class NewReport(RequestBody, frozen=True):
    """A text or a player to be looked at by moderators."""

    kind: ReportKind
    """`message`, `chat`, `note` (of an open challenge), `player` or `tournament` (its name and text)."""
    reason: ReportReason
    """`insult`, `spam`, `userid`, `cheating` or `other`."""
    words: Annotated[str, msgspec.Meta(max_length=2_000)] = ""
    """Your own words."""
    at: int = 0
    """When the message or the line of chat was written, in ms since 1970, as it is listed."""
    board: int = 0
    """The number of the match whose chat it is in."""
    challenge: Annotated[str, msgspec.Meta(max_length=24)] = ""
    """The id of the challenge that has the note."""
    userid: Annotated[str, msgspec.Meta(max_length=24)] = ""
    """The player, for `player`."""
    tournament: Annotated[int, msgspec.Meta(ge=0, le=10**15)] = 0
    """The number of the tournament, for `tournament`."""


class ReportReceived(msgspec.Struct, frozen=True):
    """A report that was received."""

    id: str


class ListedSanction(msgspec.Struct, frozen=True):
    """A sanction."""

    id: str
    kind: Annotated[str, one_of(SanctionKind)]
    """`warning`, `no-chat`, `no-matches` or `locked`."""
    since: int
    """Times are in ms since 1970."""
    until: int | None
    """Null if it has no end."""
    why: str
    appeal: str
    """Your words against it; empty without an appeal."""
    answered: int | None
    """When the appeal was answered; null if it was not."""
    lifted: int | None
    """When it was lifted; null if it was not."""


class Sanctions(msgspec.Struct, frozen=True):
    """Sanctions, the newest first."""

    sanctions: tuple[ListedSanction, ...]


class ListedReport(msgspec.Struct, frozen=True):
    """A report as moderators read it."""

    id: str
    at: int
    kind: Annotated[str, one_of(ReportKind)]
    about: str | None
    """Userid; null for a deleted account."""
    reporter: str | None
    place: str
    """The number of the match or the id of the challenge."""
    text: str
    """The text as it was when it was reported."""
    reason: Annotated[str, one_of(ReportReason)]
    words: str
    earlier: int
    """How many other reports about the player are kept."""
    sanctions: tuple[ListedSanction, ...]
    """All sanctions of the player, the newest first."""


class Reports(msgspec.Struct, frozen=True):
    """The reports that wait, the oldest first."""

    reports: tuple[ListedReport, ...]


class ReportDecision(RequestBody, frozen=True):
    """A moderator's decision."""

    sanction: SanctionKind | None = None
    days: int = 0
    """How long the sanction holds; 0 for no end."""
    removes: bool = False
    """Whether the text is removed."""
    why: Annotated[str, msgspec.Meta(max_length=2_000)] = ""
    """The reason, which the player reads."""


class Appeal(RequestBody, frozen=True):
    """The words of an appeal."""

    words: Annotated[str, msgspec.Meta(max_length=2_000, examples=["It was not me."])]


class AppealAnswer(RequestBody, frozen=True):
    """An answer to an appeal, or the lifting of a sanction."""

    lifts: bool
    why: Annotated[str, msgspec.Meta(max_length=2_000)] = ""


@api.post("/api/reports", "Report a text or a player", Scope.PLAY, status_code=201)
@refuses(
    *(Code.NOT_FOUND, Code.UNKNOWN_BOARD, Code.NOT_A_PLAYER, Code.UNKNOWN_CHALLENGE),
    *(Code.UNKNOWN_USER, Code.BAD_OPTION, Code.TOO_MANY, Code.TOO_LONG, Code.UNKNOWN_TOURNAMENT),
    Code.NOT_WANTED,
)
def make_report(data: JSONBody[NewReport], own: Own) -> ReportReceived:
    """Report a text or a player to the moderators. The same report again is the same one."""
    return ReportReceived(_reported(own.app, own.account, data).id)


def _reported(app: App, account: bytes, data: NewReport) -> PlayerReport:
    match data.kind:
        case ReportKind.MESSAGE:
            return moderation.report_message(app, account, data.at, data.reason, data.words)
        case ReportKind.CHAT:
            return moderation.report_chat(
                app, account, data.board, data.at, data.reason, data.words
            )
        case ReportKind.NOTE:
            return moderation.report_note(app, account, data.challenge, data.reason, data.words)
        case ReportKind.PLAYER:
            return moderation.report_player(app, account, data.userid, data.reason, data.words)
        case ReportKind.TOURNAMENT:
            return moderation.report_tournament(
                app, account, data.tournament, data.reason, data.words
            )


@api.get("/api/account/sanctions", "Sanctions against you", Scope.READ)
def list_sanctions(own: Own) -> Sanctions:
    """Return the sanctions against you, the newest first."""
    return Sanctions(tuple(map(_listed, moderation.sanctions_of(own.app, own.account))))


def _listed(one: Sanction) -> ListedSanction:
    return ListedSanction(
        id=one.id,
        kind=one.kind,
        since=one.since,
        until=one.until or None,
        why=one.why,
        appeal=one.appeal,
        answered=one.answered or None,
        lifted=one.lifted or None,
    )


@api.post("/api/account/sanctions/{sanction:str}/appeal", "Appeal against a sanction", Scope.PLAY)
@refuses(Code.NOT_FOUND, Code.TOO_LATE, Code.BAD_REQUEST, Code.TOO_LONG)
def appeal_sanction(sanction: Id, data: JSONBody[Appeal], own: Own) -> None:
    """Appeal against a sanction, once; somebody else than its moderator answers."""
    moderation.appeal_sanction(own.app, own.account, sanction, data.words)


@api.get("/api/admin/reports", "Reports that wait", Scope.ADMIN)
@refuses(Code.NOT_A_MODERATOR)
def list_reports(own: Own) -> Reports:
    """Return the reports that wait for a decision, to a moderator."""
    views = moderation.waiting_reports(own.app, own.account)
    accounts = [one for view in views for one in (view.report.about, view.report.reporter)]
    names = userids_of(own.app, accounts)
    return Reports(
        tuple(
            ListedReport(
                id=view.report.id,
                at=view.report.at,
                kind=view.report.kind,
                about=names[view.report.about],
                reporter=names[view.report.reporter],
                place=view.report.place,
                text=view.report.text,
                reason=view.report.reason,
                words=view.report.words,
                earlier=len(view.others),
                sanctions=tuple(map(_listed, view.sanctions)),
            )
            for view in views
        )
    )


@api.post("/api/admin/reports/{report:str}/decision", "Decide on a report", Scope.ADMIN)
@refuses(
    *(Code.NOT_A_MODERATOR, Code.NOT_FOUND, Code.NOT_WANTED, Code.TOO_LATE),
    *(Code.BAD_OPTION, Code.BAD_REQUEST, Code.TOO_LONG, Code.TOO_MANY, Code.UNKNOWN_USER),
)
def decide_report(report: Id, data: JSONBody[ReportDecision], own: Own, key: Key = None) -> None:
    """Decide on a report: impose a sanction, remove the text, both, or neither."""
    moderation.decide_report(own.app, own.actor(key), report, _verdict(data))


def _verdict(data: ReportDecision) -> ReportVerdict:
    return ReportVerdict(data.sanction, data.days, removes=data.removes, why=data.why)


@api.post(
    "/api/admin/accounts/{userid:str}/sanctions", "Impose a sanction", Scope.ADMIN, status_code=201
)
@refuses(
    *(Code.NOT_A_MODERATOR, Code.UNKNOWN_USER, Code.NOT_WANTED, Code.BAD_OPTION),
    *(Code.BAD_REQUEST, Code.TOO_LONG, Code.TOO_MANY),
)
def impose_sanction(
    userid: Name, data: JSONBody[ReportDecision], own: Own, key: Key = None
) -> ListedSanction:
    """Impose a sanction on a player without a report."""
    if data.sanction is None:
        raise Refusal(Code.BAD_REQUEST, SAY("which-sanction"))
    made = moderation.sanction_player(own.app, own.actor(key), userid, _verdict(data))
    return _listed(made)


@api.put(
    "/api/admin/accounts/{userid:str}/sanctions/{sanction:str}",
    "Lift a sanction, or answer an appeal",
    Scope.ADMIN,
)
@refuses(Code.NOT_A_MODERATOR, Code.UNKNOWN_USER, Code.NOT_FOUND, Code.NOT_WANTED, Code.TOO_LATE)
def answer_appeal(
    userid: Name, sanction: Id, data: JSONBody[AppealAnswer], own: Own, key: Key = None
) -> None:
    """Lift a sanction, or let it stand after an appeal, which is final."""
    moderation.lift_sanction(
        own.app, own.actor(key), userid, sanction, lifts=data.lifts, why=data.why
    )
