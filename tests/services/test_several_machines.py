"""A server on two machines with data directories of their own, and over TLS."""

import asyncio
import os
import random
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path
from threading import Thread

import pytest
from msgspec.structs import replace
from redis import Redis

from infra.health.heartbeats import Role, read_heartbeats
from infra.people.account_macs import AccountMacs
from infra.people.accounts import Accounts, MailAddress
from infra.redis.clients import make_async_client, make_client
from tests.fakes.sink import Sink
from tests.helpers.forked import run_command
from tests.helpers.games import whole_game
from tests.helpers.machines import (
    ROLES,
    Machine,
    Servers,
    WebPlayer,
    data_client,
    machines,
    wait_for_roles,
    web_url,
)
from tests.helpers.own_servers import one_server
from tests.helpers.served import until
from tests.helpers.tls import TlsProxy, make_certificate

GAMES = ("torere", "pow2")


class PlayedGame:
    """Two players who play a whole game, and begin further matches that a seed is drawn for."""

    def __init__(self, urls: list[str], number: int) -> None:
        self.failure: BaseException | None = None
        self.board = 0
        self.players = [WebPlayer(urls, f"player{number}{side}", number % 2) for side in "ab"]
        self._game = GAMES[number % len(GAMES)]
        self.thread = Thread(target=self._play)

    @property
    def names(self) -> list[str]:
        """The userids of the players."""
        return [player.name for player in self.players]

    def _begin(self, game: str) -> int:
        board = self.players[0].start(game, *self.names)
        self.players[1].accept(board)
        return board

    def _play(self) -> None:
        try:
            self.board = self._begin(self._game)
            movers = cycle(self.players)
            for ply, move in enumerate(whole_game(self._game)):
                next(movers).move(self.board, move, ply)
                if ply % 10 == 0:
                    self._begin("powerdrain")
            assert self.players[0].match(self.board)["state"] == "over"
        except BaseException as error:  # noqa: BLE001 - the test's thread raises it
            self.failure = error
        finally:
            for player in self.players:
                player.close()


@pytest.fixture
def sink() -> Iterator[Sink]:
    with Sink(auth_require_tls=False) as one:
        yield one


@pytest.mark.long
@pytest.mark.timeout(400)
@pytest.mark.parametrize("primaries", [1, 3], ids=["server", "cluster"])
def test_whole_games_are_played_while_every_role_is_killed_and_started(tmp_path, sink, primaries):
    more = {
        "MATCHPOST_RELAY": f"smtp://me:s3cret@127.0.0.1:{sink.port}",
        "MATCHPOST_SMTP": "127.0.0.1:0",
    }
    servers = Servers(tmp_path / "servers", primaries)
    with machines(tmp_path, servers, ("one", "two"), more) as both, data_client(servers) as client:
        for machine in both:
            machine.start(*ROLES)
        wait_for_roles(servers, both)
        games = [PlayedGame([web_url(one) for one in both], number) for number in range(3)]
        for game in games:
            enrol(game, client, tmp_path / "shared" / "keys")
        for game in games:
            game.thread.start()
        chance = random.Random(1)
        for role in chance.sample(ROLES, len(ROLES)):
            machine = chance.choice(both)
            machine.kill(role)
            machine.start(role)
        for game in games:
            game.thread.join(240)
            assert game.failure is None, game.failure
        wait_for_roles(servers, both)
        for game in games:
            until(lambda game=game: is_mailed(sink, game), 120)
        check_all(both)
        for machine in both:
            # its present job may take minutes, and outlasts a stop signal
            machine.kill("maintenance")
        assert [code for machine in both for code in machine.end().values()] == [0] * 2 * (
            len(ROLES) - 1
        )
        assert servers.denials() == []
        left = {beat.role for beat in read_heartbeats(servers.queue.client())}
        assert left <= {Role.MAINTENANCE}, (
            "a process removes the heartbeats of those that it replaces"
        )


def enrol(game: PlayedGame, client: Redis, keys: Path) -> None:
    """Make the accounts of a game's players, with addresses that are proven."""
    accounts = Accounts(client, macs=AccountMacs(keys))
    for player in game.players:
        player.sign_up()
        proven = (MailAddress(f"{player.name}@example.org", verified=True),)
        account = accounts.id_of(player.name)
        accounts.change_of(account, lambda record, to=proven: replace(record, addresses=to))


def is_mailed(sink: Sink, game: PlayedGame) -> bool:
    """Return whether the second player was sent a mail about the game."""
    mails = sink.to(f"{game.names[1]}@example.org")
    return any(mail["Subject"].endswith(f", match {game.board}") for mail in mails)


def check_all(both: list[Machine]) -> None:
    """Check every match and every list, from either machine."""
    both[0].run("verify", "--all")
    both[1].run("rebuild", "--check")
    for machine in both:
        assert "ALARM" not in machine.log
        assert "can't be used" not in machine.log


def test_servers_are_used_over_tls_and_another_certificate_is_refused(tmp_path):
    certificate, key = make_certificate(tmp_path, "server")
    other, _ = make_certificate(tmp_path, "other")

    async def ping(url: str) -> bool:
        async with make_async_client(url) as client:
            return bool(await client.ping())

    with (
        one_server(tmp_path / "node") as node,
        node.client() as admin,
        TlsProxy(node.port, certificate, key) as proxy,
    ):
        admin.acl_setuser("tls", enabled=True, passwords=["+pass-word"], keys=["*"], commands=["+@all"])  # fmt: skip
        url = f"rediss://tls:pass-word@127.0.0.1:{proxy.port}?ssl_ca_certs="
        with make_client(f"{url}{certificate}") as client:
            assert client.ping()
        assert asyncio.run(ping(f"{url}{certificate}"))
        wrong = ["--redis-url", f"{url}{other}", "--data", str(tmp_path / "data")]
        done = run_command(["worker", *wrong], os.environ)
    assert done.returncode == 2
    assert "certificate verify failed" in done.stderr
    assert "pass-word" not in done.stderr
