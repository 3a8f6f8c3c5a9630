"""The life of the demo server beside its matches: open challenges, messages, a match that gathers.

The people of the demo server: invented names, and since when they have been there.
"""

from functools import partial
from typing import Final, NamedTuple

import msgspec

from domain.clocks.time_control import DAY
from domain.records import AccountId
from domain.rules import latest_rules
from services.app import challenges
from services.app.start import start_by_name
from services.demo.past_server import PastApp, Timeline, demo_command_id

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


class _PlannedChallenge(NamedTuple):
    hours: float
    """How long ago it was opened."""
    name: str
    key: str
    options: tuple[str, ...]
    words: tuple[str, ...]
    seats: int
    note: str


_CHALLENGES: Final = (
    _PlannedChallenge(2, "tomoko", "pow2", (), ("--days=3",), 2, "A brisk one, please."),
    _PlannedChallenge(6, "lucia", "powerdrain", (), (), 2, ""),
    _PlannedChallenge(19, "chidi", "halves", (), ("--unrated",), 3, "Three at the table, beginners welcome."),
    _PlannedChallenge(31, "goran", "torere", (), (), 2, "Never the same circle twice."),
    _PlannedChallenge(52, "ulla", "line", (), ("--bank=30+1:60", "--nagtime=14,28"), 2, ""),
    _PlannedChallenge(77, "anneke", "goliath", ("-count",), (), 2, "I can play either figure."),
)  # fmt: skip

_MESSAGES: Final = (
    (70 * 24, "anneke", VISITOR, "Welcome! If you want a first game, I suggest David and Goliath, it is quickly learned."),
    (26, "emre", VISITOR, "Thanks for the rematch. I will be slower this week, exams."),
    (4, "wanjiru", VISITOR, "Oskar is faster than both of us together. Shall we gang up on him in our game of Halves?"),
)  # fmt: skip
"""Hours ago, sender, recipient, text."""

_BROADCAST: Final = (
    5 * 24,
    "The rule book of Halves has a new page about the contract. Questions are welcome, to any arbiter.",
)


def write_community(app: PastApp, timeline: Timeline, now: int, ids: AccountIds) -> None:
    """Add challenges, messages and a match that gathers to the timeline."""
    for one in _CHALLENGES:
        timeline.at(_before(now, one.hours), partial(_open, app, ids, one))
    for hours, sender, recipient, text in _MESSAGES:
        timeline.at(_before(now, hours), partial(_write, app, ids[sender], ids[recipient], text))
    hours, text = _BROADCAST
    timeline.at(_before(now, hours), partial(_broadcast, app, ids[ARBITER], text))
    timeline.at(_before(now, 0.7), partial(_gather, app, ids))


def _before(now: int, hours: float) -> int:
    return now - round(hours * DAY / 24)


def _open(app: PastApp, ids: AccountIds, one: _PlannedChallenge) -> None:
    proposal = challenges.proposal_of(
        latest_rules(one.key), one.options, one.words, seats=one.seats, note=one.note
    )
    challenges.propose(app, app.actor(ids[one.name], f"challenge {one.key}"), proposal)


def _write(app: PastApp, sender: bytes, recipient: bytes, text: str) -> None:
    app.messages.send(sender, [recipient], text, demo_command_id(sender, text))


def _broadcast(app: PastApp, sender: bytes, text: str) -> None:
    app.messages.broadcast(sender, text, demo_command_id(sender, text))


def _gather(app: PastApp, ids: AccountIds) -> None:
    """Challenge the visitor to a match of chance, which waits for a commitment."""
    sent = start_by_name(
        app,
        app.actor(ids["bruno"], "gathering"),
        latest_rules("powerdrain"),
        ["bruno", VISITOR],
        options=(),
        terms=("--gather",),
        counted=False,
    )
    app.add(sent)
    app.drain()
