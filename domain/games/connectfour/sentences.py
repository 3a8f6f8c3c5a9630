"""The sentences of Four in a Row: refused moves, endings, and the words of drawings."""

from domain.sentences import Sentences, counted, words

SAY = Sentences(
    "connectfour",
    {
        "side": "{seat:side}",
        "form": "a move is written as one square, such as d1, or as a column, such as d",
        "over": "the match is over",
        "full": "column {column} is full",
        "elsewhere": "a disc in this column lands on {at}",
        "four": "{winner:side} has four in a row from {first} to {last}",
        "draw": "the board is full, and nobody has four in a row",
        # drawings
        "counts": "{discs:discs}",
        "disc-of": "{disc:disc}",
    },
    side=words("Black", "White"),
    disc=words("a black disc", "a white disc"),
    discs=counted("{n} disc", "{n} discs"),
)
