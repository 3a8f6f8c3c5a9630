"""The sentences of Cooperative That's My Line: refused moves, scores, and the words of drawings."""

from domain.boards.pow2_board import ALL_PLACES, STONES
from domain.sentences import Sentences, words

SAY = Sentences(
    "duo",
    {
        "form": (
            "a move is written as one intersection, such as c3, or done",
            "ein Zug ist ein Schnittpunkt, zum Beispiel c3, oder done",
        ),
        "over": (
            "the match is over: neither colour has a place",
            "die Partie ist zu Ende: keine Farbe hat einen Platz",
        ),
        "taken": ("it is occupied by {stone:stone}", "dort steht {stone:stone}"),
        "seen": (
            "the {colour:colour} stone at {stones:all} stands on a line through it",
            "der {colour:colour} Stein auf {stones:all} liegt auf einer Linie mit dem Platz",
        ),
        "seen-all": (
            "the {colour:colours} stones at {stones:all} stand on lines through it",
            "die {colour:colours} Steine auf {stones:all} liegen auf Linien mit dem Platz",
        ),
        # the score
        "placed": (
            "{stones:stones} placed, {light} light and {dark} dark",
            "{stones:stones} gesetzt, {light} helle und {dark} dunkle",
        ),
        "limit": (
            "proven: 48 at most (44 and 4); 40 when no colour is passed before the end",
            "bewiesen: höchstens 48 (44 und 4); 40, wenn vor dem Ende keine Farbe passt",
        ),
        # drawings
        "light": ("light", "hell"),
        "dark": ("dark", "dunkel"),
        "counts": (
            "{stones:stones}, {light} light and {dark} dark",
            "{stones:stones}, {light} helle und {dark} dunkle",
        ),
        "next": ("{counts}; {colour:next} is next", "{counts}; am Zug ist {colour:next}"),
    },
    stone=words("a light stone", "a dark stone", german=("ein heller Stein", "ein dunkler Stein")),
    colour=words("light", "dark", german=("helle", "dunkle")),
    colours=words("light", "dark", german=("hellen", "dunklen")),
    next=words("light", "dark", german=("Hell", "Dunkel")),
    stones=STONES,
    all=ALL_PLACES,
)
