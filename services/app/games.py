"""The games as players name them, their guides, and which drawing of their boards a player may choose."""

from functools import cache
from importlib.resources import files
from typing import Final

from domain.errors import Code, Refusal
from domain.rules import AnyRules, game_by_key, latest_rules
from domain.rules.guide import GameGuide, read_guide
from services.app.sentences import SAY

_GUIDE_FILE: Final = "guide.toml"


def read_game(text: str) -> AnyRules:
    """Return the newest rules of a game, named in any case; `unknown-game` if there is none."""
    return latest_rules(text.lower())


def read_multiplayer_game(text: str) -> AnyRules:
    """Return the newest rules of a game for several players; `usage` for a puzzle."""
    return check_multiplayer(read_game(text))


def check_multiplayer(rules: AnyRules) -> AnyRules:
    """Return the rules, unless they are a puzzle's: puzzles have scores and no ratings."""
    if rules.players == (1,):
        raise Refusal(Code.USAGE, SAY("puzzle", game=rules.key))
    return rules


def read_puzzle(text: str) -> AnyRules:
    """Return the newest rules of a puzzle; `usage` for a game for several players."""
    rules = read_game(text)
    if rules.players != (1,):
        raise Refusal(Code.USAGE, SAY("no-puzzle", game=rules.key))
    return rules


def read_display(rules: AnyRules, text: str) -> str:
    """Return the name of a drawing of the game's boards, written in any case; `bad-option`."""
    if text.lower() not in rules.displays:
        known = ", ".join(rules.displays)
        said = SAY("no-display", game=rules.key, word=text[:24], known=known)
        raise Refusal(Code.BAD_OPTION, said)
    return text.lower()


def guide_of(key: str) -> GameGuide | None:
    """Return the guide of a game; None if its package has none."""
    return _read_guide(game_by_key(key).package)


@cache
def _read_guide(package: str) -> GameGuide | None:
    found = files(package).joinpath(_GUIDE_FILE)
    return read_guide(found.read_text("utf-8")) if found.is_file() else None
