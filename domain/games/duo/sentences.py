"""The sentences of Cooperative That's My Line: refused moves, scores, and the words of drawings."""

from domain.boards.pow2_board import ALL_PLACES, STONES
from domain.sentences import Sentences, words

SAY = Sentences(
    "duo",
    {
        "form": "a move is written as one intersection, such as c3, or done",
        "over": "the match is over: neither colour can place a stone",
        "taken": "{stone:stone} is already there",
        "seen": "the {colour:colour} stone at {stones:all} stands on a line through it",
        "seen-all": "the {colour:colours} stones at {stones:all} stand on lines through it",
        # the score
        "placed": "{stones:stones} placed, {light} light and {dark} dark",
        "limit": "proven: 48 at most (44 and 4); 40 when no colour is passed before the end",
        # drawings
        "light": "light",
        "dark": "dark",
        "counts": "{stones:stones}, {light} light and {dark} dark",
        "next": "{counts}; {colour:next} is next",
    },
    stone=words("a light stone", "a dark stone"),
    colour=words("light", "dark"),
    colours=words("light", "dark"),
    next=words("light", "dark"),
    stones=STONES,
    all=ALL_PLACES,
)
