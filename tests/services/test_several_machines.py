"""A server on two machines with data directories of their own, and over TLS."""

import random
import subprocess
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
from tests.fakes.sink import Sink
from tests.helpers.clusters import free_ports, running
from tests.helpers.forked import SCRIPT
from tests.helpers.games import whole_game
from tests.helpers.machines import (
    ROLES,
    Machine,
    Servers,
    WebPlayer,
    data_client,
    machines,
    shared_settings,
    wait_for_roles,
    web_url,
)
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


class TlsPair(Servers):
    """Two servers whose users come by TLS."""

    def __init__(self, folder: Path, certificate: Path, key: Path) -> None:
        super().__init__(folder)
        self._certificate = certificate
        self._proxies = [
            TlsProxy(node.port, certificate, key) for node in (*self.nodes, self.queue)
        ]

    def start(self) -> None:
        super().start()
        for proxy in self._proxies:
            proxy.__enter__()

    def stop(self) -> None:
        for proxy in self._proxies:
            proxy.__exit__()
        super().stop()

    def urls(self, role: str) -> dict[str, str]:
        return {
            name: url.replace("redis://", "rediss://").replace(str(node.port), str(proxy.port))
            + f"?ssl_ca_certs={self._certificate}"
            for (name, url), node, proxy in zip(
                super().urls(role).items(), (*self.nodes, self.queue), self._proxies, strict=True
            )
        }


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    certificate, key = make_certificate(tmp_path, "server")
    servers = TlsPair(tmp_path / "servers", certificate, key)
    (port,) = free_ports(1)
    environment = shared_settings(tmp_path / "shared") | {"MATCHPOST_HTTP": f"127.0.0.1:{port}"}
    with running(servers):
        one = Machine(tmp_path / "one", servers, environment)
        try:
            yield one
        finally:
            for role in list(one.processes):
                one.kill(role)


@pytest.mark.slow
@pytest.mark.long
def test_moves_are_played_over_tls_and_another_certificate_is_refused(machine, tmp_path):
    machine.run("prepare")
    machine.start("worker", "web")
    until(lambda: "Application startup complete" in machine.log, 60)
    ann, bob = (WebPlayer([web_url(machine)], name) for name in ("ann", "bob"))
    for player in (ann, bob):
        player.sign_up()
    board = ann.start("torere", "ann", "bob")
    bob.accept(board)
    assert ann.match(board)["state"] == "active"
    ann.close()
    bob.close()
    other, _ = make_certificate(tmp_path, "other")
    ours = machine.environment("operator")
    url = ours["MATCHPOST_REDIS_URL"].replace("server.pem", other.name)
    done = subprocess.run(
        [SCRIPT, "worker"],
        env={**ours, "MATCHPOST_REDIS_URL": url},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 2
    assert "certificate verify failed" in done.stderr
    assert "pass-operator" not in done.stderr
