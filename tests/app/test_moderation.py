"""Moderation: reports, decisions, sanctions at every way in, removed texts, and appeals."""

from collections.abc import Iterator
from typing import Any

import pytest

from domain.errors import Code
from infra.people.accounts import AccountRole
from infra.people.acts import TERMINAL
from infra.people.moderation import (
    KEPT_MS,
    MOST_OPEN_OF_ONE,
    REMOVED,
    PlayerReport,
    ReportKind,
    ReportReason,
    Sanction,
    SanctionKind,
)
from infra.people.tournament_texts import TournamentText
from infra.redis import keys
from services.app.accounts import erase_account
from services.app.acts import acts_of
from services.app.challenges import proposal_of, propose, take
from services.app.context import Actor
from services.app.games import read_game
from services.app.messages import inbox, read_chat, send_message, write_chat
from services.app.moderation import (
    ReportVerdict,
    appeal_sanction,
    appeals,
    decide_report,
    lift_sanction,
    report_chat,
    report_message,
    report_note,
    report_of,
    report_player,
    report_tournament,
    sanction_player,
    sanctions_of,
    waiting_reports,
)
from services.app.play import submit
from services.app.roles import set_role
from services.app.tournament_plans import TournamentPlan
from services.app.tournaments import draft_tournament, open_entry
from tests.fakes.everywhere import FRONT_ENDS, Action, same
from tests.helpers.api import PASSWORD, Api, Player
from tests.helpers.examples import next_millisecond, refused

INSULT = ReportReason.INSULT


@pytest.fixture(autouse=True)
def _no_reports(api: Api) -> Iterator[None]:
    yield
    api.parts.data.delete(keys.REPORTS, keys.OPEN_REPORTS, keys.APPEALS)


def moderator(api: Api) -> Player:
    player = api.player()
    set_role(api.parts, TERMINAL, player.name, AccountRole.MODERATOR, held=True)
    return player


def actor(player: Player, key: str = "1") -> Actor:
    return Actor(player.account, "test", key)


def sanction(
    api: Api, player: Player, kind: SanctionKind, days: int = 0, why: str = "x", **given: Any
) -> Sanction:
    """Impose a sanction, by a new moderator if none is given."""
    by, key = given.get("by") or moderator(api), given.get("key", "1")
    return sanction_player(
        api.parts, actor(by, key), player.name, ReportVerdict(kind, days, why=why)
    )


def refused_verdict(
    code: Code, api: Api, by: Player, found: PlayerReport, verdict: ReportVerdict, key: str = "1"
) -> None:
    refused(code, decide_report, api.parts, actor(by, key), found.id, verdict)


def told(api: Api, player: Player) -> str:
    return inbox(api.parts, player.account)[0].text


def insulted(api: Api, text: str = "you fool") -> tuple[Player, Player]:
    """Return who wrote a message and who read it."""
    writer, reader = api.players()
    send_message(api.parts, writer.account, [reader.account], text, b"c" * 16)
    return writer, reader


def test_a_report_freezes_the_text_and_waits_once(api):
    app, (writer, reader) = api.parts, insulted(api)
    at = inbox(app, reader.account)[0].at
    first = report_message(app, reader.account, at, INSULT, " see this ")
    again = report_message(app, reader.account, at, INSULT)
    assert first == again
    assert (first.text, first.about, first.words) == ("you fool", writer.account, "see this")
    (view,) = waiting_reports(app, moderator(api).account)
    assert (view.report, view.may_decide, view.others) == (first, True, ())
    refused(Code.NOT_FOUND, report_message, app, reader.account, at + 1, INSULT)
    refused(Code.NOT_FOUND, report_message, app, writer.account, at, INSULT)
    refused(Code.NOT_A_MODERATOR, waiting_reports, app, reader.account)
    refused(Code.BAD_OPTION, report_player, app, writer.account, writer.name, INSULT)


def test_nobody_fills_the_queue(api):
    app, one = api.parts, api.player()
    for _ in range(MOST_OPEN_OF_ONE):
        report_player(app, one.account, api.player().name, INSULT)
    refused(Code.TOO_MANY, report_player, app, one.account, api.player().name, INSULT)
    refused(Code.TOO_LONG, report_player, app, api.player().account, one.name, INSULT, "x" * 3000)


