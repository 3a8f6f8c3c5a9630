"""matchpost as it is installed: a wheel in an environment of its own, and the image where there is a builder."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, Final

import httpx
import pytest

from tests.fakes.sink import free_port
from tests.helpers.api import PASSWORD, until
from tests.helpers.games import whole_game

ROOT: Final = Path(__file__).parents[2]

BUILDER: Final = next(filter(shutil.which, ("podman", "docker")), "")


def run(*command: object, **options: Any) -> str:
    """Run a program that must succeed; gives what it printed."""
    done = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, check=False, **options
    )
    assert done.returncode == 0, f"{command}: {done.stdout[-2000:]}{done.stderr[-2000:]}"
    return done.stdout


@contextmanager
def installed(folder: Path) -> Iterator[Path]:
    """Return the program of the wheel in a fresh environment, which has what the lock names and nothing else."""
    source = folder / "source"
    run("git", "clone", "-q", ROOT, source)
    run(sys.executable, "-m", "venv", folder / "fresh")
    python = folder / "fresh" / "bin" / "python"
    pip = [python, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    run(*pip, "wheel", "--no-deps", "--wheel-dir", folder / "dist", source)
    (wheel,) = (folder / "dist").glob("matchpost-*.whl")
    run(*pip, "install", "--require-hashes", "--no-deps", "-r", source / "requirements.lock")
    run(*pip, "install", "--no-deps", wheel)
    shutil.rmtree(source)
    yield python.with_name("matchpost")


@pytest.mark.long
def test_a_wheel_in_a_fresh_environment_serves_and_plays(tmp_path: Path):
    port = free_port()
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    env |= {"MATCHPOST_DATA": str(tmp_path / "data"), "MATCHPOST_HTTP": f"127.0.0.1:{port}"}
    with installed(tmp_path) as program, (tmp_path / "log").open("wb") as log:
        serve = subprocess.Popen([program, "serve"], cwd=tmp_path, env=env, stdout=log, stderr=log)
        try:
            assert_plays(f"http://127.0.0.1:{port}", serve)
            assert "holds" in run(program, "verify", "1", cwd=tmp_path, env=env)
        finally:
            serve.terminate()
            serve.wait(60)


def assert_plays(url: str, serve: "subprocess.Popen[bytes] | None" = None) -> None:
    """Wait for a server, and have a move played there over the API."""
    with httpx.Client(base_url=url, timeout=30, trust_env=False) as http:

        def ready() -> bool:
            assert serve is None or serve.poll() is None, "the server ended"
            try:
                return http.get("/readyz").is_success
            except httpx.TransportError:
                return False

        until(ready, 120)
        tokens = {}
        for name in ("anna", "ben"):
            made = http.post("/api/accounts", json={"userid": name, "password": PASSWORD})
            assert made.status_code == 201, made.text
            body = {"userid": name, "password": PASSWORD, "label": "x", "scopes": ["read", "play"]}
            token = http.post("/api/tokens", json=body).json()["token"]
            tokens[name] = {"Authorization": f"Bearer {token}"}
        start = {"game": "torere", "players": ["anna", "ben"]}
        board = http.post("/api/matches", json=start, headers=tokens["anna"]).json()["board"]
        commands = [("ben", {"do": "accept"})]
        commands += [
            ("anna", {"do": "move", "move": move}) for move in islice(whole_game("torere"), 1)
        ]
        for name, body in commands:
            given = http.post(f"/api/matches/{board}/commands", json=body, headers=tokens[name])
            assert given.is_success, given.text
        assert len(http.get(f"/api/matches/{board}").json()["moves"]) == 1


def builder_works() -> bool:
    """Return whether there is a program that builds images, and it answers."""
    return (
        bool(BUILDER)
        and not subprocess.run(
            [BUILDER, "info"], capture_output=True, check=False, timeout=60
        ).returncode
    )


@pytest.mark.long
def test_the_image_is_built_and_serves_without_rights():
    if not builder_works():
        pytest.skip("no podman or docker answers here, so no image is built")
    run(
        BUILDER,
        "build",
        "-f",
        ROOT / "docs/several-machines/Dockerfile",
        "-t",
        "matchpost-test",
        ROOT,
    )
    port = free_port()
    name = f"matchpost-test-{port}"
    rights = ["--read-only", "--cap-drop=ALL", "--security-opt=no-new-privileges", "--tmpfs=/tmp"]
    rights += [
        "--tmpfs=/var/lib/matchpost:uid=10001,mode=0700",
        "-e",
        "MATCHPOST_HTTP=0.0.0.0:8080",
    ]
    run(BUILDER, "run", "-d", "--rm", "--name", name, *rights, "-p", f"127.0.0.1:{port}:8080", "matchpost-test", "serve")  # fmt: skip
    try:
        assert_plays(f"http://127.0.0.1:{port}")
        assert run(BUILDER, "exec", name, "id", "-u").strip() == "10001"
        run(BUILDER, "exec", name, "/opt/matchpost/bin/matchpost", "alive", "serve", "--ready")
    finally:
        run(BUILDER, "stop", name)
