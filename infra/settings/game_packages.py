"""Games of other distributions, found by the entry-point group `matchpost.games`."""

from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Final

from domain.rules import GamePackage, register_game

GROUP: Final = "matchpost.games"


class GamePackageError(Exception):
    """An installed distribution declares a game that can't be used; the message says why."""


@cache  # once a process, however often it is called
def load_games() -> None:
    """Register the games of all installed distributions; `GamePackageError` for a broken one."""
    for entry in entry_points(group=GROUP):
        try:
            register_game(_load(entry))
        except Exception as error:
            source = entry.dist.name if entry.dist else "an installed distribution"
            raise GamePackageError(
                f"the game {entry.name!r} of {source} can't be used: {error}; "
                "repair or uninstall that distribution"
            ) from error


def _load(entry: EntryPoint) -> GamePackage:
    game = entry.load()
    if not isinstance(game, GamePackage):
        raise TypeError(f"{entry.value} isn't a Game")
    return game
