"""`verify --all` of a server and `verify --mirror` of a copy of its published logs: both hold, and find what was changed."""

import shutil
from base64 import b64encode
from collections.abc import Callable, Iterator
from email.message import EmailMessage
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import NamedTuple

import pytest
from msgspec.structs import replace

from domain.clocks.time_control import DAY
from domain.match.commands import StartMatch
from domain.match.events import Moved
from domain.match.history import (
    EventEnvelope,
    RefusedLeaf,
    decode_event,
    decode_leaf,
    encode_event,
)
from domain.refusal_audit import NotDecidedAgain
from infra.durability.durability import Mode
from infra.log.key_files import read_keys
from infra.log.log_writer import LogWriter
from infra.log.names import shard_key
from infra.log.published_log import PublishedLog
from infra.log.signed_note import SignatureType, Signer
from infra.objects.files import FileObjects
from infra.redis import keys
from infra.settings.settings import Settings
from infra.store import locators
from infra.store.redis_store import RedisStore
from infra.valkey.server import EmbeddedServer
from services.app.context import App
from services.cli import verify, verify_all, verify_mirror
from tests.helpers import forging
from tests.helpers.audited_server import SHARDS, AuditedServer, Inline
from tests.helpers.given import ALICE
from tests.helpers.rollback import Copy, copy_of, put_back
from tests.helpers.side import catch_up
from workers import retire


class Made(NamedTuple):
    """A server with matches by chance, most of them published, and a copy of its data."""

    server: AuditedServer
    copy: Copy

    @property
    def folder(self) -> Path:
        """Its directory; `earlier` has checkpoints of before."""
        return self.server.settings.data


@pytest.fixture(scope="module")
def made(valkey: EmbeddedServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Made]:
    with valkey.client(blocking_timeout=5) as client:
        client.flushall()
        server = AuditedServer(valkey, client, tmp_path_factory.mktemp("all"))
        server.play(150)
        server.publish()
        log = server.settings.data / "log"
        (log.parent / "earlier").mkdir()
        for shard in range(SHARDS):
            shutil.copy(
                log / f"s{shard:02}" / "checkpoint", log.parent / "earlier" / f"s{shard:02}"
            )
        server.play(300)
        server.publish()
        server.play(340)
        client.set(keys.BOARDS, 1_000)  # the corpus chooses its boards by itself
        for file in log.rglob("*"):
            file.chmod(0o755 if file.is_dir() else 0o600)
        yield Made(server, copy_of(client))


@pytest.fixture
def server(made: Made) -> Iterator[AuditedServer]:
    put_back(made.server.client, made.copy)
    kept = made.folder / "log"
    shutil.copytree(kept, made.folder / "kept")
    yield made.server
    shutil.rmtree(kept)
    (made.folder / "kept").rename(kept)


@pytest.mark.long
def test_a_server_by_chance_holds_and_matches_that_go_on_meanwhile_do_no_harm(server, monkeypatch):
    found = server.check()
    assert ([*found.faults], [*found.not_compared], found.exit_code()) == ([], [], 0)
    assert found.matches.matches == server.check().matches.matches > 50
    assert found.matches.refusals[None] > 20
    assert found.summary().startswith(f"all {found.matches.matches} matches hold: ")
    assert sum(one.end for one in found.shards.values()) > found.matches.events > 1_000
    assert all(0 < one.published < one.end for one in found.shards.values())
    scan = verify_all.scan_shard

    def busy(shard: int) -> verify_all.ScannedShard:
        scanned = scan(shard)
        for _ in range(3):
            server.corpus.step()
        start = StartMatch(rules="pow2/1", options=(), seats=(ALICE, b"bob....."))
        server.bench.submit(server.bench.order(ALICE, start, 1_000 + shard))
        server.bench.drain()
        return scanned

    monkeypatch.setattr(verify_all, "scan_shard", busy)
    assert server.faults() == []


