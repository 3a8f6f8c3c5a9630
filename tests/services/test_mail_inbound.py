"""A mail is carried out once and answered once, and only to who may read the answer."""

import logging

import pytest
from msgspec.structs import replace

from domain.errors import Code, Refusal
from infra.languages.wording import wording
from infra.mail.verification_codes import VerificationCodes
from infra.people.accounts import Accounts, MailAddress
from infra.people.rate_limits import _hashed
from services.mail.inbound import WRONG_PASSWORDS, TryAgainError
from services.mail.parse.mime import UnfitError
from services.mail.reply import short_foot
from tests.fakes.app import PASSWORDS
from tests.fakes.office import DOMAIN, SERVER, box
from tests.helpers.lanes import LANE
from tests.helpers.mails import MOVE, UNASKED, mail, moves, report


def test_nothing_of_a_mail_is_logged_and_no_password_kept(office, caplog):
    seat = office.seat(office.challenge(), 0, "alice")
    with caplog.at_level(logging.DEBUG):
        office.take(seat, "m13-j7\nchat hello", sender="a@home.example")
        office.take(SERVER, MOVE, sender="a@home.example")
        office.take(SERVER, f"{MOVE}\nsingup alice mad-hatter", sender="a@home.example")
    assert "a mail in match 1: done, done" in caplog.text
    for secret in ("mad-hatter", "alice", "example", "m13", seat.partition("@")[0], "hello"):
        assert secret not in caplog.text
    client = office.app.client
    stored = b"".join(key + (client.dump(key) or b"") for key in client.scan_iter("*"))
    assert b"m13-j7" in stored
    assert b"mad-hatter" not in stored


def test_passwords_can_be_switched_off(make_office):
    office = make_office(passwords=False)
    board = office.challenge()
    lines = f"{MOVE}\nsignup dave strong-hold\nhelp\ntorere challenge alice bob --password=yes-we-can --as=bob"
    (letter,) = office.take(SERVER, lines)
    assert letter.to == box("alice")
    assert letter.subject == "matchpost: not all accepted"
    assert letter.body.count("not-allowed: this server doesn't accept passwords by e-mail") == 3
    assert "yes-we-can" not in letter.body
    assert "Commands for everyone" in letter.body
    assert moves(office) == []
    office.take(office.seat(board, 0, "alice"), "m13-j7")
    assert moves(office) == ["m13-j7"]


def test_what_a_program_or_nobody_sent_is_not_carried_out_and_not_answered(office):
    seat = office.seat(office.challenge(), 0, "alice")
    for to, text in ((seat, "m13-j7"), (SERVER, MOVE), (SERVER, "help")):
        for field in UNASKED:
            assert office.take(to, text, headers=field) == []
        for sender in ("", "<>"):
            assert office.take(to, text, sender=sender) == []
    assert moves(office) == []


def test_our_own_addresses_and_postmasters_are_not_answered(office):
    ours, bob = office.addresses, office.ids["bob"]
    for sender in (
        SERVER, office.seat(office.challenge(), 0, "alice"), ours.signoff(bob), ours.display_address,
        ours.bounce(bob, box("bob")), f"m9-s0-{'a' * 26}@{DOMAIN}", "MAILER-DAEMON@example.org",
        "postmaster@example.org", "no address", "a@b\udcff.org",
    ):  # fmt: skip
        assert office.take(SERVER, "help", sender=sender) == [], sender


def test_forged_senders_get_three_short_answers_a_mailbox_and_twenty_a_domain(office):
    forged = [f"innocent+{n}@victim.example" for n in range(3)]
    forged += ["Inno.Cent@victim.example", "innocent-me@Victim.example", "innocent@victim.example"]
    said = [office.take(SERVER, "help", sender=one) for one in forged]
    assert [len(letters) for letters in said] == [1, 1, 1, 0, 0, 0]
    for (letter,) in said[:3]:
        assert len(letter.body) < 900
        assert letter.body.endswith(short_foot(wording("en")))
        assert letter.attachments == ()
    others = [f"innocent{n}@victim.example" for n in range(20)]
    assert sum(len(office.take(SERVER, "help", sender=one)) for one in others) == 17
    assert len(office.take(SERVER, "help", sender="innocent@elsewhere.example")) == 1
    domains = [f"innocent@victim{n}.example" for n in range(100)]
    assert sum(len(office.take(SERVER, "help", sender=one)) for one in domains) <= 100 - 21
    # a wrong code goes no other way
    wrong = office.addresses.code(office.ids["alice"], "a" * 10)
    assert office.take(wrong, "yes", sender="innocent@victim.example") == []
    (letter,) = office.take(SERVER, "help", sender=box("bob"))
    assert len(letter.body) > 2_000


