"""A whole match by nothing but mail: from signing up to the last move, through real servers.

The players know only what mails tell them. They answer the codes, and then every mail that asks for
a move, with the move that it names, above all that it said.
"""

import re
import smtplib
import time
from email.message import EmailMessage
from email.utils import make_msgid

import pytest

from tests.fakes.sink import Sink, free_port
from tests.helpers.mailing import text_of
from tests.helpers.served import Served

DOMAIN = "play.example.org"
SERVER = f"matchpost@{DOMAIN}"
PASSWORDS = {"alice": "mad-hatter", "bob": "yes-we-can"}
ASKED = re.compile(
    r"To play, write (?:your move, such as (\S+)|accept), in the first line of a reply"
)

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


class Player:
    """Somebody with a mail program."""

    def __init__(self, name: str, sink: Sink, port: int) -> None:
        self.name = name
        self.home = f"{name}@example.org"
        self._sink = sink
        self._port = port
        self._seen = 0

    def write(self, to: str, text: str, subject: str = "", answers: str | None = None) -> None:
        """Send a mail, twice: so does a mail server that did not hear the answer."""
        message = EmailMessage()
        message["From"], message["To"], message["Subject"] = self.home, to, subject
        message["Message-ID"] = make_msgid(domain="example.org")
        if answers:
            message["In-Reply-To"] = answers
        message.set_content(text)
        for _ in range(2):
            with smtplib.SMTP("127.0.0.1", self._port, timeout=60) as client:
                client.send_message(message)

    def command(self, line: str) -> None:
        """Give a command to the server."""
        self.write(SERVER, line)

    def answer(self, message: EmailMessage, text: str) -> None:
        """Answer a mail as programs do it."""
        below = "\n".join(f"> {line}" for line in text_of(message).splitlines())
        whole = f"{text}\n\nOn Monday, matchpost wrote:\n{below}\n\n-- \n{self.name}\n"
        subject = f"Re: {message['Subject']}"
        self.write(message["Reply-To"], whole, subject, message["Message-ID"])

    def news(self) -> list[EmailMessage]:
        """The mails that came since the last look."""
        found = self._sink.to(self.home)[self._seen :]
        self._seen += len(found)
        return found

    def awaits(self, said: str, seconds: float = 60) -> EmailMessage:
        """The next mail that says this; those before it are put aside."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for message in self.news():
                if said in text_of(message):
                    return message
            time.sleep(0.05)
        texts = [text_of(message) for message in self._sink.to(self.home)]
        raise AssertionError(f"no mail to {self.name} says {said!r}: {texts}")


class Table:
    """A server, where mail comes in and goes out, and its players, who signed up by mail."""

    def __init__(self, served: Served, sink: Sink, port: int) -> None:
        self.served = served
        self.sink = sink
        self.players = {name: Player(name, sink, port) for name in PASSWORDS}
        for name, player in self.players.items():
            player.command(f"signup {name} {PASSWORDS[name]} {player.home}")
        for player in self.players.values():
            player.answer(player.awaits("entered this e-mail address for the userid"), "")
            player.awaits("is verified")

    def play(self, seconds: float) -> dict[str, EmailMessage]:
        """Play until everybody was told of the end; gives the mails that told it."""
        over: dict[str, EmailMessage] = {}
        end = time.monotonic() + seconds
        while len(over) < len(self.players):
            assert time.monotonic() < end, f"only {list(over)} were told of the end"
            time.sleep(0.02)
            for name, player in self.players.items():
                for message in player.news():
                    text = text_of(message)
                    if "the match is over" in text and message["In-Reply-To"]:
                        over[name] = message
                    elif asked := ASKED.search(text):
                        player.answer(message, asked[1] or "accept")
        return over


@pytest.fixture
def table(tmp_path):
    port = free_port()
    with Sink() as sink:
        env = {
            "MATCHPOST_SMTP": f"127.0.0.1:{port}",
            "MATCHPOST_RELAY": f"smtp://127.0.0.1:{sink.port}",
            "MATCHPOST_MAIL_DOMAIN": DOMAIN,
        }
        with Served(tmp_path / "data", env) as served:
            yield Table(served, sink, port)


def check(table, over):
    """The match holds, nobody's password went out, and every mail says that a program wrote it."""
    verified = table.served.run("verify", "1")
    assert verified.returncode == 0, verified.stderr
    assert "match 1 holds" in verified.stdout
    for message in over.values():
        assert message["Subject"].endswith(", match 1")
    ids = [(message["Message-ID"], message["To"]) for message in table.sink.messages]
    assert len(set(ids)) == len(ids)
    for message in table.sink.messages:
        assert message["Auto-Submitted"] in ("auto-replied", "auto-generated")
        for password in PASSWORDS.values():
            assert password not in message.as_string()


@pytest.mark.long
def test_powerdrain_is_played_by_mail_alone(table):
    table.players["bob"].command(
        f"powerdrain challenge alice bob --password={PASSWORDS['bob']} --as=bob"
    )
    over = table.play(300)
    check(table, over)
    # one of the challenge, two of the start, then one a move: to who moves next, and of the last to both
    assert len([m for m in table.sink.messages if m["Subject"].endswith(", match 1")]) == 3 + 16 + 1
