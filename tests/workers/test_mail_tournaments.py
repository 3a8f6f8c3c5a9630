"""Notices and mails of tournaments and of the beginning of their matches."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace
from redis import Redis

from domain.clocks.time_control import TimeControl
from domain.match.commands import Command, StartMatch
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
from infra.mail.composer import TournamentUpdate
from infra.mail.email import Email
from infra.mail.outbox import Outbox
from infra.mail.progress import MailerProgress, next_digest
from infra.people.clubs import ClubAudience, ClubRole
from infra.people.tournament_texts import TournamentText
from infra.projections.erasure import erase_projections
from infra.projections.notices import (
    MatchNotices,
    NoticeKind,
    TournamentDetail,
    TournamentNotice,
)
from infra.redis import keys
from tests.fakes.sink import Sink
from tests.helpers.given import ALICE, BOB, CAROL
from tests.helpers.mailing import HOMES, Mailing, recipients, text_of, work_out
from tests.helpers.side import catch_up
from tests.helpers.tournaments import terms_of_three
from workers.mail.build import EmailBuilder
from workers.mail.notify import MatchMailer

NUMBER = 5
NAME = "Winter Cup"
THREE = ALICE, BOB, CAROL
DAVE = b"dave...."
"""A player without an account here, and so without mail."""


@pytest.fixture
def mailing(redis_client: Redis, tmp_path: Path) -> Iterator[Mailing]:
    with Sink() as sink:
        made = Mailing(redis_client, tmp_path, sink)
        made.app.tournament_texts.put(NUMBER, TournamentText(NAME))
        yield made


def open_entry(mailing: Mailing, terms: TournamentTerms | None = None) -> None:
    """Have carol make a tournament, for three and without a date, and open it."""
    draft = DraftTournament(terms=terms or terms_of_three(when_full=False))
    mailing.do(CAROL, draft, NUMBER)
    mailing.do(CAROL, OpenEntry(), NUMBER)


def enter(mailing: Mailing, *players: AccountId) -> None:
    for player in players:
        mailing.do(player, EnterTournament(rating=1500), NUMBER)


def run(mailing: Mailing) -> None:
    """Have three enter a tournament, which carol starts."""
    open_entry(mailing)
    enter(mailing, *THREE)
    mailing.do(CAROL, StartTournament(), NUMBER)


def begin(mailing: Mailing, board: int = 1) -> None:
    """Begin the match of a pairing, as the manager does."""
    start = StartMatch(
        rules="goliath/1", options=(), seats=(ALICE, BOB), terms=TimeControl(), pairing=(NUMBER, 0)
    )
    mailing.do(SERVER_ACCOUNT, start, board)


def finish(mailing: Mailing, *results: str) -> None:
    """Report the results of all pairings."""
    reports = tuple(MatchReport(n, 10 + n, 4, one) for n, one in enumerate(results))
    mailing.do(SERVER_ACCOUNT, ReportResults(reports=reports), NUMBER)


def told(mailing: Mailing) -> list[tuple[str, str]]:
    """To whom mails went, and their subjects."""
    return sorted((mail["To"].partition("@")[0], mail["Subject"]) for mail in mailing.mail())


def kinds(mailing: Mailing, player: AccountId) -> list[NoticeKind]:
    """The kinds of a player's notices on the pages, the newest first."""
    catch_up(mailing.bench.store, mailing.client)
    return [one.kind for one in MatchNotices(mailing.client).of(player, 0, 9)]


def test_a_start_is_one_mail_to_each_player_but_who_gave_the_command(mailing: Mailing) -> None:
    run(mailing)
    one, other = sorted(mailing.mail(), key=lambda mail: str(mail["To"]))
    assert (one["To"], other["To"]) == (HOMES[ALICE], HOMES[BOB])
    assert one["Subject"] == "Winter Cup has started: you play 2 matches"
    assert text_of(one).startswith(
        "Winter Cup has started: you play 2 matches.\n\nYour matches begin by themselves. You get "
        "an e-mail for each in which it is your turn.\n\nTo see the tournament, reply with:\n"
        "  tournament 5 alice password\n\n-- \nTo get one e-mail a day, or none, reply with\n"
    )
    assert mailing.mail() == []
    mailing.challenge(board=2)
    assert recipients(mailing.mail()) == ["alice", "bob"]


