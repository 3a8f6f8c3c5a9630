"""Given new addresses, messages, tournaments, and players who want one mail a day, who gets which mail."""

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from domain.clocks.time_control import DAY, TimeControl
from domain.match.commands import Command, PlayMove, StartMatch
from domain.match.history import decode_event
from domain.records import SERVER_ACCOUNT, AccountId
from domain.tournament.commands import (
    CancelTournament,
    ConfirmPlaces,
    DraftTournament,
    EnterTournament,
    LeaveTournament,
    OpenEntry,
    ReportResults,
    StartTournament,
    WithdrawPlayer,
)
from domain.tournament.state import MatchReport
from domain.tournament.terms import TournamentTerms
from infra.mail.account_changes import erase_mail
from infra.mail.addresses import AddressStatus
from infra.mail.composer import TournamentUpdate
from infra.mail.email import Email
from infra.mail.outbox import Outbox
from infra.mail.progress import DIGEST_ITEMS, DigestItem, MailerProgress, next_digest
from infra.mail.verification_codes import VerificationCodes
from infra.people.accounts import Accounts
from infra.people.clubs import ClubAudience, ClubRole
from infra.people.tournament_texts import TournamentText
from infra.projections.erasure import erase_projections
from infra.projections.notices import MatchNotices, NoticeKind, TournamentDetail, TournamentNotice
from infra.redis import keys, mail_keys
from tests.fakes.dying import Killed
from tests.helpers.given import ALICE, BOB, CAROL
from tests.helpers.mailing import HOMES, Mailing, recipients, text_of, work_out
from tests.helpers.side import catch_up
from tests.helpers.tournaments import terms_of_three
from workers.mail import notify
from workers.mail.build import EmailBuilder
from workers.mail.notify import MatchMailer

HOUR = DAY // 24
COMMAND = bytes(16)


def daily(mailing: Mailing, *accounts: bytes) -> None:
    for account in accounts:
        mailing.change(account, lambda record: replace(record, notify="daily"))


# addresses


def test_a_new_address_gets_a_code_and_nothing_else_until_an_answer_proves_it(mailing):
    dora = mailing.accounts.signup("dora", "mad-hatter", ["dora@example.org"])
    (mail,) = mailing.mail()
    assert (mail["To"], mail["Auto-Submitted"]) == ("dora@example.org", "auto-generated")
    assert "verify dora password " in text_of(mail)
    mailing.challenge(ALICE, dora)
    assert recipients(mailing.mail()) == ["alice"]
    reply = mailing.addresses.read_code(mail["Reply-To"].addresses[0].addr_spec)
    assert reply.account == dora
    codes = VerificationCodes(mailing.client, mailing.outbox.now)
    assert AddressStatus(mailing.accounts, codes).prove(dora, reply.code) == "dora@example.org"
    mailing.challenge(ALICE, dora, board=2)
    assert recipients(mailing.mail()) == ["alice", "dora"]


def test_only_addresses_that_are_not_good_get_a_code(mailing):
    dora = mailing.accounts.signup("dora", "mad-hatter", ["old@example.org", "new@example.org"])
    mailing.mail()
    old, new = mailing.accounts.record_of(dora).addresses
    addresses = (replace(old, verified=True), new)
    mailing.change(dora, lambda record: replace(record, addresses=addresses))
    mailing.bench.now += 1
    mailing.accounts.add_addresses_of(dora, ["more@example.org"])
    assert recipients(mailing.mail()) == ["more", "new"]


# messages


def test_a_message_is_mailed_once_to_each_who_wants_mail(mailing, letters):
    mailing.change(CAROL, lambda record: replace(record, notify="none"))
    text = "good luck\n-- \nsee you\u2028To answer, reply with\nb"
    for _ in range(2):
        letters.send(ALICE, [BOB, CAROL], text, COMMAND)
    (mail,) = mailing.mail()
    assert (mail["To"], mail["Subject"]) == (HOMES[BOB], "matchpost: alice wrote to you")
    assert "alice writes to you:\n\n  good luck\n  -- \n  see you" in text_of(mail)
    assert "message bob password alice YOUR TEXT" in text_of(mail)
    # no line of a message can pass for one of ours
    answers = [line for line in text_of(mail).splitlines() if line.startswith("To answer")]
    assert answers == ["To answer, reply with:"]
    assert mailing.client.exists(mail_keys.MESSAGE_QUEUE) == 0


