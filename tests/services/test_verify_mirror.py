"""`verify --mirror` needs nothing but a copy of the published logs, and finds what was changed in it."""

import shutil
from base64 import b64encode
from collections.abc import Callable
from email.message import EmailMessage
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from msgspec.structs import replace

from domain.match.events import Moved
from domain.match.history import EventEnvelope, RefusedLeaf, decode_leaf, encode_event
from infra.log.key_files import read_keys
from infra.log.log_writer import LogWriter
from infra.log.names import shard_key
from infra.log.published_log import PublishedLog
from infra.log.signed_note import SignatureType, Signer
from infra.objects.files import FileObjects
from infra.settings.settings import Settings
from infra.valkey.server import EmbeddedServer
from services.cli import verify, verify_mirror
from tests.helpers.audited_server import SHARDS, AuditedServer, Inline

WITNESS = Signer("witness.example.org/w1", bytes(range(32)), SignatureType.COSIGNATURE)


@pytest.fixture(scope="module")
def published(valkey: EmbeddedServer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data directory of a server whose logs are published; `earlier` has their checkpoints of before."""
    with valkey.client(blocking_timeout=5) as client:
        client.flushall()
        server = AuditedServer(valkey, client, tmp_path_factory.mktemp("mirrored"))
        server.play(150)
        server.publish()
        folder = server.settings.data
        for shard in range(SHARDS):
            earlier = folder / "earlier" / f"s{shard:02}"
            earlier.parent.mkdir(exist_ok=True)
            shutil.copy(folder / "log" / f"s{shard:02}" / "checkpoint", earlier)
        server.play(300)
        server.publish()
        return folder


@pytest.fixture
def mirror(published: Path, tmp_path: Path) -> Path:
    shutil.copytree(published / "log", tmp_path / "mirror")
    for file in (tmp_path / "mirror").rglob("*"):
        file.chmod(0o755 if file.is_dir() else 0o600)
    return tmp_path / "mirror"


@pytest.fixture
def keys(published: Path, tmp_path: Path) -> str:
    """A file as `/log/keys` shows it."""
    (base,) = read_keys(published / "keys").public
    file = tmp_path / "keys"
    file.write_text("".join(f"{shard_key(base, shard)}\n" for shard in range(SHARDS)))
    return str(file)


Said = tuple[int, str, str]
Check = Callable[..., Said]


@pytest.fixture
def check(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, keys: str) -> Check:
    class InThisProcess(Inline):
        def __init__(
            self, count: int, context: object, begin: Callable[..., None], given: tuple
        ) -> None:
            del count, context
            begin(*given)

    monkeypatch.setattr(verify_mirror, "ProcessPoolExecutor", InThisProcess)

    def run(where: object, *files: Path, trusted: tuple[str, ...] = (keys,)) -> Said:
        code = verify.run(
            "",
            Settings(data=Path("nowhere")),
            trusted,
            mirror=str(where),
            checkpoints=tuple(map(str, files)),
        )
        return code, *capsys.readouterr()

    return run


def test_an_honest_mirror_holds_and_needs_no_server(check, mirror):
    code, out, err = check(mirror)
    assert (code, err) == (0, "")
    assert out.startswith(
        "4 of 4 logs have the roots of their signed checkpoints, made again from "
    )
    assert " matches hold: " in out
    assert "could not be decided again: the log has no outcomes" in out
    (held, of) = out.partition("; ")[2].split(" matches")[0].split(" of ")
    assert int(held) == int(of) > 50


# what was changed


def full_bundle(mirror: Path) -> Path:
    return mirror / "s01" / "tile" / "entries" / "000"


def test_a_changed_leaf_is_named(check, mirror):
    data = bytearray(full_bundle(mirror).read_bytes())
    at, index = 0, 0
    while index < 7:
        at, index = at + 2 + int.from_bytes(data[at : at + 2]), index + 1
    data[at + 30] ^= 1
    full_bundle(mirror).write_bytes(data)
    code, out, err = check(mirror)
    assert code == 1
    assert (
        "do not have the root of its checkpoint; the first that does not fit its tile is leaf 7"
        in err
    )
    assert out.startswith("3 of 4 logs")
    shutil.rmtree(mirror / "s01" / "tile" / "0")
    assert "do not have the root of its checkpoint\n" in check(mirror)[2]


# earlier checkpoints


def test_a_checkpoint_is_found_in_a_mail_with_attachments(check, mirror, published, tmp_path):
    note = (published / "earlier" / "s01").read_text()
    receipt = "example.org/log/s01/receipt\n17\n3\nAAAA\nAAAA\n5\n"
    mail = EmailMessage()
    mail.set_content("It is your turn.")
    mail.add_attachment(
        Signer("example.org/r", bytes(32)).signature(receipt), filename="receipt.txt"
    )
    mail.add_attachment(note.encode(), "application", "octet-stream", filename="checkpoint.txt")
    file = tmp_path / "mail.eml"
    file.write_bytes(bytes(mail))
    code, out, _ = check(mirror, file)
    assert code == 0
    assert "is a prefix of the log" in out
    mail.clear_content()
    mail.set_content(f"{receipt}\n{Signer('example.org/r', bytes(32)).signature(receipt)}")
    file.write_bytes(bytes(mail))
    code, _, err = check(mirror, file)
    assert code == 2
    assert "has no checkpoint in it" in err


def test_a_mirror_that_is_older_than_a_checkpoint_is_said(check, mirror, published):
    newer = mirror / "s01" / "checkpoint"
    kept = newer.parent.parent / "newer"
    shutil.copy(newer, kept)
    shutil.copy(published / "earlier" / "s01", newer)
    code, _, err = check(mirror, kept)
    assert code == 1
    assert "was signed: the mirror is older, or leaves were taken away" in err


def leaves_of(mirror: Path, shard: int, published: Path) -> list[bytes]:
    (base,) = read_keys(published / "keys").public
    log = PublishedLog(FileObjects(mirror), shard, [shard_key(base, shard)])
    return list(log.leaves(0, log.refresh()))


def sign_again(mirror: Path, shard: int, published: Path, leaves: list[bytes]) -> None:
    """Publish other leaves in the place of a log, as its operator can."""
    (secret,) = read_keys(published / "keys").secrets
    shutil.rmtree(mirror / f"s{shard:02}")
    writer = LogWriter(FileObjects(mirror), shard, [secret.signer(shard)])
    writer.load()
    writer.append(leaves)


def first(leaves: list[bytes], wanted: Callable[[object], bool]) -> tuple[int, object]:
    return next((at, leaf) for at, data in enumerate(leaves) if wanted(leaf := decode_leaf(data)))


def is_move(leaf: object) -> bool:
    return isinstance(leaf, EventEnvelope) and isinstance(leaf.body, Moved)


@pytest.mark.parametrize("kind", ["later", "swapped", "not a leaf"])
def test_an_operator_who_signs_another_history_is_found(check, mirror, published, kind):
    leaves = leaves_of(mirror, 1, published)
    at, event = first(leaves, is_move)
    assert isinstance(event, EventEnvelope)
    if kind == "later":
        leaves[at] = encode_event(replace(event, at=event.at + 3_600_000))
    elif kind == "swapped":
        other = next(i for i in range(at + 1, len(leaves)) if is_move(decode_leaf(leaves[i])))
        leaves[at], leaves[other] = leaves[other], leaves[at]
    else:
        leaves[at] = b"?"
    sign_again(mirror, 1, published, leaves)
    code, out, err = check(mirror, published / "earlier" / "s01")
    assert code == 1
    assert "the log example.org/log/s01 is forked: a checkpoint of " in err
    without = check(mirror)
    if kind == "swapped":
        assert "prefix" not in out
    else:
        # without the earlier checkpoint the chain of the match shows it
        assert without[0] == 1
        wanted = "can't be read" if kind == "not a leaf" else "does not hold: event "
        assert wanted in without[2]


def test_a_refusal_of_a_legal_move_is_found_in_a_mirror(check, mirror, published):
    leaves = leaves_of(mirror, 1, published)
    at, event = first(leaves, is_move)
    assert isinstance(event, EventEnvelope)
    assert isinstance(event.body, Moved)
    lie = RefusedLeaf(
        1, event.match, event.at, b"f" * 16, event.actor, "not-your-turn", event.body.move, None
    )
    sign_again(mirror, 1, published, [*leaves[:at], encode_event(lie), *leaves[at:]])
    code, _, err = check(mirror)
    assert code == 1
    assert f"match {event.match} does not hold: " in err
    assert "the rules accept it" in err


# witnesses


def test_cosignatures_are_checked(check, mirror, keys, published):
    witness = str(WITNESS.key)
    code, out, _ = check(mirror, trusted=(keys, witness))
    assert code == 0
    assert f"{WITNESS.key.name} has not cosigned example.org/log/s01" in out
    note = (published / "earlier" / "s01").read_text()
    text = note.partition("\n\n")[0] + "\n"
    (mirror / "s01" / "witnessed").write_text(note + WITNESS.signature(text, 1_800_000_000))
    code, out, _ = check(mirror, trusted=(keys, witness))
    assert code == 0
    assert f"has cosigned example.org/log/s01 at {text.split(chr(10))[1]} leaves" in out
    forged = b64encode(WITNESS.key.id + bytes(72)).decode()
    (mirror / "s01" / "witnessed").write_text(f"{note}\u2014 {WITNESS.key.name} {forged}\n")
    code, _, err = check(mirror, trusted=(keys, witness))
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
            wanted = check(mirror)
            assert check(address) == wanted
            assert check(f"{address}/s01")[:2] == check(mirror / "s01")[:2]
        finally:
            server.shutdown()


def test_what_is_no_mirror_is_said(check, mirror, tmp_path):
    (tmp_path / "empty").mkdir()
    code, _, err = check(tmp_path / "empty")
    assert code == 2
    assert "has no published log" in err
    code, _, err = check(mirror, tmp_path / "nothing")
    assert code == 2
    assert "nothing" in err
    assert check(mirror, trusted=("no key",))[0] == 2


def test_a_missing_bundle_is_named(check, mirror):
    full_bundle(mirror).unlink()
    assert "leaves 0 to 255 can't be read: " in check(mirror)[2]