def test_of_strangers_only_those_are_answered_that_the_server_in_front_vouches_for(make_office):
    office = make_office(authserv="mx.example.net")
    passed = {"Authentication-Results": "mx.example.net; spf=pass smtp.mailfrom=new.example"}
    line = "signup fay tern-5-lamps fay@new.example"
    (letter,) = office.take(SERVER, line, sender="fay@new.example", headers=passed)
    assert letter.body.startswith("> signup fay ***")
    assert short_foot(wording("en")) not in letter.body
    office.take(SERVER, "messages fay a-guess", sender="gil@new.example", headers=passed)
    kept = [name for name in office.app.client.scan_iter() if name.startswith(b"logins:tried/")]
    for network, counted in (("mail new.example", 1), ("mail", 0)):
        key = f"logins:tried/{_hashed('fay', network)}/{WRONG_PASSWORDS}/60/minute"
        assert kept.count(key.encode()) == counted
    for results in ("mx.example.net; spf=fail smtp.mailfrom=new.example", "another; dmarc=pass"):
        mail = {"sender": "gil@new.example", "headers": {"Authentication-Results": results}}
        assert office.take(SERVER, "help", **mail) == []
    assert office.take(SERVER, "signup gil tern-5-lamps", sender="gil@new.example") == []
    assert office.accounts.id_of("gil"), "carried out all the same"
    assert len(office.take(SERVER, "help", sender=box("bob"))) == 1


def test_a_mail_whose_outcome_is_not_known_is_to_come_again(office):
    seat = office.seat(office.challenge(), 0, "alice")
    office.app.awake, office.office._seconds = False, 0.2
    for _ in range(2):
        with pytest.raises(TryAgainError):
            office.take(seat, "m13-j7", id_="<same@example.org>")
    assert office.letters() == []
    office.app.awake = True
    office.app._drain(LANE)
    (letter,) = office.take(seat, "m13-j7", id_="<same@example.org>")
    assert moves(office) == ["m13-j7"]
    assert letter.subject == "match 1: The Power of Two"


@pytest.mark.parametrize("name", ["postmaster", "abuse"])
def test_mail_for_the_operator_is_sent_on_or_answered_honestly(office, name):
    here = f"{name}@{DOMAIN}"
    assert office.office.knows("postmaster")
    (letter,) = office.take(here, "Your server\nsends spam", sender="someone@elsewhere.org")
    assert letter.to == "someone@elsewhere.org"
    assert letter.body.startswith("not-found: nobody reads mail at this address")
    assert office.take(here, "Your server", sender="<>") == []
    office.app.settings = replace(office.app.settings, postmaster="op@example.net")
    said = "Your server\nsends spam"
    (letter,) = office.take(here, said, "Complaint", sender="someone@elsewhere.org")
    assert (letter.to, letter.subject) == ("op@example.net", f"{name}: Complaint")
    assert letter.header("Reply-To") == "someone@elsewhere.org"
    assert letter.body.endswith("from someone@elsewhere.org:\n\nYour server\nsends spam\n")
    (letter,) = office.take(here, "bounced", sender="<>")
    assert (letter.to, letter.header("Reply-To")) == ("op@example.net", "")
    # never to an address of this server
    office.app.settings = replace(office.app.settings, postmaster=f"abuse@{DOMAIN}")
    assert office.take(here, "again", sender="s@elsewhere.org")[0].to == "s@elsewhere.org"


# mails that are no commands: returned ones, wishes to leave, answers to codes


def bounced(office, name):
    (address,) = office.accounts.record_of(office.ids[name]).addresses
    return address.bounced


def test_a_mail_that_comes_back_for_good_marks_its_address_of_one_account(office):
    ours, alice = office.addresses.bounce, office.ids["alice"]
    assert not office.office.knows(ours(alice, box("bob")))
    assert not office.office.knows(ours(b"nobody..", box("alice")))
    to = ours(alice, box("alice"))
    # no mail comes back to a seat
    office.deliver(office.seat(office.challenge(), 0, "alice"), "<>", report(box("alice")))
    office.deliver(to, "<>", report(box("alice"), "delayed", "4.4.1"))
    office.take(to, "I am on holiday", sender="<>")
    assert bounced(office, "alice") == ""
    assert office.deliver(to, "<>", report("somebody@passed-on.example")) == []
    assert bounced(office, "alice") == "550 there is nobody of that name"


def test_any_mail_of_the_player_to_the_address_for_leaving_ends_all_mail(office):
    to = office.addresses.signoff(office.ids["alice"])
    assert office.take(to, sender="<>") == []
    office.own("bob", MailAddress("bob@new.example"))
    for sender in ("mallory@evil.example", box("bob")):
        with pytest.raises(UnfitError, match="a verified address of the account"):
            office.take(to, sender=sender)
    assert not office.accounts.record_of(office.ids["alice"]).signed_off
    assert office.take(to, headers={"Auto-Submitted": "auto-generated"}) == []
    assert office.accounts.record_of(office.ids["alice"]).signed_off
    office.accounts.delete("alice", PASSWORDS["alice"], lambda _: None)
    assert not office.office.knows(to)


class BusyAccounts(Accounts):
    """Accounts that are being changed elsewhere, once this is said."""

    busy = False

    def change_of(self, account, change):
        if self.busy:
            raise Refusal(Code.BUSY, "the account was changed elsewhere at the same moment")
        super().change_of(account, change)