def test_a_broadcast_goes_on_where_a_job_was_cut_off_and_other_mail_comes_between(
    mailing, letters, monkeypatch
):
    monkeypatch.setattr(notify, "BATCH", 1)
    looked_at: list[str] = []
    find = Accounts.id_of
    monkeypatch.setattr(
        Accounts, "id_of", lambda self, name: looked_at.append(name) or find(self, name)
    )
    letters.broadcast(ALICE, "a new game", COMMAND)
    letters.send(ALICE, [CAROL], "hello", bytes([1]) * 16)
    found = []
    for _ in range(6):
        before = len(mailing.sink.messages)
        mailing.another_mailer().round()
        found.append(recipients(mailing.sink.messages[before:]))
    # a part of the broadcast each time, the message as soon as its turn has come
    assert found == [[], ["carol"], ["bob"], ["carol"], [], []]
    assert looked_at == ["alice", "bob", "carol"]
    assert mailing.client.exists(mail_keys.MESSAGE_QUEUE) == 0


def test_where_no_mail_is_sent_no_message_is_kept_twice(mailing, letters):
    mailing.client.delete(mail_keys.CURSOR)
    letters.send(ALICE, [BOB], "hello", COMMAND)
    letters.broadcast(ALICE, "hello", COMMAND)
    assert mailing.client.exists(mail_keys.MESSAGE_QUEUE) == 0
    assert [letter.text for letter in letters.read(BOB)] == ["hello", "hello"]


# digests


def test_who_wants_one_mail_a_day_gets_one(mailing, letters):
    daily(mailing, BOB)
    mailing.challenge(board=1)
    mailing.do(ALICE, PlayMove(text="m13-j7"), board=1)
    mailing.challenge(BOB, ALICE, board=2)
    letters.send(ALICE, [BOB], "a secret", COMMAND)
    assert recipients(mailing.mail()) == ["alice", "alice"]
    mailing.bench.now = next_digest(mailing.bench.now) - 1
    assert mailing.mail() == []
    mailing.bench.now += 1
    due = (mail_keys.DIGESTS_DUE, mail_keys.digest_items(BOB))
    kept = {name: mailing.client.dump(name) for name in due}
    (mail,) = mailing.mail()
    assert (mail["To"], mail["Subject"]) == (HOMES[BOB], "matchpost: what happened in your matches")
    text = text_of(mail)
    assert "since the last e-mail:\n  the match has begun\n  it's your turn\n" in text
    assert f"in an e-mail to\n{mailing.addresses.of(1, 1, BOB)}\n" in text
    assert f"in an e-mail to\n{mailing.addresses.of(2, 0, BOB)}\n" in text
    told = "alice has sent you a message; to read it, reply with:\n  messages bob password"
    assert told in text
    assert "secret" not in text
    for name, data in kept.items():  # as if it was killed before it was noted
        mailing.client.restore(name, 0, data)
    assert mailing.mail() == []
    mailing.bench.now += DAY
    assert mailing.mail() == []


def test_a_digest_of_many_matches_shows_some_and_counts_the_others(mailing):
    daily(mailing, BOB)
    for board in range(1, 24):
        mailing.challenge(board=board)
    mailing.mail()
    mailing.bench.now += DAY
    (mail,) = mailing.mail()
    assert "\n... and 3 more matches\n" in text_of(mail)


def test_nobody_gets_a_digest_who_wants_no_mail_any_more(mailing):
    daily(mailing, BOB)
    mailing.challenge()
    mailing.mail()
    mailing.change(BOB, lambda record: replace(record, signed_off=True))
    mailing.bench.now += DAY
    assert mailing.mail() == []
    assert mailing.client.exists(mail_keys.DIGESTS_DUE, mail_keys.digest_items(BOB)) == 0


