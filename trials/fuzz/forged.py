"""Commands in a match by those who may not give them, by the thousand: none may leave an event.

    python trials/fuzz/forged.py [COUNT] [SEED]

Two players have a match. Strangers, spectators, programs with tokens that were revoked, have
expired, lost their account, were cut off, mistyped or made up, and nobody at all give commands in
it: in the right place and in others, under keys of their own and of the players', at once. Every
answer has to be a refusal of the door; nothing may be in an inbox, an outcome, an event.
"""

import asyncio
import random
import sys
import time
from base64 import urlsafe_b64encode
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import httpx

from infra.people.tokens.tokens import _with_checksum
from tests.helpers.api import PASSWORD, Api, Player

sys.path.insert(0, str(Path(__file__).parents[2]))

CLIENTS = 16

REFUSALS = frozenset(
    {"unauthorized", "unknown-token", "missing-scope", "not-a-player", "unknown-board"}
)

BODIES: tuple[dict[str, Any], ...] = (
    {"do": "move", "move": "m13-j7"}, {"do": "move", "move": "m13-j7", "ply": 0},
    {"do": "offer", "kind": "draw"}, {"do": "accept"}, {"do": "reject"}, {"do": "resign"},
    {"do": "decline"}, {"do": "resume"},
)  # fmt: skip


class Forgery(NamedTuple):
    """A command by somebody who may not give it."""

    kind: str
    headers: dict[str, str]
    board: int
    body: dict[str, Any]


class Scene:
    """A match of two players, and those who are none."""

    def __init__(self, api: Api, chance: random.Random) -> None:
        self.api = api
        self._chance = chance
        self.alice, self.bob = api.players()
        self.board = api.begun(self.alice, self.bob)
        stranger, spectator = api.player(), api.player(("read", "account"))
        reader = api.parts.tokens.issue(self.alice.account, "reads", ["read", "account"]).text
        good = self.alice.token
        self.headers: dict[str, Callable[[], str | None]] = {
            "nobody": lambda: None,
            "a stranger": lambda: f"Bearer {stranger.token}",
            "a spectator": lambda: f"Bearer {spectator.token}",
            "a player's token for reading": lambda: f"Bearer {reader}",
            "a revoked token": _always(f"Bearer {_revoked(api)}"),
            "an expired token": _always(f"Bearer {api.expired_token()}"),
            "a token of a deleted account": _always(f"Bearer {_deleted(api)}"),
            "a token cut off": lambda: f"Bearer {good[: chance.randrange(len(good))]}",
            "a token mistyped": lambda: f"Bearer {self._mistyped(good)}",
            "a token made up": lambda: f"Bearer {self._made_up()}",
            "another scheme": lambda: chance.choice(
                (f"Basic {good}", f"Token {good}", good, f"Bearer{good}", "Bearer", "")
            ),
            "several tokens": lambda: f"Bearer {stranger.token}, Bearer {good}",
        }

    def forgeries(self, count: int) -> Iterator[Forgery]:
        chance = self._chance
        for _ in range(count):
            kind = chance.choice(list(self.headers))
            header = self.headers[kind]()
            headers = {} if header is None else {"Authorization": header.strip()}
            # also a key that a player has used, or will
            headers["Idempotency-Key"] = chance.choice(("alice-1", f"{chance.random()}"))
            board = chance.choice((self.board, self.board, self.board, 10**6))
            yield Forgery(kind, headers, board, chance.choice(BODIES))

    def _mistyped(self, token: str) -> str:
        letters = list(token)
        for _ in range(self._chance.randint(1, 3)):
            place = self._chance.randrange(3, len(letters))
            others = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"
            letters[place] = self._chance.choice(others.replace(letters[place], ""))
        return "".join(letters)

    def _made_up(self) -> str:
        text = urlsafe_b64encode(self._chance.randbytes(32)).decode().rstrip("=")
        # with the checksum that a token has: whoever forges has read the sources
        return _with_checksum(f"mp_{text}")

    def traces(self) -> tuple[int, int, int]:
        """Count the events, the outcomes and the commands that wait."""
        store = self.api.parts.store
        outcomes = len(store.outcomes(self.board))
        return len(store.events(self.board)), outcomes, store.inbox_size(range(4))


def _always(text: str) -> Callable[[], str]:
    return lambda: text


def _revoked(api: Api) -> str:
    player = api.player()
    (token,) = player.get("/api/tokens").json()
    player.delete(f"/api/tokens/{token['id']}").raise_for_status()
    return player.token


def _deleted(api: Api) -> str:
    player: Player = api.player()
    player.post("/api/account/deletion", {"password": PASSWORD}).raise_for_status()
    return player.token


def run(api: Api, count: int, seed: int) -> Counter[tuple[str, str]]:
    """Return so many forged commands; counts the answers by kind and code. Fails if one got in."""
    chance = random.Random(seed)
    scene = Scene(api, chance)
    before = scene.traces()
    told = asyncio.run(_send_all(api.url, list(scene.forgeries(count))))
    assert {code for _, code in told} <= REFUSALS, told
    assert scene.traces() == before, "a forged command left a trace"
    assert not api.parts.data.keys(f"*m:{10**6}*")
    # and the players go on, under a key that others have used
    moved = scene.alice.move(scene.board, "m13-j7", headers={"Idempotency-Key": "alice-1"})
    assert moved.json()["accepted"] is True
    return told


async def _send_all(url: str, forgeries: list[Forgery]) -> Counter[tuple[str, str]]:
    told: Counter[tuple[str, str]] = Counter()
    waiting = iter(forgeries)

    async def client() -> None:
        async with httpx.AsyncClient(base_url=url, trust_env=False, timeout=60) as http:
            for one in waiting:
                path = f"/api/matches/{one.board}/commands"
                answer = await http.post(path, json=one.body, headers=one.headers)
                assert answer.status_code in (401, 403, 404), answer.text
                told[one.kind, answer.json()["code"]] += 1

    await asyncio.gather(*[client() for _ in range(CLIENTS)])
    return told


def main(count: int = 100_000, seed: int = 1) -> None:
    began = time.perf_counter()
    with TemporaryDirectory() as folder, Api(Path(folder)) as api:
        told = run(api, count, seed)
    for (kind, code), many in sorted(told.items()):
        print(f"{many:>9}  {kind}: {code}")
    print(f"{told.total()} forged commands, 0 events, {time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]))
