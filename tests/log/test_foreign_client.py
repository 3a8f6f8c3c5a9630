"""The published log of a real server, mirrored over HTTP by a client that shares no code with it.

`foreign/mirror.go` uses golang.org/x/mod, the reference implementation of notes and tiles.
"""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from infra.log.key_files import generate_keys, read_keys
from infra.log.log_writer import LogWriter
from infra.log.published_log import PublishedLogs
from infra.objects.location import open_objects
from tests.helpers.api import Api
from workers.log.job import make_publisher

GO_PATH = Path("/usr/share/gocode")
"""Where Debian's packages of Go libraries are."""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        shutil.which("go") is None or not (GO_PATH / "src/golang.org/x/mod/sumdb/tlog").is_dir(),
        reason="Go and golang.org/x/mod are missing: apt install golang-go golang-golang-x-mod-dev",
    ),
]

LEAVES = [b"leaf %d " % index + bytes(index % 90) for index in range(66_000)]
HOST = "play.example.org"


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("go")
    offline = {"GO111MODULE": "off", "GOPATH": str(GO_PATH), "GOPROXY": "off", "GOFLAGS": ""}
    environment = {**os.environ, **offline, "GOCACHE": str(folder / "cache"), "CGO_ENABLED": "0"}
    source = Path(__file__).parent / "foreign" / "mirror.go"
    subprocess.run(["go", "build", "-o", folder / "mirror", source], env=environment, check=True)
    return folder / "mirror"


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with Api(tmp_path_factory.mktemp("api")) as made:
        generate_keys(made.settings.data / "keys", HOST)
        yield made


class Mirror:
    """An auditor's copy of one shard's log."""

    def __init__(self, program: Path, api: Api, shard: int, folder: Path) -> None:
        self.program = program
        self.shard = shard
        self.url = f"{api.url}/log/s{shard:02}/"
        self.key = api.http.get("/log/keys").text.split()[shard]
        self.folder = folder

    def run(self, key: str = "") -> "subprocess.CompletedProcess[str]":
        words = [str(self.program), self.url, key or self.key, str(self.folder)]
        return subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)

    def copied(self) -> str:
        """Copy what is new; return what the program says."""
        done = self.run()
        assert done.returncode == 0, done.stderr
        return done.stdout

    def leaves(self) -> list[bytes]:
        return list(map(bytes.fromhex, (self.folder / "leaves").read_text().split()))


@pytest.fixture
def log(api: Api, program: Path, tmp_path: Path) -> Mirror:
    """The copy of a log of which nothing is published yet."""
    shutil.rmtree(api.settings.data / "log", ignore_errors=True)
    (tmp_path / "copy").mkdir()
    return Mirror(program, api, 1, tmp_path / "copy")


def append(api: Api, *ends: int) -> LogWriter:
    """Publish leaves up to each of these sizes, one checkpoint after the other."""
    signer = read_keys(api.settings.data / "keys").secrets[0].signer(1)
    writer = LogWriter(open_objects(None, api.settings.data), 1, [signer])
    writer.load()
    for end in ends:
        writer.append(LEAVES[writer.size : end])
    return writer


@pytest.mark.long
def test_a_log_is_copied_as_it_grows_and_each_checkpoint_continues_the_last(api, log):
    before = "nothing"
    for size in (1, 255, 256, 257, 700, len(LEAVES)):
        append(api, size)
        assert log.copied() == f"{size} leaves verified, and consistent with {before}\n"
        assert log.leaves() == LEAVES[:size]
        before = f"{size} leaves"


@pytest.mark.long
def test_the_moves_of_real_matches_are_copied(api, log):
    one, other = api.player(), api.player()
    body = {"game": "pow2", "players": [one.name, other.name]}
    boards = [int(one.post("/api/matches", body).json()["board"]) for _ in range(4)]
    (board,) = (board for board in boards if board % 4 == log.shard)
    assert one.move(board, "m13-j7").is_success
    assert one.move(board, "m13-j7").status_code == 409
    data = api.parts.data
    publisher = make_publisher(api.settings, data, data)
    publisher.begin()
    while publisher.round(0):
        pass
    assert "consistent with nothing" in log.copied()
    stored = [leaf for _, leaf in api.parts.store.leaves(1, 0, 1_000)]
    assert log.leaves() == stored
    assert set(api.parts.store.events(board)) < set(stored)
    published = PublishedLogs(api.settings).of(1)
    assert published.refresh() == len(stored)


def test_another_key_a_changed_leaf_a_fork_and_a_shorter_log_are_found(api, log):
    published = api.settings.data / "log"
    append(api, 300)
    log.copied()

    def refused(why: str, key: str = "") -> None:
        done = log.run(key)
        assert (done.returncode, why in done.stderr) == (1, True), done.stderr

    refused("no verifiable signatures", api.http.get("/log/keys").text.split()[2])
    append(api, 700)
    bundle = published / "s01" / "tile" / "entries" / "001"
    bundle.chmod(0o600)
    bundle.write_bytes(bundle.read_bytes().replace(b"leaf 511 ", b"leaf 512 "))
    refused("leaf 511")
    shutil.rmtree(published)
    append(api, 200)
    refused("the log has become shorter than 300 leaves")
    shutil.rmtree(published)
    first, LEAVES[0] = LEAVES[0], b"another history"
    try:
        append(api, 400)
    finally:
        LEAVES[0] = first
    refused("the log contradicts its earlier checkpoint")
