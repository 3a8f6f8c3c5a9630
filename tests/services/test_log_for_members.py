"""Checking the published log of a server for members alone, from elsewhere, with a member's token."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.helpers.api import PASSWORD
from tests.helpers.served import Served, until


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    with Served(tmp_path / "data", {"MATCHPOST_HTTP": "127.0.0.1:0"}) as served:
        served.do(
            f"signup alice {PASSWORD}",
            f"signup bob {PASSWORD}",
            "pow2 challenge alice bob",
        )
        assert served.run("admission", "--visible-to", "members").returncode == 0
        yield served


def test_a_log_for_members_is_witnessed_and_checked_with_the_token_of_one(served, tmp_path):
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
        assert "the answer is 401" in refused.stdout + refused.stderr
        assert token not in refused.stdout + refused.stderr
    served.env["MATCHPOST_LOG_TOKEN"] = token
    seen = served.run(*witness, "--folder", str(tmp_path / "witness"))
    assert (seen.returncode, "cosigned: " in seen.stderr) == (0, True)
    checked = served.run(*check)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert "1 of 1 matches hold" in checked.stdout
