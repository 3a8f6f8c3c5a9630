"""The published log over HTTP, mirrored as an auditor would do it."""

from pathlib import Path

import httpx
import pytest

from infra.log.key_files import generate_keys, read_keys
from infra.log.log_writer import LogWriter
from infra.log.published_log import PublishedLog
from infra.log.signed_note import SignatureType, Signer, VerifierKey
from infra.objects.location import open_objects
from infra.objects.port import ObjectNotFoundError
from services.http.web.render import HEADERS
from tests.fakes.memory_store import MemoryObjects
from tests.helpers.api import Api

LEAVES = [b"leaf %d" % index for index in range(700)]


class HttpObjects(MemoryObjects):
    """Reads a server's published log: an object store of which only `get` is used."""

    def __init__(self, http: httpx.Client) -> None:
        super().__init__()
        self._http = http

    def get(self, name: str) -> bytes:
        answer = self._http.get(f"/log/{name}")
        if answer.status_code == 404:
            raise ObjectNotFoundError(name)
        answer.raise_for_status()
        return answer.content


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory):
    folder: Path = tmp_path_factory.mktemp("api")
    with Api(folder) as made:
        generate_keys(made.settings.data / "keys", "play.example.org")
        signer = read_keys(made.settings.data / "keys").secrets[0].signer(1)
        writer = LogWriter(open_objects(None, made.settings.data), 1, [signer])
        writer.load()
        writer.append(LEAVES)
        yield made


def test_an_auditor_copies_and_verifies_the_log_by_its_public_key_alone(api):
    lines = api.http.get("/log/keys").text.split()
    assert len(lines) == 4
    key = VerifierKey.parse(lines[1])
    assert key.name == "play.example.org/log/s01"
    log = PublishedLog(HttpObjects(api.http), 1, [key])
    assert log.refresh() == 700
    assert list(log.leaves(0, 700)) == LEAVES


def test_checkpoints_are_fresh_and_tiles_never_change(api):
    def cached(path: str) -> str:
        answer = api.http.get(f"/log/s01/{path}")
        assert answer.status_code == 200
        return str(answer.headers["cache-control"])

    assert cached("checkpoint") == "public, max-age=1"
    for path in ("tile/0/000", "tile/0/002.p/188", "tile/1/000.p/2", "tile/entries/001"):
        assert cached(path).endswith("immutable")


@pytest.mark.parametrize(
    "path",
    [
        "s01/tile/0/001x", "s01/tile/0/003", "s01/tile/9/000", "s01/tile/0/000.p/0", "s01/nothing",
        "s01/boards/000", "s02/checkpoint", "keys/log-key", "s1/checkpoint",
        "s01/%2e%2e/%2e%2e/keys/log-key", "s01/tile/0/..%2f..%2f..%2f..%2fkeys%2flog-key", "s01/",
        "s01/tile/0/000%00",
    ],
)  # fmt: skip
def test_nothing_else_is_served(api, path):
    answer = api.http.get(f"/log/{path}")
    assert answer.status_code == 404
    assert b"PRIVATE" not in answer.content


def test_the_page_shows_the_latest_checkpoints(api):
    answer = api.http.get("/log")
    assert answer.headers["content-security-policy"] == HEADERS["Content-Security-Policy"]
    page = answer.text
    assert "play.example.org/log/s01\n700\n" in page
    assert "<dt>Entries</dt><dd>700</dd>" in page
    assert "cosigned by" not in page
    log = open_objects(None, api.settings.data)
    note = log.get("s01/checkpoint").decode()
    line = Signer("w1.example.org", bytes(32), SignatureType.COSIGNATURE).signature(note, 1)
    log.replace("s01/witnessed", (note + line).encode(), None)
    said = "The first 700 entries are cosigned by w1.example.org."
    assert said in api.http.get("/log").text