def test_trimmed_leaves_are_no_fault_while_the_published_log_can_not_be_read(server):
    server.publish()
    server.client.xtrim(keys.log(1), minid="200-0", approximate=False)
    (server.settings.data / "log" / "s01" / "checkpoint").write_bytes(b"no note")
    found = server.check()
    assert ([*found.faults], found.exit_code()) == ([], 2)
    board = min(found.matches.unread)
    assert board % SHARDS == 1
    said = "was trimmed, and can't be read from the published log: a note is a text"
    assert said in found.matches.unread[board]


# changes of a server; each returns the words by which it is found


def some_board(server: AuditedServer, shard: int) -> int:
    """A match of a shard with all its leaves published."""
    note = server.settings.data / "log" / f"s{shard:02}" / "checkpoint"
    size = int(note.read_bytes().split(b"\n")[1])
    for board in range(SHARDS + shard, 200, SHARDS):
        indexes = locators.decode(server.client.get(keys.locator(shard, board)) or b"")
        if len(indexes) > 8 and indexes[-1] < size:
            return board
    raise AssertionError("no match is published wholly")


def without_match(server: AuditedServer, shard: int) -> str:
    board = some_board(server, shard)
    for suffix in ("", ":moves", ":turns", ":ev", ":at", ":out"):
        server.client.delete(keys.snapshot(shard, board) + suffix)
    return f"match {board} does not hold: event 1: the log of shard {shard} has "


def a_refusal(server: AuditedServer, shard: int) -> tuple[int, bytes, int]:
    """A published refusal: its board, its command and its index."""
    for board in range(SHARDS + shard, 200, SHARDS):
        accepted = {decode_event(data).command for data in server.bench.store.events(board)}
        for command, outcome in server.client.hgetall(keys.outcomes(shard, board)).items():
            index = int(outcome[8:].split(b":")[0])
            if command not in accepted and index < 200:
                return board, command, index
    raise AssertionError("there is no refusal")


def without_refusal(server: AuditedServer, shard: int) -> str:
    """Its outcome, its leaf and its place in the locator are deleted."""
    board, command, index = a_refusal(server, shard)
    server.client.hdel(keys.outcomes(shard, board), command)
    name = keys.locator(shard, board)
    left = [at for at in locators.decode(server.client.get(name)) if at != index]
    server.client.set(name, locators.encode(left))
    server.client.xdel(keys.log(shard), f"{index}-1")
    return f"leaf {index} is missing in the data, and is published"


def without_unpublished_leaf(server: AuditedServer, shard: int) -> str:
    last = server.client.xrevrange(keys.log(shard), count=2)[1][0].decode()
    server.client.xdel(keys.log(shard), last)
    return f"the log of shard {shard}: leaf {last.partition('-')[0]} is missing"


def two_leaves_swapped(server: AuditedServer, shard: int) -> str:
    def swap(at: int, leaf: bytes) -> bytes:
        return rows[{20: 21, 21: 20}.get(at, at)] if at in (20, 21) else leaf

    name = keys.log(shard)
    rows = {at: server.client.xrange(name, f"{at}-1", count=1)[0][1][b"l"] for at in (20, 21)}
    forging.rewrite_log(server.client, shard, swap)
    return "leaf 20 is another one than the published leaf, which is signed"


def counter_of_boards_set_back(server: AuditedServer, _: int) -> str:
    server.client.set(keys.BOARDS, 3)
    return "the counter of boards stands at "


def counter_of_seeds_set_back(server: AuditedServer, shard: int) -> str:
    server.client.hset(keys.seed_chain(shard), "k", 1)
    return f"the counter of used seeds of shard {shard} stands at 1, and seed "


def anchor_elsewhere(server: AuditedServer, shard: int) -> str:
    server.client.hset(keys.seed_chain(shard), "index:1", 7)
    return f"chain 1 of seeds of shard {shard} was anchored as leaf "


def last_leaf(server: AuditedServer, shard: int) -> bytes:
    leaf: bytes = server.client.xrevrange(keys.log(shard), count=1)[0][1][b"l"]
    return leaf


