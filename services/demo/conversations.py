"""The chat of the people of the demo server."""

from collections.abc import Sequence
from random import Random
from typing import Final

from services.demo.match_plan import HOUR, MINUTE, PlannedChat, PlannedStep

_TALKATIVE: Final = 0.35
"""The share of matches in which something is written."""

_GREETINGS: Final = (
    ("Hi! I hope you don't mind a slow game this week.", "Not at all, take your time."),
    ("Good luck!", "You too :)"),
    ("First time I play this one, be gentle.", "Then watch the corners. Have fun!"),
    ("Rematch at last!", "I have been practising."),
    ("Greetings from the train.", "Safe travels, and good luck."),
)
_REMARKS: Final = (
    ("I did not see that coming.", "Neither did I, to be honest."),
    ("Hm. I need to set this up on a real board.", "Take the evening."),
    ("Is that still legal?! I had to read the rules again.", "The server says so ;)"),
    ("I think I am in trouble.", "Not yet, I believe."),
    ("Nice idea.", "Thanks, let us see whether it holds."),
)
_FAREWELLS: Final = (
    ("Good game, thank you.", "Thank you! That was close."),
    ("Well played. Another one?", "With pleasure, but I want the other side."),
    ("I should have seen that three moves ago.", "I was afraid you would."),
    ("Thanks for the game.", "My pleasure."),
)


def chat_steps(
    chance: Random,
    players: Sequence[str],
    begin: int,
    steps: Sequence[PlannedStep],
    *,
    is_over: bool,
) -> list[PlannedStep]:
    """Return lines of chat for a match with these steps; mostly none."""
    if chance.random() > _TALKATIVE:
        return []
    first, second = chance.sample(list(players), 2)
    found: list[PlannedStep] = []
    middle, last = steps[len(steps) // 2].at, steps[-1].at
    parts = [(begin, _GREETINGS), (middle, _REMARKS), (last, _FAREWELLS)]
    for at, exchanges in parts if is_over else parts[:2]:
        if chance.random() > (0.4 if exchanges is _REMARKS else 0.7):
            continue
        one, other = chance.choice(exchanges)
        asked = at + round(chance.uniform(1, 9) * MINUTE)
        answered = asked + round(chance.uniform(0.2, 2) * HOUR)
        found += [
            PlannedStep(asked, first, PlannedChat(one)),
            PlannedStep(answered, second, PlannedChat(other)),
        ]
    return found