def test_a_decision_removes_the_text_sanctions_its_author_and_tells_both(api):
    app, (writer, reader), by = api.parts, insulted(api, "fool!"), moderator(api)
    other = api.player()
    send_message(app, writer.account, [other.account], "fool!", b"d" * 16)
    found = report_message(app, reader.account, inbox(app, reader.account)[0].at, INSULT)
    verdict = ReportVerdict(SanctionKind.NO_CHAT, 7, removes=True, why="no insults")
    backwards = ReportVerdict(SanctionKind.WARNING, -1, why="x")
    refused_verdict(Code.BAD_REQUEST, api, by, found, ReportVerdict(SanctionKind.WARNING))
    refused_verdict(Code.BAD_OPTION, api, by, found, backwards)
    refused_verdict(Code.NOT_A_MODERATOR, api, reader, found, verdict)
    decide_report(app, actor(by), found.id, verdict)
    for one in (reader, other):
        assert REMOVED in [message.text for message in inbox(app, one.account)]
        assert "fool!" not in [message.text for message in inbox(app, one.account)]
    assert told(api, writer).startswith("Until 20")
    assert told(api, writer).endswith(" you can't write to others: no insults.")
    assert told(api, reader) == "Your report was looked at and decided; thank you."
    kept = report_of(app, by.account, found.id).report
    assert (kept.text, kept.decision, kept.removed) == ("fool!", "no-chat", True)
    assert kept.by == by.account
    refused_verdict(Code.TOO_LATE, api, by, found, verdict, "2")
    acts = [(act.act, act.account, act.what) for act in acts_of(app, TERMINAL)[:3]]
    assert acts == [
        ("report-decided", writer.account, "no-chat"),
        ("sanctioned", writer.account, "no-chat"),
        ("text-removed", writer.account, found.id),
    ]


def test_a_line_of_chat_and_the_note_of_a_challenge_are_reported_where_they_are(api):
    app, (writer, reader), by = api.parts, api.players(), moderator(api)
    board = api.begun(writer, reader)
    write_chat(app, board, writer.account, "bah", b"e" * 16)
    (line,) = read_chat(app, board, reader.account)
    refused(Code.NOT_A_PLAYER, report_chat, app, by.account, board, line.at, INSULT)
    refused(Code.NOT_FOUND, report_chat, app, reader.account, board, line.at + 1, INSULT)
    chat = report_chat(app, reader.account, board, line.at, INSULT)
    proposal = proposal_of(read_game("torere"), (), (), seats=2, note="bah bah")
    offer = propose(app, actor(writer), proposal)
    note = report_note(app, reader.account, offer.id, INSULT)
    about = report_player(app, reader.account, writer.name, INSULT)
    refused_verdict(Code.BAD_OPTION, api, by, about, ReportVerdict(removes=True, why="x"))
    waiting = {view.report.kind for view in waiting_reports(app, by.account)}
    assert waiting == {ReportKind.CHAT, ReportKind.NOTE, ReportKind.PLAYER}
    assert len(report_of(app, by.account, chat.id).others) == 2
    for number, one in enumerate((chat, note)):
        decide_report(app, actor(by, str(number)), one.id, ReportVerdict(removes=True, why="rude"))
    assert [one.text for one in read_chat(app, board, reader.account)] == [REMOVED]
    assert app.challenges.get(offer.id).proposal.note == REMOVED
    assert told(api, writer) == "A text of yours was removed: rude."


def test_the_name_and_the_text_of_a_tournament_are_reported_and_removed(api):
    app, (writer, reader), by = api.parts, api.players(), moderator(api)
    plan = TournamentPlan(name="Fools", text="You fools.", game="goliath")
    number = submit(app, draft_tournament(app, actor(writer, "fools"), plan)).board
    refused(Code.UNKNOWN_TOURNAMENT, report_tournament, app, reader.account, number, INSULT)
    submit(app, open_entry(app, actor(writer, "open"), number))
    found = report_tournament(app, reader.account, number, INSULT)
    assert (found.about, found.text) == (writer.account, "Fools\n\nYou fools.")
    decide_report(app, actor(by), found.id, ReportVerdict(removes=True, why="rude"))
    assert app.tournament_texts.of([number])[number] == TournamentText(REMOVED)


