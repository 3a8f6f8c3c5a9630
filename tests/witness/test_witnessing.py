"""The publisher's side: checkpoints are sent to witnesses, and a witness follows a server by itself."""

import gzip
import logging
import threading
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import httpx
import pytest
from litestar.testing import TestClient

from infra.log.checkpoint import open_checkpoint
from infra.log.log_writer import LogWriter
from infra.log.published_log import PublishedLog
from infra.log.signed_note import Signer, VerifierKey
from infra.objects.http import HttpObjects
from infra.objects.port import ObjectNotFoundError, ObjectStoreError
from infra.witness.follower import (
    LogFollower,
    WitnessAddress,
    WitnessClient,
    WitnessError,
    read_witnesses,
)
from infra.witness.witness import Witness
from services.witness.app import make_witness_app
from tests.fakes.memory_store import MemoryObjects
from workers.log.witnessing import Witnessing

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

    def cosigned_size(self, shard: int, witness: Witness) -> int:
        note = self.objects.get(f"s0{shard}/witnessed")
        origin = SIGNERS[shard].key.name
        assert open_checkpoint(note, origin, [SIGNERS[shard].key]).size
        return open_checkpoint(note, origin, [witness.key]).size


@pytest.fixture
def server() -> Server:
    return Server()


@pytest.fixture
def witness(tmp_path: Path):
    made = Witness.open(tmp_path / "w", "w1.example.org", [one.key for one in SIGNERS])
    yield made
    made.close()


@pytest.fixture
def asked(server: Server, witness: Witness, monkeypatch: pytest.MonkeyPatch):
    """The server's witness, which answers over HTTP."""
    with TestClient(make_witness_app(witness)) as http:
        address = WitnessAddress(witness.key, URL)
        server.addresses.append(address)
        monkeypatch.setattr(
            server.witnessing, "_client", lambda address: WitnessClient(address, http)
        )
        yield address


@pytest.mark.usefixtures("asked")
def test_all_new_checkpoints_are_cosigned_and_kept(server: Server, witness: Witness):
    server.publish(0, 300)
    server.publish(1, 5)
    assert server.witnessing.round() == 2
    assert server.cosigned_size(0, witness) == 300
    assert server.witnessing.round() == 0
    server.publish(0, 700)
    assert server.witnessing.round() == 1
    assert server.cosigned_size(0, witness) == 1000
    assert server.cosigned_size(1, witness) == 5


@pytest.mark.usefixtures("asked")
def test_a_log_that_was_rewritten_is_not_cosigned_and_raises_an_alarm(
    server: Server, witness: Witness, caplog: pytest.LogCaptureFixture
):
    server.publish(0, 300)
    server.publish(1, 5)
    server.witnessing.round()
    for name in list(server.objects.found):
        if name.startswith("s00/") and not name.endswith("witnessed"):
            del server.objects.found[name]
    server.publish(0, 400, b"forged")
    with caplog.at_level(logging.ERROR):
        assert server.witnessing.round() == 0
        assert server.witnessing.round() == 0
    (said,) = [one.message for one in caplog.records if one.name.startswith("workers")]
    assert said == (
        "ALARM: the witness w1.example.org has cosigned a history of play.example.org/log/s00 that this "
        "one does not continue; nobody who trusts it accepts this log"
    )
    assert server.cosigned_size(0, witness) == 300
    server.publish(1, 5)
    assert server.witnessing.round() == 1


def test_a_witness_that_is_away_holds_up_nothing(
    server: Server, witness: Witness, caplog: pytest.LogCaptureFixture
):
    server.addresses.append(WitnessAddress(witness.key, "http://127.0.0.1:9"))
    server.publish(0, 3)
    with caplog.at_level(logging.WARNING):
        assert server.witnessing.round() == 0
        assert server.witnessing.round() == 0
    said = [one.message for one in caplog.records if "s00" in one.message or "can't" in one.message]
    assert said
    assert all("the witness w1.example.org can't be reached" in one for one in said)
    assert len(said) == 2  # each log once


def test_an_answer_by_another_key_is_not_taken(server: Server, witness: Witness):
    other = Signer("w1.example.org", bytes(32))
    imposter = WitnessAddress(
        VerifierKey("w1.example.org", other.key.public, witness.key.type), URL
    )
    server.publish(0, 3)
    with TestClient(make_witness_app(witness)) as http:
        server.addresses.append(imposter)
        server.witnessing._client = lambda address: WitnessClient(address, http)
        assert server.witnessing.round() == 0
    assert "s00/witnessed" not in server.objects.found


def test_the_file_of_witnesses(tmp_path: Path, witness: Witness):
    assert read_witnesses(tmp_path) == []
    (tmp_path / "witnesses").write_text(f"# of friends\n\n{witness.key} https://w.example.org/\n")
    assert read_witnesses(tmp_path) == [WitnessAddress(witness.key, "https://w.example.org")]
    for wrong in (f"{witness.key}", f"{SIGNERS[0].key} https://x.org", "what https://x.org"):
        (tmp_path / "witnesses").write_text(wrong)
        with pytest.raises(ValueError, match=r"key|address"):
            read_witnesses(tmp_path)


def test_a_follower_proves_by_tiles_that_each_log_continues(server: Server, witness: Witness):
    follower = LogFollower(witness, server.objects, [one.key for one in SIGNERS])
    for more in (0, 1, 300, 0, 900):
        server.publish(0, more)
        assert [one.fault for one in follower.look()] == ["", ""]
    kept = witness.cosigned(SIGNERS[0].key.name)
    assert kept is not None
    assert kept.checkpoint.size == 1201


def test_a_follower_notices_a_rewritten_and_a_shortened_log(server: Server, witness: Witness):
    follower = LogFollower(witness, server.objects, [one.key for one in SIGNERS])
    server.publish(0, 300)
    server.publish(1, 300)
    follower.look()
    for name in list(server.objects.found):
        del server.objects.found[name]
    server.publish(0, 300, b"forged")
    server.publish(1, 200)
    first, second = follower.look()
    assert first.forked
    assert (
        first.fault == "play.example.org/log/s00 has signed two roots for 300 leaves: it has forked"
    )
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


def test_no_more_is_read_of_a_hostile_server_than_an_object_can_have(hostile: str):
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


def test_no_more_is_read_of_a_hostile_witness_than_a_cosignature_can_have(
    hostile: str, witness: Witness
):
    client = WitnessClient(WitnessAddress(witness.key, hostile))
    with pytest.raises(WitnessError, match="the answer has more than 16384 bytes"):
        client.cosign("x", 1, "note", lambda _: [])
    client.close()
