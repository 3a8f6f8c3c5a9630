"""Mail: addresses that prove a seat, letters that wait, and the relay that takes them."""

import socket
import stat
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from email import message_from_bytes
from email.policy import SMTP
from pathlib import Path
from threading import Thread

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from redis import Redis

from bench.free_ports import free_port
from infra.mail import email, processed
from infra.mail.addresses import CodeReply, LostKeyError, SeatClaim, ServerAddresses, read_secret
from infra.mail.email import Email, Purpose, serialize
from infra.mail.outbox import LEASE_MS, Outbox, RelayBackoff
from infra.mail.processed import ProcessedMail, ReplyRateLimit, key_of
from infra.mail.smtp_client import DeliveryResult, DeliveryStatus, RelayDownError, SmtpRelay
from infra.redis import mail_keys as keys
from infra.settings.setting_values import SettingsError
from infra.settings.settings import load
from infra.settings.smtp_url import SmtpUrl, read_smtp_url
from tests.fakes.sink import Sink, certificate
from tests.helpers.proposals import Clock

ALICE, BOB = b"alice...", b"bob....."
ANSWER = Email(id="a1@play.example.org", to="alice@example.org", subject="Re: m", body="yes\n")
NOTED = replace(ANSWER, id="m1@h", purpose=Purpose.NOTICE, account=ALICE)
OURS = ServerAddresses(bytes(32), "play.example.org")
THEIRS = ServerAddresses(bytes(31) + b"1", "play.example.org")
DAYS_40_MS = 40 * 24 * 3_600_000
boards = st.integers(1, 10**15 - 1)
seats = st.integers(0, 9)
account_ids = st.binary(min_size=8, max_size=8)


def claim_of(address: str) -> SeatClaim:
    claim = OURS.read(address)
    assert claim is not None
    return claim


@given(boards, seats, account_ids)
def test_the_address_of_a_seat_is_read_in_any_case_and_proves_its_account(board, seat, account):
    address = OURS.of(board, seat, account)
    for written in (address, address.upper(), address.title()):
        claim = claim_of(written)
        assert (claim.board, claim.seat) == (board, seat)
        assert OURS.proves(claim, account)


NO_SEATS = [
    *("", "m12-s1-\udc80@play.example.org", f"m12-s1-{'a' * 26}"),
    *(f"{one}@play.example.org" for one in ("matchpost", "m12-s1-", f"m0-s1-{'a' * 26}")),
    *(f"m12-s1-{'a' * n}@play.example.org" for n in (25, 27)),
    *(f"m12-s1-{'a' * 26}@elsewhere.example.org", f"m12-s1-{'a' * 26}\n@play.example.org"),
    f"m\u0661\u0662-s1-{'a' * 26}@play.example.org",
]


@given(st.text().map(lambda text: f"{text}@play.example.org") | st.sampled_from(NO_SEATS))
def test_what_is_no_address_of_a_seat_claims_nothing(text):
    for read in (OURS.read, OURS.read_signoff, OURS.read_bounce, OURS.read_code):
        assert read(text) is None
    assert not OURS.is_bounce_of(text, ALICE, "a@b.example")


def test_addresses_are_for_one_account_for_one_purpose_and_only_ours():
    claim = claim_of(OURS.of(12, 1, ALICE))
    assert OURS.proves(claim_of(OURS.of(12, 1, ALICE, 1)), ALICE, 1)
    assert not THEIRS.proves(claim, ALICE)
    for other, *account in (
        *((claim, BOB), (claim, ALICE, 1)),
        *((SeatClaim(13, 1, claim.mac), ALICE), (SeatClaim(12, 0, claim.mac), ALICE)),
    ):
        assert not OURS.proves(other, *account)
    signoff, back = OURS.signoff(ALICE), OURS.bounce(ALICE, "alice@Example.org")
    assert OURS.read_signoff(signoff.upper()) == ALICE
    assert THEIRS.read_signoff(signoff) is None
    assert OURS.read_signoff(signoff.replace(ALICE.hex(), BOB.hex())) is None
    assert OURS.read_bounce(back.upper()) == ALICE
    assert OURS.is_bounce_of(back.upper(), ALICE, "alice@example.ORG")
    assert not OURS.is_bounce_of(back, ALICE, "Alice@example.org")
    assert not OURS.is_bounce_of(back, BOB, "alice@example.org")
    assert not THEIRS.is_bounce_of(back, ALICE, "alice@example.org")
    assert OURS.read_bounce(signoff) is None
    assert OURS.read_signoff(back) is None
    mac = signoff.partition("@")[0][-26:]
    assert not OURS.is_bounce_of(f"bounce-{ALICE.hex()}-{mac}@play.example.org", ALICE, "")
    assert OURS.read_code(OURS.code(ALICE, "abcdefgh23").upper()) == CodeReply(ALICE, "abcdefgh23")
    assert OURS.mark(12, 7, "x") == OURS.mark(12, 7, "x")
    assert len({OURS.mark(12, 7), OURS.mark(12, 8), THEIRS.mark(12, 7)}) == 3


