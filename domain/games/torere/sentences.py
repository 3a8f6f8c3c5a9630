"""The sentences of mū tōrere: refused moves and endings."""

from domain.sentences import Sentences, words

SAY = Sentences(
    "torere",
    {
        "side": "{seat:side}",
        "form": "a move is written as two points from 0 to 8, such as 4-0",
        "over": "the match is over: {mover:side} can't move",
        "empty": "no stone stands on {start}",
        "owner": "the stone on {start} is {other:side}'s",
        "taken": "{end} is occupied by {stone:stone}",
        "circle": "{start} and {end} are not neighbours on the circle",
        "no-move": "{mover:side} can't move: {winner:side} has won",
        "putahi": "neither {left} nor {right}, beside {start}, holds a stone of {other:side}'s",
    },
    side=words("Light", "Dark"),
    stone=words("a light stone", "a dark stone"),
)
