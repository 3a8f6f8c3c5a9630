"""The program is installed as docs/install.md says, from a clone of the sources into an environment of its own."""

import subprocess
from pathlib import Path

import pytest

from services import __version__
from tests.helpers.pages import ROOT, Shell, block

INSTALL = block("docs/install.md", "git clone")


@pytest.mark.long
@pytest.mark.timeout(600)
def test_the_commands_of_the_page_install_the_program(tmp_path: Path) -> None:
    if subprocess.run(
        ["git", "-C", ROOT, "rev-parse"], capture_output=True, check=False
    ).returncode:
        pytest.skip("these sources are no git repository")
    (tmp_path / "bin").mkdir()
    commands = INSTALL.replace("/opt/", f"{tmp_path}/opt/").replace("/usr/local/", f"{tmp_path}/")
    env = {"PATH": f"{tmp_path}/bin:/usr/bin:/bin", "REPOSITORY": str(ROOT), "HOME": str(tmp_path)}
    with Shell(tmp_path, env) as shell:
        for line in commands.splitlines():
            said, code = shell.type(line)
            assert code == 0, f"{line}\n{said}"
    assert said == f"matchpost {__version__}\n"