def test_the_secret_is_made_once_for_its_owner_alone_and_not_again_where_its_file_is_cut(tmp_path):
    file = tmp_path / "data" / "mail-key"
    with ThreadPoolExecutor(16) as pool:
        (secret,) = set(pool.map(read_secret, [file] * 64))
    assert len(secret) == 32
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [one.name for one in file.parent.iterdir()] == ["mail-key"]
    file.write_bytes(b"short")
    with pytest.raises(LostKeyError, match=r"mail-key has 5 bytes and should have 32; restore"):
        read_secret(file)
    assert file.read_bytes() == b"short"


@pytest.fixture
def outbox(redis_client: Redis, clock: Clock) -> Outbox:
    return Outbox(redis_client, clock)


def test_a_letter_is_taken_whole_by_one_process_and_then_tried_again(outbox, clock, redis_client):
    assert outbox.enqueue(ANSWER)
    (taken,) = Outbox(redis_client, clock).lease_due(clock.now, 10)
    assert (taken.email, taken.since, taken.tries) == (ANSWER, clock.now, 1)
    assert outbox.lease_due(clock.now + LEASE_MS - 1, 10) == []
    (taken,) = outbox.lease_due(clock.now + LEASE_MS, 10)
    assert taken.tries == 2
    outbox.retry_at(taken, clock.now + 10 * LEASE_MS)
    assert outbox.lease_due(clock.now + 10 * LEASE_MS - 1, 10) == []
    (again,) = outbox.lease_due(clock.now + 10 * LEASE_MS, 10)
    assert (again.since, again.tries) == (clock.now, 3)
    outbox.release([again], clock.now + 5)  # what was not tried counts as no try
    assert [one.tries for one in outbox.lease_due(clock.now + 5, 10)] == [3]


def test_the_same_id_is_the_same_letter_even_after_it_was_sent(outbox: Outbox, clock: Clock):
    elsewhere = replace(ANSWER, to="alice@elsewhere.example")
    assert outbox.enqueue_all([ANSWER, ANSWER, elsewhere]) == [True, False, True]
    assert not outbox.enqueue(replace(ANSWER, to="alice@EXAMPLE.org"))
    for taken in outbox.lease_due(clock.now, 10):
        outbox.remove(taken)
    assert not outbox.enqueue(replace(ANSWER, body="another"))
    assert outbox.size() == 0
    assert outbox.lease_due(clock.now, 10) == []


def test_the_longest_due_goes_first_and_a_letter_waits_for_its_time(outbox: Outbox, clock: Clock):
    outbox.enqueue(replace(ANSWER, id="late@h", not_before=clock.now + 500))
    assert not outbox.is_due(clock.now)
    for number in range(3):
        outbox.enqueue(replace(ANSWER, id=f"{number}@h"))
        clock.now += 1
    assert [taken.email.id for taken in outbox.lease_due(clock.now, 2)] == ["0@h", "1@h"]
    assert [taken.email.id for taken in outbox.lease_due(clock.now, 2)] == ["2@h"]
    clock.now += 497
    assert outbox.is_due(clock.now)
    assert [taken.email.id for taken in outbox.lease_due(clock.now, 2)] == ["late@h"]


def test_a_letter_that_was_forgotten_does_not_come_back(outbox, clock, redis_client):
    outbox.enqueue_all([NOTICE, replace(NOTICE, id="m2@h", account=BOB), ANSWER])
    taken = outbox.lease_due(clock.now, 10)
    outbox.forget(ALICE)
    outbox.forget(ALICE)
    for letter in taken:
        outbox.retry_at(letter, clock.now)
    left = outbox.lease_due(clock.now, 10)
    assert {letter.email.account for letter in left} == {BOB, b""}
    assert redis_client.hlen(keys.TRIES) == redis_client.hlen(keys.EMAILS) == 2


