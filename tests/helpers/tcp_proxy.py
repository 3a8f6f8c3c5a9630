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
        self._connecting: set[asyncio.Task[None]] = set()
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
            # what was just accepted is connected first: a server that is closed would leave it open, and
            # a task that has not begun can't close its sockets
            for one in self._server.sockets:
                self._loop.remove_reader(one)
            await self._turn()
            self._server.close()
            self._server = None
        while others := asyncio.all_tasks() - {asyncio.current_task()}:
            for one in others:
                one.cancel()
            await asyncio.gather(*others, return_exceptions=True)
            await self._turn()

    async def _turn(self) -> None:
        """Let the loop go on for some turns, in which a connection is made or its sockets are closed."""
        for _ in range(5):
            await asyncio.sleep(0)

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = self._loop.create_task(self._connect(reader, writer))
        self._connecting.add(task)  # the loop itself would not keep it
        task.add_done_callback(self._connecting.discard)

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers = [writer]
        try:
            there, back = await asyncio.open_connection(*self._there)
            writers.append(back)
            await asyncio.gather(self._pass_on(reader, back), self._pass_on(there, writer))
        except (OSError, asyncio.CancelledError):
            for one in writers:
                one.transport.abort()

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await reader.read(65_536):
                writer.write(data)
                await writer.drain()
        writer.close()
