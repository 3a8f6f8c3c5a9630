"""The sentences of Breakthrough: refused moves, endings, and the words of drawings."""

from domain.sentences import Sentences, counted, words

SAY = Sentences(
    "breakthrough",
    {
        "side": "{seat:side}",
        "form": "a move is written from-to, such as a2-a3",
        "over": "the match is over: {winner:side} has won",
        "off-board": "this board ends at {last}",
        "not-yours": "there is no {piece:own} on {at}",
        "too-far": "a piece moves one square forward, straight or diagonally",
        "own": "a piece of your own is already on {at}",
        "blocked": "a piece can only capture diagonally, and {at} is straight ahead",
        "broke-through": "{winner:side} has broken through at {at}",
        "no-pieces": "{winner:side} has captured all of {other:side}'s pieces",
        # drawings
        "counts": "{pieces:pieces}",
        "piece-of": "{piece:piece}",
    },
    side=words("White", "Black"),
    piece=words("a white piece", "a black piece"),
    own=words("white piece", "black piece"),
    pieces=counted("{n} piece", "{n} pieces"),
)
