"""The sentences of That's My Line: refused moves, endings, and the words of drawings."""

from domain.boards.pow2_board import ALL_PLACES, STONES
from domain.sentences import Sentences, words

SAY = Sentences(
    "line",
    {
        "side": ("{seat:side}", "{seat:side}"),
        "form": (
            "a move is written as one intersection, such as c3",
            "ein Zug ist ein Schnittpunkt, zum Beispiel c3",
        ),
        "unreadable": (
            "{text!r} is no intersection; {form}",
            "{text!r} ist kein Schnittpunkt; {form}",
        ),
        "over": (
            "the match is over: neither player can place a stone",
            "die Partie ist zu Ende: niemand kann einen Stein setzen",
        ),
        "taken": ("it is occupied by {stone:stone}", "dort steht {stone:stone}"),
        "seen": (
            "{other:side}'s stone at {stones:all} stands on a line through it",
            "der Stein von {other:side} auf {stones:all} liegt auf einer Linie mit dem Platz",
        ),
        "seen-all": (
            "{other:side}'s stones at {stones:all} stand on lines through it",
            "die Steine von {other:side} auf {stones:all} liegen auf Linien mit dem Platz",
        ),
        # the ending
        "last": (
            "{stones:stones} each, and {seat:side} placed last",
            "je {stones:stones}, und {seat:side} hat zuletzt gesetzt",
        ),
        "more": (
            "{seat:side} placed {stones:stones} to {fewer}",
            "{seat:side} hat {stones:stones} gesetzt, der Gegner {fewer}",
        ),
        # drawings
        "placed": ("{stones:stones} placed", "{stones:stones} gesetzt"),
    },
    side=words("Light", "Dark", german=("Hell", "Dunkel")),
    stone=words("a light stone", "a dark stone", german=("ein heller Stein", "ein dunkler Stein")),
    stones=STONES,
    all=ALL_PLACES,
)
