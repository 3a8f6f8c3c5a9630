"""TCP between servers, and between servers and clients, through one process that can cut connections.

Clients and servers connect to the ports of the firewall. Each server sends from a loopback address of its
own, so the firewall knows which server a connection comes from.
"""

import asyncio
from collections.abc import Callable
from threading import Thread
from typing import Any, Final, Self

_CHUNK: Final = 65_536
_END_SECONDS: Final = 5.0

Rule = Callable[[str, int], bool]
"""Returns whether connections from this address to this port of a server are cut."""


class _Link:
    """A connection from an address to a port of a server."""

    def __init__(self, source: str, target: int, writer: asyncio.StreamWriter) -> None:
        self.source = source
        self.target = target
        self.writers = [writer]
        self.lost_bytes = False

    def abort(self) -> None:
        for writer in self.writers:
            writer.transport.abort()


class Firewall:
    """Passes bytes on, except where connections are cut; a context manager."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._loop.run_forever, daemon=True)
        self._listeners: list[asyncio.Server] = []
        self._links: set[_Link] = set()
        self._rule: Rule | None = None
        self._silently = False

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._run(self._end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def guard(self, target: int) -> int:
        """Listen in front of a server's port; return the port that others have to use."""
        return int(self._run(self._listen(target)))

    def cut(self, rule: Rule, *, silently: bool) -> None:
        """Cut connections: silently, so that nothing comes through, or by closing them."""
        self._run(self._cut(rule, silently=silently))

    def heal(self) -> None:
        """Cut nothing from now on. A connection that has lost bytes is closed."""
        self._run(self._heal())

    def _run(self, task: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(task, self._loop).result(60)

    async def _listen(self, target: int) -> int:
        async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await self._serve(target, reader, writer)

        listener = await asyncio.start_server(connected, "127.0.0.1")
        self._listeners.append(listener)
        port: int = listener.sockets[0].getsockname()[1]
        return port

    async def _cut(self, rule: Rule, *, silently: bool) -> None:
        self._rule, self._silently = rule, silently
        if not silently:
            for link in [link for link in self._links if rule(link.source, link.target)]:
                link.abort()

    async def _heal(self) -> None:
        self._rule = None
        for link in [link for link in self._links if link.lost_bytes]:
            link.abort()

    async def _end(self) -> None:
        for listener in self._listeners:
            listener.close()
        for link in list(self._links):
            link.abort()
        # a connection that was broken ends its task
        if tasks := asyncio.all_tasks() - {asyncio.current_task()}:
            await asyncio.wait(tasks, timeout=_END_SECONDS)

    def _is_cut(self, link: _Link) -> bool:
        return self._rule is not None and self._rule(link.source, link.target)

    async def _serve(
        self, target: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        source = str(writer.get_extra_info("peername")[0])
        link = _Link(source, target, writer)
        self._links.add(link)
        try:
            if self._is_cut(link):
                link.lost_bytes = True
                if self._silently:
                    await reader.read()  # until it is closed
                return
            there, back = await asyncio.open_connection("127.0.0.1", target)
            link.writers.append(back)
            await asyncio.gather(
                self._pass_on(link, reader, back), self._pass_on(link, there, writer)
            )
        except OSError:
            return  # one end has broken the connection, or the server does not run
        finally:
            link.abort()
            self._links.discard(link)

    async def _pass_on(
        self, link: _Link, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        while data := await reader.read(_CHUNK):
            if self._is_cut(link):
                link.lost_bytes = True
                continue
            writer.write(data)
            await writer.drain()
        writer.close()
