"""What each door says of a forgery: `verify` in all its forms, import and export, archive, scrubber, publisher.

    .venv/bin/python trials/tamper/verdicts.py make FOLDER
    .venv/bin/python trials/tamper/verdicts.py run FOLDER COUNT [SEED] > verdicts

The first makes a server with matches of many kinds and keeps a copy of it. The second makes so many forgeries of it,
each alone, and prints a line of JSON for each: what was forged, and the verdict of each door. The same copy and the
same seed give the same forgeries, so that two versions of the program are compared line by line.
"""

import pickle
import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
from redis import Redis

from infra.durability.durability import Mode
from infra.log.key_files import keys_folder, read_keys
from infra.people.statements import Statements
from infra.redis import keys
from infra.redis.clients import make_client
from infra.settings.game_packages import load_games
from infra.settings.settings import Settings
from infra.store.redis_store import RedisStore
from infra.valkey.server import EmbeddedServer
from tests.helpers.corpus import Corpus
from tests.helpers.scrubbing import SHARDS, ScrubbedServer, populated
from tests.helpers.server_copy import ServerCopy, restore
from trials.tamper.forged_server import (
    DOCUMENTS,
    EXPORT,
    KEY_OR_FILE,
    ForgedServer,
    check_document,
    digest,
)
from trials.tamper.forgeries import FORGERIES
from workers.log.job import trim

ROOT = Path(__file__).parents[2]
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))


class _CorpusBench:
    """A server as `Corpus` wants it."""

    def __init__(self, server: ScrubbedServer) -> None:
        self.client, self.store, self.drain = server.client, server.plain, server.drain
        self._number = 1 << 64

    def order(self, actor: bytes, command: Any, board: int) -> Any:
        """A command with an id of its own."""
        from domain.match.commands import CommandEnvelope  # noqa: PLC0415

        self._number += 1
        return CommandEnvelope(board, self._number.to_bytes(16), actor, command)


def make(
    client: Redis, url: str, folder: Path, matches: int = 12, steps: int = 24
) -> dict[str, Any]:
    """Play on an empty server, and return a copy of it, and of what it was before."""
    server = populated(client, url, folder, finished=6, long=560)
    before = ServerCopy(folder, client)
    boards = [server.plain.allocate(bytes([255, *number.to_bytes(15)])) for number in range(100)]
    corpus = Corpus(_CorpusBench(server), players=8, matches=matches)  # type: ignore[arg-type]
    corpus._last = boards[0] - 1
    client.sadd(keys.ERASED_ACCOUNTS, *corpus._players, *(b"arbiter%d" % n for n in (1, 2, 3)))
    notes = [server.objects.get(f"s{shard:02}/checkpoint").decode() for shard in range(SHARDS)]
    for _ in range(steps):
        corpus.step()
    forget = Statements(client, lambda: SHARDS).forget
    carol = server.accounts.delete("carol", "carol-secret", forget)
    client.sadd(keys.ERASED_ACCOUNTS, carol)
    sizes = server.publish()
    over = [
        board
        for shard in range(SHARDS)
        for board in server.plain.ended_boards(shard, 1 << 50, 10_000)
    ]
    server.list_all()
    server.retire(sizes, set(over[::2]))
    corpus.step()
    trim(client, SHARDS, kept=256)
    now = ServerCopy(folder, client, server.queue)
    public = [str(one) for one in read_keys(keys_folder(server.settings)).public]
    return {
        "keys": now._keys,
        "files": now.files,
        "early": {"keys": before.data(), "files": before.files, "notes": notes, "public": public},
    }


def restored(copy: dict[str, Any], client: Redis, url: str, folder: Path) -> ForgedServer:
    """The server of a copy on an empty Valkey, in a new folder."""
    server = ScrubbedServer.__new__(ScrubbedServer)
    server.client, server.url, server.folder = client, url, folder
    server.settings = Settings(
        data=folder, redis_url=url, queue_url=f"{url}?db=1", durability=Mode.FSYNC
    )
    server.queue = make_client(f"{url}?db=1")
    for one, dump in zip((client, server.queue), copy["keys"], strict=True):
        restore(one, dump)
    for name, data in copy["files"].items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    from infra.objects.files import FileObjects  # noqa: PLC0415

    server.objects = FileObjects(folder / "log")
    server.plain = RedisStore(client, Mode.FSYNC)
    return ForgedServer(server, copy["early"])


@contextmanager
def forged_server(copy: dict[str, Any]) -> Iterator[ForgedServer]:
    """The server of a copy, on a Valkey of its own."""
    with (
        TemporaryDirectory() as place,
        EmbeddedServer(Path(place) / "valkey") as valkey,
        valkey.client(blocking_timeout=5) as client,
    ):
        yield restored(copy, client, valkey.url, Path(place) / "data")


def forgeries(forged: ForgedServer, count: int, first: int = 0) -> Iterator[dict[str, Any]]:
    """Yield so many forgeries with their verdicts, by turns of all kinds."""
    kinds = [
        *FORGERIES,
        *[KEY_OR_FILE] * 6,
        *[name for name in (*DOCUMENTS, EXPORT) for _ in range(4)],
    ]
    folder = forged.server.folder.parent
    for seed in range(first, first + count):
        kind = kinds[seed % len(kinds)]
        if kind == EXPORT:
            data = forged.changed_export(random.Random(seed))
            doors = check_document(data, folder, forged.key)
            yield {"seed": seed, "kind": kind, "what": digest(data), "doors": doors}
        elif kind in DOCUMENTS:
            data = DOCUMENTS[kind](random.Random(seed))
            yield {
                "seed": seed,
                "kind": kind,
                "what": digest(data),
                "doors": check_document(data, folder),
            }
        else:
            what, board = forged.forge(kind, seed)
            yield {
                "seed": seed,
                "kind": kind,
                "what": what,
                "board": board,
                "doors": forged.verdicts(board),
            }


def main(words: list[str]) -> None:
    load_games()
    file = Path(words[1]) / "copy"
    if words[0] == "make":
        with (
            TemporaryDirectory() as place,
            EmbeddedServer(Path(place) / "valkey") as valkey,
            valkey.client(blocking_timeout=5) as client,
        ):
            file.write_bytes(pickle.dumps(make(client, valkey.url, Path(place) / "data")))
        return
    with forged_server(pickle.loads(file.read_bytes())) as forged:
        usual = {"seed": -1, "kind": "nothing", "what": "", "board": 1, "doors": forged.verdicts(1)}
        print(msgspec.json.encode(usual).decode(), flush=True)
        for one in forgeries(forged, *map(int, words[2:4])):
            print(msgspec.json.encode(one).decode(), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
