"""The installed games: those of `domain.games`, and those of other distributions.

A game is imported at the first look-up of it or of all, so that a process pays for those alone that are played there.
"""

from collections.abc import Callable, Iterable
from typing import Final

import msgspec

from domain.errors import Code, Refusal
from domain.game.protocol import SAY, AnyRules, GamePackage
from domain.games import KEYS, load_game
from domain.rules.missing_rules import MissingRules
from domain.sentences import add_catalogues


def rules_id(rules: AnyRules) -> str:
    """Return the name of the rules in records, such as `pow2/1`."""
    return f"{rules.key}/{rules.version}"


class Registry:
    """Games by key, and rules by version."""

    def __init__(self, keys: Iterable[str], load: Callable[[str], GamePackage]) -> None:
        """Take the keys of games that `load` returns once they are needed."""
        self._keys = [*keys]
        self._load = load
        self._games: dict[str, GamePackage] = {}
        self._rules: dict[str, AnyRules] = {}
        self._decoders: dict[str, msgspec.msgpack.Decoder[msgspec.Struct]] = {}

    def _find(self, key: str) -> GamePackage | None:
        if key not in self._games and key in self._keys:
            self._add(self._load(key))
        return self._games.get(key)

    def _add(self, game: GamePackage) -> None:
        for rules in game.versions:
            name = rules_id(rules)
            self._rules[name] = rules
            self._decoders[name] = msgspec.msgpack.Decoder(rules.position_type)
        self._games[game.key] = game  # last, because another thread may look for it meanwhile

    def register_game(self, game: GamePackage) -> None:
        """Add a game; raises `ValueError` if its key is taken or is no key."""
        key = game.key
        if not (key.isascii() and key.isalnum() and key.islower()):
            raise ValueError(
                f"{key!r} can't be the key of a game: a key is lower-case letters and digits"
            )
        if (known := self._find(key)) is not None:
            raise ValueError(f"there is a game {key!r} already, in {known.package}")
        self._add(game)
        self._keys.append(key)

    def game_keys(self) -> tuple[str, ...]:
        """Return the keys of all games, sorted."""
        return tuple(sorted(self._keys))

    def all_games(self) -> tuple[GamePackage, ...]:
        """Return all games, those of this distribution first."""
        return tuple(game for key in self._keys if (game := self._find(key)))

    def all_rules(self) -> tuple[AnyRules, ...]:
        """Return every version of every game that can be played or replayed."""
        return tuple(rules for game in self.all_games() for rules in game.versions)

    def game_by_key(self, key: str) -> GamePackage:
        """Return the game with this key; raises `Refusal` with `unknown-game` if there is none."""
        if (game := self._find(key)) is not None:
            return game
        known = ", ".join(sorted(self._keys))
        raise Refusal(Code.UNKNOWN_GAME, SAY("unknown-game", game=key[:24], known=known))

    def latest_rules(self, key: str) -> AnyRules:
        """Return a game's newest rules; raises `Refusal` with `unknown-game` if there is none."""
        return self.game_by_key(key).latest

    def rules_by_id(self, name: str) -> AnyRules:
        """Return the rules that a match recorded, such as `pow2/1`.

        If the game, or this version of it, is not installed they are `MissingRules`, which refuse every use. Raises
        `Refusal` with `unknown-rules` if the name is none of rules.
        """
        if (rules := self._rules.get(name)) is not None:
            return rules
        key, slash, version = name.partition("/")
        there = self._find(key) is not None
        if name in self._rules:
            return self._rules[name]
        if slash and (not there or version.isdecimal()):
            return MissingRules(name, has_another=there)
        known = ", ".join(map(rules_id, self.all_rules()))
        raise Refusal(Code.UNKNOWN_RULES, f"there are no rules {name!r}; known are {known}")

    def unpack_position(self, name: str, data: bytes) -> msgspec.Struct:
        """Read the bytes of `pack_position`; raises `Refusal` with `unknown-rules` without the rules."""
        decoder = self._decoders.get(name)
        if decoder is None:
            rules = self.rules_by_id(name)
            if isinstance(rules, MissingRules):
                rules.refuse()
            decoder = self._decoders[name]
        return decoder.decode(data)


_REGISTRY: Final = Registry(KEYS, load_game)
register_game: Final = _REGISTRY.register_game
game_keys: Final = _REGISTRY.game_keys
all_games: Final = _REGISTRY.all_games
all_rules: Final = _REGISTRY.all_rules
game_by_key: Final = _REGISTRY.game_by_key
latest_rules: Final = _REGISTRY.latest_rules
rules_by_id: Final = _REGISTRY.rules_by_id
unpack_position: Final = _REGISTRY.unpack_position
pack_position: Final = msgspec.msgpack.Encoder().encode
"""Return a position's bytes for snapshots."""

add_catalogues(all_games)  # a stored sentence may be one of a game that nothing has looked up yet
