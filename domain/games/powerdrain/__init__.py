"""Powerdrain."""

from typing import Final

from domain.games.powerdrain.form import OPTIONS_FORM
from domain.games.powerdrain.game import Powerdrain
from domain.games.powerdrain.svg import paint_powerdrain
from domain.games.powerdrain.text import draw_powerdrain
from domain.rules.game import Game

GAME: Final = Game((Powerdrain(),), draw_powerdrain, paint_powerdrain, __name__, OPTIONS_FORM)
