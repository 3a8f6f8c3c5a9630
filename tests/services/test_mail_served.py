"""The real process takes mail, by SMTP and by LMTP, from Python's own programs and from swaks."""

import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest
from msgspec.structs import replace

from domain.match.history import unpack_snapshot
from infra.durability.durability import Mode
from infra.mail.addresses import FILE_NAME, ServerAddresses, read_secret
from infra.mail.outbox import Outbox
from infra.people.accounts import Accounts, MailAddress
from infra.store.redis_store import RedisStore
from tests.fakes.sink import free_port
from tests.helpers.mails import mail
from tests.helpers.served import Served
from tests.helpers.wire import Wire

DOMAIN = "play.example.org"

pytestmark = pytest.mark.slow


@pytest.fixture
def port():
    return free_port()


@pytest.fixture
def empty(tmp_path, port):
    """A server where nobody has signed up."""
    env = {
        "MATCHPOST_SMTP": f"127.0.0.1:{port}",
        "MATCHPOST_LMTP": str(tmp_path / "lmtp"),
        "MATCHPOST_MAIL_DOMAIN": DOMAIN,
    }
    with Served(tmp_path / "data", env) as running:
        yield running


@pytest.fixture
def served(empty):
    """A server where alice and bob play match 1."""
    empty.do("signup alice mad-hatter", "signup bob yes-we-can", "pow2 challenge alice bob")
    return empty


def seat(served, number, name, board=1):
    """The address of a seat."""
    addresses = ServerAddresses(read_secret(served.data / FILE_NAME), DOMAIN)
    with served.client() as client:
        return addresses.of(board, number, Accounts(client).id_of(name))


def moves(served, board=1):
    with served.client() as client:
        (data,) = RedisStore(client, Mode.FSYNC).snapshots([board])
    return unpack_snapshot(data).state.moves.split()


def letters(served):
    with served.client() as client:
        return [letter for _, letter in Outbox(client)._all()]


def own(served, name):
    """Prove an address for a player, as a code would."""
    with served.client() as client:
        accounts = Accounts(client)
        proven = (MailAddress(f"{name}@example.org", verified=True),)
        accounts.change_of(accounts.id_of(name), lambda record: replace(record, addresses=proven))


def send(place, to, text, subject="", id_="<one@example.org>", sender="alice@example.org"):
    """Send a mail; gives what is answered in the end."""
    with Wire(place) as wire:
        wire.begin("LHLO here" if isinstance(place, Path) else "EHLO here")
        return wire.send(sender, to, mail(text, subject, id_=id_))


def test_a_mail_delivered_five_times_by_two_doors_is_one_move_and_one_answer(served, port):
    own(served, "alice")
    to = seat(served, 0, "alice")
    for place in [("127.0.0.1", port), served.data.parent / "lmtp"] * 2 + [("127.0.0.1", port)]:
        assert send(place, to, "m13-j7\n\n> your turn").startswith("250 2.0.0 ")
    assert moves(served) == ["m13-j7"]
    (letter,) = letters(served)
    assert (letter.to, letter.subject) == ("alice@example.org", "match 1: The Power of Two")
    assert letter.body.startswith("> m13-j7\nmatch 1, #1: Light (alice) played m13-j7; ")


@pytest.mark.skipif(shutil.which("swaks") is None, reason="swaks is not installed")
def test_swaks_is_served(served, port):
    to = seat(served, 0, "alice")
    lmtp = served.data.parent / "lmtp"
    for words in (["--server", f"127.0.0.1:{port}"], ["--protocol", "LMTP", "--socket", str(lmtp)]):
        done = subprocess.run(
            ["swaks", *words, "--to", to, "--from", "alice@example.org", "--body", "m13-j7",
             "--header", "Subject: my move", "--header", "Message-ID: <swaks@example.org>"],
            capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
    assert moves(served) == ["m13-j7"]


@pytest.mark.long
def test_a_killed_process_is_started_again_and_no_mail_is_lost(served, port):
    to = seat(served, 0, "alice")
    assert send(("127.0.0.1", port), to, "show").startswith("250 ")
    (process,) = served.children("mail --smtp-fd")
    os.kill(process, signal.SIGKILL)
    # the port goes on listening: who comes now waits and is served
    assert send(("127.0.0.1", port), to, "m13-j7", id_="<two@example.org>").startswith("250 ")
    assert moves(served) == ["m13-j7"]