def test_what_could_not_be_noted_now_is_to_come_again(make_office):
    office = make_office(kind=BusyAccounts)
    ours = [
        (office.addresses.signoff(office.ids["alice"]), box("alice"), mail("")),
        (code_for(office, "bob", box("bob")), box("bob"), mail("yes")),
        (office.addresses.bounce(office.ids["carol"], box("carol")), "<>", report(box("carol"))),
    ]
    office.accounts.busy = True
    for one in ours:
        with pytest.raises(TryAgainError):
            office.deliver(*one)
    office.accounts.busy = False
    for one in ours:
        office.deliver(*one)
    records = {name: office.accounts.record_of(account) for name, account in office.ids.items()}
    assert records["alice"].signed_off
    assert records["bob"].addresses[0].verified
    assert records["carol"].addresses[0].bounced


def code_for(office, name, address):
    office.own(name, MailAddress(address))
    code = VerificationCodes(office.app.client, office.outbox.now).issue(office.ids[name], address)
    return office.addresses.code(office.ids[name], code)


OURS = "matchpost: your code is {code}"
QUOTED = "On Monday, play wrote:\n> matchpost: your code is {code}\n"


@pytest.mark.parametrize(
    ("subject", "text", "answered"),
    [
        ("", "yes", "verified"),
        ("anything", "Ja!\n\nGruß, Alice", "verified"),
        (f"Re: {OURS}", "", "verified"),
        ("AW: Re: matchpost: dein Code ist {code}", "\n\n-- \nAlice, Wonderland Ltd.", "verified"),
        ("Re: your code", QUOTED + "\n {code}. \n", "verified"),
        (f"Re: {OURS}", QUOTED + "> yes\n", "verified"),
        (f"Re: {OURS}", "Yes\n\nSent from my telephone", "verified"),
        # the subject of a robot is enough for its mail to be passed over
        (f"Automatische Antwort: {OURS}", "Ich bin bis Montag nicht im Büro.", ""),
        (f"Automatic reply: {OURS}", "", ""),
        (f"Réponse automatique : {OURS}", "yes", ""),
        (f"Re: Out of Office: {OURS}", "yes", ""),
        ("Abwesenheitsnotiz: your code", "ja", ""),
        # what a robot may have written asks for a yes
        (f"Re: {OURS}", "Ich bin bis Montag nicht im Büro.", "asked"),
        (f"Received: {OURS}", "", "asked"),
        ("", "", "asked"),
        ("Ticket 17", f"Thank you for your mail:\n{OURS}\nverify alice password {{code}}", "asked"),
        ("Ticket 17", "We have your mail.\nyes", "asked"),
    ],
)  # fmt: skip
def test_the_answer_of_a_person_to_a_code_proves_the_address(office, subject, text, answered):
    to = code_for(office, "alice", "alice@new.example")
    code = to.partition("@")[0].rpartition("-")[2]
    for field in UNASKED:
        assert office.take(to, headers=field) == []
    assert office.take(to, sender="<>") == []
    written = [one.format(code=f"{code[:5]}-{code[5:]}") for one in (text, subject)]
    sender = box("alice") if answered == "asked" else "alice@elsewhere.org"
    letters = office.take(to, *written, sender=sender)
    body = {
        "verified": "alice@new.example is verified; e-mails about your matches will go there\n",
        "asked": f"{Code.BAD_ADDRESS}: the address isn't verified yet;",
    }
    if answered:
        (letter,) = letters
        assert letter.body.startswith(body[answered])
        assert letter.to == ("alice@new.example" if answered == "verified" else box("alice"))
    else:
        assert letters == []
    (address,) = office.accounts.record_of(office.ids["alice"]).addresses
    assert address.verified == (answered == "verified")


def test_a_mail_that_asks_for_nothing_or_can_not_be_read_is_told_so(office):
    seat = office.seat(office.challenge(), 0, "alice")
    klingon = {"Content-Type": "text/plain; charset=klingon"}
    for to, text, headers, said in (
        (SERVER, "", None, "usage: there is no command in the e-mail; "),
        (SERVER, "line\n" * 21, None, "too-long: "),
        (seat, "m13-j7", klingon, "bad-request: the e-mail can't be read: its charset 'klin"),
    ):
        (letter,) = office.take(to, text, headers=headers)
        assert letter.body.startswith(said)
    to = f"noreply@{DOMAIN}"
    with pytest.raises(UnfitError, match="reply to the one in Reply-To"):
        office.take(to, "m13-j7")
    assert office.take(to, "I am away", headers={"Auto-Submitted": "auto-replied"}) == []


def test_a_signup_without_an_address_takes_the_one_it_came_from_and_says_so(office):
    (letter,) = office.take(SERVER, "signup fay secret-of-fay", sender="fay@new.example")
    assert "welcome, fay; " in letter.body
    said = "your e-mail address is fay@new.example, the one you wrote from; if the server"
    assert said in letter.body
    profile = office.accounts.record_of(office.accounts.id_of("fay"))
    assert profile.addresses == (MailAddress("fay@new.example"),)
    line = "signup gus secret-of-gus g@new.example"
    (letter,) = office.take(SERVER, line, sender="fay@new.example")
    assert "the one you wrote from" not in letter.body
