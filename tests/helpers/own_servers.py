"""Servers of one's own for the data, and two people whose game goes on wherever the data go."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import cycle
from pathlib import Path

import httpx
import pytest
from redis import Redis

from infra.people.accounts import Accounts
from infra.people.sessions import Sessions
from infra.redis import keys
from tests.helpers.clusters import DURABLE, Cluster, Node, SentinelPair, free_ports, running
from tests.helpers.games import whole_game
from tests.helpers.machines import WebPlayer
from tests.helpers.replicas import COUNTED
from tests.helpers.served import Served

SHARDS = 2
ENV = {
    "MATCHPOST_SHARDS": str(SHARDS), "MATCHPOST_HTTP": "127.0.0.1:0", "MATCHPOST_COMMAND_RATE": "100000",
}  # fmt: skip


def is_published(client: Redis) -> bool:
    """Whether every leaf is published."""
    return all(
        int(client.hget(keys.published(shard), "size") or 0) == client.xlen(keys.log(shard))
        for shard in range(SHARDS)
    )


@contextmanager
def one_server(folder: Path) -> Iterator[Node]:
    node = Node(folder, free_ports(1)[0], DURABLE)
    node.start()
    try:
        yield node
    finally:
        node.kill()


KINDS = ("server", pytest.param("pair", marks=pytest.mark.long), "cluster")


@contextmanager
def own_servers(kind: str, folder: Path) -> Iterator[dict[str, str]]:
    """Servers of a kind that run; yields the variables by which matchpost uses them."""
    with ExitStack() as stack:
        if kind == "pair":
            pair = stack.enter_context(running(SentinelPair(folder, **COUNTED)))
            yield {"MATCHPOST_REDIS_URL": pair.url, "MATCHPOST_DURABILITY": "replicated"}
        elif kind == "cluster":
            queue = Node(folder.with_name("queue"), free_ports(1)[0], {"save": ""})
            stack.callback(queue.kill)
            queue.start()
            cluster = stack.enter_context(running(Cluster(folder, primaries=3, replicas=0)))
            yield {"MATCHPOST_REDIS_URL": cluster.url, "MATCHPOST_QUEUE_URL": queue.url}
        else:
            yield {"MATCHPOST_REDIS_URL": stack.enter_context(one_server(folder)).url}


class Played:
    """Two players of a whole game, with the session of one's browser."""

    def __init__(self, served: Served, client: Redis) -> None:
        self.players = [WebPlayer([served.url], name) for name in ("ann", "bob")]
        for player in self.players:
            player.sign_up()
        self.board = self.players[0].start("torere", "ann", "bob")
        self.players[1].accept(self.board)
        message = {"to": ["bob"], "text": "see you there"}
        headers = self.players[0]._headers
        httpx.post(
            f"{served.url}/api/messages", json=message, headers=headers, trust_env=False
        ).raise_for_status()
        with client:
            account = Accounts(client).id_of("ann")
            self._session = Sessions(client).open(account).text
        self._moves = [*enumerate(whole_game("torere"))]

    def play(self, count: int | None = None) -> None:
        """Play so many moves, or to the end."""
        now, self._moves = self._moves[:count], self._moves[len(self._moves[:count]) :]
        for ply, move in now:
            self.players[ply % 2].move(self.board, move, ply)

    def start_once(self, served: Served) -> int:
        """Start a match under a key that is always the same, and return its board."""
        body = {"game": "torere", "players": ["ann", "bob"]}
        headers = self.players[0]._headers | {"Idempotency-Key": "once"}
        answer = httpx.post(
            f"{served.url}/api/matches", json=body, headers=headers, trust_env=False
        )
        assert answer.status_code in (200, 201), answer.text
        return int(answer.json()["board"])

    def go_to(self, served: Served) -> None:
        """Go on where the server answers now, with the same tokens."""
        for player in self.players:
            player.close()
            player._clients = [httpx.Client(base_url=served.url, trust_env=False, timeout=10)]
            player._at = cycle(player._clients)

    def page(self, served: Served) -> str:
        """The page of an account, as the browser with the session sees it."""
        cookies = {"session": self._session}
        answer = httpx.get(f"{served.url}/account", cookies=cookies, trust_env=False)
        assert answer.status_code == 200, answer.text
        return answer.text

    def close(self) -> None:
        for player in self.players:
            player.close()
