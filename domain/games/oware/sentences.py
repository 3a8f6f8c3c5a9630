"""The sentences of Oware: refused moves, endings, and the words of drawings."""

from domain.sentences import Sentences, counted, words

SAY = Sentences(
    "oware",
    {
        "side": "{seat:side}",
        "form": "a move is written as one house, such as c1",
        "over": "the match is over: South has {south} seeds, North has {north}",
        "owner": "that house is {other:side}'s",
        "empty": "that house is empty",
        "feed": "{other:side} has no seeds, and none would reach {other:side}'s row from there",
        "majority": "{winner:side} has captured {seeds:seeds}, more than half of them",
        "starved": "no seed can reach the empty row: South ends with {south} seeds, North with {north}",
        "repeated": "the position came up again: South ends with {south} seeds, North with {north}",
        "no-capture": (
            "{plies} moves in a row captured nothing: South ends with {south} seeds, North with {north}"
        ),
        # drawings and pages
        "house": "Choose a house to sow from",
        "seeds": "{seeds:seeds}",
        "captured": "{seeds:captured}",
    },
    side=words("South", "North"),
    seeds=counted("{n} seed", "{n} seeds"),
    captured=counted("{n} seed captured", "{n} seeds captured"),
)
