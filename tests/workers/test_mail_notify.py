"""Given what happens and is said in matches and disputes, who gets which mail."""

import re
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from msgspec.structs import replace
from redis import Redis

from domain.clocks.time_control import DAY, read_time_control
from domain.match.commands import (
    AnswerOffer,
    DeclineMatch,
    GiveRuling,
    MakeAppeal,
    MakeClaim,
    MakeOffer,
    PlayMove,
    ResignMatch,
)
from domain.match.state import position_of
from domain.rules import rules_by_id
from infra.mail.account_changes import erase_mail
from infra.mail.progress import MailerProgress
from infra.mail.queues import WAIT_MS, ChatMailQueue, MailingMessageStore
from infra.mail.unsubscribe_links import UnsubscribeLinks
from infra.people.accounts import AccountRole, MailAddress
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


def test_all_are_told_of_a_start_each_in_one_mail_and_who_is_to_move_is_asked(mailing):
    mailing.challenge()
    own, other = sorted(mailing.mail(), key=lambda mail: str(mail["To"]))
    assert (own["To"], other["To"]) == (HOMES[ALICE], HOMES[BOB])
    for mail in (own, other):
        assert "The Power of Two has started" in text_of(mail)
    assert own["Subject"] == "Your move against bob: The Power of Two, match 1"
    assert other["Subject"] == "You and alice: The Power of Two, match 1"
    assert "To play, write your move, such as " in text_of(own)
    assert "There is nothing for you to do right now." in text_of(other)


def test_a_move_is_told_with_the_board_and_how_to_answer(mailing):
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


def test_what_proves_a_player_stands_in_reply_to_alone(mailing):
    mailing.enrol(CAROL, MailAddress("carol@new.example"))
    mailing.client.sadd(mail_keys.ADDRESSES_TO_VERIFY, CAROL)
    mailing.challenge()
    for mail in mailing.mail():
        assert mail["From"] == f"matchpost <noreply@{DOMAIN}>"
        proof = mail["Reply-To"].addresses[0].username
        assert re.match("m1-s[01]-|verify-", proof)
        assert mail.as_string().count(proof) == 1
    assert len(mailing.sink.messages) == 3


def test_all_mails_of_a_match_to_a_player_answer_the_first(mailing):
    mailing.challenge()
    mailing.do(ALICE, PlayMove(text="m13-j7"))
    first, second = mailing.mail_to(BOB)
    assert first["In-Reply-To"] is None
    assert second["In-Reply-To"] == second["References"] == first["Message-ID"]
    assert second["Subject"] == "Your move against alice: The Power of Two, match 1"
    assert first["Message-ID"].startswith("<m1.1.s1.")
    assert second["Message-ID"].startswith("<m1.2.s1.")


