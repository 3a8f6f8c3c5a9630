"""The sentences of David and Goliath: refused moves, endings, and the words of drawings."""

from domain.boards.pow2_board import PLACE, STONES
from domain.games.goliath.notation import unpacked_move
from domain.sentences import Sentences, counted, words

SIDES = ("David", "Goliath")

_LIGHT, _DARK = ("a light stone", "ein heller Stein"), ("a dark stone", "ein dunkler Stein")
_PIECES = {"D": ("David", "David"), "G": ("Goliath", "Goliath"), "o": _LIGHT, "x": _DARK}
"""In English and German, by the letters of drawings as text."""


SAY = Sentences(
    "goliath",
    {
        "form": (
            (
                "a move is written from-to:target or, when all stones are used up, "
                "from-to:stone>target or from-to, such as m13-h8:i9"
            ),
            (
                "ein Zug ist von-nach:Ziel oder, wenn alle Steine aufgebraucht sind, "
                "von-nach:Stein>Ziel oder von-nach, zum Beispiel m13-h8:i9"
            ),
        ),
        "over": ("the match is over: {detail}", "die Partie ist zu Ende"),
        "counted": (
            "with -count the regions are counted after every move",
            "mit -count werden die Gebiete nach jedem Zug gezählt",
        ),
        "joined": (
            "a count can be proposed only while stones separate David and Goliath",
            "eine Zählung kann nur vorgeschlagen werden, solange Steine David und Goliath trennen",
        ),
        # the figure
        "turn": (
            "{other:side} stands at {at:place}, and it is {mover:side}'s turn",
            "auf {at:place} steht {other:side}, und am Zug ist {mover:side}",
        ),
        "figure": (
            "{mover:side} stands at {figure:place}, not at {at:place}",
            "{mover:side} steht auf {figure:place}, nicht auf {at:place}",
        ),
        "stays": ("{mover:side} has to move", "{mover:side} muss sich bewegen"),
        # the way of a figure or a stone
        "line": (
            "no line joins {start:place} and {end:place}",
            "keine Linie verbindet {start:place} und {end:place}",
        ),
        "steps": (
            "{mover:side} moves one or two intersections far, and {end:place} is {steps} away",
            "{mover:side} zieht einen oder zwei Schnittpunkte weit, und {end:place} ist {steps} entfernt",
        ),
        "far": (
            "{mover:side} throws one or two intersections far, and {end:place} is {steps} away",
            "{mover:side} wirft einen oder zwei Schnittpunkte weit, und {end:place} ist {steps} entfernt",
        ),
        "way": (
            "the way from {start:place} to {end:place} is blocked by {piece:piece} at {nearest:place}",
            "den Weg von {start:place} nach {end:place} versperrt {piece:piece} auf {nearest:place}",
        ),
        "taken": (
            "{end:place} is occupied by {piece:piece}",
            "auf {end:place} steht {piece:piece}",
        ),
        # the kind of throw
        "throw": (
            "a stone has to be thrown after the move, such as {example:move}",
            "nach dem Ziehen muss ein Stein geworfen werden, zum Beispiel {example:move}",
        ),
        "supply": (
            "a stone is picked up only when all {stones} are used up; {left} left to throw",
            (
                "ein Stein wird erst aufgenommen, wenn alle {stones} aufgebraucht sind; "
                "noch zu werfen: {left}"
            ),
        ),
        "edges": (
            "all {stones} stones stand on the outer edges for good, so nothing is thrown",
            "alle {stones} Steine liegen endgültig auf den Randlinien, also wird nichts geworfen",
        ),
        "reuse": (
            "all {stones} stones are used up; one has to be picked up and thrown, such as {example:move}",
            (
                "alle {stones} Steine sind aufgebraucht; einer muss aufgenommen und geworfen werden, "
                "zum Beispiel {example:move}"
            ),
        ),
        "name": (
            "all {stones} stones are used up; name the one to throw, such as {example:move}",
            (
                "alle {stones} Steine sind aufgebraucht; zu nennen ist der, der geworfen wird, "
                "zum Beispiel {example:move}"
            ),
        ),
        # the stone, and its target
        "stands": (
            "{mover:side} stands at {at:place} now",
            "auf {at:place} steht jetzt {mover:side}",
        ),
        "none": ("there is no stone at {at:place}", "auf {at:place} liegt kein Stein"),
        "owner": (
            "the stone at {at:place} is {other:side}'s; only own ones are picked up",
            "der Stein auf {at:place} gehört {other:side}; aufgenommen werden nur eigene",
        ),
        "edge": (
            "the stone at {at:place} stands on an outer edge and can't be picked up",
            "der Stein auf {at:place} liegt auf einer Randlinie und kann nicht aufgenommen werden",
        ),
        "return": (
            "the stone picked up at {at:place} may not return there in the same turn",
            "der auf {at:place} aufgenommene Stein darf im selben Zug nicht dorthin zurück",
        ),
        # the ending
        "larger": (
            "{winner:side} has the larger region, {size:intersections} to {smaller}",
            "{winner:side} hat das größere Gebiet, {size:intersections} gegen {smaller}",
        ),
        "no-move": ("{mover:side} can't move", "{mover:side} kann nicht ziehen"),
        # drawings
        "stone": ("a stone of {owner:side}'s", "ein Stein von {owner:side}"),
        "left": ("{stones:stones} left", "noch {stones:stones}"),
    },
    side=words(*SIDES),
    place=PLACE,
    piece=lambda letter, language: _PIECES[letter][language == "de"],
    stones=STONES,
    intersections=counted(
        "intersection", "intersections", german=("Schnittpunkt", "Schnittpunkte")
    ),
    move=lambda packed, _: str(unpacked_move(packed)),
)
