"""A mail is carried out once and answered once, and only to who may read the answer."""

import logging
from contextlib import ExitStack

import pytest

from domain.errors import Code, Refusal
from domain.match.events import decode_event
from domain.match.history import unpack_snapshot
from infra.mail.processed import REFUSALS_AN_HOUR, REPLIES_AN_HOUR
from infra.mail.verification_codes import VerificationCodes
from infra.people.accounts import Accounts, MailAddress
from infra.people.sessions import Sessions
from services.mail.inbound import WRONG_PASSWORDS, TryAgainError
from services.mail.parse.mime import UnfitError
from tests.fakes.app import PASSWORDS
from tests.fakes.office import DOMAIN, SERVER, FakeOffice, box
from tests.helpers.lanes import LANE
from tests.helpers.mails import mail, report

MOVE = "pow2 move 1 alice wonderland m13-j7"


@pytest.fixture
def make_office():
    with ExitStack() as stack:

        def make(**settings):
            office = FakeOffice(**settings)
            stack.callback(office.close)
            return office

        yield make


@pytest.fixture
def office(make_office):
    return make_office()


def moves(office, board=1):
    """The moves of a match."""
    (data,) = office.app.store.snapshots([board])
    return unpack_snapshot(data).state.moves.split()


# a seat's address


def test_answering_with_a_move_alone_plays_it_and_tells_its_player(office):
    seat = office.seat(office.challenge(), 0, "alice")
    (letter,) = office.take(seat, "m13-j7\n\n> it is your turn")
    assert moves(office) == ["m13-j7"]
    assert letter.to == box("alice")
    assert letter.subject == "match 1: The Power of Two"
    assert letter.body.startswith("> m13-j7\nmatch 1, #1: Light (alice) played m13-j7; ")
    assert "Remaining Pieces" in letter.body
    assert dict(letter.headers) == {
        "Auto-Submitted": "auto-replied",
        "In-Reply-To": "<1@example.org>",
        "References": "<1@example.org>",
        "Reply-To": seat,
    }


def test_the_same_mail_delivered_five_times_is_one_move_and_one_answer(office):
    seat = office.seat(office.challenge(), 0, "alice")
    for _ in range(5):
        office.take(seat, "m13-j7", id_="<same@example.org>")
    assert moves(office) == ["m13-j7"]
    assert len(office.letters()) == 1


def test_so_it_is_when_nobody_remembers_that_it_was_taken(office):
    seat = office.seat(office.challenge(), 0, "alice")
    (first,) = office.take(seat, "m13-j7\nchat hello", id_="<same@example.org>")
    for key in office.app.client.scan_iter("{mail}:taken:*"):
        office.app.client.delete(key)
    office.take(seat, "m13-j7\nchat hello", id_="<same@example.org>")
    assert moves(office) == ["m13-j7"]
    assert office.letters() == [first]
    assert len(office.app.messages.chat_of(1)) == 1


def test_the_same_mail_without_an_id_is_the_same(office):
    seat = office.seat(office.challenge(), 0, "alice")
    for way in (b"here", b"there"):
        data = b"Received: by " + way + b"\r\n" + mail("m13-j7", id_=None)
        office.deliver(seat, box("alice"), data)
    assert moves(office) == ["m13-j7"]
    (letter,) = office.letters()
    assert letter.header("In-Reply-To") == ""


def test_who_a_mail_says_it_is_from_counts_for_nothing(office):
    seat = office.seat(office.challenge(), 0, "alice")
    (letter,) = office.take(
        seat, "m13-j7", sender="eve@evil.example", headers={"From": "bob@example.org"}
    )
    assert letter.to == box("alice")
    (refused,) = office.take(
        SERVER, "pow2 move 1 alice guessed1 m13-j7", sender=box("eve"),
        headers={"From": box("alice")},
    )  # fmt: skip
    assert refused.to == box("eve")
    assert refused.body.startswith("> pow2 move 1 ...\nwrong-password: ")


