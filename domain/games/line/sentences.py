"""The sentences of That's My Line: refused moves, endings, and the words of drawings."""

from domain.boards.pow2_board import ALL_PLACES, STONES
from domain.sentences import Sentences, words

SAY = Sentences(
    "line",
    {
        "side": "{seat:side}",
        "form": "a move is written as one intersection, such as c3",
        "unreadable": "{text!r} isn't an intersection; {form}",
        "over": "the match is over: neither player can place a stone",
        "taken": "{stone:stone} is already there",
        "seen": "{other:side}'s stone at {stones:all} stands on a line through it",
        "seen-all": "{other:side}'s stones at {stones:all} stand on lines through it",
        # the ending
        "last": "{stones:stones} each, and {seat:side} placed last",
        "more": "{seat:side} placed {stones:stones} to {fewer}",
        # drawings
        "placed": "{stones:stones} placed",
    },
    side=words("Light", "Dark"),
    stone=words("a light stone", "a dark stone"),
    stones=STONES,
    all=ALL_PLACES,
)
