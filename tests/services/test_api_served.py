"""The API as `matchpost serve` runs it, and the exchange of its page, typed into it."""

import json
import os
import re
import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.helpers.served import Served

PAGE = Path(__file__).parents[2] / "docs" / "api.md"

USUAL = "http://127.0.0.1:8080"

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def metrics() -> str:
    """Where that server's metrics are."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        return f"127.0.0.1:{free.getsockname()[1]}"


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory, metrics: str) -> Iterator[str]:
    """Where a new server of its own answers."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"127.0.0.1:{free.getsockname()[1]}"
    data = tmp_path_factory.mktemp("served") / "data"
    with Served(data, env={"MATCHPOST_HTTP": address, "MATCHPOST_METRICS": metrics}):
        yield f"http://{address}"


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_the_exchange_on_the_page_is_what_one_sees(url):
    block = re.search(r"```console\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    assert block is not None
    commands = [line[2:] for line in block[1].splitlines() if line.startswith("$ ")]
    # one shell for all, as for who types them: what is set in one line is used in the next
    script = "\n".join(f"printf '%s\\n' {quoted(line)}\n{line}" for line in commands)
    done = subprocess.run(
        ["bash", "-c", script.replace(USUAL, url)],
        env={"PATH": os.environ["PATH"], "no_proxy": "*"},
        capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    assert settled(done.stdout.replace(url, USUAL)) == settled(block[1])


def quoted(line: str) -> str:
    return "'$ " + line.replace("'", "'\\''") + "'"


def settled(text: str) -> str:
    """Leave out what another run has otherwise: hashes, time and signature of a receipt, too."""
    text = re.sub(r'(/receipt\\n\d+\\n\d+\\n)[^"]*"', r'\1..."', text)
    return re.sub(r'"[0-9a-f]{32}"', '"ID"', re.sub(r"\b\d{13}\b", "TIME", text))


def test_health_metrics_and_the_document_are_there(url, metrics):
    with httpx.Client(base_url=url, trust_env=False, timeout=60) as http:
        assert http.get("/healthz").json()["status"] == "ok"
        assert http.get("/metrics").status_code == 404
        told = httpx.get(f"http://{metrics}/metrics", trust_env=False, timeout=60)
        assert 'route="/healthz"' in told.text
        assert http.get("/api/openapi.json").json()["openapi"] == "3.1.0"
        assert "server" not in http.get("/healthz").headers


def test_every_body_on_the_page_is_one(url):
    blocks = re.findall(r"```json\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    lines = [json.loads(line) for block in blocks for line in block.splitlines()]
    kinds = {line["do"] for line in lines if "verdict" not in line}  # that are bodies of rulings
    document = httpx.get(f"{url}/api/openapi.json", trust_env=False, timeout=60).json()
    schema = document["paths"]["/api/matches/{board}/commands"]["post"]["requestBody"]["content"]
    mapping = schema["application/json"]["schema"]["discriminator"]["mapping"]
    assert kinds == mapping.keys()
