"""Games of other distributions, installed into a folder as an installer would."""

import shutil
import tomllib
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "sample_game"


def install(folder: Path, entry_point: str = "", source: Path = SOURCE, group: str = "") -> Path:
    """Install a game, by default the sample, into a folder, perhaps with another entry point or group than its own."""
    project = tomllib.loads((source / "pyproject.toml").read_text())["project"]
    name = project["name"].replace("-", "_")
    shutil.copytree(source / name, folder / name)
    about = folder / f"{name}-{project['version']}.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    )
    lines = [
        line
        for own, points in project["entry-points"].items()
        for line in (
            f"[{group or own}]",
            *(f"{key} = {entry_point or at}" for key, at in points.items()),
        )
    ]
    (about / "entry_points.txt").write_text("\n".join([*lines, ""]))
    return folder
