"""The sentences of Lines of Action: refused moves, endings, and the words of drawings."""

from domain.sentences import Sentences, counted, words

SAY = Sentences(
    "loa",
    {
        "side": "{seat:side}",
        "form": "a move is written from-to, such as b1-b3",
        "over": "the match is over",
        "not-yours": "there is no {piece:own} on {at}",
        "no-line": "a piece moves along a row, a column or a diagonal",
        "steps": "on this line {at} moves {squares:squares}, one for each piece on it",
        "own": "a piece of your own is already on {at}",
        "jump": "a piece can't jump over an opposing one, such as that on {at}",
        "connected": "all of {winner:side}'s pieces are connected",
        "both-connected": "the last move has connected the pieces of both players",
        "stuck": "neither player can move",
        # drawings
        "counts": "{pieces:pieces}",
        "piece-of": "{piece:piece}",
    },
    side=words("Black", "White"),
    piece=words("a black piece", "a white piece"),
    own=words("black piece", "white piece"),
    pieces=counted("{n} piece", "{n} pieces"),
    squares=counted("{n} square", "{n} squares"),
)
