"""What is typed as `serve` says works in a new terminal, wherever that is."""

import shutil
import subprocess
from pathlib import Path

import pytest

from infra.durability.durability import Mode
from infra.settings.settings import Settings
from services.serve.banner import banner
from tests.helpers.forked import SCRIPT
from tests.helpers.served import Served


def typed(said: str) -> list[str]:
    return [line.strip() for line in said.splitlines() if line.startswith("  ")]


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.skipif(not SCRIPT.with_name("activate").exists(), reason="no virtual environment")
def test_the_lines_work_from_another_directory_without_any_preparation(tmp_path: Path) -> None:
    with Served(tmp_path / "my data") as served:
        said = banner(Settings(data=served.data), "unix:///unused")
        clean = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
        done = subprocess.run(
            ["bash", "-euc", "\n".join(typed(said))], cwd="/", env=clean, text=True, timeout=60,
            check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
    assert done.returncode == 0, done.stdout
    assert "welcome, alice" in done.stdout
    assert "match 1, #0: " in done.stdout
    assert "Commands for everyone" in done.stdout


def test_where_matchpost_is_on_the_path_no_environment_is_entered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(SCRIPT.parent))
    assert shutil.which("matchpost") == str(SCRIPT)
    first, *_ = typed(banner(Settings(data=tmp_path), "unix:///unused"))
    assert first == f"export MATCHPOST_DATA={tmp_path}"


def test_a_password_is_not_shown_and_durability_none_is_to_be_set_there_too(tmp_path: Path) -> None:
    url = "redis://user:sekret@localhost:1"
    said = banner(Settings(data=tmp_path, redis_url=url, durability=Mode.NONE), url)
    assert "sekret" not in said
    assert "The data is on the server at redis://***@localhost:1" in said
    assert "export MATCHPOST_DURABILITY=none" in typed(said)
    assert said.endswith("\nready")
