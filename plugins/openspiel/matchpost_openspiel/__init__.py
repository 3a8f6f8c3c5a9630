"""OpenSpiel's games for two with perfect information, on a matchpost server: one adapter for all of them.

Importing this imports no OpenSpiel. Its own version is that of the rules which matches record, because another one may play
a game otherwise.
"""

import re
from importlib.metadata import version
from types import SimpleNamespace
from typing import Final

from domain.game.engine import Budgets, GameEngine
from domain.game.protocol import ChoiceWords, GamePackage
from matchpost_openspiel.painter import SpielPainter, draw_text, text_places
from matchpost_openspiel.rules import SpielPosition, SpielRules
from matchpost_openspiel.spiel import Spiel
from matchpost_openspiel.table import SPIELE

_BUDGETS: Final = Budgets(60, 300, 1_500)
"""Fewer than usual, because a node is slower than in games that are written for it."""


def rules_version(release: str) -> int:
    """Return the version of the rules that a release of OpenSpiel has: 20002 for 2.0.2."""
    if not (numbers := re.match(r"(\d+)\.(\d+)(?:\.(\d+))?", release)):
        raise ValueError(f"{release!r} is no release of OpenSpiel whose rules could be recorded")
    major, minor, patch = (int(part or 0) for part in numbers.groups())
    return 10_000 * major + 100 * minor + patch


def _game(spiel: Spiel, number: int) -> GamePackage:
    rules = SpielRules(spiel, number)

    def choice(position: SpielPosition, names: object) -> ChoiceWords | None:
        del names
        asked = rules.asks(position) if spiel.asks else None
        return ChoiceWords(asked) if asked else None

    return GamePackage(
        (rules,),
        draw_text,
        SpielPainter(spiel).paint,
        f"{__name__}.help.{spiel.key}",
        ring_percent=0,
        prompt=spiel.prompt,
        choice=choice,
        engine=GameEngine(budgets=_BUDGETS),
        text_places=text_places(spiel),
    )


_NUMBER: Final = rules_version(version("open_spiel"))
GAMES: Final = SimpleNamespace(**{spiel.key: _game(spiel, _NUMBER) for spiel in SPIELE})
"""Each game by its key, as entry points name it."""
