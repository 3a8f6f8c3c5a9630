"""A copy of all that a small server has stored, to put it back after a change by hand."""

from pathlib import Path
from typing import Any

from redis import Redis

Dump = dict[bytes, tuple[int, bytes]]


class ServerCopy:
    """The keys of some databases, and the files of a folder."""

    def __init__(self, folder: Path, *clients: Redis) -> None:
        self._folder = folder
        self._clients: list[Any] = list(clients)
        self._keys = [dump_of(client) for client in clients]
        self.files = {
            file.relative_to(folder): file.read_bytes()
            for file in sorted(folder.rglob("*"))
            if file.is_file()
        }

    def restore(self) -> None:
        for client, keys in zip(self._clients, self._keys, strict=True):
            restore(client, keys)
        for file in self._folder.rglob("*"):
            if file.is_file() and file.relative_to(self._folder) not in self.files:
                file.unlink()
        for name, data in self.files.items():
            file = self._folder / name
            if not file.exists() or file.read_bytes() != data:
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(data)

    def data(self) -> Dump:
        return self._keys[0]


def dump_of(client: Any) -> Dump:
    """All keys of a database, each with the ms until it expires; 0 if it does not."""
    names = sorted(client.scan_iter(count=1_000))
    with client.pipeline(transaction=False) as pipe:
        for name in names:
            pipe.pttl(name)
            pipe.dump(name)
        found = pipe.execute()
    return {
        name: (max(0, left), data)
        for name, left, data in zip(names, found[::2], found[1::2], strict=True)
    }


def restore(client: Any, dump: Dump) -> None:
    with client.pipeline(transaction=True) as pipe:
        pipe.flushdb()
        for name, (left, data) in dump.items():
            pipe.restore(name, left, data)
        pipe.execute()
