"""The games: one explicit list, and the look-ups by name and by version."""

from collections.abc import Iterable
from typing import Final

import msgspec

from domain.errors import Code, Refusal
from domain.rules.duo import Duo
from domain.rules.goliath import Goliath
from domain.rules.halves import Halves
from domain.rules.jump import Jump
from domain.rules.line import Line
from domain.rules.one import One
from domain.rules.pow2 import Pow2
from domain.rules.powerdrain import Powerdrain
from domain.rules.protocol import AnyRules, IllegalMove, Outcome, Rules, Seat, UnreadableMove
from domain.rules.torere import Torere
from domain.rules.two import Two

__all__ = [
    "RULES",
    "AnyRules",
    "IllegalMove",
    "Outcome",
    "Registry",
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
    Torere(),
)
"""Every version of every game that can be played or replayed; old versions are never removed."""


def rules_id(rules: AnyRules) -> str:
    """Give the name a match records, such as `pow2/1`."""
    return f"{rules.key}/{rules.version}"


class Registry:
    """Some rules, by name and by version."""

    def __init__(self, rules: Iterable[AnyRules]) -> None:
        self._pinned = {rules_id(one): one for one in rules}
        by_version = sorted(self._pinned.values(), key=lambda one: one.version)
        self._current = {one.key: one for one in by_version}

    def current(self, key: str) -> AnyRules:
        """Give the newest version of the game; `Refusal` with `unknown-game` when there is none."""
        try:
            return self._current[key]
        except KeyError:
            games = ", ".join(sorted(self._current))
            raise Refusal(
                Code.UNKNOWN_GAME, f"there is no game {key!r}; the games are {games}"
            ) from None

    def pinned(self, name: str) -> AnyRules:
        """Give exactly the version a match recorded, such as `pow2/1`; else `unknown-rules`."""
        try:
            return self._pinned[name]
        except KeyError:
            known = ", ".join(self._pinned)
            raise Refusal(
                Code.UNKNOWN_RULES, f"there are no rules {name!r}; known are {known}"
            ) from None


_REGISTRY: Final = Registry(RULES)
current: Final = _REGISTRY.current
pinned: Final = _REGISTRY.pinned
_UNPACK: Final = {rules_id(rules): msgspec.msgpack.Decoder(rules.position_type) for rules in RULES}
_PACK: Final = msgspec.msgpack.Encoder()


def pack(position: msgspec.Struct) -> bytes:
    """Give a position's bytes for snapshots."""
    return _PACK.encode(position)


def unpack(name: str, data: bytes) -> msgspec.Struct:
    """Give the position back from `pack`, for the rules of that id."""
    position: msgspec.Struct = _UNPACK[name].decode(data)
    return position
