"""A server that was played on and forged, and the doors through which somebody may look at it."""

import io
import logging
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from hashlib import sha256
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

import msgspec
from redis.exceptions import ResponseError

from domain.errors import Refusal
from infra.archive.objects import PageStore
from infra.audit.faults import NotCheckableError
from infra.audit.match_document import read_document
from infra.durability.durability import Mode
from infra.redis import keys
from infra.store.closed_shards import ClosedShards
from infra.store.redis_store import RedisStore
from services.app import exports
from services.app.context import App
from services.app.imports import check_import
from services.cli import log as log_command
from services.cli import verify, verify_all, verify_mirror
from services.cli.verify import read_keys as read_keys_of
from services.cli.verify import run_file
from tests.helpers.audited_server import Inline
from tests.helpers.evidence import SECRET, tamper
from tests.helpers.scrubbing import SHARDS, ScrubbedServer
from tests.helpers.server_copy import ServerCopy, dump_of
from trials.fuzz.documents import a_changed_file, a_forged_document, a_tampered_document
from trials.tamper.changes import Tampering
from trials.tamper.forger import Forger
from trials.tamper.forgeries import FORGERIES
from trials.tamper.run import found_by
from workers.archived_rows import ArchivedRows
from workers.log.job import make_publisher
from workers.retire import Retirement
from workers.scrub.job import sections

PROVEN: Final = frozenset(
    [
        "snapshot", "moves", "times of moves", "events", "outcomes", "locator", "statements",
        "log", "archive marks", "seed counters", "board counter", "bundle", "tile", "checkpoint",
        "directory page", "log key",
    ]
)  # fmt: skip
"""The kinds of keys and files of `trials/tamper/changes.py` of which a door here speaks."""

DOCUMENTS: Final = {
    "document changed": a_tampered_document,
    "document forged": a_forged_document,
    "file changed": a_changed_file,
}
"""The forgeries of files; the first two are of match documents."""

KEY_OR_FILE: Final = "key or file"
EXPORT: Final = "export changed"

Verdicts = dict[str, list[str]]
"""By door: what it says, line by line."""


class _Kept(PageStore):
    """Pages that are read, and never written."""

    def replace(self, *_: object) -> None:
        """Write nothing."""


class _KeptStore(RedisStore):
    """A store from which no match is retired."""

    def retire(self, matches: Any, *_: Any) -> list[bool]:
        return [False] * len(matches)


@contextmanager
def _said(folder: Path) -> Iterator[list[str]]:
    """What is printed and logged as an alarm inside, line by line, once it is over."""
    lines: list[str] = []
    out, log = io.StringIO(), io.StringIO()
    handler = logging.StreamHandler(log)
    handler.setLevel(logging.ERROR)
    root = logging.getLogger()
    root.addHandler(handler)
    try:
        with redirect_stdout(out), redirect_stderr(out):
            yield lines
    finally:
        root.removeHandler(handler)
        said = [*lines, *out.getvalue().splitlines(), *log.getvalue().splitlines()]
        lines[:] = [
            line.replace(str(folder), "DIR")[:600] for line in said if not line.startswith("  ")
        ]


def ask(folder: Path, door: Callable[[], object]) -> list[str]:
    """What a door says: what it returns, prints, logs and raises."""
    with _said(folder) as said:
        try:
            found = door()
            said.extend(found if isinstance(found, list) else [str(found)])
        except Refusal as refusal:
            said.append(f"refused as {refusal.code}: {refusal.sentence}")
        except NotCheckableError as error:
            said.append(f"can't be checked: {error}")
        except Exception as error:  # noqa: BLE001 - it is what the door says
            said.append(f"RAISED {error!r}")
    return said