def test_a_line_reports_a_player_or_what_they_have_just_written(api, everywhere, pair):
    one, other = pair
    app, board = api.parts, everywhere.match(one, other)
    for text in ("an older one", "you fool"):
        send_message(app, other.account, [one.account], text, text.encode().rjust(16))
        write_chat(app, board, other.account, f"{text}!", text.encode().ljust(16))
    write_chat(app, board, one.account, "not nice", b"n" * 16)
    report = f"report {one.name} {PASSWORD} {other.name}"
    said = everywhere.answer(f"{report} insult --message look")
    assert said.sentence.startswith("the moderators will look at it")
    next_millisecond()
    assert everywhere.mail(one, f"{report} cheating see 17").code == ""
    next_millisecond()
    lines = [f"{report} {rest}" for rest in (f"spam --chat={board}", "nonsense", "other --chat=x")]
    lines.append(f"report {other.name} {PASSWORD} {one.name} spam --message")
    codes = [everywhere.say(line).code for line in lines]
    assert codes == ["", "bad-option", "unknown-board", "not-found"]
    found = app.moderation.made_by(one.account)
    assert [(kept.kind, kept.reason, kept.text, kept.words) for kept in found] == [
        (ReportKind.MESSAGE, ReportReason.INSULT, "you fool", "look"),
        (ReportKind.PLAYER, ReportReason.CHEATING, "", "see 17"),
        (ReportKind.CHAT, ReportReason.SPAM, "you fool!", ""),
    ]
    assert {kept.about for kept in found} == {other.account}


def test_nobody_decides_in_their_own_case(api):
    app, one, other = api.parts, moderator(api), moderator(api)
    player = api.player()
    about = report_player(app, player.account, one.name, INSULT)
    made = report_player(app, one.account, player.name, INSULT)
    for found in (about, made):
        refused_verdict(Code.NOT_WANTED, api, one, found, ReportVerdict())
        assert not report_of(app, one.account, found.id).may_decide
        decide_report(app, actor(other), found.id, ReportVerdict())
    assert sanctions_of(app, player.account) == []
    set_role(app, TERMINAL, player.name, AccountRole.OPERATOR, held=True)
    for code, by, whom in (
        (Code.NOT_WANTED, one, one),
        (Code.NOT_WANTED, one, player),
        (Code.NOT_A_MODERATOR, api.player(), one),
    ):
        refused(code, sanction, api, whom, SanctionKind.LOCKED, by=by)


def test_who_may_not_write_is_refused_at_every_way_in_and_plays_on(api, everywhere, pair):
    one, other = pair
    board = everywhere.match(one, other)
    sanction(api, one, SanctionKind.NO_CHAT, 3)
    found = [everywhere.chat(where, one, board, "hello") for where in FRONT_ENDS]
    line = f"message {one.name} {PASSWORD} {other.name} hello"
    found += [everywhere.say(line), everywhere.mail(one, line)]
    found += [
        everywhere.http(one.post("/api/messages", {"to": [other.name], "text": "hello"})),
        everywhere.http(one.post("/api/challenges", {"game": "torere", "note": "hello"})),
    ]
    assert {result.code for result in found} == {"sanctioned"}
    assert one.post("/api/challenges", {"game": "torere"}).is_success
    assert one.move(board, "m13-j7").is_success


def test_who_may_not_start_is_refused_at_every_way_in_and_plays_on(api, everywhere, pair):
    one, other = pair
    board = everywhere.match(one, other)
    offer = propose(api.parts, actor(other), proposal_of(read_game("torere"), (), (), seats=2))
    sanction(api, one, SanctionKind.NO_MATCHES)
    names = [one.name, other.name]
    found = {where: everywhere.start(where, one, board, names, ()) for where in FRONT_ENDS}
    found["open"] = everywhere.http(one.post("/api/challenges", {"game": "pow2"}))
    assert same(found).code == "sanctioned"
    refused(Code.SANCTIONED, take, api.parts, actor(one), offer.id)
    assert one.move(board, "m13-j7").is_success
    assert one.post("/api/matches", {"game": "one", "players": [one.name]}).is_success


def test_who_may_not_start_accepts_no_invitation_and_may_decline_it(api, everywhere, pair):
    one, other = pair
    boards = [everywhere.match(other, one) for _ in range(2)]
    held = sanction(api, one, SanctionKind.NO_MATCHES, 3)
    for words, body in (("accept", {"do": "accept"}), ("m13-j7", {"do": "move", "move": "m13-j7"})):
        action = Action(words, body, body)
        found = {where: everywhere.act(where, one, boards[0], action) for where in FRONT_ENDS}
        assert same(found).code == "sanctioned"
    assert one.give(boards[0], {"do": "decline"}).is_success
    lift_sanction(api.parts, actor(moderator(api), "l"), one.name, held.id, lifts=True)
    assert one.give(boards[1], {"do": "accept"}).is_success


