"""`matchpost check-game`: whether an installed game keeps the laws of all games, in sentences."""

import sys
import time
from importlib.resources import files
from typing import Final

from domain.rules import game_by_key
from domain.rules.laws import faults_of, keeps_the_laws
from infra.settings.game_packages import load_games

_SECONDS: Final = 0.02
"""A move at random that takes longer, with all that is asked of each position, makes lists and robots slow."""


def run(key: str, matches: int) -> int:
    """Print what is wrong with a game, or that nothing was found; 1 if it breaks a law, and 2 if it can't be loaded."""
    for broken in load_games():
        if broken.name == key.lower():
            sys.stdout.write(f"{broken}\n")
            return 2
    game = game_by_key(key.lower())
    faults = list(faults_of(game, matches))
    for fault in faults:
        sys.stdout.write(f"{game.key}: {fault}\n")
    if faults:
        found = "1 fault" if len(faults) == 1 else f"{len(faults)} faults"
        sys.stdout.write(f"\n{found}. See docs/adding-a-game.md for the laws of a game.\n")
        return 1
    begun = time.perf_counter()
    moves = keeps_the_laws(game, game.latest.players[0], (), bytes(32))
    each = (time.perf_counter() - begun) / max(moves, 1)
    sys.stdout.write(
        f"{game.key} keeps all laws in {matches} matches at random for each number of players and each option.\n"
    )
    if each > _SECONDS:
        sys.stdout.write(
            f"A move takes {each * 1000:.0f} ms with all that is asked of its position; robots and lists of moves "
            "will be slow.\n"
        )
    for missing in _optional(game.key):
        sys.stdout.write(f"It has no {missing}.\n")
    return 0


def _optional(key: str) -> list[str]:
    """Return the optional parts that a game does not have."""
    game = game_by_key(key)
    folder = files(game.package)
    parts = {
        "guide (guide.toml): its page shows the help text": folder.joinpath("guide.toml").is_file(),
        "German help (help.de.txt): German readers get the English text": folder.joinpath(
            "help.de.txt"
        ).is_file(),
        "evaluation for robots (engine=): they search by the rules alone": game.engine is not None,
    }
    return [said for said, there in parts.items() if not there]
