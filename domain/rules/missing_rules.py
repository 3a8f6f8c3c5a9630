"""Stand-in for the rules of a game, or a version of it, that is not installed: its matches can be listed, not played."""

from typing import Any, Final, NoReturn

import msgspec

from domain.errors import Code, Refusal
from domain.game.protocol import SAY, Rules

_MOST_SEATS: Final = 16
"""At least the seats of any match."""


class _NoPosition(msgspec.Struct, frozen=True):
    """The type of positions, none of which can be read without the game."""


class MissingRules(Rules[Any, Any, Any]):
    """Stand-in for the rules that a match recorded, so that lists can name the match.

    Every method that needs the rules raises `Refusal` with `unknown-rules`. The match is kept, and
    goes on once the game is installed again, in that version: `has_another` if it is there in another one.
    """

    displays: tuple[str, ...] = ("large",)
    position_type = _NoPosition

    def __init__(self, name: str, *, has_another: bool = False) -> None:
        key, _, version = name.partition("/")
        self.key = key[:24]
        self.version = int(version) if version.isdecimal() else 0
        self.title = f"{self.key} (not installed)"
        self.players = tuple(range(1, _MOST_SEATS + 1))
        self.sides = tuple(SAY("player", number=seat + 1) for seat in range(_MOST_SEATS))
        self.text: Final = (
            SAY("no-version", rules=name[:40]) if has_another else SAY("no-game", game=self.key)
        )
        self.sentence: Final = str(self.text)

    def refuse(self, *_: Any, **__: Any) -> NoReturn:
        """Raise `Refusal`, because the rules are missing."""
        raise Refusal(Code.UNKNOWN_RULES, self.text)

    read_options = write_options = needs_draw = draw = start = refuse
    to_move = moves = count_moves = legal_moves = read = write = check = play = refuse
    why_illegal = refuse
    outcome = remove_seat = check_offer = outcome_by_offer = score = to_json = refuse