@pytest.mark.parametrize(
    "address",
    [
        "m1-s0-aaaaaaaaaaaaaaaaaaaaaaaaaa@play.example.org",
        "m1-s1-aaaaaaaaaaaaaaaaaaaaaaaaaa@play.example.org",
        "m1-s9-aaaaaaaaaaaaaaaaaaaaaaaaaa@play.example.org",
        "m999-s0-aaaaaaaaaaaaaaaaaaaaaaaaaa@play.example.org",
        "m1-s0@play.example.org",
        "alice@play.example.org",
        "matchpost@elsewhere.org",
        "matchpost",
        "",
        "\udcff@play.example.org",
    ],
)
def test_addresses_that_are_nobody_s_and_forged_ones_are_not_known(office, address):
    office.challenge()
    assert not office.office.knows(address)


def test_a_seat_s_address_is_its_player_s_alone(office):
    board = office.challenge()
    assert office.office.knows(office.seat(board, 0, "alice").upper())
    assert not office.office.knows(office.seat(board, 1, "alice"))
    assert not office.office.knows(office.seat(board, 0, "bob"))
    assert not office.office.knows(office.seat(board + 1, 0, "alice"))
    office.accounts.delete("alice", PASSWORDS["alice"], lambda _: None)
    assert not office.office.knows(office.seat(board, 0, "alice"))


def test_a_mail_whose_player_left_meanwhile_is_refused(office):
    seat = office.seat(office.challenge(), 0, "alice")
    office.accounts.delete("alice", PASSWORDS["alice"], lambda _: None)
    with pytest.raises(UnfitError):
        office.office.take(seat, box("alice"), mail("m13-j7"))


def test_all_a_seat_may_say_is_carried_out(office):
    board = office.challenge()
    alice, bob = office.seat(board, 0, "alice"), office.seat(board, 1, "bob")
    said = "m13-j7\npropose draw\nqueue\nshow\nset notify daily\nsignoff\nchat Good luck!"
    (letter,) = office.take(alice, said, sender=box("alice"))
    told = letter.body.split("\n\n> ")
    assert [one.split("\n")[0].removeprefix("> ") for one in told] == said.split("\n")
    assert letter.subject == "match 1: The Power of Two"
    assert office.accounts.record_of(office.ids["alice"]).signed_off
    assert office.accounts.record_of(office.ids["alice"]).notify == "daily"
    (answer,) = office.take(bob, "accept", sender=box("bob"))
    assert "it is a draw by agreement" in answer.body


@pytest.mark.parametrize("line", ["torere challenge bob alice", "one challenge alice"])
def test_a_seat_s_address_proves_its_player_as_a_challenger(office, line):
    seat = office.seat(office.challenge(), 0, "alice")
    (letter,) = office.take(seat, line)
    assert "has started" in letter.body
    assert decode_event(office.app.store.events(2)[0]).actor == office.ids["alice"]


def test_a_seat_s_address_proves_nobody_else(office):
    seat = office.seat(office.challenge(), 0, "alice")
    for line in ("pow2 challenge bob carol", "one challenge bob"):
        (letter,) = office.take(seat, line)
        assert "you are none of the players" in letter.body
    assert office.app.store.events(2) == []


def test_a_mail_to_the_server_starts_nothing_that_it_does_not_prove(office):
    lines = "\n".join(["torere challenge alice bob"] * 6)
    (letter,) = office.take(SERVER, lines, sender="stranger@example.net")
    assert letter.body.count("only one of its players can make a challenge") == 6
    assert office.app.store.events(1) == []
    line = "torere challenge alice bob --password=builder2 --as=bob"
    (letter,) = office.take(SERVER, line, sender=box("bob"))
    assert "has started" in letter.body
    assert "builder2" not in letter.body + letter.subject
    assert decode_event(office.app.store.events(1)[0]).actor == office.ids["bob"]


