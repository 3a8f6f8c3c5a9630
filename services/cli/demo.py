"""`matchpost demo`: fill an empty server with people and months of matches, and serve it.

The server is filled while nothing else runs, and only if it has neither an account nor a match. Exit codes:
those of `serve` once it runs; 1 if it is not empty, or a process of it runs: nothing was changed; 2 if the
filling failed.
"""

import secrets
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Final

import msgspec
import redis

from domain.game.engine import LEVELS
from domain.match.state import robot_level
from infra.durability.durability import Mode, verify
from infra.health.heartbeats import SILENT_MS, read_heartbeats
from infra.people.accounts import Accounts
from infra.process.machine import memory_limit
from infra.redis.clients import make_client, time_ms
from infra.settings.settings import Settings
from infra.store.board_numbers import BoardNumbers
from infra.store.layout import initial_layout, read_layout
from infra.store.redis_store import RedisStore
from infra.valkey.server import EmbeddedServer, queue_server
from services.app.error_codes import EXIT_OK, EXIT_REFUSED, EXIT_UNKNOWN
from services.demo.community import VISITOR
from services.demo.fill import FillReport, fill
from services.demo.past_server import FillError, PastApp
from services.serve.log_keys import make_accounts_key
from services.serve.sockets import listen

_WORDS: Final = (
    "amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "heron", "inlet", "jetty",
    "koala", "larch", "maple", "north", "otter", "poppy", "quartz", "river", "slate", "tulip",
)  # fmt: skip


class NotEmptyError(Exception):
    """The server can't be filled; the message is a sentence."""


def run(settings: Settings, record: Path | None, *, fill_only: bool) -> int:
    """Fill the server, serve it unless `fill_only`, and return the exit code."""
    if record is not None:
        from services.demo.record import record as record_games  # noqa: PLC0415 - the engine is not needed otherwise

        for line in record_games(record):
            print(line, flush=True)
        return EXIT_OK
    password = (
        f"{'-'.join(secrets.choice(_WORDS) for _ in range(3))}-{1000 + secrets.randbelow(9000)}"
    )
    began = time.monotonic()
    try:
        if settings.http != "off" and not fill_only:
            # otherwise `serve` would find only after the filling that the port is in use
            listen(settings.http).close()
        report = fill_server(settings, password)
    except NotEmptyError as error:
        print(f"matchpost: {error}", file=sys.stderr)
        return EXIT_REFUSED
    except OSError as error:
        print(f"matchpost: {error}", file=sys.stderr)
        return EXIT_UNKNOWN
    except FillError as error:
        print(f"matchpost: {error}; what was filled in is of no use", file=sys.stderr)
        return EXIT_UNKNOWN
    print(
        f"filled in {time.monotonic() - began:.1f} s: {report.people} people, {report.matches} matches, "
        f"{report.moves} moves\nLog in as {VISITOR}, password {password}",
        flush=True,
    )
    if fill_only:
        return EXIT_OK
    from services.serve import main  # noqa: PLC0415 - much that filling does not need

    return main.run(settings)


def fill_server(settings: Settings, password: str) -> FillReport:
    """Start what servers are needed, and fill them; `NotEmptyError` if that can't be done."""
    with ExitStack() as stack:
        url = settings.redis_url
        if url is None:
            maxmemory = memory_limit(settings.maxmemory)
            # nobody is promised anything yet, and the server syncs its log when it ends
            settings = msgspec.structs.replace(settings, durability=Mode.NONE)
            server = EmbeddedServer(settings.data, durable=False, maxmemory=maxmemory)
            url = stack.enter_context(server).url
            if settings.queue_url is None:
                second = stack.enter_context(queue_server(settings.data))
                settings = msgspec.structs.replace(settings, queue_url=second.url)
        data = stack.enter_context(make_client(url))
        queue = stack.enter_context(make_client(settings.queue_url or url))
        if settings.durability.durable:
            verify(data, settings.durability, settings.replicas)
        _check_empty(data, queue, settings)
        make_accounts_key(settings, data)
        with PastApp(settings, data, queue, time_ms(data)) as app:
            app.store.create(initial_layout(data, settings.shards, settings.workers))
            return fill(app, password)


def _check_empty(data: redis.Redis, queue: redis.Redis, settings: Settings) -> None:
    """Raise `NotEmptyError` if the server has an account or a match, or if a process of it runs."""
    now = time_ms(data)
    for beat in read_heartbeats(queue):
        if now - beat.at < SILENT_MS and not beat.is_gone:
            raise NotEmptyError(
                f"process {beat.pid} on {beat.host} runs ({beat.role}); a server is filled while nothing else "
                "runs: stop it first"
            )
    if _has_people(Accounts(data)) or _has_matches(data, settings):
        raise NotEmptyError(
            "the server has accounts or matches, and only an empty one is filled; choose another directory with "
            "--data, or run `matchpost serve` if this is a demo server already"
        )


def _has_people(accounts: Accounts) -> bool:
    """Return whether there is an account other than those of robots, which `serve` makes."""
    names = accounts.names(0, len(LEVELS) + 1)
    return any(robot_level(accounts.id_of(name)) is None for name in names)


def _has_matches(data: redis.Redis, settings: Settings) -> bool:
    """Return whether there is a match, or anything of one."""
    try:
        layout = read_layout(data)
    except LookupError:
        return False
    store, shards = RedisStore(data, settings.durability), range(layout.shards)
    numbered = BoardNumbers(data, layout).highest() or store.inbox_size(shards)
    return bool(numbered) or any(store.leaves(shard, 0, 1) for shard in shards)
