"""The sentences of David and Goliath: refused moves, endings, and the words of drawings."""

from domain.boards.pow2_board import PLACE, STONES
from domain.games.goliath.notation import unpacked_move
from domain.sentences import FormWords, Sentences, counted, with_messages, words

SIDES = ("David", "Goliath")

_PIECES = {"D": "David", "G": "Goliath", "o": "a light stone", "x": "a dark stone"}
"""By the letters of drawings as text."""


@with_messages(*_PIECES.values())
def _piece(letter: str, words: FormWords) -> str:
    return words(_PIECES[letter])


SAY = Sentences(
    "goliath",
    {
        "form": (
            "a move is written from-to:target or, when all stones are used up, "
            "from-to:stone>target or from-to, such as m13-h8:i9"
        ),
        "over": "the match is over: {detail}",
        "counted": "with -count the regions are counted after every move",
        "joined": "a count can only be proposed while stones separate David and Goliath",
        # the figure
        "turn": "{other:side} stands at {at:place}, and it is {mover:side}'s turn",
        "figure": "{mover:side} stands at {figure:place}, not at {at:place}",
        "stays": "{mover:side} has to move",
        # the way of a figure or a stone
        "line": "no line connects {start:place} and {end:place}",
        "steps": "{mover:side} moves one or two intersections, and {end:place} is {steps} away",
        "far": "{mover:side} throws one or two intersections, and {end:place} is {steps} away",
        "way": "{piece:piece} at {nearest:place} blocks the way from {start:place} to {end:place}",
        "taken": "{end:place} is occupied by {piece:piece}",
        # the kind of throw
        "throw": "a stone has to be thrown after the move, such as {example:move}",
        "supply": "a stone is picked up only when all {stones} are used up; {left} left to throw",
        "edges": "all {stones} stones are on the outer edges for good, so nothing is thrown",
        "reuse": "all {stones} stones are used up; one has to be picked up and thrown, such as {example:move}",
        "name": "all {stones} stones are used up; name the one to throw, such as {example:move}",
        # the stone, and its target
        "stands": "{mover:side} stands at {at:place} now",
        "none": "there is no stone at {at:place}",
        "owner": "the stone at {at:place} is {other:side}'s; you can only pick up your own",
        "edge": "the stone at {at:place} stands on an outer edge and can't be picked up",
        "return": "the stone picked up at {at:place} may not return there in the same turn",
        # the ending
        "larger": "{winner:side} has the larger region, {size:intersections} to {smaller}",
        "no-move": "{mover:side} can't move",
        # drawings
        "stone": "a stone of {owner:side}'s",
        "left": "{stones:stones} left",
    },
    side=words(*SIDES),
    place=PLACE,
    piece=_piece,
    stones=STONES,
    intersections=counted("{n} intersection", "{n} intersections"),
    move=lambda packed, _: str(unpacked_move(packed)),
)
