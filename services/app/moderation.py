"""Moderation: reporting texts and players, deciding on reports, sanctions, and appeals against them.

Nobody decides on a report that is about them or that they made. An appeal goes to somebody else than imposed the
sanction, and is final.
"""

from contextlib import suppress
from typing import Final

import msgspec
from msgspec.structs import replace

from domain.errors import Code, Refusal
from domain.match.decision import seat_of
from domain.match.state import is_bot
from domain.records import AccountId
from domain.sentences import ENGLISH, Sentence
from infra.languages.wording import capitalised, wording
from infra.people.acts import Act
from infra.people.messages import BOX_LIMIT, CHAT_LIMIT, MessageKind, PlayerMessage
from infra.people.moderation import (
    REMOVED,
    PlayerReport,
    ReportKind,
    ReportReason,
    Sanction,
    SanctionKind,
)
from infra.people.tournament_texts import TournamentText
from infra.sentences import day_of
from services.app.accounts import close_account, reopen_account
from services.app.acts import check_reason, record_act
from services.app.clubs import visible_challenge
from services.app.context import Actor, App
from services.app.matches import load_state
from services.app.messages import inbox
from services.app.roles import require_moderator
from services.app.sanctions import end_after, sanction_held
from services.app.sentences import SAY
from services.app.tournaments import visible_state

QUEUE: Final = 100
"""Reports that are shown at once."""

NONE: Final = "none"
"""The decision that nothing follows from a report."""


class ReportVerdict(msgspec.Struct, frozen=True):
    """A moderator's decision on a report."""

    sanction: SanctionKind | None = None
    """None for no sanction."""
    days: int = 0
    """How long it holds; 0 for no end."""
    removes: bool = False
    """Whether the text is removed."""
    why: str = ""
    """The reason, which the player reads; needed for a sanction and for removing a text."""


class ReportView(msgspec.Struct, frozen=True):
    """A report as a moderator reads it."""

    report: PlayerReport
    others: tuple[PlayerReport, ...]
    """Earlier reports about the same player, the newest first."""
    sanctions: tuple[Sanction, ...]
    """All sanctions of the player, the newest first."""
    may_decide: bool


# reporting


def report_message(
    app: App, reporter: AccountId, at: int, reason: ReportReason, words: str = ""
) -> PlayerReport:
    """Report a message in the reporter's inbox that was written at a time, in ms; `not-found`."""
    for one in inbox(app, reporter):
        if one.at == at and one.kind is MessageKind.MESSAGE:
            return _report(
                app, reporter, one.sender, ReportKind.MESSAGE, reason, words, at=at, text=one.text
            )
    raise Refusal(Code.NOT_FOUND, SAY("no-message"))


def report_chat(
    app: App, reporter: AccountId, board: int, at: int, reason: ReportReason, words: str = ""
) -> PlayerReport:
    """Report a line in the chat of a match that the reporter plays in; `not-a-player`, `not-found`."""
    seat_of(reporter, load_state(app, board))
    for one in app.messages.chat_of(board, CHAT_LIMIT):
        if one.at == at:
            place = str(board)
            return _report(
                app,
                reporter,
                one.sender,
                ReportKind.CHAT,
                reason,
                words,
                place=place,
                at=at,
                text=one.text,
            )
    raise Refusal(Code.NOT_FOUND, SAY("no-message"))


def report_note(
    app: App, reporter: AccountId, challenge: str, reason: ReportReason, words: str = ""
) -> PlayerReport:
    """Report the note of a challenge; `unknown-challenge`, `not-found` without a note."""
    found = visible_challenge(app, reporter, challenge)
    if not found.proposal.note:
        raise Refusal(Code.NOT_FOUND, SAY("no-message"))
    note = found.proposal.note
    return _report(
        app, reporter, found.account, ReportKind.NOTE, reason, words, place=found.id, text=note
    )


def report_tournament(
    app: App, reporter: AccountId, number: int, reason: ReportReason, words: str = ""
) -> PlayerReport:
    """Report the name and the text of a tournament, which are its organiser's; `unknown-tournament`."""
    organiser = visible_state(app, reporter, number).organiser
    place, said = str(number), app.tournament_texts.of([number])[number]
    text = f"{said.name}\n\n{said.text}".strip()
    return _report(
        app, reporter, organiser, ReportKind.TOURNAMENT, reason, words, place=place, text=text
    )


def report_player(
    app: App, reporter: AccountId, userid: str, reason: ReportReason, words: str = ""
) -> PlayerReport:
    """Report a player, for a userid or how they behave; `unknown-user`."""
    return _report(app, reporter, app.accounts.id_of(userid), ReportKind.PLAYER, reason, words)


def _report(  # noqa: PLR0913 - what a report has
    app: App,
    reporter: AccountId,
    about: AccountId,
    kind: ReportKind,
    reason: ReportReason,
    words: str,
    *,
    place: str = "",
    at: int = 0,
    text: str = "",
) -> PlayerReport:
    if is_bot(reporter):
        raise Refusal(Code.NOT_WANTED, SAY("bot-writes"))
    if about == reporter:
        raise Refusal(Code.BAD_OPTION, SAY("report-self"))
    return app.moderation.report(
        PlayerReport(
            id="",
            at=0,
            reporter=reporter,
            about=about,
            kind=kind,
            place=place,
            written=at,
            text=text,
            reason=reason,
            words=words.strip(),
        )
    )


