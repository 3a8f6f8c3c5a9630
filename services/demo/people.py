"""The people of the demo server: invented names, and since when they have been there."""

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
    language: str = ""


PEOPLE: Final = (
    Person("anneke", 236),
    Person("bruno", 231, "de"),
    Person("chidi", 229),
    Person("dagny", 224),
    Person("emre", 218),
    Person("farida", 211),
    Person("goran", 205),
    Person("hina", 198),
    Person(SECOND_ARBITER, 190, "de"),
    Person("jonas", 177, "de"),
    Person("kofi", 169),
    Person("lucia", 158),
    Person(ARBITER, 151),
    Person("nadia", 140),
    Person("oskar", 127, "de"),
    Person("priya", 118),
    Person("quinn", 104),
    Person("rosa", 92),
    Person("sven", 81),
    Person("tomoko", 70),
    Person("ulla", 58, "de"),
    Person("viktor", 45),
    Person("wanjiru", 33),
    Person("yusuf", 21),
    Person(VISITOR, 96),
)  # fmt: skip

AccountIds = dict[str, AccountId]
"""The accounts by userid."""
