"""The README's first screen is typed into a new server, and gives what is printed there."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.helpers.served import SCRIPT, Served

README = Path(__file__).parents[2] / "README.md"


@pytest.mark.slow
def test_the_exchange_in_the_readme_is_what_one_sees(tmp_path: Path) -> None:
    block = re.search(r"```console\n(.*?)```", README.read_text("utf-8"), re.DOTALL)
    assert block is not None
    seen = []
    with Served(tmp_path / "data") as served:
        env = {**served.env, "PATH": f"{SCRIPT.parent}:{os.environ['PATH']}"}
        for line in block[1].splitlines():
            if line.startswith("$ "):
                done = subprocess.run(
                    line[2:], shell=True, env=env, text=True, timeout=60, check=False,
                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                )  # fmt: skip
                seen.append(f"{line}\n{done.stdout}")
    assert undated("".join(seen)) == undated(block[1])


def undated(text: str) -> str:
    """Leave out what another day has otherwise."""
    return re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC", "DATE", text)