# deciding


def waiting_reports(app: App, moderator: AccountId) -> list[ReportView]:
    """Return the reports that wait, the oldest first; `not-a-moderator`."""
    require_moderator(app, moderator)
    return [_view(app, moderator, one) for one in app.moderation.waiting(QUEUE)]


def report_of(app: App, moderator: AccountId, id_: str) -> ReportView:
    """Return a report, decided or not; `not-a-moderator`, `not-found`."""
    require_moderator(app, moderator)
    found = app.moderation.get(id_)
    if found is None:
        raise Refusal(Code.NOT_FOUND, SAY("no-report"))
    return _view(app, moderator, found)


def _view(app: App, moderator: AccountId, report: PlayerReport) -> ReportView:
    return ReportView(
        report=report,
        others=tuple(one for one in app.moderation.about(report.about) if one.id != report.id),
        sanctions=tuple(app.moderation.of(report.about)),
        may_decide=not report.decided and moderator not in (report.about, report.reporter),
    )


def decide_report(app: App, actor: Actor, id_: str, verdict: ReportVerdict) -> PlayerReport:
    """Decide on a report: impose a sanction, remove the text, both, or neither.

    A message tells the player what follows and why, and the reporter that it was decided. `not-a-moderator`,
    `not-found`, `not-wanted` for one's own case, `too-late` if another has decided, `bad-option`, `bad-request` without
    a reason.
    """
    view = report_of(app, actor.account, id_)
    report = view.report
    if not view.may_decide:
        _refuse_decision(report)
    if verdict.removes and not report.text:
        raise Refusal(Code.BAD_OPTION, SAY("no-text-to-remove"))
    _check_verdict(verdict)
    end_after(app, verdict.days)  # refused before anything is done
    decision = verdict.sanction or ("removed" if verdict.removes else NONE)
    if not app.moderation.claim(report, actor.account, decision, removed=verdict.removes):
        raise Refusal(Code.TOO_LATE, SAY("report-decided"))
    # crash window: it is decided, and nothing has followed yet; the record of acts does not have it either
    if verdict.removes:
        _remove_text(app, report)
        record_act(
            app, actor.account, Act.TEXT_REMOVED, report.about, what=report.id, why=verdict.why
        )
    if verdict.sanction:
        impose(app, actor, report.about, verdict, report=report.id)
    elif verdict.removes:
        _tell(app, actor, report.about, SAY("told-removed", why=verdict.why.strip()), "removed")
    record_act(app, actor.account, Act.REPORT_DECIDED, report.about, what=decision)
    _tell(app, actor, report.reporter, SAY("told-decided"), "decided")
    return report


def _refuse_decision(report: PlayerReport) -> None:
    if report.decided:
        raise Refusal(Code.TOO_LATE, SAY("report-decided"))
    raise Refusal(Code.NOT_WANTED, SAY("own-report"))


def _check_verdict(verdict: ReportVerdict) -> None:
    check_reason(verdict.why)
    if (verdict.sanction or verdict.removes) and not verdict.why.strip():
        raise Refusal(Code.BAD_REQUEST, SAY("sanction-reason"))


def impose(
    app: App, actor: Actor, account: AccountId, verdict: ReportVerdict, *, report: str = ""
) -> Sanction:
    """Impose a sanction on a player, with or without a report; a message tells them.

    `not-a-moderator`, `not-wanted` against oneself or an operator, `bad-request`, `bad-option`, `unknown-user`.
    """
    require_moderator(app, actor.account)
    _check_verdict(verdict)
    assert verdict.sanction is not None
    profile = app.accounts.record_of(account)
    if account == actor.account or (profile is not None and profile.operator):
        raise Refusal(Code.NOT_WANTED, SAY("no-sanction"))
    until = end_after(app, verdict.days)
    kept = app.moderation.impose(
        account,
        Sanction(
            id="", kind=verdict.sanction, since=0, until=until, why=verdict.why.strip(),
            by=actor.account, report=report,
        ),
    )  # fmt: skip
    # crash window: it holds, and the player does not know yet
    _tell(app, actor, account, _told(kept), kept.id)
    if kept.kind is SanctionKind.LOCKED:
        close_account(app, account, until)
    record_act(app, actor.account, Act.SANCTIONED, account, what=kept.kind, why=kept.why)
    return kept


def sanction_player(app: App, actor: Actor, userid: str, verdict: ReportVerdict) -> Sanction:
    """Impose a sanction on the player of a userid; refused as `impose` does."""
    return impose(app, actor, app.accounts.id_of(userid), verdict)


# sanctions


def sanctions_of(app: App, account: AccountId) -> list[Sanction]:
    """Return the sanctions of an account, the newest first."""
    return app.moderation.of(account)


