"""`matchpost witness` as an operator runs it, against a real server and its publisher."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from infra.log.checkpoint import open_checkpoint
from infra.log.key_files import generate_keys, read_keys
from infra.log.log_writer import LogWriter
from infra.log.signed_note import VerifierKey
from infra.objects.location import open_objects
from services.doctor.facts import gather
from services.doctor.published_log import check_witnesses
from tests.helpers.api import Api
from workers.log.job import make_witnessing

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


def witness(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *words], capture_output=True, text=True, timeout=60, check=False
    )


def forge(api: Api, shard: int, count: int) -> None:
    """Publish another history under the same keys."""
    log = api.settings.data / "log" / f"s{shard:02}"
    log.rename(log.with_name(f"old{shard}"))
    publish(api, shard, count, b"forged")


@pytest.mark.long
def test_a_follower_notices_a_fork(api: Api, tmp_path: Path):
    words = ("--name", "friend", "--folder", str(tmp_path / "w"), "--follow", api.url, "--once")
    publish(api, 1, 300)
    first = witness(*words)
    assert first.returncode == 0, first.stderr
    assert first.stdout.startswith("witness friend+")
    assert "cosigned: 4 logs of 4, with 300 leaves" in first.stderr
    publish(api, 1, 300)
    assert witness(*words).returncode == 0
    forge(api, 1, 700)
    last = witness(*words)
    assert last.returncode == 1
    assert (
        f"ALARM: it is not proved that {HOST}/log/s01 with 700 leaves begins with the 600 that were "
        "cosigned" in last.stderr
    )


@pytest.mark.long
def test_the_publisher_asks_a_witness_that_is_killed_and_comes_back(api: Api, tmp_path: Path):
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


def test_what_is_missing_is_said(tmp_path: Path):
    folder = ("--name", "w", "--folder", str(tmp_path))
    nothing = witness(*folder)
    assert nothing.returncode == 2
    assert "use --http ADDRESS to answer a server, --follow URL" in nothing.stderr
    no_keys = witness(*folder, "--http", "127.0.0.1:0")
    assert no_keys.returncode == 2
    assert "use --keys to say which logs to cosign" in no_keys.stderr
    (tmp_path / "keys").write_text("nonsense")
    bad_keys = witness(*folder, "--http", "127.0.0.1:0", "--keys", str(tmp_path / "keys"))
    assert bad_keys.returncode == 2
    assert "has no keys of logs" in bad_keys.stderr
