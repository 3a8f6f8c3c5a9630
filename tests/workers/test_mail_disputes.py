"""Mail about disputes: players read what was said, and arbiters hear that a case waits."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace
from redis import Redis

from domain.match.commands import GiveRuling, MakeAppeal, MakeClaim, PlayMove
from infra.people.accounts import MailAddress
from tests.fakes.sink import Sink
from tests.helpers.given import ALICE, BOB, CAROL
from tests.helpers.mailing import Mailing, recipients, text_of

DAVE = b"dave...."


@pytest.fixture
def mailing(redis_client: Redis, tmp_path: Path) -> Iterator[Mailing]:
    """Alice and bob play; bob, carol and dave are arbiters."""
    with Sink() as sink:
        mailing = Mailing(redis_client, tmp_path, sink)
        mailing.enrol(DAVE, MailAddress("dave@example.org", verified=True))
        for name in ("bob", "carol", "dave"):
            mailing.accounts.set_arbiter(name, True)
        mailing.challenge()
        mailing.do(ALICE, PlayMove(text="m13-j7"))
        mailing.mail()
        yield mailing


def stated(mailing: Mailing, account: bytes, text: str) -> bytes:
    return mailing.statements.put(1, account, text, text.encode()[:16].ljust(16)).digest


def claim(mailing: Mailing) -> None:
    text = stated(mailing, ALICE, "the clock ran\nin the pause")
    mailing.do(ALICE, MakeClaim(ply=1, text=text))


def rule(mailing: Mailing, arbiter: bytes = CAROL) -> None:
    text = stated(mailing, arbiter, f"so says {arbiter.decode().strip('.')}")
    mailing.do(arbiter, GiveRuling(claim=3, upheld=True, text=text, back_to=0))


def test_a_claim_reaches_the_other_players_and_all_arbiters_but_not_twice(mailing):
    claim(mailing)
    mails = mailing.mail()
    assert recipients(mails) == ["bob", "carol", "dave"]
    for mail in mails:
        assert "alice's claim:\n    the clock ran\n    in the pause" in text_of(mail)
    subjects = {mail["To"].partition("@")[0]: mail["Subject"] for mail in mails}
    assert subjects["bob"] == "Your move against alice: The Power of Two, match 1"
    assert subjects["carol"] == subjects["dave"] == "matchpost: a case is waiting in match 1"
    to_carol = next(mail for mail in mails if mail["To"] == "carol@example.org")
    assert "\n  rule 1 carol password dismissed REASONS\n" in text_of(to_carol)
    assert mailing.mail() == []


def test_a_ruling_reaches_the_players_with_its_reasons_and_how_to_appeal(mailing):
    claim(mailing)
    mailing.mail()
    rule(mailing)
    mails = mailing.mail()
    assert recipients(mails) == ["alice", "bob"]
    for mail in mails:
        said = text_of(mail)
        assert "the match goes back to the start" in said
        assert "carol's reasons:\n    so says carol" in said
        assert "reply with: appeal TEXT" in said


def test_an_appeal_reaches_the_arbiters_and_the_ruling_on_it_is_final(mailing):
    claim(mailing)
    rule(mailing)
    mailing.mail()
    mailing.do(BOB, MakeAppeal(claim=3, text=stated(mailing, BOB, "it was over")))
    mails = mailing.mail()
    assert recipients(mails) == ["alice", "carol", "dave"]
    assert all("bob's appeal:\n    it was over" in text_of(mail) for mail in mails)
    rule(mailing, DAVE)
    for mail in mailing.mail():
        assert "so says dave" in text_of(mail)
        assert "appeal TEXT" not in text_of(mail)


def test_an_arbiter_who_wants_no_mail_or_is_none_any_longer_gets_none(mailing):
    mailing.change(CAROL, lambda record: replace(record, notify="none"))
    mailing.accounts.set_arbiter("dave", False)
    claim(mailing)
    assert recipients(mailing.mail()) == ["bob"]


def test_an_erased_text_is_not_mailed(mailing):
    claim(mailing)
    mailing.statements.forget(ALICE)
    for mail in mailing.mail():
        assert "alice's claim:\n    (the text was erased)" in text_of(mail)
