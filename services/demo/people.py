"""The people of the demo server: invented names, and how each of them plays."""

from typing import Final

import msgspec

from domain.match.events import AccountId

VISITOR: Final = "demo"
"""The userid that the operator logs in with."""

ARBITER: Final = "marek"
SECOND_ARBITER: Final = "ilse"
"""Rules on appeals, because nobody rules twice on a case."""


FIRST_DAY: Final = 240
"""How many days ago the server began."""


class Person(msgspec.Struct, frozen=True):
    """A player."""

    name: str
    joined: int
    """How many days ago."""
    strength: float
    """From 0, like the robot of the easy level, to 2, like that of the hard one."""
    hours: int
    """By how many hours the person's days begin later than those of UTC."""
    games: tuple[str, ...]
    """The games that the person likes."""
    language: str = ""


PEOPLE: Final = (
    Person("anneke", 236, 1.5, 1, ("pow2", "goliath", "line")),
    Person("bruno", 231, 0.9, 1, ("goliath", "torere", "powerdrain"), "de"),
    Person("chidi", 229, 1.1, 1, ("pow2", "halves", "line")),
    Person("dagny", 224, 0.4, 2, ("line", "pow2", "torere")),
    Person("emre", 218, 1.8, 3, ("pow2", "powerdrain", "halves")),
    Person("farida", 211, 0.7, 2, ("halves", "goliath", "powerdrain")),
    Person("goran", 205, 1.3, 1, ("goliath", "line", "torere")),
    Person("hina", 198, 0.2, 9, ("torere", "halves", "line")),
    Person(SECOND_ARBITER, 190, 1.0, 1, ("powerdrain", "halves", "pow2"), "de"),
    Person("jonas", 177, 0.5, 1, ("pow2", "goliath", "torere"), "de"),
    Person("kofi", 169, 1.6, 0, ("line", "halves", "goliath")),
    Person("lucia", 158, 0.8, -5, ("pow2", "line", "powerdrain")),
    Person(ARBITER, 151, 1.2, 1, ("pow2", "halves", "torere")),
    Person("nadia", 140, 0.3, 2, ("goliath", "powerdrain", "line")),
    Person("oskar", 127, 1.0, 1, ("halves", "torere", "pow2"), "de"),
    Person("priya", 118, 1.4, 5, ("line", "pow2", "goliath")),
    Person("quinn", 104, 0.1, -6, ("powerdrain", "pow2", "halves")),
    Person("rosa", 92, 0.6, -3, ("goliath", "halves", "torere")),
    Person("sven", 81, 0.9, 1, ("pow2", "line", "halves")),
    Person("tomoko", 70, 1.7, 9, ("goliath", "pow2", "powerdrain")),
    Person("ulla", 58, 0.4, 2, ("torere", "line", "halves"), "de"),
    Person("viktor", 45, 1.1, 2, ("pow2", "goliath", "line")),
    Person("wanjiru", 33, 0.7, 3, ("halves", "pow2", "powerdrain")),
    Person("yusuf", 21, 0.5, 3, ("line", "goliath", "pow2")),
    Person(VISITOR, 96, 0.8, 1, ("pow2", "goliath", "halves", "line")),
)  # fmt: skip

BY_NAME: Final = {person.name: person for person in PEOPLE}

AccountIds = dict[str, AccountId]
"""The accounts by userid."""
