"""The process that answers HTTP, killed while a command goes through it."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import httpx
from redis import Redis

from bench.workload import games
from domain.match.commands import CommandEnvelope, PlayMove
from infra.people.accounts import Accounts
from infra.people.tokens import Scope, Tokens
from infra.process.failpoints import FAILPOINTS
from infra.redis import keys
from tests.fakes.app import CHEAP
from tests.helpers.served import until
from trials.faults.checker import now
from trials.faults.station import FOREIGN_BOARDS, Station, progress, since

WEB_POINTS = tuple(p for p in FAILPOINTS if p.startswith("submit."))
_DOWN = (httpx.TransportError, httpx.TimeoutException)
_AGAIN_SECONDS = 60.0
_VARIANTS = 4
"""Games that are played in turn."""

_PLIES = 20
_TRIES = 20
"""Commands of which one at least passes the point."""

Caller = tuple[str, bytes, dict[str, str]]
"""A player's name, account and headers."""

Request = tuple[str, dict[str, Any], Caller]
"""A path of the API with what is posted to it, and by whom; `{}` stands for the match."""


class Web:
    """Two players that send their commands through HTTP, one after the other, each with a key."""

    def __init__(self, station: Station) -> None:
        self._station = station
        with station.connect() as client:
            # the players of the load number their boards themselves, from 1 on
            client.set(keys.BOARDS, FOREIGN_BOARDS)
            self._callers = [_caller(client, name) for name in ("weblight", "webdark")]
        self._requests = self._play()
        self._board = 0
        self._number = 0

    def kill(self, once: Path) -> float:
        """Have the web process killed; return the seconds until the next had all the outcomes."""
        (before,) = self._station.children("matchpost web")
        once.touch()
        for _ in range(_TRIES):
            self._number += 1
            path, body, caller = next(self._requests)
            request = (path.format(self._board), body, caller)
            answered = self._try(request)
            if not once.exists():
                break
            self._take(answered or self._repeat(request))
        # it may die just after it has answered
        until(lambda: before not in self._station.children("matchpost web"))
        began = now()
        if not answered:
            self._take(self._repeat(request))
        until(lambda: self._station.children("matchpost web"))
        return since(began)

    def _play(self) -> Iterator[Request]:
        """Yield the requests of whole games without end."""
        while True:
            for game in games(_VARIANTS):
                light = self._callers[0]
                names = [name for name, _, _ in self._callers]
                yield "/api/matches", {"game": "pow2", "players": names}, light
                for ply, move in enumerate(game.moves[:_PLIES]):
                    body = {"do": "move", "move": move, "ply": ply}
                    yield "/api/matches/{}/commands", body, self._callers[ply % 2]

    def _try(self, request: Request) -> dict[str, Any] | None:
        """Send the request once; None when the process died before it answered."""
        path, body, (_, account, headers) = request
        key = {"Idempotency-Key": f"fault-{self._number}"}
        began = now()
        try:
            answer = httpx.post(
                f"{self._station.served.url}{path}",
                json=body, headers=headers | key, timeout=30, trust_env=False,
            )  # fmt: skip
        except _DOWN:
            return None
        assert answer.is_success, answer.text
        if answer.status_code == httpx.codes.ACCEPTED:
            return None
        told: dict[str, Any] = answer.json()
        sent = CommandEnvelope(told["board"], bytes.fromhex(told["id"]), account, PlayMove(text=""))
        self._station.note(sent, began, (told["code"], told["seq"], told["index"]))
        return told

    def _repeat(self, request: Request) -> dict[str, Any]:
        found: list[dict[str, Any] | None] = []
        until(lambda: found.append(self._try(request)) or found[-1], _AGAIN_SECONDS)  # type: ignore[func-returns-value]
        assert found[-1] is not None
        return found[-1]

    def _take(self, told: dict[str, Any]) -> None:
        assert told["accepted"], told
        self._board = told["board"]


def _caller(client: Redis, name: str) -> Caller:
    account = Accounts(client, CHEAP).signup(name, "harness-web")
    token = Tokens(client).issue(account, "faults", [Scope.PLAY])
    return name, account, {"Authorization": f"Bearer {token.text}"}


def kill_at(points: Sequence[str], kills: int, station: Station, restart_every: int) -> list[float]:
    """Kill the web process of the station so often at each point, under load."""
    times = []
    with station.load(players=2) as load:
        progress(load, 1)
        web = Web(station)
        for point in points:
            for _ in range(kills):
                if times and len(times) % restart_every == 0:
                    station.restart()
                times.append(web.kill(station.folder / f"once-{point}"))
    return times