def test_the_beginning_of_a_match_is_mailed_only_to_who_is_to_move(mailing: Mailing) -> None:
    run(mailing)
    mailing.mail()
    begin(mailing)
    (mail,) = mailing.mail()
    assert mail["To"] == HOMES[ALICE]
    assert "David and Goliath has started, " in text_of(mail)
    assert f", in tournament {NUMBER}" in text_of(mail)
    assert "decline" not in text_of(mail)
    assert mail["Subject"] == "Your move against bob: David and Goliath, match 1"


def test_a_deleted_account_has_no_notice_of_a_tournament(mailing: Mailing) -> None:
    open_entry(mailing)
    enter(mailing, *THREE)
    mailing.client.delete(keys.account(BOB))
    erase_projections(mailing.client, BOB)
    mailing.do(CAROL, StartTournament(), NUMBER)
    assert (kinds(mailing, ALICE), kinds(mailing, BOB)) == ([NoticeKind.TOURNAMENT_STARTED], [])
    assert recipients(mailing.mail()) == ["alice"]


def test_who_is_taken_out_reads_by_whom_and_why(mailing: Mailing) -> None:
    open_entry(mailing)
    enter(mailing, ALICE, BOB, DAVE)
    mailing.do(CAROL, StartTournament(), NUMBER)
    mailing.mail()
    order = mailing.bench.order(CAROL, CancelTournament(), NUMBER)
    said = mailing.statements.put(NUMBER, CAROL, "She asked for it.\nGood luck!", order.id)
    command = WithdrawPlayer(account=ALICE, kind="accepted", text=said.digest)
    mailing.bench.submit(replace(order, command=command))
    mailing.bench.drain()
    (mail,) = mailing.mail()
    assert (mail["To"], mail["Subject"]) == (HOMES[ALICE], "You were taken out of Winter Cup")
    assert "carol's reasons:\n    She asked for it.\n    Good luck!\n" in text_of(mail)


def test_confirmed_places_are_told_with_points_and_whether_they_are_shared(
    mailing: Mailing,
) -> None:
    open_entry(mailing)
    enter(mailing, ALICE, BOB, DAVE)
    mailing.do(CAROL, StartTournament(), NUMBER)
    finish(mailing, "1/2", "1/2", "1/2")
    mailing.mail()
    mailing.change(BOB, lambda record: replace(record, language="de"))
    mailing.do(CAROL, ConfirmPlaces(), NUMBER)
    assert told(mailing) == [
        ("alice", "Winter Cup is over: you share place 1 (points: 1)"),
        ("bob", "Winter Cup ist beendet: du teilst Platz 1 (Punkte: 1)"),
    ]


@pytest.mark.parametrize(
    ("matches", "subject"),
    [(1, "Winter Cup goes on: you play 1 new match"), (0, "Winter Cup goes on: you have a bye")],
)
def test_a_further_round_says_how_many_matches_or_that_there_is_none(
    mailing: Mailing, matches: int, subject: str
) -> None:
    run(mailing)
    mailing.mail()
    event = mailing.bench.store.events(NUMBER)[-1]
    progress, record_of = MailerProgress(mailing.client), mailing.accounts.record_of
    builder = EmailBuilder(mailing.composing, mailing.addresses, progress, record_of)
    notice = TournamentNotice(BOB, NoticeKind.PAIRED, TournamentDetail(matches))
    update = TournamentUpdate(BOB, decode_event(event), (notice,))
    mailing.outbox.enqueue_all(builder.tournament(update, event, [HOMES[BOB]]))
    (mail,) = mailing.mail()
    assert (mail["To"], mail["Subject"]) == (HOMES[BOB], subject)
    assert ("begin by themselves" in text_of(mail)) == (matches > 0)


