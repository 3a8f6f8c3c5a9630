"""`matchpost web`: the process that answers over HTTP."""

import socket

import uvicorn

from infra.liveness import HEART
from infra.settings import Settings
from services.api.app import make_app
from services.compose import Composition
from services.problems import FINE
from services.serve.listening import address_of, listen
from services.serve.logs import log_to_stderr

_GRACE_SECONDS = 5


def run(settings: Settings, fd: int | None) -> int:
    """Answer until told to stop, on a socket that is open as `fd`, or on the one of the settings.

    Gives the exit code.
    """
    log_to_stderr("web")
    HEART.watch()
    with _socket(settings, fd) as listening, Composition(settings) as parts:
        config = uvicorn.Config(
            make_app(parts),
            http="httptools",
            log_config=None,
            access_log=False,
            lifespan="on",
            server_header=False,
            timeout_graceful_shutdown=_GRACE_SECONDS,
        )
        if fd is None:
            print(f"listening on {address_of(listening)}", flush=True)
        uvicorn.Server(config).run(sockets=[listening])
    return FINE


def _socket(settings: Settings, fd: int | None) -> socket.socket:
    if fd is not None:
        return socket.socket(fileno=fd)
    return listen(settings.http)
