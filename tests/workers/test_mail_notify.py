"""Given what happens and is said in matches and disputes, who gets which mail."""

import re
from itertools import count
from pathlib import Path

import pytest
from msgspec.structs import replace

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
from tests.helpers.given import ALICE, BOB, CAROL
from tests.helpers.leaves import replace_leaf
from tests.helpers.mailing import DOMAIN, HOMES, Mailing, recipients, text_of, work_out

HOUR = DAY // 24
MOVE, UNDO, DRAWS = PlayMove(text="m13-j7"), MakeOffer(kind="undo"), MakeOffer(kind="draw")
YES, NO = (AnswerOffer(accept=accept) for accept in (True, False))


def test_all_are_told_of_a_start_each_in_one_mail_and_who_is_to_move_is_asked(mailing):
    mailing.challenge()
    own, other = sorted(mailing.mail(), key=lambda mail: str(mail["To"]))
    assert (own["To"], other["To"]) == (HOMES[ALICE], HOMES[BOB])
    assert own["Subject"] == "Your move against bob: The Power of Two, match 1"
    assert other["Subject"] == "You and alice: The Power of Two, match 1"
    assert "The Power of Two has started" in text_of(own)
    assert "To play, write your move, such as " in text_of(own)
    assert "The Power of Two has started" in text_of(other)
    assert "There is nothing for you to do right now." in text_of(other)
    # it can be left, and says that no person wrote it
    assert other["Auto-Submitted"] == "auto-generated"
    by_click, by_mail = other["List-Unsubscribe"].split(", ")
    assert mailing.addresses.read_signoff(by_mail.removeprefix("<mailto:").removesuffix(">")) == BOB
    assert by_click == f"<{mailing.links.url(BOB)}>"
    assert other["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    assert UnsubscribeLinks(Path("nowhere"), f"https://{DOMAIN}").url(BOB) == "", "without pages"


def test_a_move_is_told_with_the_board_and_how_to_answer(mailing):
    mailing.challenge(terms=read_time_control(["--days=3"]))
    first = mailing.mail_to(BOB)[0]
    mailing.do(ALICE, MOVE)
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
    # all mails of a match to a player answer the first
    assert first["In-Reply-To"] is None
    assert mail["In-Reply-To"] == mail["References"] == first["Message-ID"]
    assert mail["Subject"] == "Your move against alice: The Power of Two, match 1"
    assert first["Message-ID"].startswith("<m1.1.s1.")
    assert mail["Message-ID"].startswith("<m1.2.s1.")


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


def test_each_is_told_once_however_many_mailers_there_are_and_at_all_addresses(mailing):
    homes = "b1@example.org", "b2@example.org"
    mailing.enrol(BOB, *(MailAddress(home, verified=True) for home in homes))
    mailing.challenge()
    one, other = (mail for mail in mailing.mail() if mail["To"] != HOMES[ALICE])
    assert {one["To"], other["To"]} == {*homes}
    assert one["Message-ID"] == other["Message-ID"]
    MailerProgress(mailing.client).advance(MailerProgress(mailing.client).cursor() or (), (0,) * 4)
    work_out(mailing.another_mailer())
    assert mailing.mail() == []
    assert recipients(mailing.sink.messages) == ["alice", "b1", "b2"]


def test_of_three_each_is_told_what_happened_since_the_own_move(mailing):
    mailing.challenge(ALICE, BOB, CAROL, rules="halves/1")
    assert recipients(mailing.mail()) == ["alice", "bob", "carol"]
    for account in (ALICE, BOB):
        state = mailing.bench.state()
        assert state.seats[state.next or 0] == account
        move = next(iter(rules_by_id(state.rules).legal_moves(position_of(state))))
        mailing.do(account, PlayMove(text=move))
    told, asked = sorted(mailing.mail(), key=lambda mail: str(mail["To"]))
    assert (told["To"], asked["To"]) == (HOMES[BOB], HOMES[CAROL])
    assert "\nBefore that:\nmatch 1, #1: " in text_of(asked)
    assert "(alice) played " in text_of(asked)


def test_a_match_that_waits_for_consent_asks_for_it(mailing):
    mailing.challenge(ALICE, BOB, rules="powerdrain/1", gather=True, text=b"word")
    (mail,) = mailing.mail()
    assert mail["To"] == HOMES[BOB]
    assert "To play, write accept, in the first line of a reply." in text_of(mail)
    mailing.do(BOB, AnswerOffer(accept=True))
    assert recipients(mailing.mail()) == ["alice", "bob"]


def test_each_reminder_is_a_mail_of_its_own_before_the_deadline(mailing):
    mailing.challenge(terms=read_time_control(["--days=9", "--nagtime=1,3,5"]))
    mailing.mail()
    mails = []
    for days in (1, 1, 2, 1):
        mailing.bench.now += days * DAY
        mailing.keep()
        mails += mailing.mail_to(ALICE)
    assert len({mail["Message-ID"] for mail in mails}) == len(mails) == 3
    said = text_of(mails[-1])
    assert said.startswith("match 1, #0: it is your turn, and your time is running out\n")
    assert mails[-1]["Subject"].startswith("Your time is running out against bob: ")
    assert "deadline: 2026-11-28 15:00 UTC, in 4 days" in said


@pytest.mark.parametrize(
    ("before", "actor", "command", "said"),
    [
        ((), ALICE, DRAWS, "Light (alice) offers a draw: write accept or reject"),
        (((ALICE, DRAWS),), BOB, NO, "match 1, #0: Dark (bob) declined the draw"),
        (
            *(((ALICE, MOVE), (ALICE, UNDO)), BOB, YES),
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


def test_what_happened_while_the_mailer_was_off_is_told_unless_it_is_old(mailing):
    mailing.challenge()
    mailing.bench.now += 3 * DAY - HOUR
    mailing.do(ALICE, MOVE)
    mailing.bench.now += 2 * HOUR
    assert [mail["Message-ID"].split(".")[1] for mail in mailing.mail()] == ["2"]


def test_a_match_that_can_t_be_told_keeps_no_other_up(mailing, caplog):
    mailing.challenge(board=1)
    replace_leaf(mailing.client, 1, 0, b"broken")
    for board in (2, 5):
        mailing.challenge(board=board)
        subjects = [mail["Subject"] for mail in mailing.mail_to(BOB)]
        assert subjects == [f"You and alice: The Power of Two, match {board}"]
    assert "ALARM: leaf 0 of shard 1 can't be mailed" in caplog.text


@pytest.mark.parametrize("cursor", ["ahead of the logs", "missing"])
def test_nothing_is_told_of_what_was_before_mail_was_begun_or_the_logs_were_put_back(
    mailing, caplog, cursor
):
    progress = MailerProgress(mailing.client)
    if cursor == "missing":
        mailing.client.delete(mail_keys.CURSOR)
    else:
        progress.advance(progress.cursor() or (), (7, 7, 7, 7))
    mailing.challenge()
    assert mailing.mail() == []
    said = "the logs end before the leaves that were mailed" in caplog.text
    assert said == (cursor != "missing")
    mailing.do(ALICE, MOVE)
    assert recipients(mailing.mail()) == ["bob"]


# disputes

DAVE = b"dave...."


@pytest.fixture
def disputed(mailing: Mailing) -> Mailing:
    """Alice and bob play; bob, carol and dave are arbiters."""
    mailing.enrol(DAVE, MailAddress("dave@example.org", verified=True))
    for name in ("bob", "carol", "dave"):
        mailing.accounts.set_role(name, AccountRole.ARBITER, held=True)
    mailing.challenge()
    mailing.do(ALICE, MOVE)
    mailing.mail()
    return mailing


def stated(disputed: Mailing, account: bytes, text: str) -> bytes:
    return disputed.statements.put(1, account, text, text.encode()[:16].ljust(16)).digest


def make_claim(disputed: Mailing) -> None:
    text = stated(disputed, ALICE, "the clock ran\nin the pause")
    disputed.do(ALICE, MakeClaim(ply=1, text=text))


def rule(disputed: Mailing, arbiter: bytes) -> None:
    text = stated(disputed, arbiter, f"so says {arbiter.decode().strip('.')}")
    disputed.do(arbiter, GiveRuling(claim=3, upheld=True, text=text, back_to=0))


def test_a_claim_an_appeal_and_their_rulings_reach_those_whom_they_concern_once(disputed):
    make_claim(disputed)
    mails = {mail["To"].partition("@")[0]: mail for mail in disputed.mail()}
    assert sorted(mails) == ["bob", "carol", "dave"]
    for mail in mails.values():
        assert "alice's claim:\n    the clock ran\n    in the pause" in text_of(mail)
    assert mails["bob"]["Subject"] == "Your move against alice: The Power of Two, match 1"
    for arbiter in ("carol", "dave"):
        assert mails[arbiter]["Subject"] == "matchpost: a case is waiting in match 1"
    assert "\n  rule 1 carol password dismissed REASONS\n" in text_of(mails["carol"])
    assert disputed.mail() == []
    rule(disputed, CAROL)
    ruled = disputed.mail()
    assert recipients(ruled) == ["alice", "bob"]
    for mail in ruled:
        assert "the match goes back to the start" in text_of(mail)
        assert "carol's reasons:\n    so says carol" in text_of(mail)
        assert "reply with: appeal TEXT" in text_of(mail)
    disputed.do(BOB, MakeAppeal(claim=3, text=stated(disputed, BOB, "it was over")))
    appealed = disputed.mail()
    assert recipients(appealed) == ["alice", "carol", "dave"]
    assert all("bob's appeal:\n    it was over" in text_of(mail) for mail in appealed)
    rule(disputed, DAVE)
    final = disputed.mail()
    assert recipients(final) == ["alice", "bob"]
    for mail in final:
        assert "so says dave" in text_of(mail)
        assert "appeal TEXT" not in text_of(mail)


def test_no_arbiter_who_wants_none_or_is_none_gets_mail_and_an_erased_text_goes_nowhere(disputed):
    disputed.change(CAROL, lambda record: replace(record, notify="none"))
    disputed.accounts.set_role("dave", AccountRole.ARBITER, held=False)
    make_claim(disputed)
    disputed.statements.forget(ALICE)
    (mail,) = disputed.mail()
    assert mail["To"] == HOMES[BOB]
    assert "alice's claim:\n    (the text was erased)" in text_of(mail)


# chat

NUMBERS = count(1)


@pytest.fixture
def playing(mailing: Mailing) -> Mailing:
    mailing.challenge()
    mailing.mail()
    return mailing


def say(letters: MailingMessageStore, sender: bytes, text: str) -> None:
    letters.chat(1, sender, text, next(NUMBERS).to_bytes(16), (ALICE, BOB))


def test_the_next_mail_of_the_match_has_what_was_said_once(playing, letters):
    say(letters, ALICE, "hello - you")
    for name in playing.client.scan_iter("{mail}:chat*"):
        assert b"hello" not in b"".join(playing.client.zrange(name, 0, -1)), "no text is kept twice"
    playing.do(ALICE, MOVE)
    (mail,) = playing.mail_to(BOB)
    assert "\n\nalice says: hello - you\n\n" in text_of(mail)
    playing.do(BOB, PlayMove(text="a13-d7"))
    playing.bench.now += 2 * WAIT_MS
    (mail,) = playing.mail()
    assert mail["To"] == HOMES[ALICE]
    assert "says:" not in text_of(mail)


def test_where_no_move_follows_the_lines_of_some_minutes_are_one_mail(playing, letters):
    say(letters, ALICE, "one")
    playing.bench.now += WAIT_MS - 1000
    for _ in range(2):
        letters.chat(1, ALICE, "two", bytes(16), (ALICE, BOB))  # repeated by a client
    assert playing.mail() == []
    playing.bench.now += 1000
    (mail,) = playing.mail()
    assert text_of(mail).startswith("alice says: one\nalice says: two\n")
    assert text_of(mail).count("two") == 1
    assert "To chat with the other players, reply with: chat TEXT" in text_of(mail)
    assert mail["Subject"] == "You and alice: The Power of Two, match 1"
    first = next(one for one in playing.sink.messages if one["To"] == mail["To"])
    assert mail["In-Reply-To"] == first["Message-ID"]
    claim = playing.addresses.read(mail["Reply-To"].addresses[0].addr_spec)
    assert claim is not None
    assert playing.addresses.proves(claim, BOB)
    letters.chat(1, ALICE, "two", bytes(16), (ALICE, BOB))
    playing.pass_time(DAY, DAY // 4)
    assert playing.mail() == []


def test_what_was_read_or_erased_is_not_mailed(playing, letters):
    say(letters, ALICE, "one")
    letters.mark_chat_read(BOB, 1, letters.chat_of(1))
    playing.bench.now += WAIT_MS
    assert playing.mail() == []
    assert not playing.client.exists(mail_keys.CHAT_DUE, mail_keys.CHAT_FIRST, mail_keys.CHAT_LAST)
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


def test_nothing_that_waits_stays_of_who_is_forgotten(playing, letters):
    say(letters, ALICE, "one")
    say(letters, BOB, "two")
    erase_mail(playing.client, BOB)
    (talk,) = ChatMailQueue(playing.client).due(playing.bench.now + WAIT_MS, 10)
    assert talk.account == ALICE


@pytest.mark.parametrize(
    "changes",
    [
        {"addresses": (MailAddress(HOMES[BOB]),)},
        {"addresses": (MailAddress(HOMES[BOB], verified=True, bounced="550 no"),)},
        {"notify": "none"},
        {"signed_off": True},
        None,
    ],
)
def test_nothing_is_sent_to_who_wants_none_has_no_good_address_or_is_no_more(
    mailing, letters, changes
):
    if changes is None:
        mailing.client.delete(keys.account(BOB))
    else:
        mailing.change(BOB, lambda record: replace(record, **changes))
    mailing.challenge(terms=read_time_control(["--days=3", "--nagtime=1"]))
    mailing.do(ALICE, MOVE)
    mailing.bench.now += 2 * DAY + 20 * HOUR
    mailing.keep()
    say(letters, ALICE, "one")
    mailing.bench.now += WAIT_MS
    assert recipients(mailing.mail()) == ["alice"]
    assert not mailing.client.exists(mail_keys.CHAT_DUE)
