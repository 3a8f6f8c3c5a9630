"""Why a move of Cooperative That's My Line is refused, in words."""

from domain.boards.pow2_board import ALL_PLACES
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
    },
    stone=words("o", "x"),
    colour=words("light", "dark", german=("helle", "dunkle")),
    colours=words("light", "dark", german=("hellen", "dunklen")),
    all=ALL_PLACES,
)