def add_leaf(server: AuditedServer, shard: int, leaf: bytes) -> None:
    end = server.bench.store.watermark().ends[shard]
    server.client.xadd(keys.log(shard), {"l": leaf}, f"{end}-1")


def match_of_another_shard(server: AuditedServer, shard: int) -> str:
    add_leaf(server, shard, last_leaf(server, (shard + 1) % SHARDS))
    return "which belongs to another shard"


def leaf_that_nobody_wrote(server: AuditedServer, shard: int) -> str:
    add_leaf(server, shard, b"?")
    return "can't be read"


def one_leaf_twice(server: AuditedServer, shard: int) -> str:
    leaf = last_leaf(server, shard)
    add_leaf(server, shard, leaf)
    return "leaves of the match up to leaf" if leaf[1] > 0x80 else ", and comes after event "


def changed_object(name: str, server: AuditedServer, shard: int) -> str:
    file = server.settings.data / "log" / f"s{shard:02}" / "tile" / name
    data = bytearray(file.read_bytes())
    data[40] ^= 1
    file.write_bytes(data)
    return f"the log of shard {shard}: tile/0/000 does not have the hashes of the published leaves"


def without_bundle(server: AuditedServer, shard: int) -> str:
    (server.settings.data / "log" / f"s{shard:02}" / "tile" / "entries" / "000").unlink()
    return "its published leaves from 0 on can't be read"


Change = Callable[[AuditedServer, int], str]
ROUNDS: tuple[tuple[Change, ...], ...] = (
    (without_refusal, without_match, two_leaves_swapped, without_unpublished_leaf, counter_of_boards_set_back),
    (match_of_another_shard, leaf_that_nobody_wrote, one_leaf_twice, counter_of_seeds_set_back),
    (partial(changed_object, "entries/000"), partial(changed_object, "0/000"), without_bundle, anchor_elsewhere),
)  # fmt: skip
"""Each change is of a shard of its own, but for that of the counter of boards."""


@pytest.mark.parametrize("changes", ROUNDS)
def test_each_change_is_found(server, changes):
    wanted = [change(server, shard % SHARDS) for shard, change in enumerate(changes, 1)]
    found = server.check()
    assert found.exit_code() == 1
    said = "\n".join(found.faults)
    assert [words for words in wanted if words not in said] == [], said


