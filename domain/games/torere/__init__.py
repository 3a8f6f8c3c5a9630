"""Mū tōrere."""

from domain.game.package import PIECE_PROMPT, GamePackage
from domain.games.torere import engine, game, svg, text

GAME = GamePackage(
    (game.TorereRules(),),
    text.draw,
    svg.paint,
    __name__,
    ring_percent=200,
    text_places=text.places,
    prompt=PIECE_PROMPT,
    engine=engine.ENGINE,
    figures=svg.FIGURES,
)
