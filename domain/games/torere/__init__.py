"""Mū tōrere."""

from typing import Final

from domain.game.engine import Budgets, GameEngine, SearchMethod
from domain.game.protocol import PIECE_PROMPT, GamePackage
from domain.games.torere import drawing, schemas
from domain.games.torere.rules import TorereRules

ENGINE: Final = GameEngine(method=SearchMethod.ALPHA_BETA, budgets=Budgets(51, 53, 500))
"""There is no evaluation, because nothing but a mistake decides.

A position that is neither won nor lost within six plies is a draw. So equal moves are chosen by the
seed, which leads the opponent to ever other places where a mistake is possible. The budgets are small
because the whole game has only 1,180 positions; hard sees every mistake, and the others see those
that are punished soon.
"""

GAME = GamePackage(
    (TorereRules(),),
    drawing.draw,
    drawing.paint,
    __name__,
    ring_percent=200,
    text_places=drawing.text_places,
    prompt=PIECE_PROMPT,
    engine=ENGINE,
    figures=drawing.FIGURES,
    notation=schemas.NOTATION,
    position=schemas.POSITION,
)
