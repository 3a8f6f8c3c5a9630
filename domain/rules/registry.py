"""Which games there are: those of `domain.games`, and those of other distributions.

The games are imported when one is first looked up, because they import this package themselves.
"""

from collections.abc import Iterable
from functools import cache
from typing import Final

import msgspec

from domain.errors import Code, Refusal
from domain.rules.game import Game
from domain.rules.protocol import AnyRules


def rules_id(rules: AnyRules) -> str:
    """Return the name a match records, such as `pow2/1`."""
    return f"{rules.key}/{rules.version}"


class Registry:
    """Some games, by key and by the versions of their rules."""

    def __init__(self, games: Iterable[Game]) -> None:
        self._games: dict[str, Game] = {}
        self._rules: dict[str, AnyRules] = {}
        self._latest: dict[str, AnyRules] = {}
        self._decoders: dict[str, msgspec.msgpack.Decoder[msgspec.Struct]] = {}
        for game in games:
            self.add(game)

    def add(self, game: Game) -> None:
        """Add a game; `ValueError` for a key that another game has, or that is no word."""
        key = game.key
        if not (key.isascii() and key.isalnum() and key.islower()):
            raise ValueError(f"{key!r} is no key: a key is lower-case letters and digits")
        if key in self._games:
            raise ValueError(f"there is a game {key!r} already, in {self._games[key].package}")
        self._games[key], self._latest[key] = game, game.latest
        for rules in game.versions:
            self._rules[rules_id(rules)] = rules
            self._decoders[rules_id(rules)] = msgspec.msgpack.Decoder(rules.position_type)

    def games(self) -> tuple[Game, ...]:
        """Return all games, those of this distribution first."""
        return tuple(self._games.values())

    def all_rules(self) -> tuple[AnyRules, ...]:
        """Return every version of every game."""
        return tuple(self._rules.values())

    def game(self, key: str) -> Game:
        """Return a game; `Refusal` with `unknown-game` when there is none of that key."""
        try:
            return self._games[key]
        except KeyError:
            raise self._unknown(key) from None

    def current(self, key: str) -> AnyRules:
        """Return the newest version; `Refusal` with `unknown-game` when there is no such game."""
        try:
            return self._latest[key]
        except KeyError:
            raise self._unknown(key) from None

    def pinned(self, name: str) -> AnyRules:
        """Return exactly the version a match recorded, such as `pow2/1`; else `unknown-rules`."""
        try:
            return self._rules[name]
        except KeyError:
            raise self._unknown_rules(name) from None

    def unpack(self, name: str, data: bytes) -> msgspec.Struct:
        """Return a position from its packed form, for the rules of that id."""
        decoder = self._decoders.get(name)
        if decoder is None:
            raise self._unknown_rules(name)
        return decoder.decode(data)

    def _unknown_rules(self, name: str) -> Refusal:
        key, slash, _ = name.partition("/")
        if slash and key not in self._games:
            return Refusal(
                Code.UNKNOWN_RULES,
                f"the game {key[:24]!r} is not installed on this server; "
                "its matches are kept, and go on once it is installed",
            )
        known = ", ".join(self._rules)
        return Refusal(Code.UNKNOWN_RULES, f"there are no rules {name!r}; known are {known}")

    def _unknown(self, key: str) -> Refusal:
        games = ", ".join(sorted(self._games))
        return Refusal(Code.UNKNOWN_GAME, f"there is no game {key!r}; the games are {games}")


@cache
def registry() -> Registry:
    """Return the registry of this process."""
    from domain.games import GAMES  # noqa: PLC0415 - they import this package

    return Registry(GAMES)


def register(game: Game) -> None:
    """Add a game of another distribution to those of this process."""
    registry().add(game)


def all_games() -> tuple[Game, ...]:
    """Return all games, those of this distribution first."""
    return registry().games()


def all_rules() -> tuple[AnyRules, ...]:
    """Return every version of every game that can be played or replayed."""
    return registry().all_rules()


def game_of(key: str) -> Game:
    """Return a game; `Refusal` with `unknown-game` when there is none of that key."""
    return registry().game(key)


def current(key: str) -> AnyRules:
    """Return a game's newest rules; `Refusal` with `unknown-game` when there is no such game."""
    return registry().current(key)


def pinned(name: str) -> AnyRules:
    """Return exactly the rules a match recorded, such as `pow2/1`; else `unknown-rules`."""
    return registry().pinned(name)


_PACK: Final = msgspec.msgpack.Encoder()


def pack(position: msgspec.Struct) -> bytes:
    """Return a position's bytes for snapshots."""
    return _PACK.encode(position)


def unpack(name: str, data: bytes) -> msgspec.Struct:
    """Return the position back from `pack`; `unknown-rules` when that game is not installed."""
    return registry().unpack(name, data)
