"""The sentences of mū tōrere: refused moves and endings."""

from domain.sentences import Sentences, words

SAY = Sentences(
    "torere",
    {
        "side": ("{seat:side}", "{seat:side}"),
        "form": (
            "a move is written as two places from 0 to 8, such as 4-0",
            "ein Zug besteht aus zwei Plätzen von 0 bis 8, zum Beispiel 4-0",
        ),
        "over": (
            "the match is over: {mover:side} can't move",
            "die Partie ist zu Ende: {mover:side} kann nicht ziehen",
        ),
        "empty": ("no stone stands on {start}", "auf {start} steht kein Stein"),
        "owner": (
            "the stone on {start} is {other:side}'s",
            "der Stein auf {start} gehört {other:side}",
        ),
        "taken": ("{end} is occupied by {stone:stone}", "auf {end} steht {stone:stone}"),
        "circle": (
            "{start} and {end} are not neighbours on the circle",
            "{start} und {end} sind auf dem Kreis nicht benachbart",
        ),
        "no-move": (
            "{mover:side} can't move: {winner:side} has won",
            "{mover:side} kann nicht ziehen: {winner:side} hat gewonnen",
        ),
        "putahi": (
            "neither {left} nor {right}, beside {start}, holds a stone of {other:side}'s",
            "weder auf {left} noch auf {right}, neben {start}, steht ein Stein von {other:side}",
        ),
    },
    side=words("Light", "Dark", german=("Hell", "Dunkel")),
    stone=words("a light stone", "a dark stone", german=("ein heller Stein", "ein dunkler Stein")),
)
