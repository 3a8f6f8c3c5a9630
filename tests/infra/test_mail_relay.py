import socket
from collections.abc import Iterator
from email import message_from_bytes
from email.policy import SMTP
from pathlib import Path
from threading import Thread

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from infra.mail.addresses import ServerAddresses
from infra.mail.email import Email, Purpose, clean_subject, envelope_sender, serialize
from infra.mail.smtp_client import DeliveryResult, DeliveryStatus, RelayDownError, SmtpRelay
from infra.settings.smtp_url import SmtpUrl
from tests.fakes.sink import Sink, certificate, free_port

ALICE = b"alice..."
OURS = ServerAddresses(bytes(32), "play.example.org")
SEAT = OURS.of(12, 0, ALICE)
NOTICE = Email(
    id="m12.7.s0@play.example.org",
    to="alice@example.org",
    subject="match 12: Halves",
    body="it is your turn\n\n  . o .\n.hidden dot\n",
    headers=(
        ("Reply-To", SEAT),
        ("In-Reply-To", "<m12.1.s0@play.example.org>"),
        ("References", "<m12.1.s0@play.example.org>"),
        ("Auto-Submitted", "auto-generated"),
        ("List-Unsubscribe", f"<mailto:{OURS.signoff(ALICE)}>"),
    ),
    purpose=Purpose.NOTICE,
    account=ALICE,
)
SINCE = 1_795_100_400_000


@pytest.fixture
def sink() -> Iterator[Sink]:
    with Sink() as one:
        yield one


def relay(sink: Sink, **route: object) -> SmtpRelay:
    known = {"host": "127.0.0.1", "port": sink.port, "tls": False, **route}
    return SmtpRelay(SmtpUrl(**known), "play.example.org")


def send(relay: SmtpRelay, letter: Email = NOTICE) -> DeliveryResult:
    with relay.session() as session:
        sender = envelope_sender(letter, OURS)
        return session.send(sender, letter.to, serialize(letter, OURS, SINCE))


def test_a_letter_arrives_as_it_was_meant(sink: Sink):
    assert send(relay(sink)) == DeliveryResult(DeliveryStatus.SENT)
    (message,) = sink.messages
    assert message["From"] == "matchpost <noreply@play.example.org>"
    assert message["To"] == "alice@example.org"
    assert message["Subject"] == "match 12: Halves"
    assert message["Date"] == "Thu, 19 Nov 2026 15:00:00 +0000"
    assert message["Message-ID"] == "<m12.7.s0@play.example.org>"
    for name, value in NOTICE.headers:
        assert message[name] == value
    assert message.get_content_type() == "text/plain"
    assert message.get_content().replace("\r\n", "\n") == NOTICE.body


def test_what_comes_back_comes_to_an_address_of_its_own_and_an_answer_s_to_nobody(sink: Sink):
    send(relay(sink))
    send(relay(sink), Email(id="a@h", to="bob@example.org", subject="Re:", body="yes\n"))
    assert [one.mail_from for one in sink.envelopes] == [OURS.bounce(ALICE, NOTICE.to), "<>"]
    assert [one.rcpt_tos for one in sink.envelopes] == [["alice@example.org"], ["bob@example.org"]]
    assert sink.messages[1]["From"] == sink.messages[0]["From"]
    assert sink.messages[1]["Reply-To"] == "matchpost@play.example.org"


def test_the_same_letter_is_the_same_bytes_each_time(sink: Sink):
    for _ in range(2):
        send(relay(sink))
    one, other = [envelope.content for envelope in sink.envelopes]
    assert one == other


@pytest.mark.parametrize("subject", ["=?utf-8?q?=0D=0ABcc:_x?=", "", "Ma" + "\u014d ri" * 60])
def test_a_subject_arrives_as_it_was_written(sink: Sink, subject: str):
    letter = replace(NOTICE, subject=clean_subject(subject))
    send(relay(sink), letter)
    assert sink.messages[0]["Subject"] == letter.subject


def test_names_and_texts_of_any_script_arrive(sink: Sink):
    letter = replace(NOTICE, subject="Zug für Māori", body="Mū tōrere\n" + "x" * 3_000 + "\n")
    send(relay(sink), letter)
    (message,) = sink.messages
    assert message["Subject"] == "Zug für Māori"
    assert message.get_content().replace("\r\n", "\n") == letter.body
    assert max(map(len, sink.envelopes[0].content.split(b"\r\n"))) < 998


@given(st.text(), st.text())
def test_no_text_makes_a_header_or_a_long_line(subject, body):
    body = body.encode(errors="replace").decode()
    letter = replace(NOTICE, subject=clean_subject(subject), body=body)
    data = serialize(letter, ServerAddresses(bytes(32), "x" * 60 + ".example.org"), SINCE)
    head = data.partition(b"\r\n\r\n")[0].split(b"\r\n")
    assert sum(not line.startswith(b" ") for line in head) == 13
    assert all(0x20 <= byte < 0x7F for line in head for byte in line)
    assert message_from_bytes(data, policy=SMTP)["Subject"] == letter.subject
    assert max(map(len, data.split(b"\r\n"))) <= 998
    assert b"\r" not in data.replace(b"\r\n", b"")
    assert b"\n" not in data.replace(b"\r\n", b"")


