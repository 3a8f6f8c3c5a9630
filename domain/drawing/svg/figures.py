"""Figures of players: a small drawing of each player's piece, for a page that shows names beside a board."""

import msgspec

from domain.game.painter import BoardInput
from domain.game.protocol import AnyRules
from domain.game.svg import element
from domain.rules.registry import game_by_key
from domain.translation import ENGLISH, Translation

_SIZE = 18
"""An icon lies within so many units of the origin."""


class PlayerFigure(msgspec.Struct, frozen=True):
    """A player's piece, and the count of the player's pieces."""

    icon: str
    """A drawing of its own, which needs `STYLE` on its page."""
    counts: str
    """Such as `14 left to place`; may be empty."""


def player_figures(
    rules: AnyRules, position: msgspec.Struct, language: Translation = ENGLISH
) -> tuple[PlayerFigure, ...]:
    """Return the figures of the players of a position, by seat."""
    picture = game_by_key(rules.key).paint(BoardInput(rules.to_json(position), language=language))
    box = f"{-_SIZE} {-_SIZE} {2 * _SIZE} {2 * _SIZE}"
    return tuple(
        PlayerFigure(
            element("svg", one.icon, class_="figure board", viewBox=box, aria_hidden="true"),
            one.counts,
        )
        for one in picture.players
    )
