"""`matchpost web`: the process that answers over HTTP."""

import gc
import logging
import signal
import socket
import sys
from typing import Final

from redis.exceptions import RedisError

from infra.durability.durability import DurabilityError
from infra.health.heartbeats import Role
from infra.health.secret_record import SecretMismatchError
from infra.process.liveness import LIVENESS
from infra.process.open_files import raise_limit
from infra.settings.settings import Settings
from infra.valkey.server import NotRunningError
from services.app.context import App
from services.app.error_codes import EXIT_OK, EXIT_UNKNOWN
from services.cli import errors
from services.heartbeating import heartbeating
from services.http.app import make_app
from services.http.connections import QuietServer, limits_for, server_config
from services.metrics.collector import server_figures
from services.metrics.endpoint import serving_role_metrics
from services.secret_checks import check_secrets
from services.serve.liveness import report_liveness
from services.serve.logging import log_to_stderr
from services.serve.sockets import address_of, listen

logger = logging.getLogger(__name__)

_NEW_OBJECTS: Final = 10_000
"""New objects after which the garbage collector looks for cycles; a request leaves few."""


def run(settings: Settings, fd: int | None, name: str) -> int:
    """Answer until a stop signal, on a socket that is open as `fd` or that of the settings.

    Return the exit code.
    """
    log_to_stderr(name, settings)
    report_liveness(settings, Role.WEB)
    # uvicorn raises the signal again at its end; unhandled it would kill this process before clean-up
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(EXIT_OK))
    with (
        _socket(settings, fd) as listening,
        App(settings) as parts,
        heartbeating(settings, Role.WEB),
    ):
        try:
            parts.ready()
            parts.store.layout()
            check_secrets(settings, parts.data, Role.WEB)
        except (
            LookupError,
            DurabilityError,
            SecretMismatchError,
            NotRunningError,
            RedisError,
        ) as error:
            logger.error("%s", errors.describe(error))  # noqa: TRY400 - the sentence says it all
            return EXIT_UNKNOWN
        bounds = limits_for(raise_limit())
        behind_proxy = settings.trusted_proxy == "on"
        config = server_config(make_app(parts), bounds, behind_proxy=behind_proxy)
        if fd is None:
            print(f"listening on {address_of(listening)}", flush=True)
        # what is loaded now stays; without this each collection would look at all of it again
        gc.freeze()
        gc.set_threshold(_NEW_OBJECTS)
        with server_figures(parts), serving_role_metrics(settings, Role.WEB, name):
            _ReportedServer(config).run(sockets=[listening])
    return EXIT_OK


class _ReportedServer(QuietServer):
    """A server that reports when it answers."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to answer, and report it unless that failed."""
        await super().startup(sockets)
        if self.started:
            LIVENESS.serving()


def _socket(settings: Settings, fd: int | None) -> socket.socket:
    if fd is not None:
        return socket.socket(fileno=fd)
    return listen(settings.http)