def test_where_no_passwords_are_taken_by_mail_a_challenge_has_none(make_office):
    office = make_office(passwords=False)
    (letter,) = office.take(SERVER, "torere challenge alice bob --password=wonderland")
    assert "this server accepts no passwords by e-mail" in letter.body
    assert "wonderland" not in letter.body
    assert office.app.store.events(1) == []


def test_what_a_seat_may_not_say_takes_the_password(office):
    seat = office.seat(office.challenge(), 0, "alice")
    for line in ("delete alice wrong-one", "change password alice wrong-one looking-glass"):
        (letter,) = office.take(seat, line)
        assert "wrong-password" in letter.body
    assert office.accounts.verify("alice", "wonderland") == office.ids["alice"]


def test_a_refusal_is_told_to_the_player_too(office):
    seat = office.seat(office.challenge(), 1, "bob")
    (letter,) = office.take(seat, "a13-a9", sender="anybody@elsewhere.org")
    assert (letter.to, letter.subject) == (box("bob"), "match 1: The Power of Two")
    assert letter.body.startswith("> a13-a9\nnot-your-turn: ")
    assert moves(office) == []


def test_with_several_addresses_the_one_that_wrote_is_answered_and_else_all(office):
    seat = office.seat(office.challenge(), 0, "alice")
    office.own(
        "alice",
        MailAddress(box("alice"), verified=True),
        MailAddress("a@home.example", verified=True),
        MailAddress("alice@work.example"),
        MailAddress("a@gone.example", verified=True, bounced="550 gone"),
    )
    assert [letter.to for letter in office.take(seat, "show", sender="a@HOME.example")] == [
        "a@home.example"
    ]
    for sender in ("alice@work.example", "eve@evil.example"):
        told = {letter.to for letter in office.take(seat, "show", sender=sender)}
        assert told == {box("alice"), "a@home.example"}


def test_who_has_no_proven_address_is_not_answered(office):
    seat = office.seat(office.challenge(), 0, "alice")
    office.own("alice", MailAddress(box("alice")))
    assert office.take(seat, "m13-j7") == []
    assert moves(office) == ["m13-j7"]


# the server's address


def test_a_line_with_userid_and_password_plays(office):
    office.challenge()
    (letter,) = office.take(SERVER, subject=MOVE, sender="anybody@elsewhere.org")
    assert moves(office) == ["m13-j7"]
    assert (letter.to, letter.subject) == (box("alice"), "matchpost: done")
    assert letter.body.startswith("> pow2 move 1 alice *** m13-j7\nmatch 1, #1: ")


def test_a_signup_is_answered_where_it_came_from(office):
    (letter,) = office.take(SERVER, "signup dave stronghold d@example.org", sender="d@example.org")
    assert letter.to == "d@example.org"
    assert letter.body.startswith("> signup dave *** d@example.org\nwelcome, dave")
    assert "stronghold" not in letter.body + letter.subject
    assert office.accounts.verify("dave", "stronghold")


def test_who_has_no_proven_address_is_answered_where_a_good_password_came_from(office):
    office.challenge()
    office.own("alice", MailAddress("victim@elsewhere.org"))
    (letter,) = office.take(SERVER, MOVE, sender="alice@new.example")
    assert letter.to == "alice@new.example"


def test_what_concerns_two_players_goes_back_to_who_wrote_it(office):
    office.challenge()
    lines = f"{MOVE}\npow2 move 1 bob builder2 a13-a9\nhelp pow2"
    (letter,) = office.take(SERVER, f"multiple\n{lines}", sender="club@example.net")
    assert letter.to == "club@example.net"
    assert len(moves(office)) == 2


def test_an_answer_holds_no_password_wherever_it_stood(office):
    office.challenge()
    lines = (
        "signup dave stronghold",
        "singup alice wonderland",
        "pow2 mvoe 1 alice wonderland m13-j7",
        "pow2 move alice wonderland m13-j7",
        "pow2 chat alice wonderland hello",
        "change password alice wonderland looking-glass",
        "set alice looking-glass wonderland daily",
        "message bob builder2 carol my password is builder2",
        "vacation alice wonderland",
    )
    (letter,) = office.take(SERVER, "\n".join(lines))
    for password in ("stronghold", "wonderland", "looking-glass", "builder2"):
        assert password not in letter.body + letter.subject + str(letter.headers)