def appeal_sanction(app: App, account: AccountId, id_: str, words: str) -> None:
    """Appeal against an own sanction, once; `not-found`, `too-late`, `bad-request` without words, `too-long`."""
    found = _own(app, account, id_)
    if found.appealed or found.lifted:
        raise Refusal(Code.TOO_LATE, SAY("appealed"))
    check_reason(words)
    if not words.strip():
        raise Refusal(Code.BAD_REQUEST, SAY("appeal-empty"))
    app.moderation.change(account, replace(found, appeal=words.strip(), appealed=app.store.now()))
    app.moderation.note_appeal(account, found.id)


def appeals(app: App, moderator: AccountId) -> list[tuple[AccountId, Sanction]]:
    """Return the appeals that wait, with the players, the oldest first; `not-a-moderator`."""
    require_moderator(app, moderator)
    waiting = [
        (account, one)
        for account, id_ in app.moderation.appeals()
        for one in app.moderation.of(account)
        if one.id == id_ and not one.answered
    ]
    return sorted(waiting, key=lambda pair: (pair[1].appealed, pair[1].id))


def lift_sanction(
    app: App, actor: Actor, userid: str, id_: str, *, lifts: bool, why: str = ""
) -> None:
    """Lift a sanction, or let it stand after an appeal, which is final then.

    `not-a-moderator`, `not-found`, `not-wanted` for a sanction against oneself, and for an appeal against one's own
    sanction; `too-late` if it was lifted or answered.
    """
    require_moderator(app, actor.account)
    check_reason(why)
    account = app.accounts.id_of(userid)
    found = _own(app, account, id_)
    if account == actor.account or (found.appealed and found.by == actor.account):
        raise Refusal(Code.NOT_WANTED, SAY("own-appeal"))
    if found.lifted or found.answered:
        raise Refusal(Code.TOO_LATE, SAY("appealed"))
    now = app.store.now()
    changed = replace(found, lifted=now if lifts else 0, answered=now if found.appealed else 0)
    app.moderation.change(account, changed)
    app.moderation.forget_appeal(account, id_)
    if lifts and found.kind is SanctionKind.LOCKED:
        other = sanction_held(app, account, SanctionKind.LOCKED)
        reopen_account(app, account, still_until=other.until if other else None)
    said = SAY("told-lifted") if lifts else SAY("told-stands")
    _tell(app, actor, account, said, f"{id_} answered")
    act = Act.SANCTION_LIFTED if lifts else Act.APPEAL_TURNED_DOWN
    record_act(app, actor.account, act, account, what=found.kind, why=why)


def _own(app: App, account: AccountId, id_: str) -> Sanction:
    for one in app.moderation.of(account):
        if one.id == id_:
            return one
    raise Refusal(Code.NOT_FOUND, SAY("no-sanction-here"))


def _remove_text(app: App, report: PlayerReport) -> None:
    """Put the mark in the place of the text that was reported, wherever it still is."""
    if report.kind is ReportKind.NOTE:
        with suppress(Refusal):  # the challenge has ended, and its note with it
            app.challenges.replace_note(report.place, REMOVED)
        return
    if report.kind is ReportKind.CHAT:
        line = PlayerMessage(report.written, report.about, report.text, MessageKind.CHAT)
        app.messages.replace_text(int(report.place), line, REMOVED)
        return
    if report.kind is ReportKind.TOURNAMENT:
        app.tournament_texts.put(int(report.place), TournamentText(REMOVED))
        return
    # the same text may be in other inboxes, at other times
    for account in {report.reporter, *app.messages.recipients_of(report.about)}:
        for one in app.messages.read(account, BOX_LIMIT):
            if (one.sender, one.text, one.kind) == (report.about, report.text, MessageKind.MESSAGE):
                app.messages.replace_text(account, one, REMOVED)


def _told(sanction: Sanction) -> Sentence:
    """Return the message to a player about a sanction."""
    why, day = sanction.why, day_of(sanction.until) if sanction.until else ""
    match sanction.kind:
        case SanctionKind.WARNING:
            return SAY("told-warning", why=why)
        case SanctionKind.NO_CHAT:
            return (
                SAY("told-no-chat-until", day=day, why=why) if day else SAY("told-no-chat", why=why)
            )
        case SanctionKind.NO_MATCHES if day:
            return SAY("told-no-matches-until", day=day, why=why)
        case SanctionKind.NO_MATCHES:
            return SAY("told-no-matches", why=why)
        case SanctionKind.LOCKED if day:
            return SAY("told-locked-until", day=day, why=why)
        case SanctionKind.LOCKED:
            return SAY("told-locked", why=why)


def _tell(app: App, actor: Actor, account: AccountId, said: Sentence, part: str) -> None:
    """Write to a player in their language, as the moderator; nothing to an account that was deleted meanwhile."""
    profile = app.accounts.record_of(account)
    if profile is None:
        return
    text = capitalised(said.in_language(wording(profile.language or ENGLISH.code)))
    app.messages.send(actor.account, [account], f"{text}.", actor.command_id(part))
