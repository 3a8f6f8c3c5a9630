"""What can be chosen for a new match, explained: the games' options, and the times."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

import msgspec

from domain.rules import AnyRules
from services.web.visitors import Form


class Way(StrEnum):
    """How an option is chosen."""

    SWITCH = "switch"
    ONE_OF = "one-of"
    NUMBER = "number"


class Pick(msgspec.Struct, frozen=True):
    """One of the values that exclude each other, or a switch by itself."""

    flag: str
    """As in a challenge; empty for what is usual."""
    label: str


class Choice(msgspec.Struct, frozen=True):
    """An option of a game."""

    title: str
    way: Way
    picks: tuple[Pick, ...] = ()
    name: str = ""
    """Of a number, as in a challenge."""
    low: int = 0
    high: int = 0
    usual: int = 0
    hint: str = ""


def _switch(flag: str, label: str) -> Choice:
    return Choice(label, Way.SWITCH, (Pick(flag, label),))


def _one_of(title: str, *picks: tuple[str, str]) -> Choice:
    return Choice(title, Way.ONE_OF, tuple(Pick(*pick) for pick in picks))


CHOICES: Final[Mapping[str, tuple[Choice, ...]]] = {
    "pow2": (
        _one_of(
            "The start",
            ("", "Two pieces each, in the corners"),
            ("-fast", "Fast: four pieces each"),
            ("-middle", "Middle: two pieces each, at the middles of the sides"),
            ("-free", "Free: an empty board, on which you place four pieces each"),
        ),
        _switch("-exact", "Exact: a move is illegal if you lack pieces for all neighbours"),
        _switch("-noborder", "No border: nothing travels along the four outer edges"),
    ),
    "goliath": (
        _switch("-goliath_first", "Goliath moves first"),
        _switch("-count", "Count: who has the larger region when the figures are separated wins"),
    ),
    "line": (
        Choice(
            "Stones each",
            Way.NUMBER,
            name="-stones",
            high=64,
            hint="0 for as many as find room; the printed rules say 16.",
        ),
    ),
    "powerdrain": (
        _one_of(
            "The edges",
            ("", "In an order drawn by chance"),
            ("-o1", "1 3 5 7 9"),
            ("-o2", "7 9 1 3 5"),
        ),
        _switch("-p", "A common pool of plugs instead of hands"),
    ),
    "halves": (
        Choice(
            "Tiles each", Way.NUMBER, name="-tiles_each", low=2, high=60, usual=12,
            hint="More tiles make a longer match.",
        ),
        _one_of(
            "What survives when the tiles fall apart",
            ("", "The largest group"),
            ("-keep_most_friendly", "The group with most tiles of the mover's colour"),
            ("-keep_chosen", "A group that the mover chooses"),
        ),
        _one_of(
            "A placed tile must touch",
            ("", "A tile of another colour"),
            ("-touch_any", "Any tile"),
        ),
        _one_of("How many tiles it must touch", ("", "One"), ("-must_touch=2", "Two")),
        Choice(
            "Free edges that a tile needs to be removed", Way.NUMBER, name="-free_edges", high=6,
            hint="0 lets every tile of one's own be removed.",
        ),
        _switch("-manual_start", "The players place the tiles themselves"),
        _switch("-no_contract", "No contract: the first player can't swap colours"),
        _switch("-invert_win", "Inverted: who has tiles left wins"),
    ),
}  # fmt: skip
"""By game; a game that is not here has no options to choose."""

TIMES: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "3": ("3 days a move", ("--days=3",)),
    "7": ("7 days a move", ("--days=7",)),
    "21": ("21 days a move, a reminder after 7", ()),
    "bank": ("A bank of 14 days, and one more with each move", ("--bank=14+1",)),
    "none": ("No limit", ("--forfeittime=0", "--nagtime=0")),
}
"""Words for the form, what they mean, and the server's options."""

USUAL_TIME: Final = "7"


def options_of(game: str, form: Form) -> tuple[str, ...]:
    """Give the options that a form asks for, as a challenge has them; no game's rule is judged."""
    said = [flag for at in range(len(CHOICES.get(game, ()))) for flag in form.all(f"pick-{at}")]
    numbers = [
        f"{choice.name}={value}"
        for at, choice in enumerate(CHOICES.get(game, ()))
        if choice.way is Way.NUMBER and (value := form.get(f"number-{at}")) != ""
        if value != str(choice.usual)
    ]
    return (*said, *numbers)


def terms_of(form: Form) -> tuple[str, ...]:
    """Give the server's options that a form asks for."""
    _, words = TIMES.get(form.get("time"), TIMES[USUAL_TIME])
    switches = {
        "unrated": "--unrated",
        "weekends": "--weekends=off",
        "gather": "--gather",
    }
    return (*words, *(flag for name, flag in switches.items() if form.get(name)))


def draws_usually(rules: AnyRules) -> bool:
    """Tell whether chance has a part in the usual match of a game."""
    return rules.needs_draw(rules.read_options(()), rules.players[-1])