@pytest.mark.parametrize("notify", ["none", "daily"])
def test_nothing_is_mailed_at_once_to_who_wants_no_mail_or_one_a_day(
    mailing: Mailing, notify: str
) -> None:
    mailing.change(BOB, lambda record: replace(record, notify=notify))
    run(mailing)
    assert recipients(mailing.mail()) == ["alice"]
    assert kinds(mailing, BOB) == [NoticeKind.TOURNAMENT_STARTED]
    mailing.bench.now = next_digest(mailing.bench.now)
    mails = mailing.mail()
    assert len(mails) == (notify == "daily")
    for mail in mails:
        assert mail["To"] == HOMES[BOB]
        assert text_of(mail).startswith(
            "Winter Cup has started: you play 2 matches.\nTo see the tournament, reply with:\n"
        )
    assert MailerProgress(mailing.client).digest_items(BOB) == []


def test_a_tournament_of_a_private_club_is_told_only_to_who_may_see_it(mailing: Mailing) -> None:
    clubs = mailing.app.clubs
    club = clubs.found("Slingers", CAROL)
    clubs.change(replace(club, visible_to=ClubAudience.CLUB))
    clubs.put_member(club, ALICE, ClubRole.MEMBER)
    open_entry(mailing, terms_of_three(when_full=False, club=club.id))
    enter(mailing, ALICE, BOB, CAROL)
    mailing.do(CAROL, StartTournament(), NUMBER)
    assert recipients(mailing.mail()) == ["alice"]


def test_a_tournament_s_link_is_in_the_mail_where_there_is_a_site(mailing: Mailing) -> None:
    mailing.app.settings = replace(mailing.app.settings, site="https://play.example.org")
    run(mailing)
    mail, _ = mailing.mail()
    assert "On the web: https://play.example.org/tournaments/5" in text_of(mail)


def test_each_is_told_once_whatever_is_read_together_and_however_many_mailers_there_are(
    mailing: Mailing, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(mailing)
    queued = Outbox.enqueue_all

    class KilledError(BaseException):
        pass

    def killed(self: Outbox, mails: list[Email]) -> None:
        queued(self, mails)
        raise KilledError

    with monkeypatch.context() as patch:
        patch.setattr(Outbox, "enqueue_all", killed)
        with pytest.raises(KilledError):
            mailing.work()
    # another goes on, and reads the events of the start one by one
    read: Callable[..., object] = MatchMailer.__init__

    def one_by_one(self: MatchMailer, *given: object) -> None:
        read(self, *given)
        self._reader._batch = 1

    monkeypatch.setattr(MatchMailer, "__init__", one_by_one)
    work_out(mailing.another_mailer())
    work_out(mailing.another_mailer())
    assert recipients(mailing.sink.messages) == ["alice", "bob"]


def test_a_start_by_itself_and_the_end_of_all_matches_are_told_to_the_organiser(
    mailing: Mailing,
) -> None:
    open_entry(mailing, terms_of_three())
    enter(mailing, ALICE, BOB, DAVE)
    assert ("carol", "Winter Cup has started") in told(mailing)
    finish(mailing, "1-0", "1-0", "1/2")
    (mail,) = mailing.mail()
    assert (mail["To"], mail["Subject"]) == (HOMES[CAROL], "All matches of Winter Cup are over")
    assert "confirm the places: only then are they final." in text_of(mail)


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
    mailing: Mailing,
    entered: tuple[AccountId, ...],
    actor: AccountId,
    command: Command,
    to: list[str],
    subject: str,
) -> None:
    open_entry(mailing)
    enter(mailing, *entered)
    assert mailing.mail() == []
    mailing.do(actor, command, NUMBER)
    assert told(mailing) == [(who, subject) for who in to]
