"""Amazons."""

from domain.game.protocol import GamePackage
from domain.games.amazons import drawing, engine, form, schemas
from domain.games.amazons.rules import AmazonsRules
from domain.games.amazons.sentences import SAY

GAME = GamePackage(
    (AmazonsRules(),),
    drawing.draw,
    drawing.paint,
    __name__,
    form.OPTIONS_FORM,
    text_places=drawing.text_places,
    prompt=SAY("prompt"),
    engine=engine.ENGINE,
    figures=drawing.FIGURES,
    notation=schemas.NOTATION,
    position=schemas.POSITION,
)
