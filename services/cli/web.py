"""`matchpost web`: the process that answers over HTTP."""

import asyncio
import gc
import socket
from http import HTTPStatus
from typing import Any, Final

from infra.process.liveness import LIVENESS
from infra.process.machine import few_collections, raise_limit
from infra.settings.settings import Settings
from services.app.context import App
from services.cli.do_server import answering_lines
from services.cli.roles import CannotWorkError, RoleProcess
from services.http.app import make_app
from services.http.connections import QuietServer, limits_for, server_config
from services.http.web.assets import pack_assets
from services.metrics.collector import server_figures
from services.serve.sockets import address_of, listen

_AGAIN_SECONDS: Final = 0.5
"""Until the first page is tried again, which a server that is away keeps from being answered."""

_FIRST_PAGE: Final = {
    "type": "http",
    "asgi": {"version": "3.0"},
    "http_version": "1.1",
    "method": "GET",
    "scheme": "http",
    "path": "/",
    "raw_path": b"/",
    "root_path": "",
    "query_string": b"",
    "headers": [(b"host", b"localhost")],
    "client": ("127.0.0.1", 0),
    "server": ("127.0.0.1", 80),
}

_NEW_OBJECTS: Final = 10_000
"""New objects after which the garbage collector looks for cycles; a request leaves few."""


def answer(process: RoleProcess, fd: int | None) -> None:
    """Answer until a stop signal, on a socket that is open as `fd` or that of the settings."""
    settings = process.settings
    with _socket(settings, fd) as listening, App(settings) as parts, process.beating():
        parts.ready()
        process.check(parts.data)
        bounds = limits_for(raise_limit())
        behind_proxy = settings.trusted_proxy == "on"
        with few_collections():
            app = make_app(parts, beside=answering_lines)
        config = server_config(app, bounds, behind_proxy=behind_proxy)
        if fd is None:
            print(f"listening on {address_of(listening)}", flush=True)
        # what is loaded now stays; without this each collection would look at all of it again
        gc.freeze()
        gc.set_threshold(_NEW_OBJECTS)
        with server_figures(parts), process.metrics():
            _ReportedServer(config).run(sockets=[listening])


class _ReportedServer(QuietServer):
    """A server that reports when it answers: after the first page, whose templates are prepared by that.

    After that it compresses the files of pages, so that hardly any request waits for it.
    """

    _first_page: asyncio.Task[None] | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to answer, and report it unless that failed."""
        await super().startup(sockets)
        if self.started:
            self._first_page = asyncio.create_task(self._report())

    async def _report(self) -> None:
        while not await answers_page(self.config.loaded_app):  # noqa: ASYNC110 - nothing tells when it would
            await asyncio.sleep(_AGAIN_SECONDS)
        LIVENESS.serving()
        # not before, because it takes the processor for some tenths of a second
        await asyncio.to_thread(pack_assets)


async def answers_page(app: Any) -> bool:
    """Return whether the application answers the first page to a visitor of this machine."""
    statuses: list[int] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        statuses.append(message.get("status", HTTPStatus.OK))

    await app({**_FIRST_PAGE}, receive, send)
    return statuses[:1] != [] and statuses[0] < HTTPStatus.INTERNAL_SERVER_ERROR


def _socket(settings: Settings, fd: int | None) -> socket.socket:
    if fd is not None:
        return socket.socket(fileno=fd)
    try:
        return listen(settings.http)
    except OSError as error:
        raise CannotWorkError(str(error)) from error
