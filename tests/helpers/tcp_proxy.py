"""A TCP connection between a program and its server, which a test can break."""

import asyncio
from contextlib import suppress
from threading import Thread
from typing import Any, Self


class TcpProxy:
    """Passes bytes on, both ways, until it refuses to; `with` starts and stops it."""

    def __init__(self, host: str, port: int) -> None:
        self._there = host, port
        self._loop = asyncio.new_event_loop()
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.StreamWriter] = set()
        self._port = 0

    @property
    def url(self) -> str:
        """The URL at which the server answers through it."""
        return f"http://127.0.0.1:{self._port}"

    def __enter__(self) -> Self:
        self._thread = Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self.accept()
        return self

    def __exit__(self, *_: object) -> None:
        self.refuse()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(60)
        self._loop.close()

    def accept(self) -> None:
        """Accept connections, always at the same port."""
        self._run(self._listen())

    def refuse(self) -> None:
        """Break all connections, and refuse new ones."""
        self._run(self._close())

    def _run(self, task: Any) -> None:
        asyncio.run_coroutine_threadsafe(task, self._loop).result(60)

    async def _listen(self) -> None:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", self._port)
        self._port = self._server.sockets[0].getsockname()[1]

    async def _close(self) -> None:
        if self._server is not None:
            self._server.close()
            self._server = None
        for writer in list(self._open):
            writer.transport.abort()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection(*self._there)
        self._open |= {writer, back}
        await asyncio.gather(self._pass_on(reader, back), self._pass_on(there, writer))
        self._open -= {writer, back}

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await reader.read(65_536):
                writer.write(data)
                await writer.drain()
        writer.close()
