"""`matchpost upgrade`: turn data of the first format into the format of this version, once.

No server and no worker may run. All matches are copied and verified before anything is deleted, so the
server needs about twice the memory meanwhile. The command can be killed and run again. Lists and ratings
are made again when the server starts. Exit codes: 0 done, or nothing to do; 1 a process runs, or the data
can't be upgraded, and nothing was changed; 2 the server does not answer.
"""

import sys
from contextlib import ExitStack

import redis

from domain.match.history import BrokenHistory
from infra.audit.stored_match import check
from infra.heartbeats import SILENT_MS, read_heartbeats
from infra.people.accounts import Accounts
from infra.redis.clients import make_client, time_ms
from infra.redis.cluster import in_cluster
from infra.settings import Settings
from infra.store.upgrade import Upgrade, UpgradeCounts, UpgradeError
from infra.valkey.server import EmbeddedServer
from services.app.error_codes import EXIT_OK, EXIT_REFUSED


def run(settings: Settings) -> int:
    """Upgrade the data, and return the exit code."""
    with ExitStack() as stack:
        url = settings.redis_url
        if url is None:
            server = EmbeddedServer(settings.data, durable=settings.durability.durable)
            url = stack.enter_context(server).url
        client = stack.enter_context(make_client(url))
        try:
            upgrade_server(client)
        except UpgradeError as error:
            print(f"matchpost: {error}", file=sys.stderr)
            return EXIT_REFUSED
    return EXIT_OK


def upgrade_server(client: redis.Redis) -> None:
    """Upgrade the data on a server; raise UpgradeError if that can't be done."""
    if in_cluster(client):
        raise UpgradeError(
            "data of format 1 were made on one server, and are upgraded there; nothing on the cluster was "
            "changed"
        )
    _check_nobody_runs(client)
    upgrade = Upgrade(client, _say)
    if not upgrade.is_copied:
        counts = _copy(upgrade)
        upgrade.finish()
        _say(
            f"copied and verified: matches {counts.matches}, leaves of the logs {counts.leaves}, "
            f"waiting commands {counts.waiting}"
        )
    Accounts(client).index_arbiters()
    deleted = upgrade.delete_old()
    _say(f"{deleted} keys of format 1 are deleted; the data has format 2")


def _copy(upgrade: Upgrade) -> UpgradeCounts:
    try:
        counts, boards = upgrade.copy()
        upgrade.compare_logs()
        for board in boards:
            _check_match(upgrade, board)
    except UpgradeError as error:
        upgrade.abandon()
        raise UpgradeError(f"{error}; nothing was changed") from error
    return counts


def _check_match(upgrade: Upgrade, board: int) -> None:
    try:
        check(upgrade.store, board)
    except BrokenHistory as broken:
        raise UpgradeError(f"match {board} does not hold: {broken}") from broken


def _check_nobody_runs(client: redis.Redis) -> None:
    now = time_ms(client)
    for beat in read_heartbeats(client):
        if now - beat.at < SILENT_MS and not beat.is_gone:
            raise UpgradeError(
                f"process {beat.pid} on {beat.host} runs ({beat.role}); stop the server and all workers, "
                f"and wait {SILENT_MS // 1000} s if it was killed; nothing was changed"
            )


def _say(line: str) -> None:
    print(line, flush=True)