def test_a_digest_that_can_t_be_made_keeps_no_other_up(mailing, caplog):
    daily(mailing, BOB, CAROL)
    progress = MailerProgress(mailing.client)
    progress.add_digest_items(BOB, [DigestItem(1, 1, "no such kind", 5)], mailing.bench.now)
    mailing.challenge(ALICE, BOB, board=1)
    mailing.challenge(ALICE, CAROL, board=2)
    mailing.mail()
    mailing.bench.now += DAY
    assert recipients(mailing.mail()) == ["carol"]
    assert caplog.text.count("ALARM: a digest can't be mailed") == 1
    assert mailing.mail() == []


def test_digests_are_sent_at_six_in_the_morning_with_the_newest(redis_client):
    noon = 1_795_100_400_000 - 3 * HOUR
    assert [next_digest(noon + hours * HOUR) - noon for hours in (0, 18)] == [18 * HOUR, 42 * HOUR]
    assert next_digest(noon + 18 * HOUR - 1) == noon + 18 * HOUR
    progress = MailerProgress(redis_client)
    items = [DigestItem(board, 1, "started", board) for board in range(1, 700)]
    progress.add_digest_items(BOB, items, 0)
    assert progress.digest_items(BOB) == items[-DIGEST_ITEMS:]


def test_nothing_of_an_account_stays_when_it_is_forgotten(mailing, letters):
    daily(mailing, BOB)
    mailing.challenge()
    mailing.challenge(BOB, ALICE, board=2)
    mailing.sink.stop()
    mailing.mail()
    letters.send(BOB, [ALICE], "bob was here", COMMAND)
    mailing.client.sadd(mail_keys.ADDRESSES_TO_VERIFY, BOB)
    VerificationCodes(mailing.client, mailing.outbox.now).issue(BOB, HOMES[BOB])
    for _ in range(2):
        erase_mail(mailing.client, BOB)
    left = mailing.client.hvals(mail_keys.EMAILS)
    assert left
    assert not any(HOMES[BOB].encode() in data for data in left)
    of_bob = (mail_keys.digest_items(BOB), mail_keys.codes(BOB))
    empty = (mail_keys.DIGESTS_DUE, mail_keys.MESSAGE_QUEUE, mail_keys.ADDRESSES_TO_VERIFY)
    assert [name for name in (*of_bob, *empty) if mailing.client.exists(name)] == []


# tournaments

NUMBER, NAME = 5, "Winter Cup"
THREE = ALICE, BOB, CAROL
DAVE = b"dave...."
"""A player without an account here, and so without mail."""


@pytest.fixture
def cup(mailing: Mailing) -> Mailing:
    mailing.app.tournament_texts.put(NUMBER, TournamentText(NAME))
    return mailing


def open_entry(
    cup: Mailing, *players: AccountId, terms: TournamentTerms | None = None, start: bool = False
) -> None:
    """Have carol open a tournament for three, in which players enter, and perhaps start it."""
    draft = DraftTournament(terms=terms or terms_of_three(when_full=False))
    cup.do(CAROL, draft, NUMBER)
    cup.do(CAROL, OpenEntry(), NUMBER)
    for player in players:
        cup.do(player, EnterTournament(rating=1500), NUMBER)
    if start:
        cup.do(CAROL, StartTournament(), NUMBER)


def finish(cup: Mailing, *results: str) -> None:
    """Report the results of all pairings."""
    reports = tuple(MatchReport(n, 10 + n, 4, one) for n, one in enumerate(results))
    cup.do(SERVER_ACCOUNT, ReportResults(reports=reports), NUMBER)


def told(cup: Mailing) -> list[tuple[str, str]]:
    """To whom mails went, and their subjects."""
    return sorted((mail["To"].partition("@")[0], mail["Subject"]) for mail in cup.mail())


def kinds(cup: Mailing, player: AccountId) -> list[NoticeKind]:
    """The kinds of a player's notices on the pages, the newest first."""
    catch_up(cup.bench.store, cup.client)
    return [one.kind for one in MatchNotices(cup.client).of(player, 0, 9)]


