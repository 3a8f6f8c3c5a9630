"""The sentences of Amazons: refused moves, endings, and the words of drawings and pages."""

from domain.sentences import Sentences, words

SAY = Sentences(
    "amazons",
    {
        "side": "{seat:side}",
        "form": "a move is written from-to/arrow, such as d1-d7/g7",
        "over": "the match is over: {loser:side} can't move",
        "off-board": "this board ends at {last}",
        "owner": "the amazon on {start} is {other:side}'s",
        "no-amazon": "there is no amazon on {start}",
        "no-line": "no straight line leads from {start} to {end}",
        "blocked": "{thing:thing} on {at} is in the way",
        "no-move": "{loser:side} can't move: {winner:side} has won",
        # drawings and pages
        "thing-of": "{thing:thing}",
        "prompt": "Choose an amazon, where it moves, and where its arrow goes",
    },
    side=words("White", "Black"),
    thing=words("a white amazon", "a black amazon", "an arrow"),
)
