"""The real processes take mail, by SMTP and by LMTP, and send it; both outlive their own deaths, and the relay's."""

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from bench.free_ports import free_port
from domain.match.history import unpack_snapshot
from infra.durability.durability import Mode
from infra.mail.addresses import FILE_NAME, ServerAddresses, read_secret
from infra.mail.email import Email
from infra.mail.outbox import Outbox
from infra.people.accounts import Accounts, MailAddress
from infra.store.redis_store import RedisStore
from services.cli.main import main
from tests.fakes.sink import Sink
from tests.helpers.mails import mail
from tests.helpers.served import Served, until
from tests.helpers.wire import Wire

DOMAIN = "play.example.org"

pytestmark = pytest.mark.slow


class MailServed(Served):
    """A server that takes mail at `port` and at `lmtp`."""

    def __init__(self, folder: Path, **env: str) -> None:
        self.port = free_port()
        self.lmtp = folder / "lmtp"
        env |= {"MATCHPOST_SMTP": f"127.0.0.1:{self.port}", "MATCHPOST_LMTP": str(self.lmtp)}
        super().__init__(folder / "data", {"MATCHPOST_MAIL_DOMAIN": DOMAIN, **env})

    def sign_up(self, *names: str) -> None:
        """Make accounts whose addresses are proven."""
        with self.client() as client:
            accounts = Accounts(client)
            for name in names:
                proven = (MailAddress(f"{name}@example.org", verified=True),)
                account = accounts.signup(name, "mad-hatter")
                accounts.change_of(account, lambda record, to=proven: replace(record, addresses=to))

    def challenge(self) -> int:
        """Start a match of alice and bob; gives its board number."""
        done = self.run("do", "pow2 challenge alice bob")
        assert done.returncode == 0, done.stderr
        return int(done.stdout.split()[1].rstrip(","))

    def seat(self, board: int) -> str:
        """The address of alice's seat."""
        addresses = ServerAddresses(read_secret(self.data / FILE_NAME), DOMAIN)
        with self.client() as client:
            return addresses.of(board, 0, Accounts(client).id_of("alice"))

    def moves(self, board: int) -> list[str]:
        with self.client() as client:
            (data,) = RedisStore(client, Mode.FSYNC).snapshots([board])
        return unpack_snapshot(data).state.moves.split()

    def letters(self) -> list[Email]:
        with self.client() as client:
            return [letter for _, letter in Outbox(client)._all()]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MailServed]:
    with MailServed(tmp_path_factory.mktemp("mail")) as running:
        running.sign_up("alice", "bob")
        yield running


def send(place: tuple[str, int] | Path, to: str, text: str, id_: str) -> str:
    """Send a mail; gives what is answered in the end."""
    with Wire(place) as wire:
        wire.begin("LHLO here" if isinstance(place, Path) else "EHLO here")
        return wire.send("alice@example.org", to, mail(text, id_=id_))


def test_a_mail_delivered_five_times_by_two_doors_is_one_move_and_one_answer(served: MailServed):
    board, smtp = served.challenge(), ("127.0.0.1", served.port)
    before = len(served.letters())
    for place in (smtp, served.lmtp, smtp, served.lmtp, smtp):
        said = send(place, served.seat(board), "m13-j7\n\n> your turn", "<five@example.org>")
        assert said.startswith("250 2.0.0 ")
    assert served.moves(board) == ["m13-j7"]
    (letter,) = served.letters()[before:]
    assert (letter.to, letter.subject) == ("alice@example.org", f"match {board}: The Power of Two")
    assert letter.body.startswith(f"> m13-j7\nmatch {board}, #1: Light (alice) played m13-j7; ")


@pytest.mark.skipif(shutil.which("swaks") is None, reason="swaks is not installed")
def test_swaks_is_served(served: MailServed):
    board = served.challenge()
    for words in (
        ["--server", f"127.0.0.1:{served.port}"], ["--protocol", "LMTP", "--socket", str(served.lmtp)],
    ):  # fmt: skip
        done = subprocess.run(
            ["swaks", *words, "--to", served.seat(board), "--from", "alice@example.org", "--body", "m13-j7",
             "--header", "Subject: my move", "--header", "Message-ID: <swaks@example.org>"],
            capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
    assert served.moves(board) == ["m13-j7"]


@pytest.mark.long
def test_a_killed_process_is_started_again_and_no_mail_is_lost(served: MailServed):
    board, smtp = served.challenge(), ("127.0.0.1", served.port)
    assert send(smtp, served.seat(board), "show", "<show@example.org>").startswith("250 ")
    (process,) = served.children("mail --smtp-fd")
    os.kill(process, signal.SIGKILL)
    # the port goes on listening: who comes now waits and is served
    said = send(smtp, served.seat(board), "m13-j7", "<killed@example.org>")
    assert said.startswith("250 ")
    assert served.moves(board) == ["m13-j7"]


def subjects(sink: Sink, name: str) -> list[str]:
    return [mail["Subject"] for mail in sink.to(f"{name}@example.org")]


@pytest.mark.long
def test_what_happens_is_mailed_within_seconds_and_nothing_is_lost_by_deaths(tmp_path: Path):
    with Sink(auth_require_tls=False) as sink:
        relay = f"smtp://me:s3cret@127.0.0.1:{sink.port}"
        with MailServed(tmp_path, MATCHPOST_RELAY=relay) as served:
            served.do("signup dora mad-hatter dora@example.org")
            until(lambda: subjects(sink, "dora"))
            assert subjects(sink, "dora")[0].startswith("matchpost: your code is ")
            served.sign_up("alice", "bob")
            served.challenge()
            until(lambda: subjects(sink, "bob"))
            sink.stop()
            served.challenge()
            (process,) = served.children(" mailer")
            os.kill(process, signal.SIGKILL)
            served.challenge()
            assert served.end() == 0
            sink.start()
            served.start()
            until(lambda: len(subjects(sink, "bob")) >= 3, 90)
            assert sorted(subjects(sink, "bob")) == [
                f"alice challenges you: The Power of Two, match {n}" for n in (1, 2, 3)
            ]


def test_a_key_that_can_not_be_one_is_told(clean_environment: Path, capsys):
    key = clean_environment / "mail-key"
    key.write_bytes(b"short")
    assert main(["mailer", "--relay", "smtp://127.0.0.1:25", "--mail-key", str(key)]) == 2
    assert "mail-key has 5 bytes and should have 32" in capsys.readouterr().err
