"""Mails that are no commands: returned ones, wishes to leave, answers to codes; and guessed passwords."""

import pytest

from domain.errors import Code, Refusal
from infra.mail.verification_codes import VerificationCodes
from infra.people.accounts import Accounts, MailAddress
from infra.people.sessions import Sessions
from services.mail.inbound import WRONG_PASSWORDS, TryAgainError
from services.mail.parse.mime import UnfitError
from tests.fakes.app import PASSWORDS
from tests.fakes.office import SERVER, box
from tests.helpers.mails import mail, report
from tests.helpers.office_mails import UNASKED

# what is no command


def bounced(office, name):
    (address,) = office.accounts.record_of(office.ids[name]).addresses
    return address.bounced


def test_a_mail_that_comes_back_marks_the_address(office):
    to = office.addresses.bounce(office.ids["alice"], box("alice"))
    assert office.deliver(to, "<>", report("somebody@passed-on.example")) == []
    assert bounced(office, "alice") == "550 there is nobody of that name"


def test_a_report_to_a_seat_marks_nothing_because_no_mail_comes_back_there(office):
    seat = office.seat(office.challenge(), 0, "alice")
    office.deliver(seat, "<>", report(box("alice")))
    assert bounced(office, "alice") == ""


def test_a_report_of_what_may_still_work_out_marks_nothing(office):
    to = office.addresses.bounce(office.ids["alice"], box("alice"))
    office.deliver(to, "<>", report(box("alice"), "delayed", "4.4.1"))
    office.take(to, "I am on holiday", sender="<>")
    assert bounced(office, "alice") == ""


def test_an_address_for_what_comes_back_is_good_for_one_address_of_one_account(office):
    ours = office.addresses.bounce
    assert not office.office.knows(ours(office.ids["alice"], box("bob")))
    assert not office.office.knows(ours(b"nobody..", box("alice")))


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
    for busy in (True, False):
        office.accounts.busy = busy
        for to, sender, data in ours:
            if busy:
                with pytest.raises(TryAgainError):
                    office.deliver(to, sender, data)
            else:
                office.deliver(to, sender, data)
    records = {name: office.accounts.record_of(account) for name, account in office.ids.items()}
    assert records["alice"].signed_off
    assert records["bob"].addresses[0].verified
    assert records["carol"].addresses[0].bounced


def test_an_address_for_leaving_is_nobody_s_once_the_account_is_gone(office):
    to = office.addresses.signoff(office.ids["alice"])
    assert office.office.knows(to)
    office.accounts.delete("alice", PASSWORDS["alice"], lambda _: None)
    assert not office.office.knows(to)


def code_for(office, name, address):
    office.own(name, MailAddress(address))
    code = VerificationCodes(office.app.client, office.outbox.now).issue(office.ids[name], address)
    return office.addresses.code(office.ids[name], code)


def code_in(to):
    """A code as the mail about it writes it."""
    code = to.partition("@")[0].rpartition("-")[2]
    return f"{code[:5]}-{code[5:]}"


@pytest.mark.parametrize(
    ("subject", "text"),
    [
        ("", "yes"),
        ("anything", "Ja!\n\nGruß, Alice"),
        ("Re: matchpost: your code is {code}", ""),
        ("AW: Re: matchpost: dein Code ist {code}", "\n\n-- \nAlice, Wonderland Ltd."),
        (
            "Re: your code",
            "On Monday, play wrote:\n> matchpost: your code is {code}\n\n {code}. \n",
        ),
        (
            "Re: matchpost: your code is {code}",
            "Am 12. Mai schrieb matchpost:\n> matchpost: your code is {code}\n> yes\n",
        ),
        ("Re: matchpost: your code is {code}", "Yes\n\nSent from my telephone"),
    ],
)
def test_answering_a_code_proves_the_address(office, subject, text):
    to = code_for(office, "alice", "alice@new.example")
    written = [one.format(code=code_in(to)) for one in (text, subject)]
    (letter,) = office.take(to, *written, sender="alice@elsewhere.org")
    assert letter.to == "alice@new.example"
    assert (
        letter.body == "alice@new.example is verified; e-mails about your matches will go there\n"
    )
    (address,) = office.accounts.record_of(office.ids["alice"]).addresses
    assert address.verified


@pytest.mark.parametrize("field", UNASKED)
def test_a_program_s_answer_to_a_code_proves_nothing(office, field):
    to = code_for(office, "alice", "alice@new.example")
    assert office.take(to, headers=field) == []
    assert office.take(to, sender="<>") == []
    (address,) = office.accounts.record_of(office.ids["alice"]).addresses
    assert not address.verified


@pytest.mark.parametrize(
    ("subject", "text"),
    [
        (
            "Automatische Antwort: matchpost: your code is {code}",
            "Ich bin bis Montag nicht im Büro.",
        ),
        ("Automatic reply: matchpost: your code is {code}", ""),
        ("Réponse automatique : matchpost: your code is {code}", "yes"),
        ("Re: Out of Office: matchpost: your code is {code}", "yes"),
        ("Abwesenheitsnotiz: your code", "ja"),
    ],
)
def test_the_subject_of_a_robot_is_enough_for_its_mail_to_be_passed_over(office, subject, text):
    to = code_for(office, "alice", "alice@new.example")
    assert office.take(to, text, subject.format(code=code_in(to))) == []
    (address,) = office.accounts.record_of(office.ids["alice"]).addresses
    assert not address.verified


@pytest.mark.parametrize(
    ("subject", "text"),
    [
        ("Re: matchpost: your code is {code}", "Ich bin bis Montag nicht im Büro."),
        ("Received: matchpost: your code is {code}", ""),
        ("", ""),
        (
            "Ticket 17",
            "Thank you for your mail:\nmatchpost: your code is {code}\nverify alice password {code}",
        ),
        ("Ticket 17", "We have your mail.\nyes"),
    ],
)
def test_what_a_robot_may_have_written_asks_for_a_yes_and_proves_nothing(office, subject, text):
    to = code_for(office, "alice", "alice@new.example")
    written = [one.format(code=code_in(to)) for one in (text, subject)]
    (letter,) = office.take(to, *written)
    assert letter.body.startswith(f"{Code.BAD_ADDRESS}: the address isn't verified yet;")
    (address,) = office.accounts.record_of(office.ids["alice"]).addresses
    assert not address.verified


def test_a_code_that_is_none_is_refused_to_who_wrote(office):
    wrong = office.addresses.code(office.ids["alice"], "a" * 10)
    (letter,) = office.take(wrong, "yes", sender=box("eve"))
    assert letter.to == box("eve")
    assert letter.body.startswith(f"{Code.BAD_ADDRESS}: ")


# who tries passwords by mail


def test_a_new_password_by_mail_logs_out_everywhere_too(office):
    sessions = Sessions(office.app.client)
    sessions.open(office.ids["alice"], "a browser")
    office.take(SERVER, "change password alice mad-hatter looking-glass")
    assert sessions.list_of(office.ids["alice"]) == []


def test_forged_senders_share_one_count_and_leave_the_owner_s_alone(office):
    office.take(SERVER, "messages alice mad-hatter", sender="alice@example.org")
    for n in range(WRONG_PASSWORDS + 1):
        office.take(SERVER, f"messages alice guess-{n}", sender=f"innocent{n}@example.net")
    office.accounts._recent._seen.clear()  # as after ten minutes
    said = office.take(SERVER, "messages alice mad-hatter", sender="innocent99@example.net")
    assert "too-many-attempts" in str(said)
    said = office.take(SERVER, "messages alice mad-hatter", sender="alice@example.org")
    assert "too-many-attempts" not in str(said)
