"""The form for a new match: its fields, each game's own among them, and what they stand for.

The form has the fields of all games, so that another game is chosen without losing anything. Those of
a game begin with its key, as in `pow2-pick-0`; a form of one game may leave the key out.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final
from uuid import uuid4

from domain.game.engine import LEVELS
from domain.game.option_form import OptionField, OptionKind
from domain.rules import AnyRules, GamePackage, all_games, game_by_key, latest_rules
from services.app.context import App
from services.app.opponents import robots_play
from services.http.web.forms import Form

TIME_CHOICES: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "1": ("1 day a move", ("--days=1",)),
    "3": ("3 days a move", ("--days=3",)),
    "7": ("7 days a move", ("--days=7",)),
    "14": ("14 days a move", ("--days=14",)),
    "none": ("no time limit", ("--forfeittime=0", "--nagtime=0")),
}
"""Values of the form, each with its words and the server's options."""

DEFAULT_TIME: Final = "7"
OWN_TIME: Final = "own"
"""The value of a time that is written in fields of its own."""

TIME_BOUNDS: Final[Mapping[str, int]] = {"own-days": 365, "own-bank": 3650, "own-more": 365}
"""The fields of such a time, each with the most days."""


def field_of(form: Form, game: str, name: str) -> str:
    """Return a game's field; empty when it is missing."""
    return form.get(f"{game}-{name}") or form.get(name)


def chosen_options(game: str, form: Form) -> tuple[str, ...]:
    """Return the chosen options as flags of a challenge, unchecked."""
    fields = tuple(enumerate(game_by_key(game).options_form))
    picked = [flag for at, _ in fields if (flag := field_of(form, game, f"pick-{at}"))]
    valued = [
        f"-{field.field}={value}"
        for at, field in fields
        if (value := option_value(field, at, game, form)) not in ("", str(field.usual))
    ]
    return (*picked, *valued)


def option_value(field: OptionField, at: int, game: str, form: Form) -> str:
    """Return the value of an option in the form; empty for an option without a value."""
    if field.kind in (OptionKind.NUMBER, OptionKind.NAMES):
        return field_of(form, game, f"{field.kind}-{at}")
    return ""


def form_of_options(game: str, flags: Iterable[str]) -> Form:
    """Return the form in which these flags are chosen: the reverse of `chosen_options`."""
    given, fields = set(flags), dict[str, tuple[str, ...]]()
    for at, field in enumerate(game_by_key(game).options_form):
        fields |= {f"pick-{at}": (pick.flag,) for pick in field.picks if pick.flag in given}
        name = "names" if field.kind is OptionKind.NAMES else "number"
        for flag in given:
            if flag.startswith(f"-{field.field}="):
                fields[f"{name}-{at}"] = (flag.partition("=")[2],)
    return Form(fields)


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


def chosen_terms(form: Form, game: str = "") -> tuple[str, ...]:
    """Return the chosen time control and rating options, as flags of a challenge."""
    switches = {"unrated": "--unrated", "weekends": "--weekends=off"}
    gather = ("--gather",) if field_of(form, game, "gather") else ()
    return (
        *_chosen_time(form),
        *(flag for name, flag in switches.items() if form.get(name)),
        *gather,
    )


def _chosen_time(form: Form) -> tuple[str, ...]:
    if form.get("time") != OWN_TIME:
        return TIME_CHOICES.get(form.get("time"), TIME_CHOICES[DEFAULT_TIME])[1]
    days, bank, more = (form.get(name) for name in TIME_BOUNDS)
    turns = (f"--days={days}",) if days else ()
    return (*turns, f"--bank={bank}+{more or '0'}") if bank else turns


def needs_draw_by_default(rules: AnyRules) -> bool:
    """Return whether a match of a game with default options needs a draw."""
    return rules.needs_draw(rules.read_options(()), rules.players[-1])


def robot_offers(app: App, only: AnyRules | None = None) -> dict[str, Any]:
    """Return the robots' part of a page, of all games or of one; nothing where no robots play."""
    games = showcase_games() if only is None else (only,)
    if not robots_play(app) or games[0].players == (1,):
        return {"robot_games": (), "levels": (), "robot_key": ""}
    return {"robot_games": games, "levels": LEVELS, "robot_key": uuid4().hex}