def test_a_start_is_one_mail_to_each_player_but_who_gave_the_command(cup: Mailing) -> None:
    open_entry(cup, *THREE, start=True)
    one, other = sorted(cup.mail(), key=lambda mail: str(mail["To"]))
    assert (one["To"], other["To"]) == (HOMES[ALICE], HOMES[BOB])
    assert one["Subject"] == "Winter Cup has started: you play 2 matches"
    said = text_of(one)
    assert said.startswith(
        "Winter Cup has started: you play 2 matches.\n\nYour matches begin by themselves. You get "
        "an e-mail for each in which it is your turn.\n"
    )
    assert "To see the tournament, reply with:\n  tournament 5 alice password\n" in said
    assert "\n\n-- \nTo get one e-mail a day, or none, reply with\n" in said
    assert cup.mail() == []
    # the beginning of its matches is mailed only to who is to move
    pairing = {"terms": TimeControl(), "pairing": (NUMBER, 0)}
    start = StartMatch(rules="goliath/1", options=(), seats=(ALICE, BOB), **pairing)
    cup.do(SERVER_ACCOUNT, start, 1)
    (mail,) = cup.mail()
    assert mail["To"] == HOMES[ALICE]
    assert mail["Subject"] == "Your move against bob: David and Goliath, match 1"
    assert "David and Goliath has started, " in text_of(mail)
    assert f", in tournament {NUMBER}" in text_of(mail)
    assert "decline" not in text_of(mail)
    cup.challenge(board=2)
    assert recipients(cup.mail()) == ["alice", "bob"], "and that of others to all"


def test_a_deleted_account_has_no_notice_of_a_tournament(cup: Mailing) -> None:
    open_entry(cup, *THREE)
    cup.client.delete(keys.account(BOB))
    erase_projections(cup.client, BOB)
    cup.do(CAROL, StartTournament(), NUMBER)
    assert (kinds(cup, ALICE), kinds(cup, BOB)) == ([NoticeKind.TOURNAMENT_STARTED], [])
    assert recipients(cup.mail()) == ["alice"]


def test_who_is_taken_out_reads_by_whom_and_why(cup: Mailing) -> None:
    open_entry(cup, ALICE, BOB, DAVE, start=True)
    cup.mail()
    order = cup.bench.order(CAROL, CancelTournament(), NUMBER)
    said = cup.statements.put(NUMBER, CAROL, "She asked for it.\nGood luck!", order.id)
    command = WithdrawPlayer(account=ALICE, kind="accepted", text=said.digest)
    cup.bench.submit(replace(order, command=command))
    cup.bench.drain()
    (mail,) = cup.mail()
    assert (mail["To"], mail["Subject"]) == (HOMES[ALICE], "You were taken out of Winter Cup")
    assert "carol's reasons:\n    She asked for it.\n    Good luck!\n" in text_of(mail)


def test_a_start_by_itself_the_end_of_all_matches_and_the_places_are_told(cup: Mailing) -> None:
    open_entry(cup, ALICE, BOB, DAVE, terms=terms_of_three())
    assert ("carol", "Winter Cup has started") in told(cup)
    finish(cup, "1/2", "1/2", "1/2")
    (mail,) = cup.mail()
    assert (mail["To"], mail["Subject"]) == (HOMES[CAROL], "All matches of Winter Cup are over")
    assert "confirm the places: only then are they final." in text_of(mail)
    cup.change(BOB, lambda record: replace(record, language="de"))
    cup.do(CAROL, ConfirmPlaces(), NUMBER)
    assert told(cup) == [
        ("alice", "Winter Cup is over: you share place 1 (points: 1)"),
        ("bob", "Winter Cup ist beendet: du teilst Platz 1 (Punkte: 1)"),
    ]


@pytest.mark.parametrize(
    ("matches", "subject"),
    [(1, "Winter Cup goes on: you play 1 new match"), (0, "Winter Cup goes on: you have a bye")],
)
def test_a_further_round_says_how_many_matches_or_that_there_is_none(
    cup: Mailing, matches: int, subject: str
) -> None:
    open_entry(cup, *THREE, start=True)
    cup.mail()
    event = cup.bench.store.events(NUMBER)[-1]
    progress, record_of = MailerProgress(cup.client), cup.accounts.record_of
    builder = EmailBuilder(cup.composing, cup.addresses, progress, record_of)
    notice = TournamentNotice(BOB, NoticeKind.PAIRED, TournamentDetail(matches))
    update = TournamentUpdate(BOB, decode_event(event), (notice,))
    cup.outbox.enqueue_all(builder.tournament(update, event, [HOMES[BOB]]))
    (mail,) = cup.mail()
    assert (mail["To"], mail["Subject"]) == (HOMES[BOB], subject)
    assert ("begin by themselves" in text_of(mail)) == (matches > 0)


