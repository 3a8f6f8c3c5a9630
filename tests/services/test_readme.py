"""What README and tutorial show is typed into a new server, and gives what is printed there."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.helpers.forked import SCRIPT
from tests.helpers.served import Served, until

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
@pytest.mark.parametrize(
    "page", ["README.md", pytest.param("docs/tutorial.md", marks=pytest.mark.long)]
)
def test_the_exchange_on_a_page_is_what_one_sees(page: str, tmp_path: Path) -> None:
    text = (ROOT / page).read_text("utf-8")
    shown = "".join(re.findall(r"```console\n(.*?)```", text, re.DOTALL))
    assert shown.count("$ matchpost do ") > 5
    seen = []
    with Served(tmp_path / "data") as served:
        env = {**served.env, "PATH": f"{SCRIPT.parent}:{os.environ['PATH']}"}
        for line in shown.splitlines():
            if line.startswith("$ matchpost verify"):
                # a reader types no faster than a leaf is published
                until(lambda: all_is_published(served))
            if line.startswith("$ "):
                done = subprocess.run(
                    line[2:], shell=True, env=env, text=True, timeout=60, check=False,
                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                )  # fmt: skip
                seen.append(f"{line}\n{done.stdout}")
    assert undated("".join(seen)) == undated(shown)


def all_is_published(served: Served) -> bool:
    figures = json.loads(served.run("queue", "--json").stdout)
    return bool(figures["log"]["unpublished"] == 0)


def undated(text: str) -> str:
    """Leave out what another day has otherwise."""
    return re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC", "DATE", text)
