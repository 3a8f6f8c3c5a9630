"""The choices of the form for a new match: the games' options, and time controls."""

from collections.abc import Iterable, Mapping
from typing import Any, Final
from uuid import uuid4

from domain.engine.levels import LEVELS
from domain.rules import AnyRules, GamePackage, all_games, game_by_key, latest_rules
from domain.rules.option_form import OptionField, OptionKind
from services.app.context import App
from services.app.opponents import robots_play
from services.http.web.session import Form

TIME_CHOICES: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "3": ("3 days a move", ("--days=3",)),
    "7": ("7 days a move", ("--days=7",)),
    "21": ("21 days a move, a reminder after 7", ()),
    "bank": ("A bank of 14 days, and one more with each move", ("--bank=14+1",)),
    "none": ("No limit", ("--forfeittime=0", "--nagtime=0")),
}
"""Values of the form, each with its label and the server's options."""

DEFAULT_TIME: Final = "7"


def chosen_options(game: str, form: Form) -> tuple[str, ...]:
    """Return the chosen options as flags of a challenge, unchecked."""
    fields = tuple(enumerate(game_by_key(game).options_form))
    picked = [flag for at, _ in fields for flag in form.all(f"pick-{at}")]
    valued = [
        f"-{field.field}={value}"
        for at, field in fields
        if (value := _value(field, at, form)) not in ("", str(field.usual))
    ]
    return (*picked, *valued)


def _value(field: OptionField, at: int, form: Form) -> str:
    """Return the value of an option in the form; empty for an option without a value."""
    if field.kind is OptionKind.NUMBER:
        return form.get(f"number-{at}")
    return form.get(f"names-{at}") if field.kind is OptionKind.NAMES else ""


def featured_games() -> tuple[AnyRules, ...]:
    """Return the games that the home page offers with one click."""
    return _latest_rules_of(game for game in all_games() if game.featured)


def showcase_games() -> tuple[AnyRules, ...]:
    """Return the games for two and more players, in the order in which the welcome page tries them."""
    several = [game for game in all_games() if game.latest.players != (1,)]
    return _latest_rules_of(sorted(several, key=lambda game: not game.featured))


def suggested_game() -> AnyRules:
    """Return the game that is suggested if none is chosen."""
    return showcase_games()[0]


def _latest_rules_of(games: Iterable[GamePackage]) -> tuple[AnyRules, ...]:
    return tuple(latest_rules(game.key) for game in games)


def chosen_terms(form: Form) -> tuple[str, ...]:
    """Return the chosen time control and rating options, as flags of a challenge."""
    _, words = TIME_CHOICES.get(form.get("time"), TIME_CHOICES[DEFAULT_TIME])
    switches = {
        "unrated": "--unrated",
        "weekends": "--weekends=off",
        "gather": "--gather",
    }
    return (*words, *(flag for name, flag in switches.items() if form.get(name)))


def needs_draw_by_default(rules: AnyRules) -> bool:
    """Return whether a match of a game with default options needs a draw."""
    return rules.needs_draw(rules.read_options(()), rules.players[-1])


def robot_offers(app: App, only: AnyRules | None = None) -> dict[str, Any]:
    """Return the robots' part of a page, of all games or of one; nothing where no robots play."""
    games = showcase_games() if only is None else (only,)
    if not robots_play(app) or games[0].players == (1,):
        return {"robot_games": (), "levels": (), "robot_key": ""}
    return {"robot_games": games, "levels": LEVELS, "robot_key": uuid4().hex}