def test_nothing_of_a_mail_is_logged(office, caplog):
    seat = office.seat(office.challenge(), 0, "alice")
    with caplog.at_level(logging.DEBUG):
        office.take(seat, "m13-j7\nchat hello", sender="a@home.example")
        office.take(SERVER, MOVE, sender="a@home.example")
        office.take(SERVER, "singup alice wonderland", sender="a@home.example")
    assert "a mail in match 1: done, done" in caplog.text
    for secret in ("wonderland", "alice", "example", "m13", seat.partition("@")[0], "hello"):
        assert secret not in caplog.text


def test_nothing_of_a_password_is_written(office):
    office.challenge()
    office.take(SERVER, f"{MOVE}\nsingup alice wonderland")
    client = office.app.client
    stored = [key + (client.dump(key) or b"") for key in client.scan_iter("*")]
    assert b"m13-j7" in b"".join(stored)
    assert b"wonderland" not in b"".join(stored)


def test_passwords_can_be_switched_off(make_office):
    office = make_office(passwords=False)
    board = office.challenge()
    lines = f"{MOVE}\nsignup dave stronghold\nhelp"
    (letter,) = office.take(SERVER, lines)
    assert letter.to == box("alice")
    assert letter.subject == "matchpost: not all accepted"
    assert letter.body.count("not-allowed: this server accepts no passwords by e-mail") == 2
    assert "Commands for everyone" in letter.body
    assert moves(office) == []
    office.take(office.seat(board, 0, "alice"), "m13-j7")
    assert moves(office) == ["m13-j7"]


def test_five_wrong_passwords_lock_a_userid_and_not_its_seats(office):
    board = office.challenge()
    for number in range(WRONG_PASSWORDS):
        (letter,) = office.take(
            SERVER, f"pow2 move 1 alice guess-{number} m13-j7", sender=box("eve")
        )
        assert "wrong-password: " in letter.body
    (letter,) = office.take(SERVER, MOVE)
    assert "too-many-attempts: " in letter.body
    assert moves(office) == []
    office.take(office.seat(board, 0, "alice"), "m13-j7")
    assert moves(office) == ["m13-j7"]


def test_a_mail_that_asks_for_nothing_is_told_what_to_ask(office):
    (letter,) = office.take(SERVER)
    assert letter.body.startswith("usage: the e-mail has no command; ")
    (letter,) = office.take(SERVER, "line\n" * 21)
    assert letter.body.startswith("too-long: ")


def test_a_mail_in_an_unknown_charset_is_told_so(office):
    seat = office.seat(office.challenge(), 0, "alice")
    (letter,) = office.take(seat, "m13-j7", headers={"Content-Type": "text/plain; charset=klingon"})
    assert letter.body.startswith("bad-request: the e-mail can't be read: its charset 'klin")


# who is not answered


UNASKED = [
    {"Auto-Submitted": "auto-replied"},
    {"Auto-Submitted": "auto-generated"},
    {"Precedence": "bulk"},
    {"List-Id": "<chess.example.org>"},
]


@pytest.mark.parametrize("field", UNASKED)
def test_what_a_program_sent_is_not_carried_out_and_not_answered(office, field):
    seat = office.seat(office.challenge(), 0, "alice")
    for to in (seat, SERVER):
        assert office.take(to, "m13-j7", headers=field) == []
    assert moves(office) == []


@pytest.mark.parametrize("sender", ["", "<>"])
def test_a_mail_from_nobody_is_not_carried_out_and_not_answered(office, sender):
    seat = office.seat(office.challenge(), 0, "alice")
    for to, text in ((seat, "m13-j7"), (SERVER, MOVE), (SERVER, "help")):
        assert office.take(to, text, sender=sender) == []
    assert moves(office) == []


