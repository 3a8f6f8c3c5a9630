"""What is left to a thief, in all stores that let somebody in, after what an owner does against one."""

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from itertools import islice
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

import httpx
import pytest
from msgspec.structs import replace

from bench.free_ports import free_port
from infra.mail.addresses import ServerAddresses
from infra.people.account_macs import make_mac_key
from infra.people.accounts import MailAddress
from infra.people.accounts.record import Passkey
from infra.people.push_subscriptions import PushSubscription
from services.jobs import mailer_wakeup, make_mailer
from services.mail.inbound import InboundMail
from tests.fakes.sink import Sink
from tests.helpers.api import PASSWORD, Api, Player, until
from tests.helpers.games import whole_game
from tests.helpers.mailing import DOMAIN, work_out
from tests.helpers.mails import mail
from tests.helpers.push_service import Browser, PushService, decode
from tests.helpers.web import Guest, visitors
from tests.helpers.wire import Wire
from tests.services.test_smtp_server import Running
from workers.mail import hooks
from workers.mail.mailer import Mailer

SITE: Final = "https://play.example.org"
NEW: Final = "looking-glass"
MOVES: Final = list(islice(whole_game("torere"), 2))
ADDRESSES: Final = ServerAddresses(bytes(32), DOMAIN)

APP: Final = "matchpost-terminal"


class Place:
    """A server with all front ends, and where its mails and notifications arrive."""

    def __init__(self, api: Api, sink: Sink, service: PushService, smtp: Any) -> None:
        self.api, self.sink, self.service, self.smtp = api, sink, service, smtp

    def work(self) -> None:
        """Have the mailer send all there is."""
        mailer: Mailer = make_mailer(self.api.parts, ADDRESSES)
        with patch.object(hooks, "start", lambda work: work()):
            work_out(mailer)

    def mail(self, to: str, text: str, sender: str) -> str:
        """Send a mail by SMTP; gives what was answered in the end."""
        with Wire(self.smtp) as wire:
            return wire.begin().send(sender, to, mail(text, id_=f"<{to}{text}@x.example>"))


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    folder = tmp_path_factory.mktemp("thief")
    keys = folder / "keys"
    keys.mkdir()
    make_mac_key(keys)
    with ExitStack() as stack:
        service, sink = stack.enter_context(PushService()), stack.enter_context(Sink(free_port()))
        settings = {"keys": keys, "site": SITE, "push": "on", "push_services": service.url}
        settings |= {"hooks": "on", "hook_hosts": service.url.removeprefix("http://")}
        settings |= {"relay": f"smtp://127.0.0.1:{sink.port}", "mail_domain": DOMAIN}
        api = stack.enter_context(Api(folder, **settings))
        mailer_wakeup(api.parts).begin()
        yield Place(api, sink, service, stack.enter_context(intake(api, folder)).smtp)


@contextmanager
def intake(api: Api, folder: Path) -> Iterator[Running]:
    """Take mail by SMTP."""
    taker = nullcontext(InboundMail(api.parts, api.parts.data, ADDRESSES))

    class Taker:
        open = staticmethod(lambda: taker)

    running = Running(Taker, folder / "lmtp")
    try:
        yield running
    finally:
        running.close()


@pytest.fixture
def come(place: Place) -> Iterator[Callable[..., Guest]]:
    with visitors(place.api) as come:
        yield come


class Listener:
    """Follows a stream in a thread, and counts what it hears."""

    def __init__(self, stack: ExitStack, lines: Iterator[str]) -> None:
        self.heard = 0
        self.ended = False
        self._lines = lines
        thread = threading.Thread(target=self._listen, daemon=True)
        thread.start()
        stack.callback(thread.join, 5)

    def _listen(self) -> None:
        with suppress(httpx.HTTPError):  # closed by the test
            for line in self._lines:
                self.heard += line.startswith("data: ")
        self.ended = True


