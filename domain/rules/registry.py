"""The installed games: those of `domain.games`, and those of other distributions.

The games are imported at the first look-up, so that a program which needs none starts sooner.
"""

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Final

import msgspec

from domain.errors import Code, Refusal
from domain.game.protocol import SAY, AnyRules, GamePackage
from domain.rules.missing_rules import MissingRules
from domain.sentences import add_catalogues


def rules_id(rules: AnyRules) -> str:
    """Return the name of the rules in records, such as `pow2/1`."""
    return f"{rules.key}/{rules.version}"


class Registry:
    """Games by key, and rules by version."""

    def __init__(self, games: Callable[[], Iterable[GamePackage]]) -> None:
        self._source = games

    @cached_property
    def _games(self) -> dict[str, GamePackage]:
        return {game.key: game for game in self._source()}

    @cached_property
    def _rules(self) -> dict[str, AnyRules]:
        return {rules_id(one): one for game in self._games.values() for one in game.versions}

    @cached_property
    def _latest(self) -> dict[str, AnyRules]:
        return {key: game.latest for key, game in self._games.items()}

    @cached_property
    def _decoders(self) -> dict[str, msgspec.msgpack.Decoder[msgspec.Struct]]:
        return {
            name: msgspec.msgpack.Decoder(rules.position_type)
            for name, rules in self._rules.items()
        }

    def register_game(self, game: GamePackage) -> None:
        """Add a game; raises `ValueError` if its key is taken or is no key."""
        key, games = game.key, self._games
        if not (key.isascii() and key.isalnum() and key.islower()):
            raise ValueError(
                f"{key!r} can't be the key of a game: a key is lower-case letters and digits"
            )
        if key in games:
            raise ValueError(f"there is a game {key!r} already, in {games[key].package}")
        games[key] = game
        for derived in ("_rules", "_latest", "_decoders"):
            vars(self).pop(derived, None)  # computed again on the next access

    def all_games(self) -> tuple[GamePackage, ...]:
        """Return all games, those of this distribution first."""
        return tuple(self._games.values())

    def all_rules(self) -> tuple[AnyRules, ...]:
        """Return every version of every game that can be played or replayed."""
        return tuple(self._rules.values())

    def game_by_key(self, key: str) -> GamePackage:
        """Return the game with this key; raises `Refusal` with `unknown-game` if there is none."""
        try:
            return self._games[key]
        except KeyError:
            games = ", ".join(sorted(self._games))
            raise Refusal(
                Code.UNKNOWN_GAME, SAY("unknown-game", game=key[:24], known=games)
            ) from None

    def latest_rules(self, key: str) -> AnyRules:
        """Return a game's newest rules; raises `Refusal` with `unknown-game` if there is none."""
        return self._latest[key] if key in self._latest else self.game_by_key(key).latest

    def rules_by_id(self, name: str) -> AnyRules:
        """Return the rules that a match recorded, such as `pow2/1`.

        If the game, or this version of it, is not installed they are `MissingRules`, which refuse every use. Raises
        `Refusal` with `unknown-rules` if the name is none of rules.
        """
        try:
            return self._rules[name]
        except KeyError:
            key, slash, version = name.partition("/")
            there = key in self._games
            if slash and (not there or version.isdecimal()):
                return MissingRules(name, has_another=there)
            known = ", ".join(self._rules)
            raise Refusal(
                Code.UNKNOWN_RULES, f"there are no rules {name!r}; known are {known}"
            ) from None

    def unpack_position(self, name: str, data: bytes) -> msgspec.Struct:
        """Read the bytes of `pack_position`; raises `Refusal` with `unknown-rules` without the rules."""
        if name not in self._decoders:
            rules = self.rules_by_id(name)
            assert isinstance(rules, MissingRules), "all other rules have a decoder"
            rules.refuse()
        return self._decoders[name].decode(data)


def _own_games() -> Iterable[GamePackage]:
    from domain.games import GAMES  # noqa: PLC0415 - see above

    return GAMES


_REGISTRY: Final = Registry(_own_games)
register_game: Final = _REGISTRY.register_game
all_games: Final = _REGISTRY.all_games
all_rules: Final = _REGISTRY.all_rules
game_by_key: Final = _REGISTRY.game_by_key
latest_rules: Final = _REGISTRY.latest_rules
rules_by_id: Final = _REGISTRY.rules_by_id
unpack_position: Final = _REGISTRY.unpack_position
pack_position: Final = msgspec.msgpack.Encoder().encode
"""Return a position's bytes for snapshots."""

add_catalogues(all_games)  # a stored sentence may be one of a game that nothing has looked up yet