def test_our_own_addresses_and_postmasters_are_not_answered(office):
    board = office.challenge()
    senders = [SERVER, office.seat(board, 0, "alice"), office.addresses.signoff(office.ids["bob"])]
    senders += [
        office.addresses.bounce(office.ids["bob"], box("bob")),
        f"m9-s0-{'a' * 26}@{DOMAIN}",
    ]
    senders += [
        "MAILER-DAEMON@example.org",
        "postmaster@example.org",
        "no address",
        "a@b\udcff.org",
    ]
    for sender in senders:
        assert office.take(SERVER, "help", sender=sender) == []


def test_an_address_is_sent_twenty_answers_an_hour(office):
    for _ in range(REPLIES_AN_HOUR):
        assert office.take(SERVER, "games", sender=box("eve"))
    assert office.take(SERVER, "games", sender="eve@EXAMPLE.org") == []
    assert office.take(SERVER, "games", sender=box("bob"))


def test_what_is_not_answered_any_more_is_carried_out_all_the_same(office):
    seat = office.seat(office.challenge(), 0, "alice")
    for _ in range(REPLIES_AN_HOUR):
        office.take(seat, "show")
    assert office.take(seat, "m13-j7") == []
    assert moves(office) == ["m13-j7"]


def test_what_is_refused_at_a_match_is_answered_however_many_answers_there_were(office):
    seat = office.seat(office.challenge(), 0, "alice")
    for _ in range(REPLIES_AN_HOUR):
        office.take(seat, "show")
    for text in ("m13-m14", "My move is j7-g1"):
        (letter,) = office.take(seat, text)
        assert letter.body.startswith(("> ", "illegal-move", "usage", "unreadable-move")), (
            letter.body
        )
    assert moves(office) == []


def test_the_last_answer_says_that_it_is_the_last(office):
    seat = office.seat(office.challenge(), 0, "alice")
    bodies = [office.take(seat, "show")[0].body for _ in range(REPLIES_AN_HOUR)]
    assert ["the last of 20 answers" in body for body in bodies] == [False] * (
        REPLIES_AN_HOUR - 1
    ) + [True]
    assert "a command that is refused is still answered" in bodies[-1]


def test_a_robot_that_answers_each_refusal_is_not_answered_for_ever(office):
    seat = office.seat(office.challenge(), 0, "alice")
    bodies = [letter.body for _ in range(REPLIES_AN_HOUR + REFUSALS_AN_HOUR + 5)
              for letter in office.take(seat, "out of the office")]  # fmt: skip
    assert len(bodies) == REPLIES_AN_HOUR + REFUSALS_AN_HOUR
    assert f"the last of {REFUSALS_AN_HOUR} answers" in bodies[-1]


def test_the_lines_below_say_resign_nothing(office):
    board = office.challenge()
    seat = office.seat(board, 0, "alice")
    office.take(seat, "say one\nresign")
    (data,) = office.app.store.snapshots([board])
    assert not unpack_snapshot(data).state.over
    assert [letter.text for letter in office.app.messages.chat_of(board)] == ["one\nresign"]


# what is not known yet


def test_a_mail_whose_outcome_is_not_known_is_to_come_again(office):
    seat = office.seat(office.challenge(), 0, "alice")
    office.app.awake = False
    for _ in range(2):
        with pytest.raises(TryAgainError):
            office.take(seat, "m13-j7", id_="<same@example.org>")
    assert office.letters() == []
    office.app.awake = True
    office.app._drain(LANE)
    (letter,) = office.take(seat, "m13-j7", id_="<same@example.org>")
    assert moves(office) == ["m13-j7"]
    assert letter.subject == "match 1: The Power of Two"


def test_without_durability_what_is_pending_is_the_answer(make_office):
    office = make_office(durable=False)
    board = office.challenge()
    (letter,) = office.take(office.seat(board, 0, "alice"), "m13-j7")
    assert letter.body.startswith("> m13-j7\npending: ")
    assert letter.subject == "match 1: The Power of Two"


