"""The sentences of Get a Jump On: refused moves, scores, and the words of drawings."""

from domain.boards.pow2_board import PLACE, STONES
from domain.sentences import Sentences, counted

SAY = Sentences(
    "jump",
    {
        "form": (
            "a move is a corner such as a1, a step c3:d4 or c3:d4-g1, a jump a1-a7, or done",
            "ein Zug ist eine Ecke wie a1, ein Schritt c3:d4 oder c3:d4-g1, ein Sprung a1-a7 oder done",
        ),
        "over": (
            "the match is over: no stone can be set and jumped any more",
            "die Partie ist zu Ende: kein Stein kann mehr gesetzt und übersprungen werden",
        ),
        "over-2": (
            "the match is over: no stone can jump any more",
            "die Partie ist zu Ende: kein Stein kann mehr springen",
        ),
        # the first stone
        "corner": (
            "the first stone is set on a corner: a1, a13, m1 or m13",
            "der erste Stein kommt auf eine Ecke: a1, a13, m1 oder m13",
        ),
        "first": (
            "first name the corner on which the first stone is set: a1, a13, m1 or m13",
            "zuerst ist die Ecke zu nennen, auf die der erste Stein kommt: a1, a13, m1 oder m13",
        ),
        # part one
        "step": (
            (
                "each step sets a new stone until all {stones} are set, and the jumper at "
                "{jumper:place} jumps over it; it is written c3:d4"
            ),
            (
                "jeder Schritt setzt einen neuen Stein, bis alle {stones} gesetzt sind, und der Springer "
                "auf {jumper:place} springt über ihn; geschrieben wird das c3:d4"
            ),
        ),
        "taken": (
            "{at:place} is occupied; a new stone is set on an empty intersection",
            "{at:place} ist besetzt; ein neuer Stein kommt auf einen freien Schnittpunkt",
        ),
        "away": (
            "{at:place} is not adjacent to the jumper at {jumper:place}",
            "{at:place} liegt nicht neben dem Springer auf {jumper:place}",
        ),
        "end": (
            "the line from {jumper:place} ends at {at:place}, so it can't be jumped over",
            "die Linie von {jumper:place} endet auf {at:place}, also kann dort nichts übersprungen werden",
        ),
        "lands": (
            "a jump over {at:place} lands on {behind:place}, not on {landing:place}",
            "ein Sprung über {at:place} landet auf {behind:place}, nicht auf {landing:place}",
        ),
        # part two, and chains
        "jump": (
            "no more stones are set; a stone jumps and takes, which is written a1-a7",
            "gesetzt wird nicht mehr; ein Stein springt und nimmt andere vom Brett, geschrieben a1-a7",
        ),
        "none": ("there is no stone at {at:place}", "auf {at:place} steht kein Stein"),
        "line": (
            "no line leads from {here:place} over one intersection to {there:place}",
            "keine Linie führt von {here:place} über einen Schnittpunkt nach {there:place}",
        ),
        "over-none": (
            "there is no stone at {between:place} to jump over from {here:place} to {there:place}",
            (
                "auf {between:place} steht kein Stein, den der Sprung von {here:place} nach {there:place} "
                "überspringen könnte"
            ),
        ),
        "landing": (
            "{there:place} is occupied; a jump lands on an empty intersection",
            "{there:place} ist besetzt; ein Sprung landet auf einem freien Schnittpunkt",
        ),
        "twice": (
            "{there:place} is landed on twice in one chain",
            "in einer Kette wird nicht zweimal auf {there:place} gelandet",
        ),
        # scores and drawings
        "set": ("{stones:stones} set", "{stones:stones} gesetzt"),
        "left": (
            "{stones:stones} left after {plies:plies}",
            "noch {stones:stones} nach {plies:plies}",
        ),
        "of": (
            "{left} of {stones} stones left after {plies:plies}",
            "noch {left} von {stones} Steinen nach {plies:plies}",
        ),
        "all": (
            "all {stones} stones set, {left} left after {plies:plies}",
            "alle {stones} Steine gesetzt, noch {left} nach {plies:plies}",
        ),
        "mark": (
            "the source's mark: 1 stone in 20 plies",
            "die Marke der Quelle: 1 Stein in 20 Zügen",
        ),
        "jumper": ("the jumper", "der Springer"),
        "stone": ("a stone", "ein Stein"),
    },
    place=PLACE,
    stones=STONES,
    plies=counted("ply", "plies", german=("Zug", "Zügen")),
)