def test_a_letter_that_can_t_be_read_keeps_no_other_up(outbox, clock, redis_client, caplog):
    outbox.enqueue(ANSWER)
    (key,) = redis_client.hkeys(keys.EMAILS)
    redis_client.hset(keys.EMAILS, key, b"broken")
    outbox.enqueue(NOTED)
    assert [taken.email for taken in outbox.lease_due(clock.now, 10)] == [NOTED]
    assert "ALARM: e-mail" in caplog.text
    assert outbox.size() == 1


def test_nothing_is_due_while_the_relay_rests_unless_a_clock_that_ran_ahead_says_so(outbox, clock):
    outbox.enqueue(ANSWER)
    rest = RelayBackoff(clock.now + 60_000, 1, "no answer")
    outbox.start_backoff(rest)
    assert not outbox.is_due(clock.now)
    assert outbox.backoff(clock.now) == rest
    assert outbox.backoff(clock.now + 60_000) is None
    assert outbox.last_backoff() == rest
    assert outbox.is_due(clock.now + 60_000)
    outbox.clear_backoff()
    assert outbox.last_backoff() is None
    # what was laid aside by a clock that ran ahead is sent
    clock.now += DAYS_40_MS
    outbox.enqueue(NOTED)
    outbox.lease_due(clock.now, 1)
    outbox.start_backoff(RelayBackoff(clock.now + 60_000, 1, "away"))
    clock.now -= DAYS_40_MS
    assert outbox.backoff(clock.now) is None
    assert outbox.is_due(clock.now)
    assert len(outbox.lease_due(clock.now, 10)) == 2
    assert outbox.lease_due(clock.now, 10) == []
    assert not outbox.is_due(clock.now)


BAD = [
    *({"id": text} for text in ("a\r\nBcc: x@y.example@h", "no-domain", "<a@b>")),
    *({"to": f"alice@example.org{end}"} for end in ("\r\nRCPT TO:<x@y.example>", ">", ",bob@example.org")),
    *({"to": text} for text in ("alice", "alice@ex\u00e4mple.org")),
    *({"subject": f"Re: m{end}"} for end in ("\nBcc: x@y.example", "\r", "\x00", "\u2028m", "\x85m")),
    *({"headers": (("In-Reply-To", f"<a@b>{end}Bcc: x@y.example"),)} for end in ("\r\n", "\n", "\x0b")),
    *({"headers": (("Reply-To", text),)} for text in ("a@b.example, c@d.example", "<a@b.example>")),
    {"headers": (("Bcc", "x@y.example"),)},
    {"headers": (("In-Reply-To", "<a@b>"), ("In-Reply-To", "<c@d>"))},
    {"headers": (("References", "x" * 901),)},
    *({"purpose": Purpose.NOTICE}, {"account": ALICE}),
]  # fmt: skip


def test_what_could_make_a_header_of_its_own_is_not_taken(outbox: Outbox):
    for changes in BAD:
        with pytest.raises(email.InvalidEmailError):
            outbox.enqueue(replace(ANSWER, **changes))
    assert outbox.size() == 0


def test_a_mail_that_was_taken_is_known_by_every_process(redis_client):
    key = key_of("m1-s0-secret@play.example.org", "one@example.org")
    assert not ProcessedMail(redis_client).is_processed(key)
    ProcessedMail(redis_client).mark_processed(key)
    assert ProcessedMail(redis_client).is_processed(key)
    (name,) = redis_client.keys("*")
    assert 0 < redis_client.ttl(name) <= processed.PROCESSED_SECONDS
    assert b"secret" not in name
    assert key == key_of("m1-s0-secret@PLAY.example.org", "one@example.org")
    assert len({key, key_of("b@play.example.org", "one@example.org"), key_of("a@b", "")}) == 3


