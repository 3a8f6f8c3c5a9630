"""A mailer worked by hand, between a bench in a time of its own and a real server for its mail."""

from collections.abc import Callable, Sequence
from email.message import EmailMessage
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from argon2 import PasswordHasher
from redis import Redis

from domain.match.commands import Command, CommandEnvelope, StartMatch
from domain.records import AccountId
from infra.mail.addresses import ServerAddresses
from infra.mail.outbox import Outbox, SentEmails
from infra.mail.progress import MailerProgress
from infra.mail.smtp_client import SmtpRelay
from infra.mail.unsubscribe_links import UnsubscribeLinks
from infra.people.account_macs import make_mac_key
from infra.people.accounts import Account, Accounts, MailAddress
from infra.people.accounts.record import encode
from infra.people.accounts.usernames import Usernames
from infra.people.clubs import Clubs
from infra.people.masthead import Mastheads
from infra.people.messages import MessageStore
from infra.people.statements import Statements
from infra.people.tournament_texts import TournamentTexts
from infra.redis import keys
from infra.settings.settings import Settings
from infra.settings.smtp_url import SmtpUrl
from services.mail.notification_texts import NotificationTexts
from tests.fakes.sink import Sink
from tests.helpers.given import ALICE, BOB, CAROL
from tests.helpers.timed import TimedBench
from workers.mail.mailer import Mailer, mail_tasks

CHEAP = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
DOMAIN = "play.example.org"
HOMES = {ALICE: "alice@example.org", BOB: "bob@example.org", CAROL: "carol@example.org"}


class Mailing:
    """Alice, bob and carol with proven addresses, and all mail that is sent."""

    def __init__(self, client: Redis, folder: Path, sink: Sink) -> None:
        self.bench = TimedBench(client, folder)
        self.client = client
        self.sink = sink
        self.accounts = Accounts(client, CHEAP)
        self.addresses = ServerAddresses(bytes(32), DOMAIN)
        self.outbox = Outbox(client, lambda: self.bench.now)
        app: Any = SimpleNamespace(
            store=self.bench.store,
            accounts=self.accounts,
            settings=Settings(data=folder),
            messages=MessageStore(client, lambda: self.bench.store.layout().shards),
            mastheads=Mastheads(client),
            tournament_texts=TournamentTexts(client),
            clubs=Clubs(client),
        )
        self.app = app
        shards = self.bench.store.layout().shards
        self.statements = app.statements = Statements(client, lambda: shards)
        self.composing = NotificationTexts(app, self.addresses)
        self.relay = SmtpRelay(SmtpUrl("127.0.0.1", sink.port, tls=False), DOMAIN)
        make_mac_key(folder)
        self.links = UnsubscribeLinks(folder, f"https://{DOMAIN}")
        self.sent = SentEmails(folder / "mail-sent")
        self.mailer = self.another_mailer()
        for account, home in HOMES.items():
            self.enrol(account, MailAddress(home, verified=True))
        MailerProgress(client).begin(self.bench.store.watermark().ends)

    def another_mailer(self) -> Mailer:
        """A mailer that knows nothing yet."""
        return Mailer(
            mail_tasks(
                self.bench.store,
                self.accounts,
                self.client,
                addresses=self.addresses,
                composer=self.composing,
                relay=self.relay,
                sent=self.sent,
                clock=lambda: self.bench.now,
                paint=lambda drawing: b"\x89PNG" + drawing,
                unsubscribe=self.links.url,
            )
        )

    def enrol(self, account: AccountId, *addresses: MailAddress, **record: Any) -> None:
        """Give an account a record of its own making."""
        name = account.decode().strip(".")
        made = Account(name=name, password="none", created=1, addresses=addresses, **record)
        self.client.set(keys.account(account), encode(made))
        Usernames(self.client).claim(name, account)

    def change(self, account: AccountId, change: Callable[[Account], Account]) -> None:
        self.accounts.change_of(account, change)

    # what happens

    def challenge(
        self, *seats: AccountId, board: int = 1, rules: str = "pow2/1", **more: Any
    ) -> CommandEnvelope:
        """Start a match; the first of the seats asks for it."""
        players = seats or (ALICE, BOB)
        start = StartMatch(rules=rules, options=(), seats=players, **more)
        return self.do(players[0], start, board)

    def do(self, actor: AccountId, command: Command, board: int = 1) -> CommandEnvelope:
        """Give a command, which is decided at once and accepted."""
        sent = self.bench.send(actor, command, board)
        self.bench.drain()
        outcome = self.bench.outcome(sent)
        assert outcome is not None
        assert outcome.accepted, outcome
        return sent

    def keep(self) -> None:
        """Have reminders sent and flags fall that are due."""
        self.bench.keeper().tick()
        self.bench.pump()

    def work(self) -> None:
        """Have the mailer do all there is to do."""
        work_out(self.mailer)

    def mail(self) -> list[EmailMessage]:
        """Have the mailer do all there is to do; gives what arrived by that."""
        before = len(self.sink.messages)
        self.work()
        return self.sink.messages[before:]

    def mail_to(self, account: AccountId) -> list[EmailMessage]:
        return [one for one in self.mail() if one["To"] == HOMES[account]]

    def pass_time(self, ms: int, step: int = 60_000) -> None:
        """Let time pass, with the mailer asked every minute."""
        for _ in range(0, ms, step):
            self.bench.now += step
            self.work()


def work_out(mailer: Mailer) -> None:
    """Have a mailer do all there is to do."""
    while mailer.round():
        pass


def text_of(message: EmailMessage) -> str:
    body = message.get_body(("plain",))
    assert body is not None
    found: str = body.get_content()
    return found.replace("\r\n", "\n")


def recipients(messages: Sequence[EmailMessage]) -> list[str]:
    """To whom mails went, by name."""
    return sorted(message["To"].partition("@")[0] for message in messages)
