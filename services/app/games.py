"""The games as players name them, and which drawing of their boards a player may choose."""

from functools import cache

from domain.errors import Code, Refusal
from domain.rules import AnyRules, all_rules, latest_rules
from services.app.sentences import SAY


@cache
def game_keys() -> tuple[str, ...]:
    """Return the keys of all games, sorted."""
    return tuple(sorted({rules.key for rules in all_rules()}))


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
