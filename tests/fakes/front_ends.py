"""One player at every front end over one server: the terminal, mail, the API and the pages."""

import itertools
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

import httpx

from infra.mail.addresses import ServerAddresses
from infra.mail.outbox import Outbox
from services.language import LOCAL, Answer, Language
from services.mail.inbound import InboundMail
from tests.helpers.api import PASSWORD, Api, Player
from tests.helpers.mails import mail
from tests.helpers.web import Guest, refusal

_DOMAIN = "play.example.org"
_VOUCHING = "mx.example.org"


class Everywhere:
    """Every front end of one server."""

    def __init__(self, api: Api, guests: Callable[[], Guest]) -> None:
        self.api = api
        self.language = Language(api.parts, origin=LOCAL)
        self._guests = guests
        self._addresses = ServerAddresses(b"s" * 32, _DOMAIN)
        self._office = InboundMail(api.parts, api.parts.data, self._addresses, authserv=_VOUCHING)
        self._numbers = itertools.count(1)

    def person(self, name: str = "") -> "Person":
        """Sign a player up, who is then logged in at the pages and has a token."""
        player, guest = self.api.player(name=name), self._guests()
        assert guest.log_in(player.name).status_code == 303
        return Person(self, player, guest)

    def mail(self, line: str) -> str:
        """Send a command line by mail, of a sender for whom a server vouches; returns the answer's text."""
        number = next(self._numbers)
        vouched = {"Authentication-Results": f"{_VOUCHING}; spf=pass smtp.mailfrom=example.org"}
        data = mail(line, id_=f"<{number}@everywhere.example.org>", headers=vouched)
        sender = f"sender{number}@example.org"
        self._office.take(self._addresses.server_address, sender, data)
        outbox = Outbox(self.api.parts.data)
        (answer,) = [letter for _, letter in outbox._all() if letter.to == sender]
        return answer.body


class Person:
    """One player at every front end."""

    def __init__(self, everywhere: Everywhere, player: Player, guest: Guest) -> None:
        self.everywhere = everywhere
        self.api = player
        self.web = guest
        self.name = player.name
        self.account = player.account
        self.own = f"{player.name} {PASSWORD}"

    def terminal(self, line: str) -> Answer:
        return self.everywhere.language.do(line)

    def mail(self, line: str) -> str:
        """Send a command line by mail."""
        return self.everywhere.mail(line)


@contextmanager
def everywhere(api: Api) -> Iterator[Everywhere]:
    """All front ends of a server that runs."""
    with ExitStack() as stack:
        yield Everywhere(api, lambda: stack.enter_context(Guest(api)))


def sentence(response: httpx.Response) -> str:
    """The sentence of a refusal, of the API or of a page, as the terminal has it."""
    if response.headers["content-type"].startswith("text/html"):
        _, found = refusal(response.text)
        assert found, response.text
        return plain(found)
    return plain(response.json()["detail"])


def plain(text: str) -> str:
    """A sentence without a capital at its beginning and a stop at its end."""
    text = text.strip().removesuffix(".")
    return text[:1].lower() + text[1:]


def joined(text: str) -> str:
    """A text with its lines joined, so that a sentence is found wherever it was broken."""
    return " ".join(text.split())