@pytest.mark.long
def test_matches_of_the_archive_hold_and_are_compared_with_the_log(valkey, redis_client, tmp_path):
    server = AuditedServer(valkey, redis_client, tmp_path)
    now = server.bench.store.now
    server.bench.store = RedisStore(redis_client, Mode.FSYNC, clock=lambda: now() - 41 * DAY)
    server.play(120)
    redis_client.set(keys.BOARDS, 1_000)
    server.publish()
    catch_up(server.bench.store, redis_client)
    before = server.check()
    assert [*before.faults] == []
    with App(server.settings) as parts:
        retired = [
            retire.run(server.settings, parts.store, redis_client, redis_client, shard)
            for shard in range(SHARDS)
        ]
    assert sum(retired) > 5
    after = server.check()
    assert [*after.faults] == []
    assert after.matches.events == before.matches.events
    assert after.matches.refusals.total() == before.matches.refusals[None], "all were kept"
    assert after.matches.refusals.keys() <= {None, NotDecidedAgain.NOT_KEPT}, "the archive has none"
    bits = keys.archived(1)
    board = next(one for one in range(1, 1_000, SHARDS) if redis_client.getbit(bits, one // SHARDS))
    shutil.rmtree(tmp_path / "log" / "s01" / "boards")
    unread = server.check()
    assert unread.exit_code() == 2
    said = next(iter(unread.not_compared))
    assert f"match {board} can't be read right now: the archive can't be read right now" in said


# a mirror, which needs no server


WITNESS = Signer("witness.example.org/w1", bytes(range(32)), SignatureType.COSIGNATURE)


@pytest.fixture
def mirror(made: Made, tmp_path: Path) -> Path:
    return shutil.copytree(made.folder / "log", tmp_path / "mirror")


@pytest.fixture
def early(made: Made) -> Path:
    """An earlier checkpoint of shard 1."""
    return made.folder / "earlier" / "s01"


@pytest.fixture
def known(made: Made, tmp_path: Path) -> str:
    """A file as `/log/keys` shows it."""
    (base,) = read_keys(made.folder / "keys").public
    file = tmp_path / "keys"
    file.write_text("".join(f"{shard_key(base, shard)}\n" for shard in range(SHARDS)))
    return str(file)


Check = Callable[..., tuple[int, str, str]]


@pytest.fixture
def check(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, known: str) -> Check:
    monkeypatch.setattr(verify_mirror, "ProcessPoolExecutor", Inline)

    def run(where: object, *files: Path, trusted: tuple[str, ...] = (known,)):
        settings, checkpoints = Settings(data=Path("nowhere")), tuple(map(str, files))
        code = verify.run("", settings, trusted, mirror=str(where), checkpoints=checkpoints)
        return code, *capsys.readouterr()

    return run


def test_an_honest_mirror_holds_and_needs_no_server(check, mirror):
    code, out, err = check(mirror)
    assert (code, err) == (0, "")
    begin = "4 of 4 logs have the roots of their signed checkpoints, made again from "
    assert out.startswith(begin)
    assert " matches hold: " in out
    assert "could not be decided again: the log has no outcomes" in out
    held, of = out.partition("; ")[2].split(" matches")[0].split(" of ")
    assert int(held) == int(of) > 50


def test_a_changed_leaf_or_a_missing_bundle_is_named(check, mirror):
    bundle = mirror / "s01" / "tile" / "entries" / "000"
    data = bytearray(bundle.read_bytes())
    at = 0
    for _ in range(7):
        at += 2 + int.from_bytes(data[at : at + 2])
    data[at + 30] ^= 1
    bundle.write_bytes(data)
    code, out, err = check(mirror)
    assert (code, out.startswith("3 of 4 logs")) == (1, True)
    said = "do not have the root of its checkpoint"
    assert f"{said}; the first that does not fit its tile is leaf 7" in err
    shutil.rmtree(mirror / "s01" / "tile" / "0")
    assert f"{said}\n" in check(mirror)[2]
    bundle.unlink()
    assert "leaves 0 to 255 can't be read: " in check(mirror)[2]


def test_a_checkpoint_is_found_in_a_mail_with_attachments(check, mirror, early, tmp_path):
    receipt = "example.org/log/s01/receipt\n17\n3\nAAAA\nAAAA\n5\n"
    signed = Signer("example.org/r", bytes(32)).signature(receipt)
    mail = EmailMessage()
    mail.set_content("It is your turn.")
    mail.add_attachment(signed, filename="receipt.txt")
    note = early.read_bytes()
    mail.add_attachment(note, "application", "octet-stream", filename="checkpoint.txt")
    file = tmp_path / "mail.eml"
    file.write_bytes(bytes(mail))
    code, out, _ = check(mirror, file)
    assert (code, "is a prefix of the log" in out) == (0, True)
    mail.clear_content()
    mail.set_content(f"{receipt}\n{signed}")
    file.write_bytes(bytes(mail))
    code, _, err = check(mirror, file)
    assert (code, "has no checkpoint in it" in err) == (2, True)


def test_a_mirror_that_is_older_than_a_checkpoint_is_said(check, mirror, early):
    newer = shutil.move(mirror / "s01" / "checkpoint", mirror / "newer")
    shutil.copy(early, mirror / "s01" / "checkpoint")
    code, _, err = check(mirror, newer)
    assert code == 1
    assert "was signed: the mirror is older, or leaves were taken away" in err


class Operator:
    """One who has the keys, and publishes other leaves in place of the log of shard 1."""

    def __init__(self, mirror: Path, folder: Path) -> None:
        self._objects = FileObjects(mirror)
        self._secret = read_keys(folder / "keys").secrets[0]
        log = PublishedLog(self._objects, 1, [self._secret.signer(1).key])
        self.leaves = list(log.leaves(0, log.refresh()))
        self.moves = [at for at, data in enumerate(self.leaves) if is_move(decode_leaf(data))]

    def sign(self, mirror: Path, leaves: list[bytes]) -> None:
        shutil.rmtree(mirror / "s01")
        writer = LogWriter(self._objects, 1, [self._secret.signer(1)])
        writer.load()
        writer.append(leaves)


def is_move(leaf: object) -> bool:
    return isinstance(leaf, EventEnvelope) and isinstance(leaf.body, Moved)


@pytest.mark.parametrize("kind", ["later", "swapped", "not a leaf"])
def test_an_operator_who_signs_another_history_is_found(check, mirror, made, early, kind):
    operator = Operator(mirror, made.folder)
    leaves, (at, other, *_) = operator.leaves, operator.moves
    if kind == "later":
        event = decode_event(leaves[at])
        leaves[at] = encode_event(replace(event, at=event.at + 3_600_000))
    elif kind == "swapped":
        leaves[at], leaves[other] = leaves[other], leaves[at]
    else:
        leaves[at] = b"?"
    operator.sign(mirror, leaves)
    code, out, err = check(mirror, early)
    assert code == 1
    assert "the log example.org/log/s01 is forked: a checkpoint of " in err
    if kind == "swapped":
        assert "prefix" not in out
        return
    # without the earlier checkpoint the chain of the match shows it
    code, _, err = check(mirror)
    wanted = "can't be read" if kind == "not a leaf" else "does not hold: event "
    assert (code, wanted in err) == (1, True)


def test_a_refusal_of_a_legal_move_is_found_in_a_mirror(check, mirror, made):
    operator = Operator(mirror, made.folder)
    at = operator.moves[0]
    event = decode_event(operator.leaves[at])
    said = ("not-your-turn", event.body.move, None)
    lie = RefusedLeaf(1, event.match, event.at, b"f" * 16, event.actor, *said)
    operator.sign(mirror, [*operator.leaves[:at], encode_event(lie), *operator.leaves[at:]])
    code, _, err = check(mirror)
    assert code == 1
    assert f"match {event.match} does not hold: " in err
    assert "the rules accept it" in err


def test_cosignatures_are_checked(check, mirror, known, early):
    trusted = (known, str(WITNESS.key))
    code, out, _ = check(mirror, trusted=trusted)
    assert code == 0
    assert f"{WITNESS.key.name} has not cosigned example.org/log/s01" in out
    note = early.read_text()
    text = note.partition("\n\n")[0] + "\n"
    (mirror / "s01" / "witnessed").write_text(note + WITNESS.signature(text, 1_800_000_000))
    code, out, _ = check(mirror, trusted=trusted)
    assert code == 0
    assert f"has cosigned example.org/log/s01 at {text.split(chr(10))[1]} leaves" in out
    forged = b64encode(WITNESS.key.id + bytes(72)).decode()
    (mirror / "s01" / "witnessed").write_text(f"{note}\u2014 {WITNESS.key.name} {forged}\n")
    code, _, err = check(mirror, trusted=trusted)
    assert code == 1
    assert f"the signature by {WITNESS.key.name} does not hold" in err


def test_a_server_is_a_mirror_too(check, mirror):
    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(mirror))) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        try:
            address = f"http://127.0.0.1:{server.server_port}"
            assert check(address) == check(mirror)
            assert check(f"{address}/s01")[:2] == check(mirror / "s01")[:2]
        finally:
            server.shutdown()


def test_what_is_no_mirror_is_said(check, mirror, tmp_path):
    (tmp_path / "empty").mkdir()
    for words, said in (
        ((tmp_path / "empty",), "has no published log"),
        ((mirror, tmp_path / "nothing"), "nothing"),
    ):
        code, _, err = check(*words)
        assert (code, said in err) == (2, True)
    assert check(mirror, trusted=("no key",))[0] == 2
