"""The games: one explicit list, and the look-ups by name and by version."""

from collections.abc import Mapping
from typing import Final

import msgspec

from domain.errors import Code, Refusal
from domain.rules.api import AnyRules, IllegalMove, Outcome, Rules, Seat, UnreadableMove
from domain.rules.duo import Duo
from domain.rules.goliath import Goliath
from domain.rules.halves import Halves
from domain.rules.jump import Jump
from domain.rules.line import Line
from domain.rules.one import One
from domain.rules.pow2 import Pow2
from domain.rules.powerdrain import Powerdrain
from domain.rules.two import Two

__all__ = [
    "RULES",
    "AnyRules",
    "IllegalMove",
    "Outcome",
    "Rules",
    "Seat",
    "UnreadableMove",
    "current",
    "pack",
    "pinned",
    "rules_id",
    "unpack",
]

RULES: Final[tuple[AnyRules, ...]] = (
    Pow2(),
    Goliath(),
    Line(),
    Powerdrain(),
    Halves(),
    Jump(),
    One(),
    Two(),
    Duo(),
)
"""Every version of every game that can be played or replayed; old versions are never removed."""


def rules_id(rules: AnyRules) -> str:
    """Give the name a match records, such as `pow2/1`."""
    return f"{rules.key}/{rules.version}"


_PINNED: Final[Mapping[str, AnyRules]] = {rules_id(rules): rules for rules in RULES}
_CURRENT: Final[Mapping[str, AnyRules]] = {
    rules.key: rules for rules in sorted(RULES, key=lambda rules: rules.version)
}
_UNPACK: Final = {name: msgspec.msgpack.Decoder(r.position_type) for name, r in _PINNED.items()}
_PACK: Final = msgspec.msgpack.Encoder()


def current(key: str) -> AnyRules:
    """Give the newest version of the game; `Refusal` with `unknown-game` when there is none."""
    try:
        return _CURRENT[key]
    except KeyError:
        games = ", ".join(sorted(_CURRENT))
        raise Refusal(
            Code.UNKNOWN_GAME, f"there is no game {key!r}; the games are {games}"
        ) from None


def pinned(name: str) -> AnyRules:
    """Give exactly the version a match recorded, such as `pow2/1`; else `unknown-rules`."""
    try:
        return _PINNED[name]
    except KeyError:
        raise Refusal(
            Code.UNKNOWN_RULES, f"there are no rules {name!r}; known are {', '.join(_PINNED)}"
        ) from None


def pack(position: msgspec.Struct) -> bytes:
    """Give a position's bytes for snapshots."""
    return _PACK.encode(position)


def unpack(name: str, data: bytes) -> msgspec.Struct:
    """Give the position back from `pack`, for the rules of that id."""
    position: msgspec.Struct = _UNPACK[name].decode(data)
    return position
