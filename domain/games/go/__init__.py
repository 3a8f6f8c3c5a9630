"""Go."""

from collections.abc import Sequence
from typing import Final

from domain.game.protocol import STONE_PROMPT, ChoiceWords, GamePackage, WordMove
from domain.games.go import drawing, engine, form, schemas
from domain.games.go.rules import GoPhase, GoPosition, GoRules, result
from domain.games.go.sentences import SAY

_PASS: Final = WordMove(SAY("pass"), SAY("pass-first"))
_PASS_TOO: Final = WordMove(SAY("pass"), SAY("pass-second"))


def choice(position: GoPosition, names: Sequence[str]) -> ChoiceWords | None:
    """Return the words in which pages ask for a stone, or for dead ones."""
    other = names[1 - position.turn]
    if position.phase is GoPhase.PLAYING:
        words = {"pass": _PASS_TOO if position.passed else _PASS}
        return ChoiceWords(SAY("place-or-pass"), words)
    if not position.proposed:
        return ChoiceWords(
            SAY("mark"), {"propose": WordMove(SAY("propose"), SAY("propose-follows"))}
        )
    _, said = result(position)
    return ChoiceWords(
        SAY("mark-or-answer", other=other),
        {
            "agree": WordMove(SAY("agree"), SAY("agree-follows", result=said)),
            "resume": WordMove(SAY("resume"), SAY("resume-follows", other=other)),
        },
    )


GAME = GamePackage(
    (GoRules(),),
    drawing.draw,
    drawing.paint,
    __name__,
    form.OPTIONS_FORM,
    ring_percent=130,
    text_places=drawing.text_places,
    prompt=STONE_PROMPT,
    choice=choice,
    engine=engine.ENGINE,
    figures=drawing.FIGURES,
    notation=schemas.NOTATION,
    position=schemas.POSITION,
)
