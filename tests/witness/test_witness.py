"""A witness: what it cosigns, what it refuses and remembers; those who ask it, and the command."""

import gzip
import logging
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import httpx
import pytest
from litestar.testing import TestClient

from infra.log import merkle
from infra.log.checkpoint import LogCheckpoint, open_checkpoint
from infra.log.key_files import generate_keys, read_keys
from infra.log.log_writer import LogWriter
from infra.log.published_log import PublishedLog
from infra.log.signed_note import NoteError, Signer, VerifierKey, open_note
from infra.log.tiles import fold_pairs
from infra.objects.http import HttpObjects
from infra.objects.location import open_objects
from infra.objects.port import ObjectNotFoundError, ObjectStoreError
from infra.witness.follower import LogFollower, WitnessClient, WitnessError
from infra.witness.witness import (
    CosignRefusedError,
    CosignRequest,
    Refused,
    Witness,
    WitnessFolderError,
    log_id,
)
from infra.witness.witnesses import WitnessAddress, read_witnesses
from services.doctor.facts import gather
from services.doctor.published_log import check_witnesses
from services.witness.app import make_witness_app
from tests.fakes.memory_store import MemoryObjects
from tests.helpers.api import Api
from tests.helpers.forked import run_command
from workers.log.job import make_witnessing
from workers.log.witnessing import Witnessing

ORIGIN = "play.example.org/log/s00"
LOG = Signer(ORIGIN, bytes(range(32)))
STRANGER = Signer(ORIGIN, bytes(32))
NAME = "witness.example.org/w1"


class Tree:
    """A log in memory."""

    def __init__(self, leaves: list[bytes]) -> None:
        self.hashes = [merkle.leaf_hash(leaf) for leaf in leaves]

    def node(self, level: int, number: int) -> bytes:
        return fold_pairs(self.hashes[number << level : (number + 1) << level])

    def note(self, size: int, signer: Signer = LOG, origin: str = ORIGIN) -> str:
        root = merkle.root(size, self.node) if size else merkle.EMPTY_ROOT
        return LogCheckpoint(origin, size, root).sign([signer])

    def request(self, old: int, size: int, signer: Signer = LOG) -> CosignRequest:
        proof = merkle.consistency_proof(old, size, self.node) if 0 < old < size else []
        return CosignRequest(old, tuple(proof), self.note(size, signer))


TREE = Tree([b"leaf %d" % n for n in range(40)])
FORK = Tree([b"leaf %d" % n if n != 3 else b"another" for n in range(40)])
ELSE = Signer("else.example/log/s00", bytes(32))
OF_ANOTHER_LOG = CosignRequest(0, (), TREE.note(5, ELSE, ELSE.key.name))


@pytest.fixture
def witness(tmp_path: Path):
    made = Witness.open(tmp_path / "w", NAME, [LOG.key])
    yield made
    made.close()


def refusal(witness: Witness, request: CosignRequest) -> CosignRefusedError:
    with pytest.raises(CosignRefusedError) as refused:
        witness.cosign(request)
    return refused.value


def test_each_checkpoint_that_continues_is_cosigned_and_kept(witness):
    old = 0
    for size in (0, 1, 2, 7, 7, 8, 23, 40):
        request = TREE.request(old, size)
        line = witness.cosign(request)
        kept = witness.cosigned(ORIGIN)
        assert kept is not None
        assert kept.note == request.checkpoint + line
        assert kept.checkpoint.size == old + (size - old) == size
        assert open_note(request.checkpoint + line, [witness.key]).startswith(ORIGIN)
        old = size


def test_a_fork_is_refused_and_kept_as_a_proof(witness, tmp_path):
    witness.cosign(TREE.request(0, 20))
    before = witness.cosigned(ORIGIN)
    same = refusal(witness, FORK.request(0, 20))
    assert (same.why, same.size, same.forked) == (Refused.OTHER_SIZE, 20, True)
    assert str(same) == f"{ORIGIN} has signed two roots for 20 leaves: it has forked"
    longer = refusal(witness, FORK.request(20, 33))
    assert longer.why is Refused.NOT_CONSISTENT
    assert witness.cosigned(ORIGIN) == before
    for folder, size in (("forks", 20), ("unproved", 33)):
        kept = [file.read_text() for file in (tmp_path / "w" / folder).iterdir()]
        assert kept == [FORK.note(size)]