def test_answers_are_counted_for_an_address_an_hour_and_by_all_processes_together(redis_client):
    first, second = ReplyRateLimit(redis_client), ReplyRateLimit(redis_client)
    limits = [first, second] * (processed.REPLIES_AN_HOUR // 2)
    assert all(limit.admits("eve@example.org") for limit in limits)
    assert not first.admits("eve@example.org")
    assert not second.admits("eve@EXAMPLE.org")
    (name,) = redis_client.keys("*")
    assert 3_500 < redis_client.ttl(name) <= 3_600
    assert b"eve" not in name
    assert second.admits("Eve@example.org"), "whose box that is, its own server knows"
    redis_client.delete(name)
    assert first.admits("eve@example.org")


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
        sender = email.envelope_sender(letter, OURS)
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
    # what comes back comes to an address of its own, and an answer's to nobody
    send(relay(sink), Email(id="a@h", to="bob@example.org", subject="Re:", body="yes\n"))
    assert [one.mail_from for one in sink.envelopes] == [OURS.bounce(ALICE, NOTICE.to), "<>"]
    assert [one.rcpt_tos for one in sink.envelopes] == [["alice@example.org"], ["bob@example.org"]]
    assert sink.messages[1]["From"] == sink.messages[0]["From"]
    assert sink.messages[1]["Reply-To"] == "matchpost@play.example.org"


@given(st.text(), st.text())
def test_no_text_makes_a_header_or_a_long_line(subject, body):
    body = body.encode(errors="replace").decode()
    letter = replace(NOTICE, subject=email.clean_subject(subject), body=body)
    data = serialize(letter, ServerAddresses(bytes(32), "x" * 60 + ".example.org"), SINCE)
    head = data.partition(b"\r\n\r\n")[0].split(b"\r\n")
    assert sum(not line.startswith(b" ") for line in head) == 13
    assert all(0x20 <= byte < 0x7F for line in head for byte in line)
    assert message_from_bytes(data, policy=SMTP)["Subject"] == letter.subject
    assert max(map(len, data.split(b"\r\n"))) <= 998
    assert b"\r" not in data.replace(b"\r\n", b"")
    assert b"\n" not in data.replace(b"\r\n", b"")


NO_ADDRESS, LATER, UNWANTED, SENT = (
    *(DeliveryStatus.NO_ADDRESS, DeliveryStatus.LATER, DeliveryStatus.UNWANTED),
    DeliveryStatus.SENT,
)
REPLIES = [
    *(("to_recipient", f"55{said}", NO_ADDRESS) for said in ("0 5.1.1 no such user", "0 no", "2 5.2.2 full")),
    *(("to_recipient", f"45{said}", LATER) for said in ("0 4.2.1 try later", "1 greylisted")),
    ("to_recipient", "554 5.7.1 relay access denied", LATER),
    ("to_recipient", "530 5.7.0 authentication required", LATER),
    ("to_data", "554 5.7.1 spam", UNWANTED),
    ("to_data", "552 too big", UNWANTED),
    *(("to_data", said, NO_ADDRESS) for said in ("550 5.1.1 no such user", "552 5.2.2 full")),
    ("to_data", "451 later", LATER),
    ("to_sender", "553 5.7.1 not yours", LATER),
]  # fmt: skip


def test_what_a_relay_refuses_tells_whose_fault_it_is(monkeypatch, sink):
    for asked, reply, fate in REPLIES:
        with monkeypatch.context() as patched:
            said = reply if asked == "to_sender" else lambda *_, reply=reply: reply
            patched.setattr(sink, asked, said)
            assert send(relay(sink)) == DeliveryResult(fate, reply)
    assert sink.messages == []
    # after one was refused the next goes in the same session
    sink.to_recipient = lambda to: "550 no" if to == "bad@example.org" else "250 OK"
    data = serialize(NOTICE, OURS, SINCE)
    with relay(sink).session() as session:
        sent = [session.send("", f"{name}@example.org", data) for name in ("bad", "good")]
    assert [one.delivery_status for one in sent] == [NO_ADDRESS, SENT]


def _hang_up(server: socket.socket) -> None:
    server.accept()[0].close()


def test_a_relay_that_is_not_there_or_hangs_up_is_down():
    with pytest.raises(RelayDownError, match=r"127.0.0.1:[0-9]+: Connection refused"):
        send(SmtpRelay(SmtpUrl("127.0.0.1", free_port(), tls=False), "h"))
    with socket.create_server(("127.0.0.1", 0)) as server:
        route = SmtpUrl("127.0.0.1", server.getsockname()[1], tls=False)
        thread = Thread(target=_hang_up, args=[server])
        thread.start()
        with pytest.raises(RelayDownError, match=r"127.0.0.1:[0-9]+: "):
            send(SmtpRelay(route, "h"))
        thread.join()


def test_a_login_is_sent_on_this_machine_or_by_tls_that_can_be_trusted(tmp_path: Path):
    with Sink(auth_require_tls=False) as sink:
        known = relay(sink, user="me", password="s3cret")
        assert send(known).delivery_status is SENT
        with pytest.raises(RelayDownError, match=r"it refuses the login \(535\)") as caught:
            send(relay(sink, user="me", password="guess"))
        assert "guess" not in str(caught.value)
    context, login = certificate(tmp_path), {"user": "me", "password": "s3cret"}
    elsewhere = "0.0.0.0"  # leads to this machine, and is not known to do so
    for options, sentence in (
        ({"auth_require_tls": False}, "offers no TLS, and a login is not sent in clear"),
        ({"tls_context": context, "auth_required": True}, "its certificate can't be trusted"),
    ):
        with Sink(**options) as sink:
            with pytest.raises(RelayDownError, match=sentence):
                send(relay(sink, host=elsewhere, **login))
            assert sink.logins == 0
    for options, route in (
        ({"tls_context": context, "auth_required": True}, login),
        ({"tls_context": context, "require_starttls": True}, {}),
        ({"ssl_context": context}, {"tls": True}),
    ):
        with Sink(**options) as sink:
            assert send(relay(sink, **route)).delivery_status is SENT


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("http://me:secret@h", "starts with smtp:// or smtps://"),
        ("smtp://me:secret@h:99999", "the port .* is a number up to 65535"),
        ("smtp://me:secret@h:x", "the port .* is a number up to 65535"),
        ("smtp://me:secret@", "names a host"),
        ("smtp://secret@h", "has a user and a password"),
        ("smtp://me:secret@h/x", "ends after its port"),
        ("smtp://me:secret%0Arcpt@h", "has no control characters"),
        ("smtp://me:secret@[h", "is like smtp://127.0.0.1:25"),
        ("smtp://me:secret@h\u2100", "is like smtp://127.0.0.1:25"),
    ],
)
@pytest.mark.usefixtures("clean_environment")
def test_a_bad_relay_is_refused_and_its_password_not_repeated(url, sentence):
    with pytest.raises(SettingsError, match=f"MATCHPOST_RELAY is unusable: .*{sentence}") as caught:
        load({}, {"MATCHPOST_RELAY": url})
    assert "secret" not in str(caught.value)


