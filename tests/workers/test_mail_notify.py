"""Given what happens in matches, who gets which mail."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace
from redis import Redis

from domain.clocks.time_control import DAY, read_time_control
from domain.match.commands import AnswerOffer, DeclineMatch, MakeOffer, PlayMove, ResignMatch
from domain.match.state import position_of
from domain.rules import rules_by_id
from infra.mail.progress import MailerProgress
from infra.mail.unsubscribe_links import UnsubscribeLinks
from infra.people.accounts import MailAddress
from infra.redis import keys, mail_keys
from tests.fakes.sink import Sink
from tests.helpers.given import ALICE, BOB, CAROL
from tests.helpers.leaves import replace_leaf
from tests.helpers.mailing import DOMAIN, HOMES, Mailing, recipients, text_of, work_out

HOUR = DAY // 24


@pytest.fixture
def mailing(redis_client: Redis, tmp_path: Path) -> Iterator[Mailing]:
    with Sink() as sink:
        yield Mailing(redis_client, tmp_path, sink)


def test_all_are_told_of_a_start_each_in_one_mail_and_who_is_to_move_is_asked(mailing: Mailing):
    mailing.challenge()
    own, other = sorted(mailing.mail(), key=lambda mail: str(mail["To"]))
    assert (own["To"], other["To"]) == (HOMES[ALICE], HOMES[BOB])
    for mail in (own, other):
        assert "The Power of Two has started" in text_of(mail)
    assert own["Subject"] == "Your move against bob: The Power of Two, match 1"
    assert other["Subject"] == "You and alice: The Power of Two, match 1"
    assert "To play, write your move, such as " in text_of(own)
    assert "There is nothing for you to do right now." in text_of(other)


def test_a_move_is_told_with_the_board_and_how_to_answer(mailing: Mailing):
    mailing.challenge(terms=read_time_control(["--days=3"]))
    mailing.mail()
    mailing.do(ALICE, PlayMove(text="m13-j7"))
    (mail,) = mailing.mail()
    assert mail["To"] == HOMES[BOB]
    assert text_of(mail).startswith(
        "match 1, #1: Light (alice) played m13-j7; it is Dark's turn (bob)\n"
    )
    assert "deadline: 2026-11-22 15:00 UTC, in 3 days" in text_of(mail)
    assert "To play, write your move, such as " in text_of(mail)
    assert "\n 7   * - - - - - * - *     P o T     * - O - - - - - *    7\n" in text_of(mail)
    assert mail.get_content_type() == "multipart/alternative"
    plain, shown = mail.iter_parts()
    html, picture = shown.iter_parts()
    kinds = [one.get_content_type() for one in (plain, shown, html, picture)]
    assert kinds == ["text/plain", "multipart/related", "text/html", "image/png"]
    assert f'src="cid:{picture["Content-ID"][1:-1]}"' in html.get_content()
    assert "played m13-j7; it is Dark&#x27;s turn (bob)" in html.get_content()
    assert picture.get_content().startswith(b"\x89PNG")
    assert "m1-s" not in html.get_content()


def test_an_answer_to_the_mail_goes_to_an_address_that_proves_the_seat(mailing: Mailing):
    mailing.challenge()
    mailing.do(ALICE, PlayMove(text="m13-j7"))
    mail = mailing.mail_to(BOB)[-1]
    claim = mailing.addresses.read(mail["Reply-To"].addresses[0].addr_spec)
    assert claim is not None
    assert (claim.board, claim.seat) == (1, 1)
    assert mailing.addresses.proves(claim, BOB)
    assert not mailing.addresses.proves(claim, ALICE)


def test_what_proves_a_player_stands_in_reply_to_alone(mailing: Mailing):
    mailing.enrol(CAROL, MailAddress("carol@new.example"))
    mailing.client.sadd(mail_keys.ADDRESSES_TO_VERIFY, CAROL)
    mailing.challenge()
    for mail in mailing.mail():
        assert mail["From"] == f"matchpost <noreply@{DOMAIN}>"
        proof = mail["Reply-To"].addresses[0].username
        assert re.match("m1-s[01]-|verify-", proof)
        assert mail.as_string().count(proof) == 1
    assert len(mailing.sink.messages) == 3


def test_all_mails_of_a_match_to_a_player_answer_the_first(mailing: Mailing):
    mailing.challenge()
    mailing.do(ALICE, PlayMove(text="m13-j7"))
    first, second = mailing.mail_to(BOB)
    assert first["In-Reply-To"] is None
    assert second["In-Reply-To"] == second["References"] == first["Message-ID"]
    assert second["Subject"] == "Your move against alice: The Power of Two, match 1"
    assert first["Message-ID"].startswith("<m1.1.s1.")
    assert second["Message-ID"].startswith("<m1.2.s1.")


def test_a_mail_can_be_left_and_says_that_no_person_wrote_it(mailing: Mailing):
    mailing.challenge()
    (mail,) = mailing.mail_to(BOB)
    assert mail["Auto-Submitted"] == "auto-generated"
    by_click, by_mail = mail["List-Unsubscribe"].split(", ")
    assert mailing.addresses.read_signoff(by_mail.removeprefix("<mailto:").removesuffix(">")) == BOB
    assert by_click == f"<{mailing.links.url(BOB)}>"
    assert mail["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    # without an address of the pages there is no link, and without HTTPS no click by a program
    assert UnsubscribeLinks(Path("nowhere"), f"https://{DOMAIN}").url(BOB) == ""


def test_the_next_mail_of_a_match_shows_the_own_move(mailing: Mailing):
    mailing.challenge()
    mailing.do(ALICE, PlayMove(text="m13-j7"))
    mailing.do(BOB, PlayMove(text="a13-d7"))
    (mail,) = [one for one in mailing.mail_to(ALICE) if " played a13-d7" in text_of(one)]
    assert "Before that:\nmatch 1, #1: Light (alice) played m13-j7; " in text_of(mail)


def test_each_is_told_once_however_many_mailers_there_are(mailing: Mailing):
    mailing.challenge()
    mailing.mail()
    MailerProgress(mailing.client).advance(MailerProgress(mailing.client).cursor() or (), (0,) * 4)
    work_out(mailing.another_mailer())
    assert mailing.mail() == []
    assert recipients(mailing.sink.messages) == ["alice", "bob"]


def test_a_player_with_two_addresses_is_told_at_both_under_one_id(mailing: Mailing):
    both = (
        MailAddress("b1@example.org", verified=True),
        MailAddress("b2@example.org", verified=True),
    )
    mailing.enrol(BOB, *both)
    mailing.challenge()
    one, other = (mail for mail in mailing.mail() if mail["To"] != HOMES[ALICE])
    assert {one["To"], other["To"]} == {"b1@example.org", "b2@example.org"}
    assert one["Message-ID"] == other["Message-ID"]


@pytest.mark.parametrize(
    "changes",
    [
        {"addresses": (MailAddress(HOMES[BOB]),)},
        {"addresses": (MailAddress(HOMES[BOB], verified=True, bounced="550 no"),)},
        {"addresses": ()},
        {"notify": "none"},
        {"signed_off": True},
    ],
)
def test_nothing_is_sent_to_who_wants_none_or_has_no_good_address(mailing: Mailing, changes):
    mailing.change(BOB, lambda record: replace(record, **changes))
    mailing.challenge(terms=read_time_control(["--days=3", "--nagtime=1"]))
    mailing.do(ALICE, PlayMove(text="m13-j7"))
    mailing.bench.now += 2 * DAY + 20 * HOUR
    mailing.keep()
    assert recipients(mailing.mail()) == ["alice"]


def test_who_is_no_more_gets_nothing(mailing: Mailing):
    mailing.client.delete(keys.account(BOB))
    mailing.challenge()
    assert recipients(mailing.mail()) == ["alice"]


def test_offers_and_answers_are_told_with_how_to_answer(mailing: Mailing):
    mailing.challenge()
    mailing.mail()
    mailing.do(ALICE, MakeOffer(kind="draw"))
    (mail,) = mailing.mail_to(BOB)
    assert "Light (alice) offers a draw: write accept or reject" in text_of(mail)
    mailing.do(BOB, AnswerOffer(accept=False))
    (mail,) = mailing.mail_to(ALICE)
    assert text_of(mail).startswith("match 1, #0: Dark (bob) declined the draw")


def test_an_answer_that_gives_the_turn_is_one_mail(mailing: Mailing):
    mailing.challenge()
    mailing.do(ALICE, PlayMove(text="m13-j7"))
    mailing.do(ALICE, MakeOffer(kind="undo"))
    mailing.mail()
    mailing.do(BOB, AnswerOffer(accept=True))
    mails = mailing.mail()
    assert recipients(mails) == ["alice"]
    assert "accepted the takeback; it was taken back to the start" in text_of(mails[0])


def test_the_end_is_told_and_nothing_is_asked_any_more(mailing: Mailing):
    mailing.challenge()
    mailing.mail()
    mailing.do(ALICE, ResignMatch())
    (mail,) = mailing.mail()
    assert mail["To"] == HOMES[BOB]
    assert "the match is over: Dark (bob) won by resignation" in text_of(mail)
    assert "first line of a reply" not in text_of(mail)


def test_a_refusal_to_play_is_told(mailing: Mailing):
    mailing.challenge()
    mailing.mail()
    mailing.do(BOB, DeclineMatch())
    (mail,) = mailing.mail()
    assert mail["To"] == HOMES[ALICE]
    assert "Dark (bob) declined to play" in text_of(mail)


def test_of_three_each_is_told_what_happened_since_the_own_move(mailing: Mailing):
    mailing.challenge(ALICE, BOB, CAROL, rules="halves/1")
    assert recipients(mailing.mail()) == ["alice", "bob", "carol"]
    for account in (ALICE, BOB):
        state = mailing.bench.state()
        assert state.seats[state.next or 0] == account
        mailing.do(account, PlayMove(text=first_move(mailing)))
    told, asked = sorted(mailing.mail(), key=lambda mail: str(mail["To"]))
    assert (told["To"], asked["To"]) == (HOMES[BOB], HOMES[CAROL])
    assert "\nBefore that:\nmatch 1, #1: " in text_of(asked)
    assert "(alice) played " in text_of(asked)


def first_move(mailing: Mailing) -> str:
    state = mailing.bench.state()
    return next(iter(rules_by_id(state.rules).legal_moves(position_of(state))))


def test_a_match_that_waits_for_consent_asks_for_it(mailing: Mailing):
    mailing.challenge(ALICE, BOB, rules="powerdrain/1", gather=True, text=b"word")
    (mail,) = mailing.mail()
    assert mail["To"] == HOMES[BOB]
    assert "To play, write accept, in the first line of a reply." in text_of(mail)
    mailing.do(BOB, AnswerOffer(accept=True))
    assert recipients(mailing.mail()) == ["alice", "bob"]


def test_a_reminder_comes_before_the_deadline(mailing: Mailing):
    mailing.challenge(terms=read_time_control(["--days=3", "--nagtime=1"]))
    mailing.mail()
    mailing.bench.now += 2 * DAY + 20 * HOUR
    mailing.keep()
    (mail,) = mailing.mail_to(ALICE)
    assert text_of(mail).startswith("match 1, #0: it is your turn, and your time is running out\n")
    assert mail["Subject"].startswith("Your time is running out against bob: ")
    assert "deadline: 2026-11-22 15:00 UTC, in 4 hours" in text_of(mail)


def test_the_board_is_drawn_as_the_player_prefers_it(mailing: Mailing):
    mailing.challenge(board=1)
    (mail,) = mailing.mail_to(BOB)
    mailing.change(BOB, lambda record: replace(record, displays=(("pow2", "small"),)))
    mailing.challenge(board=2)
    (other,) = mailing.mail_to(BOB)
    assert text_of(mail) != text_of(other).replace("match 2", "match 1")


def test_what_happened_before_mail_was_begun_is_never_told(redis_client: Redis, tmp_path: Path):
    with Sink() as sink:
        mailing = Mailing(redis_client, tmp_path, sink)
        redis_client.delete(mail_keys.CURSOR)
        mailing.challenge()
        assert mailing.mail() == []
        mailing.do(ALICE, PlayMove(text="m13-j7"))
        assert recipients(mailing.mail()) == ["bob"]


def test_what_happened_while_the_mailer_was_off_is_told_unless_it_is_old(mailing: Mailing):
    mailing.challenge()
    mailing.bench.now += 3 * DAY - HOUR
    mailing.do(ALICE, PlayMove(text="m13-j7"))
    mailing.bench.now += 2 * HOUR
    mails = mailing.mail()
    assert [mail["Message-ID"].split(".")[1] for mail in mails] == ["2"]


def test_a_match_that_can_t_be_told_keeps_no_other_up(mailing: Mailing, caplog):
    mailing.challenge(board=1)
    replace_leaf(mailing.client, 1, 0, b"broken")
    mailing.challenge(board=2)
    mails = mailing.mail_to(BOB)
    assert [mail["Subject"] for mail in mails] == ["You and alice: The Power of Two, match 2"]
    assert "ALARM: leaf 0 of shard 1 can't be mailed" in caplog.text
    mailing.challenge(board=5)
    (mail,) = mailing.mail_to(BOB)
    assert mail["Subject"] == "You and alice: The Power of Two, match 5"


def test_logs_that_were_put_back_from_a_backup_are_told_on(mailing: Mailing, caplog):
    progress = MailerProgress(mailing.client)
    progress.advance(progress.cursor() or (), (7, 7, 7, 7))
    mailing.challenge()
    assert mailing.mail() == []
    assert "the logs end before the leaves that were mailed" in caplog.text
    mailing.do(ALICE, PlayMove(text="m13-j7"))
    assert recipients(mailing.mail()) == ["bob"]