def junk(old: int, note: str) -> CosignRequest:
    """A request with a proof that proves nothing."""
    return CosignRequest(old, (bytes(32),), note)


def test_wrong_proofs_of_a_stranger_leave_room_for_a_real_fork(witness, tmp_path):
    for size in range(1, 40):
        witness.cosign(TREE.request(size - 1, size))
        longer = Tree([b"leaf %d" % n for n in range(40 + size)])
        # the first is the one that was just cosigned
        for note in (TREE.note(size), TREE.note(40), longer.note(40 + size)):
            assert refusal(witness, junk(size, note)).why is Refused.NOT_CONSISTENT
    assert not (tmp_path / "w" / "forks").exists()
    assert len([*(tmp_path / "w" / "unproved").iterdir()]) == 16
    assert refusal(witness, FORK.request(39, 39)).forked
    (proof,) = (tmp_path / "w" / "forks").iterdir()
    assert proof.read_text() == FORK.note(39)


def test_a_network_that_asks_too_often_is_refused(witness):
    with TestClient(make_witness_app(witness)) as http:
        found = [http.post("/add-checkpoint", content=b"junk").status_code for _ in range(240)]
    # what was spent comes back at two a second
    assert set(found[:120]) == {400}
    assert 429 in found[120:]


def test_another_old_size_and_a_shorter_log_are_refused(witness):
    witness.cosign(TREE.request(0, 20))
    for old in (0, 5, 19, 21, 30):
        refused = refusal(witness, TREE.request(old, 30))
        assert (refused.why, refused.size, refused.forked) == (Refused.OTHER_SIZE, 20, False)
    assert refusal(witness, TREE.request(0, 10)).why is Refused.OTHER_SIZE
    assert refusal(witness, CosignRequest(20, (), TREE.note(10))).why is Refused.MALFORMED


def test_a_wrong_proof_is_refused(witness):
    assert refusal(witness, junk(0, TREE.note(5))).why is Refused.NOT_CONSISTENT
    witness.cosign(TREE.request(0, 20))
    good = TREE.request(20, 33)
    for proof in (
        good.proof[1:], good.proof[:-1], good.proof[::-1], (*good.proof, bytes(32)), (bytes(32), *good.proof[1:]),
    ):  # fmt: skip
        refused = refusal(witness, CosignRequest(20, proof, good.checkpoint))
        assert refused.why is Refused.NOT_CONSISTENT
    witness.cosign(good)


def test_strangers_are_refused_and_leave_nothing(witness, tmp_path):
    assert refusal(witness, TREE.request(0, 5, STRANGER)).why is Refused.NOT_SIGNED
    assert refusal(witness, OF_ANOTHER_LOG).why is Refused.UNKNOWN_LOG
    folder = tmp_path / "w"
    assert sorted(file.name for file in folder.iterdir()) == ["lock", "witness-key", "witness-key.pub"]  # fmt: skip
    assert (folder / "witness-key").stat().st_mode & 0o077 == 0, "the key is for nobody else"


def test_it_remembers_after_a_restart_and_one_process_has_the_folder(tmp_path):
    first = Witness.open(tmp_path, NAME, [LOG.key])
    first.cosign(TREE.request(0, 20))
    with pytest.raises(WitnessFolderError, match="another witness works with"):
        Witness.open(tmp_path, NAME, [LOG.key])
    first.close()
    with pytest.raises(WitnessFolderError, match=f"is the key of {NAME}, not of other"):
        Witness.open(tmp_path, "other", [LOG.key])
    again = Witness.open(tmp_path, NAME, [LOG.key])
    assert again.key == first.key
    assert refusal(again, FORK.request(0, 20)).forked
    again.cosign(TREE.request(20, 21))
    again.close()


