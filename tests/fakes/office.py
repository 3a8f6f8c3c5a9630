"""An office at a desk without a server, where alice, bob and carol have signed up."""

import itertools
import re

from msgspec.structs import replace

from infra.mail.addresses import ServerAddresses
from infra.mail.email import Email
from infra.mail.outbox import Outbox
from infra.people.accounts import Accounts, MailAddress
from services.language import LOCAL, Language
from services.mail.inbound import InboundMail, password_limit
from tests.fakes.app import CHEAP, PASSWORDS, FakeApp
from tests.helpers.mails import mail

DOMAIN = "play.example.org"
SERVER = f"matchpost@{DOMAIN}"


def box(name: str) -> str:
    """A player's own address, which is proven."""
    return f"{name}@example.org"


class FakeOffice:
    """Takes mail, and shows what is in the outbox."""

    def __init__(
        self,
        *,
        passwords: bool = True,
        durable: bool = True,
        authserv: str | None = None,
        kind: type[Accounts] = Accounts,
    ) -> None:
        self.app = FakeApp(durable=durable)
        self.accounts = self.app.accounts = kind(
            self.app.client, CHEAP, limit=password_limit(self.app.client)
        )
        self.addresses = ServerAddresses(b"s" * 32, DOMAIN)
        self.outbox = Outbox(self.app.client)
        self.office = InboundMail(
            self.app,
            self.app.client,
            self.addresses,
            passwords=passwords,
            authserv=authserv,
            seconds=10,
        )
        self._numbers = itertools.count(1)
        self.ids = {name: self._sign_up(name) for name in PASSWORDS}

    def _sign_up(self, name: str) -> bytes:
        account = self.accounts.signup(name, PASSWORDS[name])
        self.own(name, MailAddress(box(name), verified=True))
        return account

    def own(self, name: str, *addresses: MailAddress) -> None:
        account = self.accounts.id_of(name)
        self.accounts.change_of(account, lambda record: replace(record, addresses=addresses))

    def challenge(self, line: str = "pow2 challenge alice bob") -> int:
        answer = Language(self.app, origin=LOCAL).do(line)
        assert not answer.refused, answer
        found = re.search("match ([0-9]+)", answer.sentence)
        assert found is not None
        return int(found[1])

    def seat(self, board: int, number: int, name: str) -> str:
        return self.addresses.of(board, number, self.ids[name])

    def take(
        self,
        to: str,
        text: str = "",
        subject: str = "",
        *,
        sender: str = box("alice"),
        id_: str | None = None,
        headers: dict[str, str] | None = None,
    ) -> list[Email]:
        """Hand a mail in; gives the letters that answer it."""
        id_ = id_ or f"<{next(self._numbers)}@example.org>"
        return self.deliver(to, sender, mail(text, subject, id_=id_, headers=headers))

    def deliver(self, to: str, sender: str, data: bytes) -> list[Email]:
        before = {(letter.id, letter.to) for letter in self.letters()}
        assert self.office.knows(to)
        self.office.take(to, sender, data)
        return [letter for letter in self.letters() if (letter.id, letter.to) not in before]

    def letters(self) -> list[Email]:
        return [letter for _, letter in self.outbox._all()]

    def close(self) -> None:
        self.app.close()