@pytest.mark.usefixtures("clean_environment")
def test_a_relay_is_read_and_its_password_shown_nowhere_and_given_to_children():
    for url, route in {
        "smtp://127.0.0.1:2525": SmtpUrl("127.0.0.1", 2525, tls=False),
        "smtp://mail.example.org/": SmtpUrl("mail.example.org", 25, tls=False),
        "smtps://[::1]": SmtpUrl("::1", 465, tls=True),
        "smtps://me:a%40b%2F@h:26": SmtpUrl("h", 26, tls=True, user="me", password="a@b/"),
    }.items():
        assert read_smtp_url(url) == route
    url = "smtps://me:hush-hush@mail.example.org"
    settings = load({}, {"MATCHPOST_RELAY": url})
    assert "hush" not in repr(settings) + repr(read_smtp_url(url))
    assert "mail.example.org" in repr(settings)
    assert settings.environment()["MATCHPOST_RELAY"] == url


@pytest.mark.usefixtures("clean_environment")
def test_only_loopback_is_this_machine_and_without_settings_no_mail_is_taken_or_sent():
    hosts = ("localhost", "127.1.2.3", "::1", "10.0.0.1", "h")
    near = [SmtpUrl(host, 25, tls=False).is_loopback for host in hosts]
    assert near == [True, True, True, False, False]
    settings = load({}, {})
    assert (settings.smtp, settings.lmtp, settings.relay) == ("off", None, None)
    assert (settings.mail_domain, settings.mail_passwords) == ("localhost", "on")
    for name, value in (
        *(("MAIL_DOMAIN", "play example.org"), ("MAIL_DOMAIN", "-x.example.org")),
        *(("MAIL_DOMAIN", "x.example.org\n"), ("MAIL_PASSWORDS", "perhaps"), ("SMTP", "here")),
    ):
        with pytest.raises(SettingsError, match=f"MATCHPOST_{name} must be "):
            load({}, {f"MATCHPOST_{name}": value})