def test_a_damaged_memory_cosigns_nothing(witness, tmp_path):
    witness.cosign(TREE.request(0, 20))
    file = tmp_path / "w" / "logs" / log_id(ORIGIN)
    file.write_text(file.read_text().replace("20", "19", 1))
    with pytest.raises(WitnessFolderError, match="is damaged"):
        witness.cosign(TREE.request(19, 30))


def test_of_two_that_ask_at_once_nobody_rolls_the_other_back(witness):
    witness.cosign(TREE.request(0, 4))

    def ask(size: int) -> int | Refused:
        try:
            witness.cosign(TREE.request(4, size))
        except CosignRefusedError as error:
            return error.why
        return size

    with ThreadPoolExecutor(20) as pool:
        found = [*pool.map(ask, range(5, 25))]
    kept = witness.cosigned(ORIGIN)
    assert kept is not None
    assert found.count(Refused.OTHER_SIZE) == 19
    assert kept.checkpoint.size in found


def test_malformed_requests_have_a_sentence(witness):
    note = TREE.note(3).encode()
    with TestClient(make_witness_app(witness)) as http:
        for body in (
            b"", b"old 0\n", b"\xff\n\nx", b"old 01\n\n" + note, b"old -1\n\n" + note, b"new 0\n\n" + note,
            b"old 0\nAAAA\n\n" + note, b"old 0\n" + (b"A" * 43 + b"=\n") * 64 + b"\n" + note, b"old 0\n\nno checkpoint",
        ):  # fmt: skip
            with pytest.raises(NoteError):
                CosignRequest.parse(body)
            answer = http.post("/add-checkpoint", content=body)
            assert (answer.status_code, len(answer.text) > 20) == (400, True), body


def test_over_http_as_the_specification_says(witness):
    with TestClient(make_witness_app(witness)) as http:

        def ask(request: CosignRequest) -> tuple[int, str, str]:
            answer = http.post("/add-checkpoint", content=str(request).encode())
            return answer.status_code, answer.headers["content-type"].split(";")[0], answer.text

        status, _, line = ask(TREE.request(0, 20))
        assert status == 200
        assert line.startswith(f"— {NAME} ")
        assert line.endswith("\n")
        assert ask(TREE.request(10, 30)) == (409, "text/x.tlog.size", "20\n")
        assert ask(FORK.request(20, 20)) == (409, "text/x.tlog.size", "20\n")
        assert ask(FORK.request(20, 30))[0] == 422
        assert ask(TREE.request(0, 5, STRANGER))[0] == 403
        assert ask(OF_ANOTHER_LOG)[0] == 404
        shown = http.get("/").text.splitlines()
        assert shown[0] == f"witness {witness.key}"
        origin, size, path = shown[1].split()
        assert (origin, size) == (ORIGIN, "20")
        kept = http.get(path).text
        assert kept == TREE.note(20) + line
        assert http.get("/logs/else").status_code == 404
        assert http.post("/add-checkpoint", content=b"x" * 70_000).status_code in (400, 413)


SIGNERS = [Signer(f"play.example.org/log/s0{shard}", bytes([shard] * 32)) for shard in (0, 1)]
URL = "http://testserver.local"


class Server:
    """Two published logs, and what asks the witnesses for them."""

    def __init__(self) -> None:
        self.objects = MemoryObjects()
        self.addresses: list[WitnessAddress] = []
        self.publish(0, 0)
        self.publish(1, 0)
        self.witnessing = Witnessing(self.objects, self.log, lambda: 2, lambda: self.addresses)

    def log(self, shard: int) -> PublishedLog:
        return PublishedLog(self.objects, shard, [SIGNERS[shard].key])

    def publish(self, shard: int, count: int, text: bytes = b"leaf") -> None:
        writer = LogWriter(self.objects, shard, [SIGNERS[shard]])
        writer.load()
        writer.append([b"%b %d" % (text, writer.size + n) for n in range(count)])

    def forget(self, shard: str) -> None:
        """Unpublish the log of a shard, but for what its witnesses have cosigned."""
        for name in list(self.objects.found):
            if name.startswith(shard) and not name.endswith("witnessed"):
                del self.objects.found[name]

    def cosigned_size(self, shard: int, w1: Witness) -> int:
        note = self.objects.get(f"s0{shard}/witnessed")
        origin = SIGNERS[shard].key.name
        assert open_checkpoint(note, origin, [SIGNERS[shard].key]).size
        return open_checkpoint(note, origin, [w1.key]).size


