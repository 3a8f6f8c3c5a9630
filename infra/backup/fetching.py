"""The data of an operator's own server, fetched as a replica fetches them at first, in a folder of append-only files.

Each server writes all that it has at one instant, by a fork, while people play; it does not count such a reader as a
replica. The folder is one from which the embedded server starts: the first dump is the base of its append-only files,
and those of the other nodes of a cluster, which have other keys, come after it.
"""

import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Final

from redis import Redis
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import ResponseError

from infra.backup.port import BackupError
from infra.redis.cluster import servers_of
from infra.redis.node_names import node_address
from infra.valkey.aof import dumps_of, write_list
from infra.valkey.directory import DataDirectory

_SECONDS: Final = 60.0
"""How long a server may be silent: it says each second that it is still busy."""

_MARK_BYTES: Final = 40
_CHUNK: Final = 1 << 20


@contextmanager
def fetched_data(client: Redis, folder: Path) -> Iterator[Path]:
    """Yield a folder with all data of a server, or of all nodes of a cluster; it is removed in the end.

    `BackupError` if a server does not hand them out; errors of the connection pass through.
    """
    shutil.rmtree(folder, ignore_errors=True)
    files = DataDirectory(folder).files
    try:
        nodes = servers_of(client)
        places = dumps_of(files, len(nodes))
        with ThreadPoolExecutor(len(nodes)) as pool:
            # at once, so that they are of nearly the same instant
            for done in [pool.submit(_fetch, *pair) for pair in zip(nodes, places, strict=True)]:
                done.result()
        write_list(files, places)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _fetch(node: Redis, place: Path) -> None:
    place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    pool = node.connection_pool
    connection: Any = pool.get_connection()
    try:
        for words in (("REPLCONF", "capa", "eof"), ("REPLCONF", "rdb-only", "1")):
            connection.send_command(*words)
            connection.read_response()
        connection.send_command("PSYNC", "?", "-1")
        with place.open("wb") as file:
            _receive(connection._sock, file)  # noqa: SLF001 - a dump is no reply that redis-py reads
    except ResponseError as error:
        raise BackupError(_refusal(node, str(error))) from error
    except OSError as error:
        raise RedisConnectionError(f"the server was lost while it was copied: {error}") from error
    finally:
        connection.disconnect()
        pool.release(connection)


def _refusal(node: Redis, why: str) -> str:
    return (
        f"the server {node_address(node)} does not hand its data out ({why}): its user needs the commands psync and "
        "replconf; a service that has neither is backed up by its own means, see docs/backup.md"
    )


class _Stream:
    """The bytes that a server sends; `OSError` if they end, or do not come."""

    def __init__(self, source: Any) -> None:
        source.settimeout(_SECONDS)
        self._source = source
        self.held = b""

    def more(self) -> None:
        """Receive some bytes."""
        got = self._source.recv(_CHUNK)
        if not got:
            raise OSError("the connection ended")
        self.held += got

    def line(self) -> bytes:
        """Return the next line that is not empty, which a busy server sends."""
        while True:
            line, end, rest = self.held.partition(b"\n")
            if not end:
                self.more()
                continue
            self.held = rest
            if line.strip():
                return line.strip()


def _receive(source: Any, file: BinaryIO) -> None:
    """Write the dump that follows a PSYNC to a file; `ResponseError` if the server refuses it."""
    stream = _Stream(source)
    for begin in (b"+FULLRESYNC", b"$"):
        line = stream.line()
        if not line.startswith(begin):
            raise ResponseError(line.lstrip(b"-").decode(errors="replace"))
    if line.startswith(b"$EOF:"):
        _until(stream, line.removeprefix(b"$EOF:"), file)
    else:
        _count(stream, int(line.removeprefix(b"$")), file)


def _until(stream: _Stream, mark: bytes, file: BinaryIO) -> None:
    """Write all bytes before a mark, with which a server ends."""
    while not stream.held.endswith(mark):
        whole = len(stream.held) - _MARK_BYTES
        if whole > 0:
            file.write(stream.held[:whole])
            stream.held = stream.held[whole:]
        stream.more()
    file.write(stream.held[:-_MARK_BYTES])


def _count(stream: _Stream, size: int, file: BinaryIO) -> None:
    """Write so many bytes."""
    while size:
        if not stream.held:
            stream.more()
        part = stream.held[:size]
        file.write(part)
        stream.held = stream.held[len(part) :]
        size -= len(part)
