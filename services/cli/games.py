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
    for game in found:
        print(f"{game.key}: {_state(game)}")
    return EXIT_OK


def _state(game: SwitchedGame) -> str:
    return ("off" if game.off else "on") + ("" if game.installed else ", not installed")
