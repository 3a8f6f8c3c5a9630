"""The sentences of Hex: refused moves, endings, and the words of drawings and pages."""

from domain.sentences import Sentences, words

SAY = Sentences(
    "hex",
    {
        "side": "{seat:side}",
        "form": "a move is written as one place, such as f6; in reply to the first move, also swap",
        "over": "the match is over: {winner:side} has connected both sides",
        "off-board": "this board ends at {last}",
        "taken": "{stone:stone} is already there",
        "no-swap": "you can only swap in reply to the first move of the match",
        "swap-off": "this match is played without swapping",
        "connected": "{winner:side} has connected {sides:sides}",
        # drawings and pages
        "stone-of": "{stone:stone}",
        "goal": "connects {sides:sides}",
        "place-or-swap": "Choose where to place your stone, or take over Black's move",
        "swap": "Take over Black's move",
        "swapped": "the black stone is replaced by a white one at {place}",
    },
    side=words("Black", "White"),
    stone=words("a black stone", "a white stone"),
    sides=words("top and bottom", "left and right"),
)
