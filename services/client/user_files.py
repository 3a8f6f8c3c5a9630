"""Paths of the files that commands keep for this user.

They follow the XDG base directories. Only the standard library is imported, because completion asks for
them while a line is typed.
"""

import os
from pathlib import Path
from typing import Final

_NAME: Final = "matchpost"
"""The folder of these commands among those of other programs."""


def login_file() -> Path:
    """Return the path of the file, whether it is there or not."""
    home = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(home) / _NAME / "login.json"


def boards_file() -> Path:
    """Return the path of the list of the account's matches, which completion keeps; it may be missing."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / _NAME / "boards"


def state_folder() -> Path:
    """Return the folder for this user's texts."""
    home = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(home) / _NAME / "draws"