class Thief:
    """Has a copy of all that lets somebody into an account."""

    def __init__(self, place: Place, come: Callable[..., Guest], stack: ExitStack) -> None:
        self.place = place
        api = place.api
        self.owner, self.other = api.players()
        self.home = f"{self.owner.name}@home.example"
        proven = (MailAddress(self.home, verified=True),)
        api.parts.accounts.change_of(
            self.owner.account, lambda old: replace(old, addresses=proven, language="de")
        )
        self.guest, self.at_home = come(), come()
        for one in (self.guest, self.at_home):
            assert one.log_in(self.owner.name).status_code == 303
        (token,) = api.parts.tokens.list_of(self.owner.account)
        fresh = api.parts.tokens.issue(self.owner.account, "own", token.scopes)
        self.own = Player(api, self.owner.name, self.owner.account, fresh.text)
        self._subscribe()
        self.board = api.match(self.other, self.owner, game="torere")
        place.work()
        self.seat = str(place.sink.to(self.home)[-1]["Reply-To"])
        self.link = self.mailed_link(come())
        self._add_passkey()
        grants = api.parts.grants
        _, code = grants.begin(self.owner.account, APP, token.scopes)
        self.refresh = grants.use(grants.of_code(code, APP), refreshes=True)
        self.streams = {
            "stream by token": self._follow(stack, "/api/account/events", self.owner.headers),
            "stream by session": self._follow(stack, f"/stream?boards={self.board}", {}),
        }

    def _subscribe(self) -> None:
        service, name = self.place.service, self.owner.name
        made = [Browser(service, f"{name}-{how}") for how in ("token", "session", "neither")]
        body = {**made[0].json, "label": "thief"}
        assert self.owner.post("/api/account/push", body).status_code == 201
        hook = {"address": f"{service.url}/{name}-hook", "topics": ["turn"]}
        assert self.owner.post("/api/webhooks", hook).status_code == 201
        fields = {"endpoint": made[1].endpoint, **made[1].json["keys"]}
        assert self.guest.send("/account/push", fields).status_code == 303
        keys = made[2].json["keys"]
        old = PushSubscription(made[2].endpoint, decode(keys["p256dh"]), bytes(range(16)), "", 1)
        self.place.api.parts.push_subscriptions.add(self.owner.account, old)

    def _add_passkey(self) -> None:
        """Add a passkey of the thief's, as in a browser that the owner has left open."""
        parts = self.place.api.parts
        key, now = Passkey(b"mallory", b"", "Firefox", 1), parts.store.now()
        parts.accounts.change_of(
            self.owner.account, lambda old: replace(old, passkeys=(key,), factors_changed=now)
        )

    def _follow(self, stack: ExitStack, path: str, headers: dict[str, str]) -> Listener:
        http = stack.enter_context(self.place.api.client()) if headers else self.guest.http
        answer = stack.enter_context(http.stream("GET", path, headers=headers))
        assert answer.status_code == 200
        listener = Listener(stack, answer.iter_lines())
        stack.callback(answer.close)
        return listener

    def mailed_link(self, guest: Guest) -> str:
        """Ask for a link for a new password, as anybody may, and read the mail."""
        data = self.place.api.parts.data
        for limit in data.scan_iter("logins:*"):  # as after an hour
            data.delete(limit)
        assert guest.send("/password", {"who": self.owner.name}, on="/password").status_code == 200
        self.place.work()
        (found,) = re.findall(
            rf"{SITE}(/password/\S+)", self.place.sink.to(self.home)[-1].get_content()
        )
        return str(found)

    def left(self, come: Callable[..., Guest]) -> set[str]:
        """What still lets the thief in, after the opponent has moved."""
        before = {name: one.heard for name, one in self.streams.items()}
        self.place.service.received.clear()
        assert self.other.move(self.board, MOVES[0]).is_success
        streams = self.streams.items()
        until(lambda: all(one.ended or one.heard > before[name] for name, one in streams))
        self.place.work()
        name, parts, account = self.owner.name, self.place.api.parts, self.owner.account
        pushed = {one.path for one in self.place.service.received}
        listed = {one.endpoint for one in parts.push_subscriptions.of(account)}
        answered = self.place.mail(self.seat, MOVES[1], "mallory@evil.example")
        moves = self.other.get(f"/api/matches/{self.board}").json()["moves"]
        held = {
            "session": self.guest.get("/account").status_code == 200,
            "token": self.owner.get("/api/account").is_success,
            "grant": parts.grants.of_refresh_token(self.refresh, APP) is not None,
            "passkey": bool(parts.accounts.factors_of(account).passkeys),
            "reset link": come().get(self.link).status_code == 200,
            "seat's address": len(moves) == 2 or answered.startswith("250"),
            "webhook": f"/{name}-hook" in pushed,
            **{kind: one.heard > before[kind] for kind, one in self.streams.items()},
            **{
                f"push by {how}": f"/{name}-{how}" in pushed
                or f"{self.place.service.url}/{name}-{how}" in listed
                for how in ("token", "session", "neither")
            },
        }
        return {name for name, still in held.items() if still}


def nothing(_: Thief) -> None:
    """Do nothing: the thief has it all."""


def password_by_page(thief: Thief) -> None:
    # the form as it is, without a choice of the owner's
    ticked = 'name="end-tokens" value="yes" checked' in thief.at_home.page("/account")
    fields = {"old": PASSWORD, "new": NEW, **({"end-tokens": "yes"} if ticked else {})}
    assert thief.at_home.send("/account/password", fields).status_code == 303


def logout_by_api(thief: Thief) -> None:
    assert thief.own.post("/api/account/logout").status_code == 204


def reset_by_link(thief: Thief) -> None:
    guest = Guest(thief.place.api)
    link = thief.mailed_link(guest)
    assert guest.send(link, {"new": NEW}, on=link).status_code == 303
    guest.http.close()


def address_by_api(thief: Thief) -> None:
    assert thief.own.put("/api/account/addresses", {"addresses": []}).is_success


IN_THE_ACCOUNT: Final = {
    "session", "token", "grant", "passkey", "push by token", "push by session", "push by neither",
    "stream by token", "stream by session", "webhook",
}  # fmt: skip
IN_THE_MAILBOX: Final = {"reset link", "seat's address"}
PASSWORD_MAILED: Final = ["Dein Passwort wurde geändert"]
ADDRESSES_MAILED: Final = ["Deine Mailadressen wurden geändert"]


@pytest.mark.parametrize(
    ("act", "left", "mailed"),
    [
        (nothing, IN_THE_ACCOUNT | IN_THE_MAILBOX, []),
        (password_by_page, set(), PASSWORD_MAILED),
        (reset_by_link, set(), PASSWORD_MAILED),
        (logout_by_api, set(), []),
        # of a thief who reads the mailbox, not of one who is in the account
        (address_by_api, IN_THE_ACCOUNT, ADDRESSES_MAILED),
    ],
)
def test_after_what_an_owner_does_this_is_left_to_a_thief_and_this_is_mailed(
    place, come, act, left, mailed
):
    with ExitStack() as stack:
        thief = Thief(place, come, stack)
        act(thief)
        assert thief.left(come) == left
        subjects = [mail["Subject"] for mail in place.sink.to(thief.home)]
        assert [one for one in subjects if "geändert" in one] == mailed