@pytest.mark.parametrize(
    ("reply", "fate"),
    [
        ("550 5.1.1 no such user", DeliveryStatus.NO_ADDRESS),
        ("550 no", DeliveryStatus.NO_ADDRESS),
        ("552 5.2.2 full", DeliveryStatus.NO_ADDRESS),
        ("450 4.2.1 try later", DeliveryStatus.LATER),
        ("451 greylisted", DeliveryStatus.LATER),
        ("554 5.7.1 relay access denied", DeliveryStatus.LATER),
        ("530 5.7.0 authentication required", DeliveryStatus.LATER),
    ],
)
def test_a_refused_recipient_means_its_address_is_bad_or_it_is_tried_again(sink, reply, fate):
    sink.to_recipient = lambda _: reply
    assert send(relay(sink)) == DeliveryResult(fate, reply)
    assert sink.messages == []


@pytest.mark.parametrize(
    ("reply", "fate"),
    [
        ("554 5.7.1 spam", DeliveryStatus.UNWANTED),
        ("552 too big", DeliveryStatus.UNWANTED),
        ("550 5.1.1 no such user", DeliveryStatus.NO_ADDRESS),
        ("451 later", DeliveryStatus.LATER),
    ],
)
def test_a_refused_text_is_not_the_address_s_fault_unless_it_says_so(sink, reply, fate):
    sink.to_data = lambda: reply
    assert send(relay(sink)) == DeliveryResult(fate, reply)


def test_a_refused_sender_is_tried_again(sink: Sink):
    sink.to_sender = "553 5.7.1 not yours"
    assert send(relay(sink)) == DeliveryResult(DeliveryStatus.LATER, "553 5.7.1 not yours")


def test_after_one_was_refused_the_next_goes_in_the_same_session(sink: Sink):
    sink.to_recipient = lambda to: "550 no" if to == "bad@example.org" else "250 OK"
    with relay(sink).session() as session:
        data = serialize(NOTICE, OURS, SINCE)
        fates = [
            session.send("", f"{name}@example.org", data).delivery_status
            for name in ("bad", "good")
        ]
    assert fates == [DeliveryStatus.NO_ADDRESS, DeliveryStatus.SENT]


def test_what_the_relay_says_is_one_short_line(sink: Sink):
    sink.to_recipient = lambda _: f"550-5.1.1 one\x07\r\n550 5.1.1 two {'x' * 400}"
    said = send(relay(sink)).reply
    assert said.startswith("550 5.1.1 one")
    assert said.isprintable()
    assert len(said) < 200


def test_a_relay_that_is_not_there_is_down():
    with pytest.raises(RelayDownError, match=r"127.0.0.1:[0-9]+: Connection refused"):
        send(SmtpRelay(SmtpUrl("127.0.0.1", free_port(), tls=False), "h"))


def test_a_relay_that_hangs_up_is_down():
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.listen()
        route = SmtpUrl("127.0.0.1", server.getsockname()[1], tls=False)
        thread = Thread(target=_hang_up, args=[server])
        thread.start()
        with pytest.raises(RelayDownError, match=r"127.0.0.1:[0-9]+: "):
            send(SmtpRelay(route, "h"))
        thread.join()


def _hang_up(server: socket.socket) -> None:
    server.accept()[0].close()


def test_it_logs_in_where_nothing_leaves_this_machine():
    with Sink(auth_require_tls=False) as sink:
        assert (
            send(relay(sink, user="me", password="s3cret")).delivery_status is DeliveryStatus.SENT
        )
        with pytest.raises(RelayDownError, match=r"it refuses the login \(535\)") as caught:
            send(relay(sink, user="me", password="guess"))
        assert "guess" not in str(caught.value)


ELSEWHERE = "0.0.0.0"
"""Leads to this machine, and is not known to do so."""


def test_a_login_is_not_sent_in_clear_to_another_machine():
    with Sink(auth_require_tls=False) as sink:
        with pytest.raises(RelayDownError, match="offers no TLS, and a login is not sent in clear"):
            send(relay(sink, host=ELSEWHERE, user="me", password="s3cret"))
        assert sink.logins == 0


def test_a_login_is_sent_behind_tls(tmp_path: Path):
    with Sink(tls_context=certificate(tmp_path), auth_required=True) as sink:
        assert (
            send(relay(sink, user="me", password="s3cret")).delivery_status is DeliveryStatus.SENT
        )


def test_a_certificate_of_another_machine_has_to_be_a_good_one(tmp_path: Path):
    with Sink(tls_context=certificate(tmp_path), auth_required=True) as sink:
        with pytest.raises(RelayDownError, match="its certificate can't be trusted"):
            send(relay(sink, host=ELSEWHERE, user="me", password="s3cret"))
        assert sink.logins == 0


def test_tls_is_spoken_where_it_is_offered(tmp_path: Path):
    with Sink(tls_context=certificate(tmp_path), require_starttls=True) as sink:
        assert send(relay(sink)).delivery_status is DeliveryStatus.SENT


def test_tls_is_spoken_from_the_first_byte_on_where_it_is_set(tmp_path: Path):
    with Sink(ssl_context=certificate(tmp_path)) as sink:
        assert send(relay(sink, tls=True)).delivery_status is DeliveryStatus.SENT
