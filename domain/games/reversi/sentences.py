"""The sentences of Reversi: refused moves, endings, and the words of drawings."""

from domain.sentences import Sentences, counted, words

SAY = Sentences(
    "reversi",
    {
        "side": "{seat:side}",
        "form": "a move is written as one square, such as d3",
        "over": "the match is over: neither player can move",
        "taken": "{disc:disc} is already there",
        "nothing": "a disc there would turn over none of {other:side}'s",
        "more-discs": "{winner:side} has {more:discs}, {other:side} has {fewer}",
        "equal": "both players have {discs:discs}",
        # drawings
        "counts": "{discs:discs}",
        "disc-of": "{disc:disc}",
    },
    side=words("Black", "White"),
    disc=words("a black disc", "a white disc"),
    discs=counted("{n} disc", "{n} discs"),
)