@pytest.fixture
def server() -> Server:
    return Server()


@pytest.fixture
def w1(tmp_path: Path):
    made = Witness.open(tmp_path / "w", "w1.example.org", [one.key for one in SIGNERS])
    yield made
    made.close()


@pytest.fixture
def asked(server: Server, w1: Witness, monkeypatch: pytest.MonkeyPatch):
    """The server's witness, which answers over HTTP."""
    with TestClient(make_witness_app(w1)) as http:
        address = WitnessAddress(w1.key, URL)
        server.addresses.append(address)
        monkeypatch.setattr(
            server.witnessing, "_client", lambda address: WitnessClient(address, http)
        )
        yield address


@pytest.mark.usefixtures("asked")
def test_all_new_checkpoints_are_cosigned_and_kept(server, w1):
    server.publish(0, 300)
    server.publish(1, 5)
    assert server.witnessing.round() == 2
    assert server.cosigned_size(0, w1) == 300
    assert server.witnessing.round() == 0
    server.publish(0, 700)
    assert server.witnessing.round() == 1
    assert server.cosigned_size(0, w1) == 1000
    assert server.cosigned_size(1, w1) == 5


@pytest.mark.usefixtures("asked")
def test_a_log_that_was_rewritten_is_not_cosigned_and_raises_an_alarm(server, w1, caplog):
    server.publish(0, 300)
    server.publish(1, 5)
    server.witnessing.round()
    server.forget("s00/")
    server.publish(0, 400, b"forged")
    with caplog.at_level(logging.ERROR):
        assert server.witnessing.round() == 0
        assert server.witnessing.round() == 0
    (said,) = [one.message for one in caplog.records if one.name.startswith("workers")]
    assert said == (
        "ALARM: the witness w1.example.org has cosigned a history of play.example.org/log/s00 that this "
        "one does not continue; nobody who trusts it accepts this log"
    )
    assert server.cosigned_size(0, w1) == 300
    server.publish(1, 5)
    assert server.witnessing.round() == 1


def test_a_witness_that_is_away_holds_up_nothing(server, w1, caplog):
    server.addresses.append(WitnessAddress(w1.key, "http://127.0.0.1:9"))
    server.publish(0, 3)
    with caplog.at_level(logging.WARNING):
        assert server.witnessing.round() == 0
        assert server.witnessing.round() == 0
    said = [one.message for one in caplog.records if "s00" in one.message or "can't" in one.message]
    assert said
    assert all("the witness w1.example.org can't be reached" in one for one in said)
    assert len(said) == 2  # each log once


def test_an_answer_by_another_key_is_not_taken(server, w1):
    other = Signer("w1.example.org", bytes(32))
    imposter = WitnessAddress(VerifierKey("w1.example.org", other.key.public, w1.key.type), URL)
    server.publish(0, 3)
    with TestClient(make_witness_app(w1)) as http:
        server.addresses.append(imposter)
        server.witnessing._client = lambda address: WitnessClient(address, http)
        assert server.witnessing.round() == 0
    assert "s00/witnessed" not in server.objects.found


