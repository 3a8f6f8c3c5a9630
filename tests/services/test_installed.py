"""matchpost as it is installed: a wheel in an environment of its own, and the image where there is a builder."""

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import httpx
import pytest

from bench.free_ports import free_port
from tests.helpers.api import PASSWORD, until
from tests.helpers.games import whole_game

ROOT: Final = Path(__file__).parents[2]

PIP: Final = (sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check")

BUILDER: Final = next(filter(shutil.which, ("podman", "docker", "buildah")), "")


def run(*command: object, **options: Any) -> str:
    """Run a program that must succeed; gives what it printed."""
    done = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, check=False, **options
    )
    assert done.returncode == 0, f"{command}: {done.stdout[-2000:]}{done.stderr[-2000:]}"
    return done.stdout


def build_wheel(folder: Path) -> Path:
    """Return the wheel of what is committed; its sources, with the lock, stay in `source`."""
    run("git", "clone", "-q", ROOT, folder / "source")
    run(*PIP, "wheel", "--no-deps", "--wheel-dir", folder / "dist", folder / "source")
    (wheel,) = (folder / "dist").glob("matchpost-*.whl")
    return wheel


def lock_install(folder: Path) -> Path:
    """Return the program of the wheel in a fresh environment, which has what the lock names and nothing else."""
    wheel = build_wheel(folder)
    run(sys.executable, "-m", "venv", folder / "fresh")
    pip = [folder / "fresh" / "bin" / "python", *PIP[1:]]
    lock = folder / "source" / "requirements.lock"
    run(*pip, "install", "--require-hashes", "--no-deps", "-r", lock)
    run(*pip, "install", "--no-deps", wheel)
    shutil.rmtree(folder / "source")
    return folder / "fresh" / "bin" / "matchpost"


def pipx_install(folder: Path) -> Path:
    """Return the program that `pipx install` of the wheel makes, or a link into an environment made as pipx makes it."""
    wheel = build_wheel(folder)
    shutil.rmtree(folder / "source")
    links = folder / "bin"
    if pipx := shutil.which("pipx"):
        places = {"PIPX_HOME": str(folder / "pipx"), "PIPX_BIN_DIR": str(links)}
        run(pipx, "install", "--python", sys.executable, wheel, env={**os.environ, **places})
    else:
        made = folder / "pipx" / "venvs" / "matchpost"
        run(sys.executable, "-m", "venv", made)
        run(made / "bin" / "python", *PIP[1:], "install", wheel)
        links.mkdir()
        (links / "matchpost").symlink_to(made / "bin" / "matchpost")
    return links / "matchpost"


@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.parametrize("install", [pipx_install, lock_install])
def test_what_is_installed_serves_and_plays_in_an_empty_folder(tmp_path: Path, install):
    program, port = install(tmp_path), free_port()
    place = tmp_path / "empty"
    place.mkdir()
    # as a new user has it: no setting but a port that is free here
    env = {"PATH": os.environ["PATH"], "HOME": str(place), "MATCHPOST_HTTP": f"127.0.0.1:{port}"}
    assert re.fullmatch(r"matchpost \d+\.\d+\.\d+\n", run(program, "--version", env=env))
    with (tmp_path / "log").open("wb") as log:
        serve = subprocess.Popen([program, "serve"], cwd=place, env=env, stdout=log, stderr=log)
        try:
            assert_plays(f"http://127.0.0.1:{port}", serve)
            said = run(program, "do", "signup carol green-kettle", cwd=place, env=env)
            assert said.startswith("welcome, carol")
            # the new version takes over where the link leads now
            serve.send_signal(signal.SIGUSR2)
            until(lambda: "takes over" in (tmp_path / "log").read_text(), 60)
            assert "Light" in run(program, "do", "torere show 1", cwd=place, env=env)
            assert "holds" in run(program, "verify", "1", cwd=place, env=env)
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
        move = next(iter(whole_game("torere")))
        for name, body in (("ben", {"do": "accept"}), ("anna", {"do": "move", "move": move})):
            given = http.post(f"/api/matches/{board}/commands", json=body, headers=tokens[name])
            assert given.is_success, given.text
        assert len(http.get(f"/api/matches/{board}").json()["moves"]) == 1


@pytest.mark.long
def test_the_image_is_built_and_serves_without_rights():
    # whether there is a program that builds images, and it answers
    if (
        not BUILDER
        or subprocess.run([BUILDER, "info"], capture_output=True, check=False).returncode
    ):
        pytest.skip("no podman, docker or buildah answers here, so no image is built")
    file = ROOT / "docs/several-machines/Dockerfile"
    run(BUILDER, "build", "-f", file, "-t", "matchpost-test", ROOT)
    if BUILDER == "buildah":  # which runs no container with ports
        made = run(BUILDER, "from", "matchpost-test").strip()
        try:
            assert run(BUILDER, "run", made, "id", "-u").strip() == "10001"
            program = "/opt/matchpost/bin/matchpost"
            assert run(BUILDER, "run", made, program, "--version").startswith("matchpost ")
        finally:
            run(BUILDER, "rm", made)
        return
    port = free_port()
    name = f"matchpost-test-{port}"
    run(
        BUILDER, "run", "-d", "--rm", "--name", name, "--read-only", "--cap-drop=ALL", "--security-opt=no-new-privileges",
        "--tmpfs=/tmp", "--tmpfs=/var/lib/matchpost:uid=10001,mode=0700", "-e", "MATCHPOST_HTTP=0.0.0.0:8080",
        "-p", f"127.0.0.1:{port}:8080", "matchpost-test", "serve",
    )  # fmt: skip
    try:
        assert_plays(f"http://127.0.0.1:{port}")
        assert run(BUILDER, "exec", name, "id", "-u").strip() == "10001"
        run(BUILDER, "exec", name, "/opt/matchpost/bin/matchpost", "alive", "serve", "--ready")
    finally:
        run(BUILDER, "stop", name)