def test_a_sanction_ends_by_itself_and_the_longest_of_its_kind_counts(api, monkeypatch):
    app, one, other, by = api.parts, *api.players(), moderator(api)
    args, now = (app, one.account, [other.account], "hello", b"f" * 16), app.store.now()
    for key, days in (("a", 1), ("b", 9)):
        sanction(api, one, SanctionKind.NO_CHAT, days, by=by, key=key)
    for days in (0, 5):
        monkeypatch.setattr(type(app.store), "now", lambda _, days=days: now + days * 86_400_000)
        assert "until 20" in refused(Code.SANCTIONED, send_message, *args)
    monkeypatch.setattr(type(app.store), "now", lambda _: now + 10 * 86_400_000)
    send_message(*args)
    for key, days in (("c", 0), ("d", 9)):
        sanction(api, one, SanctionKind.NO_CHAT, days, by=by, key=key)
    assert "until 20" not in refused(Code.SANCTIONED, send_message, *args)


def test_an_appeal_goes_to_another_and_is_final(api):
    app, one, by, other = api.parts, api.player(), moderator(api), moderator(api)
    first = sanction(api, one, SanctionKind.NO_CHAT, by=by)
    refused(Code.BAD_REQUEST, appeal_sanction, app, one.account, first.id, " ")
    refused(Code.NOT_FOUND, appeal_sanction, app, other.account, first.id, "no")
    appeal_sanction(app, one.account, first.id, "it was not me")
    refused(Code.TOO_LATE, appeal_sanction, app, one.account, first.id, "again")
    made = [(account, kept.appeal) for account, kept in appeals(app, other.account)]
    assert made == [(one.account, "it was not me")]
    refused(Code.NOT_WANTED, lift_sanction, app, actor(by, "9"), one.name, first.id, lifts=False)
    lift_sanction(app, actor(other), one.name, first.id, lifts=False)
    assert told(api, one) == "Your appeal was looked at, and the sanction stands."
    refused(Code.TOO_LATE, lift_sanction, app, actor(other, "2"), one.name, first.id, lifts=True)
    assert appeals(app, other.account) == []
    next_millisecond()
    second = sanction(api, one, SanctionKind.NO_CHAT, by=by, key="3")
    lift_sanction(app, actor(by, "4"), one.name, second.id, lifts=True, why="a mistake")
    kept = [(one.id, bool(one.lifted)) for one in sanctions_of(app, one.account)]
    assert kept == [(second.id, True), (first.id, False)]


def test_a_lock_logs_out_and_is_lifted(api):
    app, one, by = api.parts, api.player(), moderator(api)
    locked = [
        sanction(api, one, SanctionKind.LOCKED, days, by=by, key=str(days)) for days in (9, 3, 0)
    ]
    assert "your account is suspended: x" in told(api, one).lower()
    assert "Your account is suspended until 20" in inbox(app, one.account)[1].text
    assert one.get("/api/account").status_code == 401

    def state() -> tuple[bool, int]:
        found = app.accounts.record_of(one.account)
        return found.suspended, found.suspended_until

    # the longest holds, and where that is lifted the next
    assert state() == (True, 0)
    for number, ends in ((2, locked[0].until), (0, locked[1].until)):
        lift_sanction(app, actor(by, f"l{number}"), one.name, locked[number].id, lifts=True)
        assert state() == (True, ends)
    lift_sanction(app, actor(by, "l1"), one.name, locked[1].id, lifts=True)
    assert state() == (False, 0)


def test_an_erased_account_leaves_no_sanctions_and_its_reports_name_nobody(api):
    app, (writer, reader), by = api.parts, insulted(api, "gone"), moderator(api)
    found = report_message(app, reader.account, inbox(app, reader.account)[0].at, INSULT)
    kept = sanction(api, writer, SanctionKind.WARNING, by=by)
    appeal_sanction(app, writer.account, kept.id, "no")
    assert writer.post("/api/account/deletion", {"password": PASSWORD}).is_success
    erase_account(app, reader.account)
    assert sanctions_of(app, writer.account) == []
    assert appeals(app, by.account) == []
    decide_report(app, actor(by), found.id, ReportVerdict(removes=True, why="x"))
    assert report_of(app, by.account, found.id).report.text == "gone"


def test_reports_are_dropped_some_time_after_their_decision(api, monkeypatch):
    app, one, by = api.parts, api.player(), moderator(api)
    old = report_player(app, one.account, api.player().name, INSULT)
    decide_report(app, actor(by), old.id, ReportVerdict())
    later = app.store.now() + KEPT_MS + 60_000
    new = report_player(app, one.account, api.player().name, INSULT)
    monkeypatch.setattr("infra.people.moderation.time_ms", lambda _: later)
    decide_report(app, actor(by, "2"), new.id, ReportVerdict())
    refused(Code.NOT_FOUND, report_of, app, by.account, old.id)
    assert report_of(app, by.account, new.id).report.decided == later