def test_the_file_of_witnesses(tmp_path, w1):
    assert read_witnesses(tmp_path) == []
    (tmp_path / "witnesses").write_text(f"# of friends\n\n{w1.key} https://w.example.org/\n")
    assert read_witnesses(tmp_path) == [WitnessAddress(w1.key, "https://w.example.org")]
    for wrong in (f"{w1.key}", f"{SIGNERS[0].key} https://x.org", "what https://x.org"):
        (tmp_path / "witnesses").write_text(wrong)
        with pytest.raises(ValueError, match=r"key|address"):
            read_witnesses(tmp_path)


def test_a_follower_proves_by_tiles_that_each_log_continues(server, w1):
    follower = LogFollower(w1, server.objects, [one.key for one in SIGNERS])
    for more in (0, 1, 300, 0, 900):
        server.publish(0, more)
        assert [one.fault for one in follower.look()] == ["", ""]
    kept = w1.cosigned(SIGNERS[0].key.name)
    assert kept is not None
    assert kept.checkpoint.size == 1201


def test_a_follower_notices_a_rewritten_and_a_shortened_log(server, w1):
    follower = LogFollower(w1, server.objects, [one.key for one in SIGNERS])
    server.publish(0, 300)
    server.publish(1, 300)
    follower.look()
    server.objects.found.clear()
    server.publish(0, 300, b"forged")
    server.publish(1, 200)
    first, second = follower.look()
    assert first.forked
    forked = "play.example.org/log/s00 has signed two roots for 300 leaves: it has forked"
    assert first.fault == forked
    assert second.forked
    assert second.fault.endswith("shows 200 leaves, and 300 were cosigned: it was rolled back")
    server.publish(0, 100, b"forged")
    assert follower.look()[0].forked
    server.objects.found.clear()
    assert [one.forked for one in follower.look()] == [True, True]


def test_objects_over_http():
    def answer(request: httpx.Request) -> httpx.Response:
        status = {"/log/s00/checkpoint": 200, "/log/s00/broken": 500}.get(request.url.path, 404)
        return httpx.Response(status, stream=httpx.ByteStream(b"0123456789"))

    http = httpx.Client(transport=httpx.MockTransport(answer))
    objects = HttpObjects("http://x.org/log/", http)
    assert objects.get("s00/checkpoint") == b"0123456789"
    assert objects.get_range("s00/checkpoint", 2, 3) == b"234"
    with pytest.raises(ObjectNotFoundError):
        objects.get("s00/other")
    with pytest.raises(ObjectStoreError, match="the answer is 500"):
        objects.get("s00/broken")
    with pytest.raises(ObjectStoreError, match="can only be read"):
        objects.create("s00/x", b"")
    with pytest.raises(ValueError, match="can't have the name"):
        objects.get("../x")


class Hostile(BaseHTTPRequestHandler):
    """A server that answers with more than was asked for; it counts what it sent."""

    sent: ClassVar[list[int]] = []

    def do_GET(self) -> None:
        self.send_response(302 if "moved" in self.path else 200)
        if "moved" in self.path:
            self.send_header("Location", f"http://localhost:{self.server.server_port}/log/s00/x")
        if "packed" in self.path:
            self.send_header("Content-Encoding", "gzip")
        self.end_headers()
        self.sent.append(0)
        with suppress(OSError):
            for _ in range(0 if "moved" in self.path else 512):
                self.sent[-1] += self.wfile.write(gzip.compress(bytes(1 << 17), 0))

    do_POST = do_GET  # noqa: N815 - the library's name

    def log_message(self, *_: object) -> None:
        """Keep quiet."""