# what is no command


def bounced(office, name):
    (address,) = office.accounts.record_of(office.ids[name]).addresses
    return address.bounced


def test_a_mail_that_comes_back_marks_the_address(office):
    to = office.addresses.bounce(office.ids["alice"], box("alice"))
    assert office.deliver(to, "<>", report("somebody@passed-on.example")) == []
    assert bounced(office, "alice") == "550 there is nobody of that name"


def test_one_that_comes_back_to_a_seat_marks_its_player_s_address(office):
    seat = office.seat(office.challenge(), 0, "alice")
    office.deliver(seat, "<>", report(box("bob")))
    assert (bounced(office, "alice"), bounced(office, "bob")) == ("", "")
    office.deliver(seat, "<>", report("alice@EXAMPLE.org"))
    assert bounced(office, "alice") == "550 there is nobody of that name"


def test_a_report_of_what_may_still_work_out_marks_nothing(office):
    to = office.addresses.bounce(office.ids["alice"], box("alice"))
    office.deliver(to, "<>", report(box("alice"), "delayed", "4.4.1"))
    office.take(to, "I am on holiday", sender="<>")
    assert bounced(office, "alice") == ""


def test_an_address_for_what_comes_back_is_good_for_one_address_of_one_account(office):
    ours = office.addresses.bounce
    assert not office.office.knows(ours(office.ids["alice"], box("bob")))
    assert not office.office.knows(ours(b"nobody..", box("alice")))


def test_any_mail_to_the_address_for_leaving_ends_all_mail(office):
    to = office.addresses.signoff(office.ids["alice"])
    assert office.take(to, sender="<>") == []
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
        (code_for(office, "bob", box("bob")), box("bob"), mail("")),
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


def test_answering_a_code_proves_the_address(office):
    to = code_for(office, "alice", "alice@new.example")
    (letter,) = office.take(to, sender="alice@elsewhere.org")
    assert letter.to == "alice@new.example"
    assert letter.body == "alice@new.example is verified; e-mails about your matches go there\n"
    (address,) = office.accounts.record_of(office.ids["alice"]).addresses
    assert address.verified


@pytest.mark.parametrize("field", UNASKED)
def test_a_program_s_answer_to_a_code_proves_nothing(office, field):
    to = code_for(office, "alice", "alice@new.example")
    assert office.take(to, headers=field) == []
    assert office.take(to, sender="<>") == []
    (address,) = office.accounts.record_of(office.ids["alice"]).addresses
    assert not address.verified


def test_a_code_that_is_none_is_refused_to_who_wrote(office):
    wrong = office.addresses.code(office.ids["alice"], "a" * 10)
    (letter,) = office.take(wrong, sender=box("eve"))
    assert letter.to == box("eve")
    assert letter.body.startswith(f"{Code.BAD_ADDRESS}: ")


# who tries passwords by mail


def test_a_new_password_by_mail_logs_out_everywhere_too(office):
    sessions = Sessions(office.app.client)
    sessions.open(office.ids["alice"], "a browser")
    office.take(SERVER, "change password alice wonderland looking-glass")
    assert sessions.list_of(office.ids["alice"]) == []


def test_forged_senders_share_one_count_and_leave_the_owner_s_alone(office):
    office.take(SERVER, "messages alice wonderland", sender="alice@example.org")
    for n in range(WRONG_PASSWORDS + 1):
        office.take(SERVER, f"messages alice guess-{n}", sender=f"innocent{n}@example.net")
    office.accounts._recent._seen.clear()  # as after ten minutes
    said = office.take(SERVER, "messages alice wonderland", sender="innocent99@example.net")
    assert "too-many-attempts" in str(said)
    said = office.take(SERVER, "messages alice wonderland", sender="alice@example.org")
    assert "too-many-attempts" not in str(said)
