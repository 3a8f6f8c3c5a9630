"""Games that an operator has switched off: no new match of them begins, and they are not offered.

Matches that have begun go on, and so do tournaments that are open for entry or run, because their players have agreed to
them. What is over stays as it is. An import by the operator is no new match.
"""

import time
from collections.abc import Collection

import msgspec

from domain.errors import Code, Refusal
from domain.records import AccountId
from domain.rules import AnyRules, game_by_key, game_keys, latest_rules
from infra.redis.recent import FRESH_SECONDS
from services.app.acts import TERMINAL, Act, record_act
from services.app.context import App
from services.app.roles import require_operator
from services.app.sentences import SAY


class SwitchedGame(msgspec.Struct, frozen=True):
    """A game as an operator sees it."""

    key: str
    title: str
    """The key of a game that is not installed any more."""
    off: bool
    installed: bool = True


def keys_on(app: App) -> tuple[str, ...]:
    """Return the keys of the games and puzzles that can be begun, sorted; at most a second old."""
    off = app.games_off.recent()
    return tuple(key for key in game_keys() if key not in off)


def is_off(app: App, rules: AnyRules) -> bool:
    """Return whether a game is switched off; at most a second old."""
    return rules.key in app.games_off.recent()


def check_on(app: App, rules: AnyRules) -> None:
    """Refuse, as `game-off`, a new match of a game that is switched off."""
    if is_off(app, rules):
        raise Refusal(Code.GAME_OFF, SAY("game-off", game=rules.title))


def switched_games(app: App, *, by: AccountId = TERMINAL) -> tuple[SwitchedGame, ...]:
    """Return all games by key as they are switched now, those that are off and not installed among them."""
    require_operator(app, by)
    off, installed = app.games_off.now(), game_keys()
    return tuple(
        SwitchedGame(key, latest_rules(key).title, key in off)
        if key in installed
        else SwitchedGame(key, key, off=True, installed=False)
        for key in sorted({*installed, *off})
    )


def switch_games(
    app: App, off: Collection[str], on: Collection[str], *, by: AccountId = TERMINAL
) -> None:
    """Switch games off and others on, by key in any case, and return when that is in force in all processes.

    `not-an-operator`, `unknown-game`, and `bad-option` for a game in both; then nothing is changed.
    """
    app.ready()
    require_operator(app, by)
    before = app.games_off.now()
    stop, go = {key.lower() for key in off}, {key.lower() for key in on}
    for key in sorted(stop | (go - before)):
        game_by_key(key)
    if both := sorted(stop & go):
        raise Refusal(Code.BAD_OPTION, SAY("on-and-off", game=both[0]))
    stop, go = stop - before, go & before
    if not stop | go:
        return
    app.games_off.change(stop, go)
    said = [f"{key} off" for key in sorted(stop)] + [f"{key} on" for key in sorted(go)]
    record_act(app, by, Act.GAMES_SWITCHED, what=", ".join(said))
    time.sleep(FRESH_SECONDS)  # what a process has read before is too old by then