@pytest.fixture
def hostile() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Hostile) as served:
        threading.Thread(target=served.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{served.server_port}/log"
        served.shutdown()


def test_no_more_is_read_of_a_hostile_server_than_an_object_can_have(hostile):
    objects = HttpObjects(hostile)
    for name, why in (
        ("s00/checkpoint", "the answer has more than 1048576 bytes"),
        ("s00/tile/entries/000", "the answer has more than 16777216 bytes"),
        ("s00/packed", "the answer is compressed"),
        ("s00/moved", "it leads to another host, localhost"),
    ):
        with pytest.raises(ObjectStoreError, match=why):
            objects.get(name)
        assert Hostile.sent[-1] < 40 << 20


def test_no_more_is_read_of_a_hostile_witness_than_a_cosignature_can_have(hostile, w1):
    client = WitnessClient(WitnessAddress(w1.key, hostile))
    with pytest.raises(WitnessError, match="the answer has more than 16384 bytes"):
        client.cosign("x", 1, "note", lambda _: [])
    client.close()


HOST = "play.example.org"
COMMAND = [str(Path(sys.executable).with_name("matchpost")), "witness"]


@pytest.fixture
def api(tmp_path: Path):
    with Api(tmp_path / "server") as made:
        generate_keys(made.settings.data / "keys", HOST)
        for shard in range(4):
            publish(made, shard, 0)
        yield made


def publish(api: Api, shard: int, count: int, text: bytes = b"leaf") -> None:
    signer = read_keys(api.settings.data / "keys").secrets[0].signer(shard)
    writer = LogWriter(open_objects(None, api.settings.data), shard, [signer])
    writer.load()
    writer.append([b"%b %d" % (text, writer.size + n) for n in range(count)])


@pytest.mark.long
def test_the_command_follows_a_server_and_notices_a_fork(api, tmp_path):
    folder = str(tmp_path / "w")
    words = ["witness", "--name", "friend", "--folder", folder, "--follow", api.url, "--once"]
    for size in (300, 600):
        publish(api, 1, 300)
        done = run_command(words, os.environ)
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith("witness friend+")
        assert f"cosigned: 4 logs of 4, with {size} leaves" in done.stderr
    log = api.settings.data / "log" / "s01"
    log.rename(log.with_name("old1"))
    publish(api, 1, 700, b"forged")
    done = run_command(words, os.environ)
    assert done.returncode == 1
    said = f"ALARM: it is not proved that {HOST}/log/s01 with 700 leaves begins with the 600 that"
    assert f"{said} were cosigned" in done.stderr


@pytest.mark.long
def test_the_publisher_asks_a_witness_that_is_killed_and_comes_back(api, tmp_path):
    words = [
        *COMMAND, "--name", "w1.example.org", "--folder", str(tmp_path / "w"),
        "--keys", f"{api.url}/log/keys", "--http",
    ]  # fmt: skip
    with started([*words, "127.0.0.1:0"]) as url:
        key = (tmp_path / "w" / "witness-key.pub").read_text().strip()
        (api.settings.data / "keys" / "witnesses").write_text(f"{key} {url}\n")
        publish(api, 2, 40)
        witnessing = make_witnessing(api.settings, api.parts.data)
        assert witnessing.round() == 4
    publish(api, 2, 40)
    assert witnessing.round() == 0
    with started([*words, url.removeprefix("http://")]):
        assert witnessing.round() == 1
    witnessing.close()
    note = httpx.get(f"{api.url}/log/s02/witnessed").text
    assert open_checkpoint(note, f"{HOST}/log/s02", [VerifierKey.parse(key)]).size == 80
    (report,) = check_witnesses(gather(api.settings))
    assert "w1.example.org has cosigned 80 of" in str(report)


@contextmanager
def started(words: list[str]) -> Iterator[str]:
    """Run a witness until it is killed, and yield its address."""
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        try:
            assert process.stdout is not None
            lines = iter(process.stdout)
            yield next(line.split()[-1] for line in lines if line.startswith("listening on "))
        finally:
            process.kill()


def test_what_is_missing_is_said(tmp_path):
    folder = ("witness", "--name", "w", "--folder", str(tmp_path))
    (tmp_path / "keys").write_text("nonsense")
    for words, said in (
        ((), "use --http ADDRESS to answer a server, --follow URL"),
        (("--http", "127.0.0.1:0"), "use --keys to say which logs to cosign"),
        (("--http", "127.0.0.1:0", "--keys", str(tmp_path / "keys")), "has no keys of logs"),
    ):
        done = run_command([*folder, *words], os.environ)
        assert (done.returncode, said in done.stderr) == (2, True)
