"""A real `matchpost serve` for benchmarks over HTTP, and the requests of the moves played on it."""

import os
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Final, NamedTuple

import msgspec
from argon2 import PasswordHasher
from msgspec.structs import replace

from bench.harness import BenchEnvironment
from bench.workload import PlannedGame, moves, starts
from domain.clocks.time_control import TimeControl
from domain.match.commands import CommandEnvelope, PlayMove, StartMatch
from domain.records import AccountId
from infra.people.accounts import Accounts
from infra.people.tokens import Scope
from infra.settings.settings import Settings
from services.app.context import App
from services.serve.processes import console_script

_SECONDS_TO_START: Final = 60.0

_API: Final = "The API is at "


class Served(NamedTuple):
    """A running `matchpost serve`."""

    url: str
    """Where it answers, without a path."""
    data: Path
    pid: int


@contextmanager
def serving(bench: BenchEnvironment, name: str, **variables: str) -> Iterator[Served]:
    """Run `matchpost serve` on a data directory of this name, with settings, and yield it."""
    data = bench.folder / name
    clean = {k: v for k, v in os.environ.items() if not k.startswith("MATCHPOST_")}
    env = {
        **clean,
        **bench.variables(),
        "MATCHPOST_DATA": str(data),
        "MATCHPOST_HTTP": "127.0.0.1:0",
        "MATCHPOST_COMMAND_RATE": "1000000000",
        **variables,
    }
    with subprocess.Popen(  # noqa: S603 - our own command
        [console_script(), "serve"],
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdout is not None
        lines = iter(process.stdout)
        url = next(line.removeprefix(_API).strip() for line in lines if line.startswith(_API))
        for line in lines:
            if line == "ready\n":
                break
        try:
            yield Served(url.removesuffix("/api/"), data, process.pid)
        finally:
            process.terminate()


Pair = tuple[AccountId, ...]
"""The two players of a match."""


def start_matches(
    data: Path,
    played: Sequence[PlannedGame],
    pairs: int = 1,
    pair_at: Callable[[int], int] = lambda _: 0,
    *,
    settings: Settings | None = None,
) -> dict[int, list[bytes]]:
    """Sign up pairs of players, start all matches, and return the requests of each board's moves.

    `pair_at` returns the pair that plays the match at a place of `played`. `settings` are needed where the
    server is no embedded one.
    """
    with App(settings or Settings(data=data)) as parts:
        cheap = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
        accounts = Accounts(parts.data, cheap)
        signed_up: list[Pair] = [
            tuple(accounts.signup(f"{side}{number}", "benchmark-1") for side in ("light", "dark"))
            for number in range(pairs)
        ]
        tokens = {
            account: parts.tokens.issue(account, "bench", [Scope.PLAY]).text
            for account in chain.from_iterable(signed_up)
        }
        pair_of = {game.board: signed_up[pair_at(at)] for at, game in enumerate(played)}
        begun = [_with_players(sent, pair_of[sent.match]) for sent in starts(played, TimeControl())]
        parts.gateway.submit_all(begun)
        _await_starts(parts, [sent.match for sent in begun])
    seats = {game.board: game.seats for game in played}
    found: dict[int, list[bytes]] = {game.board: [] for game in played}
    for sent in moves(played):
        account = pair_of[sent.match][seats[sent.match].index(sent.actor)]
        found[sent.match].append(_request(sent, tokens[account]))
    return found


def _with_players(sent: CommandEnvelope, pair: Pair) -> CommandEnvelope:
    assert isinstance(sent.command, StartMatch)
    return replace(sent, actor=pair[0], command=replace(sent.command, seats=pair))


def _await_starts(parts: App, boards: Sequence[int]) -> None:
    end = time.monotonic() + _SECONDS_TO_START
    while None in parts.store.snapshots(boards):
        if time.monotonic() > end:
            raise RuntimeError("the matches were not started in time")
        time.sleep(0.05)


def _request(sent: CommandEnvelope, token: str) -> bytes:
    assert isinstance(sent.command, PlayMove)
    body = msgspec.json.encode({"do": "move", "move": sent.command.text, "ply": sent.command.ply})
    head = (
        f"POST /api/matches/{sent.match}/commands HTTP/1.1\r\nHost: bench\r\n"
        f"Authorization: Bearer {token}\r\nContent-Type: application/json\r\n"
        f"Idempotency-Key: {sent.id.hex()}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body