class ForgedServer:
    """A server that was played on, to be forged and put back."""

    def __init__(self, server: ScrubbedServer, early: dict[str, Any]) -> None:
        self.server = server
        self._early = early
        self._copy = ServerCopy(server.folder, server.client, server.queue)
        self._forger = Forger(server)
        self._tampering = Tampering(server, dump_of(server.client), early["keys"], early["files"])
        self._kinds = sorted(self._tampering.kinds)
        self.boards = self._forger.here
        self.key = early["public"][0]

    def forge(self, kind: str, seed: int) -> tuple[str, int]:
        """Make the forgery of a seed; return what it is, and the board that it concerns."""
        chance = random.Random(seed)
        if kind == KEY_OR_FILE:
            while self._kinds[seed % len(self._kinds)] not in PROVEN:
                seed = chance.randrange(1 << 32)
            change = self._tampering.change(seed)
            words = [int(word) for word in change.what.split(":") if word.isdigit()]
            return f"{change.kind}, {change.how}: {change.what}", [
                *words,
                chance.choice(self._forger.here),
            ][0]
        while True:
            try:
                return FORGERIES[kind](self._forger, chance)
            except (
                ValueError,
                TypeError,
                LookupError,
                AssertionError,
                msgspec.MsgspecError,
                OverflowError,
                Refusal,
                ResponseError,
            ):
                self._copy.restore()  # nothing can be forged there

    def verdicts(self, board: int) -> Verdicts:
        """What all doors say, and put everything back."""
        server, settings = self.server, self.server.settings
        folder = server.folder
        doors: dict[str, Callable[[], object]] = {
            "verify": lambda: verify.run(str(board), settings),
            "verify --all": self._all,
            "verify --mirror": self._mirror,
            "verify --mirror --key": lambda: self._mirror(with_key=True),
            "export": lambda: digest(self._export(board)),
            "export, checked": lambda: self._exported(board),
            "read": lambda: self._read(board),
            "retire": self._retire,
            "scrubber": self._scrub,
            "publisher": self._publish,
            "discard": self._discard,
        }
        try:
            return {name: ask(folder, door) for name, door in doors.items()}
        finally:
            self._copy.restore()
            exports._CACHE.clear()

    def _all(self) -> list[str]:
        verify_all.begin_process(self.server.settings, bytes(32), niceness=0)
        try:
            found = verify_all.check_everything(Inline(), SHARDS)
        finally:
            verify_all._processes.pop().app.close()
        return [*found.faults, *found.not_compared, found.summary(), str(found.exit_code())]

    def _mirror(self, *, with_key: bool = False) -> object:
        (base,) = self._early["public"]
        key = [base] if with_key else []
        file = self.server.folder.parent / "earlier"
        file.write_text("".join(self._early["notes"]))
        with patch.object(verify_mirror, "ProcessPoolExecutor", Inline):
            return verify.run(
                "",
                self.server.settings,
                key,
                mirror=str(self.server.folder / "log"),
                checkpoints=[str(file)] if with_key else [],
            )

    def _export(self, board: int) -> bytes:
        with App(self.server.settings) as app:
            return exports.export_match(app, board, exports.OPERATOR)

    def changed_export(self, chance: random.Random) -> bytes:
        """The document of a match of the server, changed at one place."""
        document = read_document(self._export(chance.choice(self.boards)))
        return tamper(document, chance)[0]

    def _exported(self, board: int) -> object:
        file = self.server.folder.parent / "document.json"
        file.write_bytes(self._export(board))
        return run_file(str(file), self._early["public"])

    def _read(self, board: int) -> list[str]:
        with App(self.server.settings) as app:
            app.archive.prove(board) if any(app.store.entries([board])) else None
            (snapshot,) = app.store.snapshots([board])
            found = snapshot, app.store.events(board), sorted(app.store.outcomes(board).items())
            return [digest(repr((found, app.store.leaf_indexes(board))).encode())]

    def _retire(self) -> list[str]:
        done = []
        for shard in range(SHARDS):
            _, leaves = self.server.parts().archive()
            work = Retirement(
                _KeptStore(self.server.client, Mode.FSYNC),
                _Kept(self.server.objects),
                leaves,
                shard,
                limit=lambda: 100_000,
                after_ms=0,
                rows=ArchivedRows(self.server.client, SHARDS),
            )
            while work.step() is not None:
                pass
            done.append(f"{len(work.kept)} kept")
        return done

    def _scrub(self) -> list[str]:
        parts = self.server.parts()
        wanted = {"keys", "lists of boards", "log", "archive"}
        with patch("logging.Logger.exception"):
            return sorted(
                {
                    f"{fault.about}: {fault.sentence}"
                    for section in sections(parts)
                    if section.name in wanted
                    for fault in found_by(section)
                }
            )

    def _publish(self) -> list[str]:
        self._publisher = make_publisher(
            self.server.settings, self.server.client, self.server.queue
        )
        self._publisher.begin()
        return [f"{shard}: {one.kind}: {one.reason}" for shard, one in self._closed()]

    def _closed(self) -> list[Any]:
        return sorted(ClosedShards(self.server.client).read(range(SHARDS)).items())

    def _discard(self) -> list[str]:
        """Discard what can be, restore what is published, and say what is there then."""
        for shard, _ in self._closed():
            print(log_command.run("discard", shard, True, self.server.settings))
        for _ in range(8):
            self._publisher.round(0)
        logs = [
            digest(repr(self.server.client.xrange(keys.log(shard))).encode())
            for shard in range(SHARDS)
        ]
        left = [f"{shard}: {one.kind}: {one.reason}" for shard, one in self._closed()]
        return [*left, *logs]


def digest(data: bytes) -> str:
    return sha256(data).hexdigest()[:16]


def check_document(data: bytes, folder: Path, key: str = str(SECRET.public)) -> Verdicts:
    """What the doors for files say of a document, a receipt or a proof."""
    file = folder / "document.json"
    file.write_bytes(data)
    return {
        "verify FILE": ask(folder, lambda: run_file(str(file), [])),
        "verify FILE --key": ask(folder, lambda: run_file(str(file), [key])),
        "import": ask(folder, lambda: _imported(data, key)),
    }


def _imported(data: bytes, key: str) -> list[str]:
    found = check_import(data, read_keys_of(key), still_running=True)
    return [digest(found.data), *found.holds, *found.limits]
