"""`matchpost games`: the operator switches games off and on."""

from collections.abc import Sequence

from infra.settings.settings import Settings
from services.app.context import App
from services.app.error_codes import EXIT_OK
from services.app.games_off import SwitchedGame, switch_games, switched_games


def run(off: Sequence[str] | None, on: Sequence[str] | None, settings: Settings) -> int:
    """Switch what is given, print how all games stand, and return the exit code."""
    with App(settings) as parts:
        if off or on:
            switch_games(parts, off or (), on or ())
        found = switched_games(parts)
    _show(found)
    return EXIT_OK


def _show(found: Sequence[SwitchedGame]) -> None:
    """Print a line for each game, by key."""
    widest = max(len(game.key) for game in found)
    for game in found:
        state = "off" if game.off else "on"
        title = game.title if game.installed else "not installed"
        print(f"{game.key:<{widest}}  {state:<3}  {title}")
    if any(game.off for game in found):
        print("No new match of a game that is off begins. Matches and tournaments that have")
        print("begun go on.")
