"""What can be chosen for a new match, explained: the games' options, and the times."""

from collections.abc import Iterable, Mapping
from typing import Final

from domain.rules import AnyRules, Game, all_games, current, game_of
from domain.rules.option_form import OptionField, OptionKind
from services.web.visitors import Form

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
    """Return the options that a form asks for, as a challenge has them; no game's rule is judged."""
    fields = tuple(enumerate(game_of(game).options_form))
    picked = [flag for at, _ in fields for flag in form.all(f"pick-{at}")]
    valued = [
        f"-{field.field}={value}"
        for at, field in fields
        if (value := _value(field, at, form)) not in ("", str(field.usual))
    ]
    return (*picked, *valued)


def _value(field: OptionField, at: int, form: Form) -> str:
    """Return the number or the list of names that is typed; empty for an option without a value."""
    if field.kind is OptionKind.NUMBER:
        return form.get(f"number-{at}")
    return form.get(f"names-{at}") if field.kind is OptionKind.NAMES else ""


def featured() -> tuple[AnyRules, ...]:
    """Return the games that are offered with one click."""
    return _newest(game for game in all_games() if game.featured)


def to_show() -> tuple[AnyRules, ...]:
    """Return the games for several, in the order in which a match is looked for to show a guest."""
    several = [game for game in all_games() if game.latest.players != (1,)]
    return _newest(sorted(several, key=lambda game: not game.featured))


def suggested() -> AnyRules:
    """Return the game that is suggested where none is chosen."""
    return to_show()[0]


def _newest(games: Iterable[Game]) -> tuple[AnyRules, ...]:
    return tuple(current(game.key) for game in games)


def terms_of(form: Form) -> tuple[str, ...]:
    """Return the server's options that a form asks for."""
    _, words = TIMES.get(form.get("time"), TIMES[USUAL_TIME])
    switches = {
        "unrated": "--unrated",
        "weekends": "--weekends=off",
        "gather": "--gather",
    }
    return (*words, *(flag for name, flag in switches.items() if form.get(name)))


def draws_usually(rules: AnyRules) -> bool:
    """Return whether chance has a part in the usual match of a game."""
    return rules.needs_draw(rules.read_options(()), rules.players[-1])
