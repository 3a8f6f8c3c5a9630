"""The published log over HTTP, mirrored as an auditor would do it; also that of a server for members alone."""

from pathlib import Path

import httpx
import pytest

from infra.log.key_files import generate_keys, read_keys
from infra.log.log_writer import LogWriter
from infra.log.published_log import PublishedLog
from infra.log.signed_note import SignatureType, Signer, VerifierKey
from infra.objects.http import HttpObjects
from infra.objects.location import open_objects
from services.http.web.render import HEADERS
from tests.helpers.api import PASSWORD, Api
from tests.helpers.served import Served, until

LEAVES = [b"leaf %d" % index for index in range(700)]


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
    log = PublishedLog(HttpObjects(f"{api.url}/log"), 1, [key])
    assert log.refresh() == 700
    assert list(log.leaves(0, 700)) == LEAVES


def test_checkpoints_are_fresh_tiles_never_change_and_nothing_else_is_served(api):
    cached = {}
    for path in ("checkpoint", "tile/0/000", "tile/0/002.p/188", "tile/1/000.p/2", "tile/entries/001"):  # fmt: skip
        answer = api.http.get(f"/log/s01/{path}")
        assert answer.status_code == 200
        cached[path] = answer.headers["cache-control"]
    assert cached.pop("checkpoint") == "public, max-age=1"
    assert all(one.endswith("immutable") for one in cached.values())
    for path in (
        "s01/tile/0/001x", "s01/tile/0/003", "s01/tile/9/000", "s01/tile/0/000.p/0", "s01/nothing",
        "s01/boards/000", "s02/checkpoint", "keys/log-key", "s1/checkpoint",
        "s01/%2e%2e/%2e%2e/keys/log-key", "s01/tile/0/..%2f..%2f..%2f..%2fkeys%2flog-key", "s01/",
        "s01/tile/0/000%00",
    ):  # fmt: skip
        answer = api.http.get(f"/log/{path}")
        assert (answer.status_code, b"PRIVATE" in answer.content) == (404, False), path


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


def test_a_log_for_members_is_witnessed_and_checked_with_the_token_of_one(tmp_path):
    with Served(tmp_path / "data", {"MATCHPOST_HTTP": "127.0.0.1:0"}) as served:
        signups = [f"signup {name} {PASSWORD}" for name in ("alice", "bob")]
        served.do(*signups, "pow2 challenge alice bob")
        assert served.run("admission", "--visible-to", "members").returncode == 0
        log = f"{served.url}/log"
        assert httpx.get(f"{log}/s00/checkpoint").status_code == 401
        asked = {"userid": "alice", "password": PASSWORD, "label": "a mirror", "scopes": ["read"]}
        token = httpx.post(f"{served.url}/api/tokens", json=asked).json()["token"]
        authorised = {"Authorization": f"Bearer {token}"}
        until(lambda: httpx.get(f"{log}/s00/checkpoint", headers=authorised).is_success)
        witness = ("witness", "--name", "w.example.org/1", "--follow", served.url, "--once")
        check = ("verify", "--mirror", log)
        for command in ((*witness, "--folder", str(tmp_path / "without")), check):
            refused = served.run(*command)
            said = refused.stdout + refused.stderr
            assert ("the answer is 401" in said, token in said) == (True, False)
        served.env["MATCHPOST_LOG_TOKEN"] = token
        seen = served.run(*witness, "--folder", str(tmp_path / "witness"))
        assert (seen.returncode, "cosigned: " in seen.stderr) == (0, True)
        checked = served.run(*check)
        assert checked.returncode == 0, checked.stdout + checked.stderr
        assert "1 of 1 matches hold" in checked.stdout
