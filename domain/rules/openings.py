"""Openings: first moves of a game that a match is given, so that its players begin from the position after them."""

from typing import Any, Final

import msgspec

from domain.errors import Code, Refusal
from domain.game.protocol import AnyRules
from domain.sentences import Sentences

MOST_MOVES: Final = 40
"""Moves of an opening."""

MOST_CHARACTERS: Final = 512
"""Of an opening as somebody writes it."""

SAY: Final = Sentences(
    "opening",
    {
        "form": "the opening isn't in its recorded form",
        "alone": "a puzzle has no opening, because its player begins from the start",
        "dealt": "{game} has no opening here, because chance sets up the match",
        "too-long": "an opening has up to {most} moves, and up to {characters} characters",
        "bad-move": "move {number} of the opening is not possible: {why}",
        "over": "after move {number} of the opening the match would be over",
    },
)


class Opening(msgspec.Struct, frozen=True):
    """An opening that is legal from the start of a match."""

    moves: str
    """The canonical texts of the moves, separated by blanks."""
    position: Any
    """The position after them, in which somebody is to move."""


def read_opening(rules: AnyRules, options: Any, players: int, text: str) -> Opening:
    """Return the opening that a text has: moves in the game's notation, with blanks between.

    Refused as `bad-option` for a game of chance, a puzzle, and an opening that is too long or ends the match, and as the game
    refuses a move that is illegal or unreadable.
    """
    moves = text.split()
    if players == 1:
        raise Refusal(Code.BAD_OPTION, SAY("alone"))
    if rules.needs_draw(options, players):
        raise Refusal(Code.BAD_OPTION, SAY("dealt", game=rules.title))
    if not 0 < len(moves) <= MOST_MOVES or len(text) > MOST_CHARACTERS:
        raise Refusal(Code.BAD_OPTION, SAY("too-long", most=MOST_MOVES, characters=MOST_CHARACTERS))
    position, written = rules.start(options, players, None), []
    for number, one in enumerate(moves, 1):
        try:
            move = rules.check(position, rules.read(one))
        except Refusal as refusal:
            why = SAY("bad-move", number=number, why=refusal.text)
            raise Refusal(refusal.code, why) from None
        position = rules.play(position, move)
        if rules.outcome(position) is not None:
            raise Refusal(Code.BAD_OPTION, SAY("over", number=number))
        written.append(rules.write(move))
    return Opening(" ".join(written), position)


def recorded_opening(rules: AnyRules, options: Any, players: int, moves: str) -> Opening:
    """Return an opening of a command; `bad-option` unless it is in the form in which events record it."""
    found = read_opening(rules, options, players, moves)
    if found.moves != moves:
        raise Refusal(Code.BAD_OPTION, SAY("form"))
    return found
