"""The sentences of Get a Jump On: refused moves, scores, and the words of drawings."""

from domain.boards.pow2_board import PLACE, STONES
from domain.sentences import Sentences, counted

SAY = Sentences(
    "jump",
    {
        "form": "a move is a corner such as a1, a step c3:d4 or c3:d4-g1, a jump a1-a7, or done",
        "over": "the match is over: no more stones can be set and jumped",
        "over-2": "the match is over: no more jumps are possible",
        # the first stone
        "corner": "the first stone goes on a corner: a1, a13, m1 or m13",
        "first": "first name the corner on which the first stone is set: a1, a13, m1 or m13",
        # part one
        "step": (
            "each step sets a new stone until all {stones} are set, and the jumper at "
            "{jumper:place} jumps over it; it is written c3:d4"
        ),
        "taken": "{at:place} is occupied; a new stone is set on an empty intersection",
        "away": "{at:place} is not adjacent to the jumper at {jumper:place}",
        "end": "the line from {jumper:place} ends at {at:place}, so it can't be jumped over",
        "lands": "a jump over {at:place} lands on {behind:place}, not on {landing:place}",
        # part two, and chains
        "jump": "no more stones are set; now a stone jumps and removes others, written a1-a7",
        "none": "there is no stone at {at:place}",
        "line": "no line leads from {here:place} over one intersection to {there:place}",
        "over-none": "there is no stone at {between:place} to jump over from {here:place} to {there:place}",
        "landing": "{there:place} is occupied; a jump lands on an empty intersection",
        "twice": "{there:place} is landed on twice in one chain",
        # scores and drawings
        "set": "{stones:stones} set",
        "left": "{stones:stones} left after {plies:plies}",
        "of": "{left} of {stones} stones left after {plies:plies}",
        "all": "all {stones} stones set, {left} left after {plies:plies}",
        "mark": "the booklet's target: 1 stone in 20 plies",
        "jumper": "the jumper",
        "stone": "a stone",
    },
    place=PLACE,
    stones=STONES,
    plies=counted("{n} ply", "{n} plies"),
)
