"""The real process sends mail, asked for by `serve`, and outlives its own death and the relay's."""

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from infra.people.accounts import Accounts, MailAddress
from tests.fakes.sink import Sink
from tests.helpers.forked import SCRIPT
from tests.helpers.served import Served, until

DOMAIN = "play.example.org"

pytestmark = pytest.mark.slow


@pytest.fixture
def sink() -> Iterator[Sink]:
    with Sink(auth_require_tls=False) as one:
        yield one


@pytest.fixture
def served(tmp_path: Path, sink: Sink) -> Iterator[Served]:
    env = {
        "MATCHPOST_RELAY": f"smtp://me:s3cret@127.0.0.1:{sink.port}",
        "MATCHPOST_MAIL_DOMAIN": DOMAIN,
    }
    with Served(tmp_path / "data", env) as running:
        yield running


def sign_up(served: Served, *names: str) -> None:
    """Make accounts whose addresses are proven."""
    with served.client() as client:
        accounts = Accounts(client)
        for name in names:
            proven = (MailAddress(f"{name}@example.org", verified=True),)
            account = accounts.signup(name, "mad-hatter")
            accounts.change_of(account, lambda record, to=proven: replace(record, addresses=to))


def challenge(served: Served) -> None:
    done = served.run("do", "pow2 challenge alice bob")
    assert done.returncode == 0, done.stderr


def subjects(sink: Sink, name: str) -> list[str]:
    return [mail["Subject"] for mail in sink.to(f"{name}@example.org")]


@pytest.mark.long
def test_what_happens_is_mailed_within_seconds(served: Served, sink: Sink):
    done = served.run("do", "signup dora mad-hatter dora@example.org")
    assert done.returncode == 0, done.stderr
    until(lambda: subjects(sink, "dora"))
    assert subjects(sink, "dora")[0].startswith("matchpost: your code is ")
    sign_up(served, "alice", "bob")
    challenge(served)
    until(lambda: subjects(sink, "bob"))
    assert subjects(sink, "bob") == ["alice challenges you: The Power of Two, match 1"]


@pytest.mark.long
def test_a_killed_mailer_and_a_server_that_was_stopped_lose_nothing(served: Served, sink: Sink):
    sign_up(served, "alice", "bob")
    sink.stop()
    challenge(served)
    (process,) = served.children(" mailer")
    os.kill(process, signal.SIGKILL)
    challenge(served)
    assert served.end() == 0
    sink.start()
    served.start()
    until(lambda: len(subjects(sink, "bob")) >= 2, 90)
    assert sorted(subjects(sink, "bob")) == [
        f"alice challenges you: The Power of Two, match {n}" for n in (1, 2)
    ]


def test_a_key_that_can_not_be_one_is_told(tmp_path: Path):
    (tmp_path / "mail-key").write_bytes(b"short")
    done = subprocess.run(
        [SCRIPT, "mailer", "--relay", "smtp://127.0.0.1:25", "--mail-key", tmp_path / "mail-key"],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 2
    assert "mail-key has 5 bytes and should have 32" in done.stderr
