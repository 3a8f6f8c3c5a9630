"""Halves."""

from collections.abc import Sequence

from domain.game.protocol import ChoiceWords, GamePackage, WordMove
from domain.games.halves import drawing, engine, form, schemas
from domain.games.halves.position import KEEP, SWAP, HalvesMove, HalvesPhase, HalvesPosition
from domain.games.halves.rules import HalvesRules
from domain.games.halves.sentences import SAY

RULES = HalvesRules()


def choice(position: HalvesPosition, names: Sequence[str]) -> ChoiceWords:
    """Return the words in which pages ask for a colour, or for a tile to place or to remove."""
    if position.phase is HalvesPhase.CONTRACT:
        moves = {"keep": KEEP, "swap": SWAP}
        colours = {word: _colour(position, move, names) for word, move in moves.items()}
        return ChoiceWords(SAY("choose-colour"), colours)
    placed = position.phase is HalvesPhase.GROW
    return ChoiceWords(SAY("choose-cell") if placed else SAY("choose-tile"))


def _colour(position: HalvesPosition, move: HalvesMove, names: Sequence[str]) -> WordMove:
    after = RULES.play(position, move)
    own, other = after.colours[:2]
    follows = SAY("other-begins", colour=other, player=names[1])
    if after.turn != 1:  # the options may leave the second player no tile to remove
        follows = SAY("other-colour", colour=other, player=names[1])
    return WordMove(SAY("play-colour", colour=own), follows)


GAME = GamePackage(
    (RULES,),
    drawing.draw,
    drawing.paint,
    __name__,
    form.OPTIONS_FORM,
    featured=True,
    needs_previous_position=True,
    ring_percent=0,
    engine=engine.ENGINE,
    text_places=drawing.text_places,
    choice=choice,
    figures=drawing.FIGURES,
    notation=schemas.NOTATION,
    position=schemas.POSITION,
)
