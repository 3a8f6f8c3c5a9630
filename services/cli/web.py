"""`matchpost web`: the process that answers over HTTP."""

import socket

import uvicorn

from infra.files import raise_limit
from infra.settings import Settings
from services.api.app import make_app
from services.api.connections import bounds_for, server_config
from services.api.metrics import serving_metrics
from services.compose import Composition
from services.problems import FINE
from services.serve.listening import address_of, listen
from services.serve.logs import log_to_stderr


def run(settings: Settings, fd: int | None) -> int:
    """Answer until told to stop, on a socket that is open as `fd`, or on the one of the settings.

    Gives the exit code.
    """
    log_to_stderr("web")
    with (
        _socket(settings, fd) as listening,
        serving_metrics(settings.metrics),
        Composition(settings) as parts,
    ):
        bounds = bounds_for(raise_limit())
        behind_proxy = settings.trusted_proxy == "on"
        config = server_config(make_app(parts), bounds, behind_proxy=behind_proxy)
        if fd is None:
            print(f"listening on {address_of(listening)}", flush=True)
        uvicorn.Server(config).run(sockets=[listening])
    return FINE


def _socket(settings: Settings, fd: int | None) -> socket.socket:
    if fd is not None:
        return socket.socket(fileno=fd)
    return listen(settings.http)
