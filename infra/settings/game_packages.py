"""Games of other distributions, found by the entry-point group `matchpost.games.v1`.

The group names the version of the interface between rules and server; docs/adding-a-game.md says what it promises. A game that
can't be used is left out, and so stops nothing else: matches of it are treated like those of a game that is not installed.
"""

import re
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Final

import msgspec

from domain.rules import GamePackage, register_game

VERSION: Final = 1
"""The version of the rules interface that this server has."""
GROUP: Final = f"matchpost.games.v{VERSION}"
_UNNUMBERED: Final = "matchpost.games"
"""The group before it had a version; its games are taken for those of version 1."""
_OF_ANY_VERSION: Final = re.compile(r"matchpost\.games\.v(\d+)")


class BrokenGame(msgspec.Struct, frozen=True):
    """A game of an installed distribution that can't be used."""

    name: str
    """Its key, as the distribution declares it."""
    source: str
    """The distribution."""
    why: str

    def __str__(self) -> str:
        return f"the game {self.name!r} of {self.source} can't be used: {self.why}"


@cache  # once a process, however often it is called
def load_games() -> tuple[BrokenGame, ...]:
    """Register the games of all installed distributions; return those that can't be used."""
    broken = []
    for group in sorted(entry_points().groups):
        version = _OF_ANY_VERSION.fullmatch(group)
        if group != _UNNUMBERED and version is None:
            continue
        for entry in entry_points(group=group):
            try:
                if version is not None and int(version[1]) != VERSION:
                    raise ValueError(  # noqa: TRY301 - as any other reason
                        f"it needs version {version[1]} of the rules interface, and this server has {VERSION}"
                    )
                register_game(_load(entry))
            except Exception as error:  # noqa: BLE001 - whatever is wrong with a stranger's code
                source = entry.dist.name if entry.dist else "an installed distribution"
                broken.append(BrokenGame(entry.name, source, f"{error}" or type(error).__name__))
    return tuple(broken)


def _load(entry: EntryPoint) -> GamePackage:
    game = entry.load()
    if not isinstance(game, GamePackage):
        raise TypeError(f"{entry.value} isn't a Game")
    return game
