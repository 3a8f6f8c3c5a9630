"""The side of a web process in `services.cli.do_protocol`: it carries out lines as a terminal at the data does.

A thread accepts, and each line has a thread of its own, because it waits for its outcome. Several web processes of
one server each listen, and the last that began is asked.
"""

import asyncio
import errno
import logging
import os
import socket
import time
from collections.abc import AsyncIterator
from concurrent.futures import CancelledError
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from threading import BoundedSemaphore, Thread
from typing import Final

import msgspec
from msgspec.structs import replace

from domain.errors import Code, Refusal
from infra.people.rate_limits import CommandRateLimit
from infra.redis.addresses import unix_url
from infra.settings.settings import Settings
from infra.valkey.directory import DataDirectory
from infra.valkey.server import queue_url
from services.app.context import App
from services.app.error_codes import CODE_INFO
from services.cli.do_protocol import (
    LineRequest,
    LineResult,
    Request,
    identity,
    is_same_user,
    read_line,
    refused,
)
from services.cli.errors import describe
from services.cli.lines import carry_out, prompts

logger = logging.getLogger(__name__)

_MOST: Final = 32
"""Lines at once; others are carried out by the processes that would have asked."""

_MOST_BYTES: Final = 16 << 20
"""The longest request."""

_SECONDS: Final = 10.0
"""How long a client may take to send or to receive."""

_PAUSE_SECONDS: Final = 1.0
"""Until a connection is accepted again, after the process had no room for one."""

_GRACE_SECONDS: Final = 1.0
"""How long the end of the process waits for lines at work."""


@asynccontextmanager
async def answering_lines(app: App) -> AsyncIterator[None]:
    """Carry out lines as long as this is open; without a socket nothing is lost but speed."""
    try:
        server = DoServer(app)
    except OSError as error:
        logger.warning("`matchpost do` can't ask this process, and is slower: %s", error)
        yield
        return
    try:
        yield
    finally:
        # the lines at work need the loop
        await asyncio.to_thread(server.close)


class DoServer:
    """Listens from the beginning until it is closed. `app` has a gateway that threads may use."""

    def __init__(self, app: App) -> None:
        """`OSError` where no socket can be."""
        self._app = app
        self._greeting = identity(_as_at_a_terminal(app.settings))
        self._place = DataDirectory(app.settings.data).line_socket
        self._listener = _listen(self._place)
        self._inode = self._place.stat().st_ino
        self._free = BoundedSemaphore(_MOST)
        self._accepting = Thread(target=self._accept, name="do", daemon=True)
        self._accepting.start()

    def close(self) -> None:
        """Accept nothing more, and wait a moment for the lines at work."""
        with suppress(FileNotFoundError):
            if self._place.stat().st_ino == self._inode:  # else another process has it now
                self._place.unlink()
        self._listener.shutdown(socket.SHUT_RDWR)  # wakes the thread
        self._accepting.join()
        self._listener.close()
        end = time.monotonic() + _GRACE_SECONDS
        for _ in range(_MOST):
            self._free.acquire(timeout=max(0.0, end - time.monotonic()))

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError as error:
                if error.errno == errno.EINVAL:
                    return  # closed
                logger.warning("a line of `matchpost do` can't be accepted: %s", error)
                time.sleep(_PAUSE_SECONDS)
                continue
            if self._free.acquire(blocking=False):
                Thread(target=self._serve, args=(connection,), name="line", daemon=True).start()
            else:
                connection.close()

    def _serve(self, connection: socket.socket) -> None:
        try:
            # a client that hangs up learns nothing, and a line that has begun is carried out
            with connection, suppress(OSError, msgspec.DecodeError, CancelledError):
                connection.settimeout(_SECONDS)
                if not is_same_user(connection):
                    return
                connection.sendall(self._greeting)
                asked = read_line(connection, _MOST_BYTES)
                if asked.endswith(b"\n"):
                    request: Request = msgspec.json.decode(asked, type=Request)
                    connection.sendall(msgspec.json.encode(self._reply(request)) + b"\n")
        finally:
            self._free.release()

    def _reply(self, request: Request) -> object:
        if not isinstance(request, LineRequest):
            return prompts(request.line)
        try:
            with _app_of_a_process(self._app) as parts:
                return carry_out(parts, request)
        except Refusal as reason:
            return refused(reason)
        except CancelledError:
            raise  # the process ends, and the outcome is not known
        except Exception as error:
            code, _, sentence = describe(error).partition(": ")
            if code not in CODE_INFO:
                logger.exception("a line of `matchpost do` failed")
                code = Code.UNAVAILABLE
                sentence = f"the server failed ({type(error).__name__}); its log says where"
            return LineResult(sentence, code=str(code))


def _app_of_a_process(app: App) -> App:
    """Return the parts for one line, which has the limits of a process of its own, as `matchpost do` always had."""
    return App(
        app.settings,
        data=app.data,
        queue=app.queue,
        store=app.store,
        accounts=app.accounts,
        gateway=app.gateway,
        pace=CommandRateLimit(app.settings.command_rate),
    )


def _as_at_a_terminal(settings: Settings) -> Settings:
    """Return the settings without the addresses of embedded servers, which `serve` gives to its processes alone."""
    embedded = replace(settings, redis_url=None, queue_url=None)
    queue = None if settings.queue_url == queue_url(embedded) else settings.queue_url
    if settings.redis_url != unix_url(str(DataDirectory(settings.data).known_socket())):
        return settings
    return replace(settings, redis_url=None, queue_url=queue)


def _listen(place: Path) -> socket.socket:
    """Listen at a place, for this user alone, in the place of a process that listened there before."""
    new = place.with_name(f"do{os.getpid()}")
    listener = socket.socket(socket.AF_UNIX)
    try:
        new.unlink(missing_ok=True)
        listener.bind(str(new))
        new.chmod(0o600)
        listener.listen()
        # a name at which nobody listens, or others may, is never there
        new.replace(place)
    except BaseException:
        listener.close()
        new.unlink(missing_ok=True)
        raise
    return listener