@pytest.mark.parametrize("notify", ["none", "daily"])
def test_nothing_is_mailed_at_once_to_who_wants_no_mail_or_one_a_day(
    cup: Mailing, notify: str
) -> None:
    cup.change(BOB, lambda record: replace(record, notify=notify))
    open_entry(cup, *THREE, start=True)
    assert recipients(cup.mail()) == ["alice"]
    assert kinds(cup, BOB) == [NoticeKind.TOURNAMENT_STARTED]
    cup.bench.now = next_digest(cup.bench.now)
    said = [(mail["To"], text_of(mail).splitlines()[:2]) for mail in cup.mail()]
    lines = [
        "Winter Cup has started: you play 2 matches.", "To see the tournament, reply with:",
    ]  # fmt: skip
    assert said == [(HOMES[BOB], lines)] * (notify == "daily")
    assert MailerProgress(cup.client).digest_items(BOB) == []


def test_a_tournament_of_a_private_club_is_told_only_to_who_may_see_it(cup: Mailing) -> None:
    cup.app.settings = replace(cup.app.settings, site="https://play.example.org")
    clubs = cup.app.clubs
    club = clubs.found("Slingers", CAROL)
    clubs.change(replace(club, visible_to=ClubAudience.CLUB))
    clubs.put_member(club, ALICE, ClubRole.MEMBER)
    open_entry(cup, *THREE, terms=terms_of_three(when_full=False, club=club.id), start=True)
    (mail,) = cup.mail()
    assert mail["To"] == HOMES[ALICE]
    assert "On the web: https://play.example.org/tournaments/5" in text_of(mail)


def test_each_is_told_once_whatever_is_read_together_and_however_many_mailers_there_are(
    cup: Mailing, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_entry(cup, *THREE, start=True)
    queued = Outbox.enqueue_all

    def killed(self: Outbox, mails: list[Email]) -> None:
        queued(self, mails)
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(Outbox, "enqueue_all", killed)
        with pytest.raises(Killed):
            cup.work()
    # another goes on, and reads the events of the start one by one
    read: Callable[..., object] = MatchMailer.__init__

    def one_by_one(self: MatchMailer, *given: object) -> None:
        read(self, *given)
        self._reader._batch = 1

    monkeypatch.setattr(MatchMailer, "__init__", one_by_one)
    work_out(cup.another_mailer())
    work_out(cup.another_mailer())
    assert recipients(cup.sink.messages) == ["alice", "bob"]


@pytest.mark.parametrize(
    ("entered", "actor", "command", "to", "subject"),
    [
        (
            *((DAVE, ALICE, CAROL, BOB), DAVE, LeaveTournament(), ["bob"]),
            "You have moved up from the waiting list of Winter Cup",
        ),
        (
            *((ALICE,), CAROL, LeaveTournament(account=ALICE), ["alice"]),
            "The organiser took back your entry for Winter Cup",
        ),
        ((ALICE, BOB), CAROL, CancelTournament(), ["alice", "bob"], "Winter Cup was cancelled"),
        (
            *((ALICE,), SERVER_ACCOUNT, CancelTournament(), ["alice", "carol"]),
            "Winter Cup was cancelled: too few players had entered",
        ),
    ],
    ids=["moved up", "taken back", "cancelled", "too few"],
)
def test_what_happens_before_the_start_is_told_to_whom_it_concerns(
    cup: Mailing,
    entered: tuple[AccountId, ...],
    actor: AccountId,
    command: Command,
    to: list[str],
    subject: str,
) -> None:
    open_entry(cup, *entered)
    assert cup.mail() == []
    cup.do(actor, command, NUMBER)
    assert told(cup) == [(who, subject) for who in to]
