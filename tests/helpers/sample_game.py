"""The sample game of another distribution, installed into a folder as an installer would."""

import shutil
import tomllib
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "sample_game"


def install(folder: Path, entry_point: str = "") -> Path:
    """Install the sample game into a folder, perhaps with another entry point than its own."""
    project = tomllib.loads((SOURCE / "pyproject.toml").read_text())["project"]
    name = project["name"].replace("-", "_")
    shutil.copytree(SOURCE / name, folder / name)
    about = folder / f"{name}-{project['version']}.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    )
    lines = [
        line
        for group, points in project["entry-points"].items()
        for line in (f"[{group}]", *(f"{key} = {entry_point or at}" for key, at in points.items()))
    ]
    (about / "entry_points.txt").write_text("\n".join([*lines, ""]))
    return folder