def test_a_mail_can_be_left_and_says_that_no_person_wrote_it(mailing):
    mailing.challenge()
    (mail,) = mailing.mail_to(BOB)
    assert mail["Auto-Submitted"] == "auto-generated"
    by_click, by_mail = mail["List-Unsubscribe"].split(", ")
    assert mailing.addresses.read_signoff(by_mail.removeprefix("<mailto:").removesuffix(">")) == BOB
    assert by_click == f"<{mailing.links.url(BOB)}>"
    assert mail["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    # without an address of the pages there is no link, and without HTTPS no click by a program
    assert UnsubscribeLinks(Path("nowhere"), f"https://{DOMAIN}").url(BOB) == ""


def test_each_is_told_once_however_many_mailers_there_are(mailing):
    mailing.challenge()
    mailing.mail()
    MailerProgress(mailing.client).advance(MailerProgress(mailing.client).cursor() or (), (0,) * 4)
    work_out(mailing.another_mailer())
    assert mailing.mail() == []
    assert recipients(mailing.sink.messages) == ["alice", "bob"]


def test_a_player_with_two_addresses_is_told_at_both_under_one_id(mailing):
    both = (
        MailAddress("b1@example.org", verified=True),
        MailAddress("b2@example.org", verified=True),
    )
    mailing.enrol(BOB, *both)
    mailing.challenge()
    one, other = (mail for mail in mailing.mail() if mail["To"] != HOMES[ALICE])
    assert {one["To"], other["To"]} == {"b1@example.org", "b2@example.org"}
    assert one["Message-ID"] == other["Message-ID"]


def test_of_three_each_is_told_what_happened_since_the_own_move(mailing):
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


def test_a_match_that_waits_for_consent_asks_for_it(mailing):
    mailing.challenge(ALICE, BOB, rules="powerdrain/1", gather=True, text=b"word")
    (mail,) = mailing.mail()
    assert mail["To"] == HOMES[BOB]
    assert "To play, write accept, in the first line of a reply." in text_of(mail)
    mailing.do(BOB, AnswerOffer(accept=True))
    assert recipients(mailing.mail()) == ["alice", "bob"]


def test_a_reminder_comes_before_the_deadline(mailing):
    mailing.challenge(terms=read_time_control(["--days=3", "--nagtime=1"]))
    mailing.mail()
    mailing.bench.now += 2 * DAY + 20 * HOUR
    mailing.keep()
    (mail,) = mailing.mail_to(ALICE)
    assert text_of(mail).startswith("match 1, #0: it is your turn, and your time is running out\n")
    assert mail["Subject"].startswith("Your time is running out against bob: ")
    assert "deadline: 2026-11-22 15:00 UTC, in 4 hours" in text_of(mail)


def test_each_of_several_reminders_is_a_mail_of_its_own(mailing):
    mailing.challenge(terms=read_time_control(["--days=9", "--nagtime=1,3,5"]))
    mailing.mail()
    subjects = []
    for days in (1, 1, 2, 1):
        mailing.bench.now += days * DAY
        mailing.keep()
        subjects += [mail["Message-ID"] for mail in mailing.mail_to(ALICE)]
    assert len(subjects) == len(set(subjects)) == 3


def test_the_board_is_drawn_as_the_player_prefers_it(mailing):
    mailing.challenge(board=1)
    (mail,) = mailing.mail_to(BOB)
    mailing.change(BOB, lambda record: replace(record, displays=(("pow2", "small"),)))
    mailing.challenge(board=2)
    (other,) = mailing.mail_to(BOB)
    assert text_of(mail) != text_of(other).replace("match 2", "match 1")


def test_what_happened_while_the_mailer_was_off_is_told_unless_it_is_old(mailing):
    mailing.challenge()
    mailing.bench.now += 3 * DAY - HOUR
    mailing.do(ALICE, PlayMove(text="m13-j7"))
    mailing.bench.now += 2 * HOUR
    mails = mailing.mail()
    assert [mail["Message-ID"].split(".")[1] for mail in mails] == ["2"]


def test_a_match_that_can_t_be_told_keeps_no_other_up(mailing, caplog):
    mailing.challenge(board=1)
    replace_leaf(mailing.client, 1, 0, b"broken")
    mailing.challenge(board=2)
    mails = mailing.mail_to(BOB)
    assert [mail["Subject"] for mail in mails] == ["You and alice: The Power of Two, match 2"]
    assert "ALARM: leaf 0 of shard 1 can't be mailed" in caplog.text
    mailing.challenge(board=5)
    (mail,) = mailing.mail_to(BOB)
    assert mail["Subject"] == "You and alice: The Power of Two, match 5"


def test_logs_that_were_put_back_from_a_backup_are_told_on(mailing, caplog):
    progress = MailerProgress(mailing.client)
    progress.advance(progress.cursor() or (), (7, 7, 7, 7))
    mailing.challenge()
    assert mailing.mail() == []
    assert "the logs end before the leaves that were mailed" in caplog.text
    mailing.do(ALICE, PlayMove(text="m13-j7"))
    assert recipients(mailing.mail()) == ["bob"]


DAVE = b"dave...."


@pytest.fixture
def disputed(redis_client: Redis, tmp_path: Path) -> Iterator[Mailing]:
    """Alice and bob play; bob, carol and dave are arbiters."""
    with Sink() as sink:
        disputed = Mailing(redis_client, tmp_path, sink)
        disputed.enrol(DAVE, MailAddress("dave@example.org", verified=True))
        for name in ("bob", "carol", "dave"):
            disputed.accounts.set_role(name, AccountRole.ARBITER, held=True)
        disputed.challenge()
        disputed.do(ALICE, PlayMove(text="m13-j7"))
        disputed.mail()
        yield disputed


def stated(disputed: Mailing, account: bytes, text: str) -> bytes:
    return disputed.statements.put(1, account, text, text.encode()[:16].ljust(16)).digest


def make_claim(disputed: Mailing) -> None:
    text = stated(disputed, ALICE, "the clock ran\nin the pause")
    disputed.do(ALICE, MakeClaim(ply=1, text=text))


def rule(disputed: Mailing, arbiter: bytes = CAROL) -> None:
    text = stated(disputed, arbiter, f"so says {arbiter.decode().strip('.')}")
    disputed.do(arbiter, GiveRuling(claim=3, upheld=True, text=text, back_to=0))


def test_a_claim_reaches_the_other_players_and_all_arbiters_but_not_twice(disputed):
    make_claim(disputed)
    mails = disputed.mail()
    assert recipients(mails) == ["bob", "carol", "dave"]
    for mail in mails:
        assert "alice's claim:\n    the clock ran\n    in the pause" in text_of(mail)
    subjects = {mail["To"].partition("@")[0]: mail["Subject"] for mail in mails}
    assert subjects["bob"] == "Your move against alice: The Power of Two, match 1"
    assert subjects["carol"] == subjects["dave"] == "matchpost: a case is waiting in match 1"
    to_carol = next(mail for mail in mails if mail["To"] == "carol@example.org")
    assert "\n  rule 1 carol password dismissed REASONS\n" in text_of(to_carol)
    assert disputed.mail() == []


def test_a_ruling_reaches_the_players_with_its_reasons_and_how_to_appeal(disputed):
    make_claim(disputed)
    disputed.mail()
    rule(disputed)
    mails = disputed.mail()
    assert recipients(mails) == ["alice", "bob"]
    for mail in mails:
        said = text_of(mail)
        assert "the match goes back to the start" in said
        assert "carol's reasons:\n    so says carol" in said
        assert "reply with: appeal TEXT" in said


def test_an_appeal_reaches_the_arbiters_and_the_ruling_on_it_is_final(disputed):
    make_claim(disputed)
    rule(disputed)
    disputed.mail()
    disputed.do(BOB, MakeAppeal(claim=3, text=stated(disputed, BOB, "it was over")))
    mails = disputed.mail()
    assert recipients(mails) == ["alice", "carol", "dave"]
    assert all("bob's appeal:\n    it was over" in text_of(mail) for mail in mails)
    rule(disputed, DAVE)
    for mail in disputed.mail():
        assert "so says dave" in text_of(mail)
        assert "appeal TEXT" not in text_of(mail)


def test_an_arbiter_who_wants_no_mail_or_is_none_any_longer_gets_none(disputed):
    disputed.change(CAROL, lambda record: replace(record, notify="none"))
    disputed.accounts.set_role("dave", AccountRole.ARBITER, held=False)
    make_claim(disputed)
    assert recipients(disputed.mail()) == ["bob"]


def test_an_erased_text_is_not_mailed(disputed):
    make_claim(disputed)
    disputed.statements.forget(ALICE)
    for mail in disputed.mail():
        assert "alice's claim:\n    (the text was erased)" in text_of(mail)


@pytest.fixture
def playing(redis_client: Redis, tmp_path: Path) -> Iterator[Mailing]:
    with Sink() as sink:
        playing = Mailing(redis_client, tmp_path, sink)
        playing.challenge()
        playing.mail()
        yield playing


@pytest.fixture
def letters(playing: Mailing) -> MailingMessageStore:
    return MailingMessageStore(playing.client, lambda: 4, lambda: playing.bench.now)


NUMBERS = count(1)


def say(letters: MailingMessageStore, sender: bytes, text: str, *others: bytes) -> None:
    letters.chat(1, sender, text, next(NUMBERS).to_bytes(16), (ALICE, BOB, *others))


def test_the_next_mail_of_the_match_has_what_was_said_once(playing, letters):
    say(letters, ALICE, "hello - you")
    playing.do(ALICE, PlayMove(text="m13-j7"))
    (mail,) = playing.mail_to(BOB)
    assert "\n\nalice says: hello - you\n\n" in text_of(mail)
    playing.do(BOB, PlayMove(text="a13-d7"))
    playing.bench.now += 2 * WAIT_MS
    mails = playing.mail()
    assert recipients(mails) == ["alice"]
    assert "says:" not in text_of(mails[0])


def test_where_no_move_follows_the_lines_of_some_minutes_are_one_mail(playing, letters):
    say(letters, ALICE, "one")
    playing.bench.now += WAIT_MS - 1000
    say(letters, ALICE, "two")
    assert playing.mail() == []
    playing.bench.now += 1000
    (mail,) = playing.mail()
    assert text_of(mail).startswith("alice says: one\nalice says: two\n")
    assert "To chat with the other players, reply with: chat TEXT" in text_of(mail)
    assert mail["Subject"] == "You and alice: The Power of Two, match 1"
    first = next(one for one in playing.sink.messages if one["To"] == mail["To"])
    assert mail["In-Reply-To"] == first["Message-ID"]
    claim = playing.addresses.read(mail["Reply-To"].addresses[0].addr_spec)
    assert claim is not None
    assert playing.addresses.proves(claim, BOB)
    playing.pass_time(DAY, DAY // 4)
    assert playing.mail() == []


def test_what_was_read_elsewhere_is_not_mailed(playing, letters):
    say(letters, ALICE, "one")
    letters.mark_chat_read(BOB, 1, letters.chat_of(1))
    playing.bench.now += WAIT_MS
    assert playing.mail() == []
    assert not playing.client.exists(mail_keys.CHAT_DUE, mail_keys.CHAT_FIRST, mail_keys.CHAT_LAST)


def test_what_its_writer_has_erased_is_not_mailed(playing, letters):
    say(letters, ALICE, "one")
    letters.forget(ALICE)
    playing.bench.now += WAIT_MS
    assert playing.mail() == []


def test_who_wants_one_mail_a_day_reads_it_there(playing, letters):
    playing.change(BOB, lambda record: replace(record, notify="daily"))
    say(letters, ALICE, "good\nluck")
    playing.bench.now += WAIT_MS
    assert playing.mail() == []
    playing.pass_time(DAY, DAY // 24)
    (mail,) = [one for one in playing.sink.messages if "what happened" in one["Subject"]]
    assert "alice says: good\n    luck\n" in text_of(mail)


def test_many_lines_are_counted_and_the_newest_shown(playing, letters):
    for number in range(53):
        say(letters, ALICE, f"line {number:02}")
    playing.bench.now += WAIT_MS
    (mail,) = playing.mail()
    assert text_of(mail).startswith("... and 3 earlier lines; to see them, reply with: chat\n")
    assert "line 02" not in text_of(mail)
    assert "line 52" in text_of(mail)


def test_a_line_repeated_is_mailed_once(playing, letters):
    for _ in range(2):
        letters.chat(1, ALICE, "hello", bytes(16), (ALICE, BOB))
    playing.bench.now += WAIT_MS
    (mail,) = playing.mail()
    assert text_of(mail).count("hello") == 1
    letters.chat(1, ALICE, "hello", bytes(16), (ALICE, BOB))
    playing.bench.now += WAIT_MS
    assert playing.mail() == []


def test_nothing_that_waits_stays_of_who_is_forgotten(playing, letters):
    say(letters, ALICE, "one")
    say(letters, BOB, "two")
    erase_mail(playing.client, BOB)
    (talk,) = ChatMailQueue(playing.client).due(playing.bench.now + WAIT_MS, 10)
    assert talk.account == ALICE


def test_no_text_is_kept_for_the_mail(playing, letters):
    say(letters, ALICE, "a secret")
    for name in playing.client.scan_iter("{mail}:chat*"):
        assert b"secret" not in b"".join(playing.client.zrange(name, 0, -1))


NO_GOOD = [
    {"addresses": (MailAddress(HOMES[BOB]),)},
    {"addresses": (MailAddress(HOMES[BOB], verified=True, bounced="550 no"),)},
    {"addresses": ()},
    {"notify": "none"},
    {"signed_off": True},
]
"""Accounts that get no mail of their matches."""


@pytest.mark.parametrize("changes", [*NO_GOOD, None])
def test_nothing_is_sent_to_who_wants_none_has_no_good_address_or_is_no_more(mailing, changes):
    if changes is None:
        mailing.client.delete(keys.account(BOB))
    else:
        mailing.change(BOB, lambda record: replace(record, **changes))
    mailing.challenge(terms=read_time_control(["--days=3", "--nagtime=1"]))
    mailing.do(ALICE, PlayMove(text="m13-j7"))
    mailing.bench.now += 2 * DAY + 20 * HOUR
    mailing.keep()
    letters = MailingMessageStore(mailing.client, lambda: 4, lambda: mailing.bench.now)
    say(letters, ALICE, "one")
    mailing.bench.now += WAIT_MS
    assert recipients(mailing.mail()) == ["alice"]
    assert not mailing.client.exists(mail_keys.CHAT_DUE)


MOVE, UNDO = PlayMove(text="m13-j7"), MakeOffer(kind="undo")


YES, NO = (AnswerOffer(accept=accept) for accept in (True, False))


DRAWS = MakeOffer(kind="draw")


@pytest.mark.parametrize(
    ("before", "actor", "command", "said"),
    [
        ((), ALICE, DRAWS, "Light (alice) offers a draw: write accept or reject"),
        (((ALICE, DRAWS),), BOB, NO, "match 1, #0: Dark (bob) declined the draw"),
        (
            ((ALICE, MOVE), (ALICE, UNDO)),
            BOB,
            YES,
            "accepted the takeback; it was taken back to the start",
        ),
        ((), ALICE, ResignMatch(), "the match is over: Dark (bob) won by resignation"),
        ((), BOB, DeclineMatch(), "Dark (bob) declined to play"),
    ],
)
def test_what_happens_is_one_mail_to_the_other(mailing, before, actor, command, said):
    mailing.challenge()
    for one in before:
        mailing.do(*one)
    mailing.mail()
    mailing.do(actor, command)
    (mail,) = mailing.mail()
    assert mail["To"] == HOMES[BOB if actor == ALICE else ALICE]
    assert said in text_of(mail)
    if isinstance(command, ResignMatch | DeclineMatch):
        assert "first line of a reply" not in text_of(mail)


def test_what_happened_before_mail_was_begun_is_never_told(mailing):
    mailing.client.delete(mail_keys.CURSOR)
    mailing.challenge()
    assert mailing.mail() == []
    mailing.do(ALICE, PlayMove(text="m13-j7"))
    assert recipients(mailing.mail()) == ["bob"]
