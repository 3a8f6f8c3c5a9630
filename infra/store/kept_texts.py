"""Texts for a draw that the server keeps for players who keep none themselves.

A text is derived from one secret, the board and the account, so nothing is stored for a match: a
repeated command commits to the same text, and the drain derives it when all have committed. The server's
operator can know it, so such a player trusts the operator with that part of the draw.

Refused commands, kept so that an audit can decide them again; docs/design/043-refused-commands.md.

| key | what |
|---|---|
| `{s07.a1y}:refused:<hex>` | hash: id of a refused command of an account -> the command as it was sent, without its envelope |

`commit.lua` keeps a command with its outcome, up to 1,000 of an account in a shard. It is kept until its match is
retired, or its account is deleted. It may quote what a person has typed, so it is in no log, document or archive.
"""

import hmac
import secrets
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any, Final, NamedTuple

import redis

from domain.fairness import STORED_TEXT_BYTES, Commitment
from domain.match.commands import without_envelope
from domain.match.events import AccountId, CommandId
from infra.redis import keys

_LABEL: Final = b"matchpost-word-v1\0"


class DrawTexts:
    """The texts of a server. Thread-safe."""

    def __init__(self, client: redis.Redis) -> None:
        self._client = client
        self._secret: bytes | None = None

    def text(self, board: int, account: AccountId) -> bytes:
        """Return the text of a player of a match, without the player's own word."""
        data = _LABEL + board.to_bytes(8, "big") + account
        return hmac.digest(self._key(), data, "sha256")

    def commitment(self, board: int, account: AccountId, word: str = "") -> Commitment:
        """Return the commitment to the text, with the player's own word."""
        own = sha256(word.encode()).digest() if word else b""
        return Commitment(sha256(self.text(board, account) + own).digest(), own)

    def commitments(
        self, board: int, seats: Sequence[AccountId], own: Mapping[AccountId, bytes]
    ) -> dict[AccountId, Commitment]:
        """Return a commitment for each player: the player's own, or else that to the kept text."""
        return {
            one: Commitment(own[one]) if own.get(one) else self.commitment(board, one)
            for one in seats
        }

    def _key(self) -> bytes:
        if self._secret is None:
            self._client.set(keys.DRAW_TEXTS, secrets.token_bytes(STORED_TEXT_BYTES), nx=True)
            found: Any = self._client.get(keys.DRAW_TEXTS)
            self._secret = bytes(found)
        return self._secret


KEPT_LIMIT: Final = 1_024
"""The most bytes of a command that is kept: a longer one is a text that no move has."""

_REST_SECONDS: Final = 24 * 3600
"""How long what is kept after the account's deletion may stay: of commands that waited meanwhile."""


class RefusedId(NamedTuple):
    """A refused command of an account."""

    actor: AccountId
    command: CommandId


NO_REFUSED: Final[Mapping[int, Sequence[RefusedId]]] = {}


def command_to_keep(payload: bytes) -> bytes:
    """Return what is kept of a refused command, by its inbox entry; empty if it is too long."""
    command = without_envelope(payload)
    return command if len(command) <= KEPT_LIMIT else b""


def read_kept(client: redis.Redis, shard: int, refused: Sequence[RefusedId]) -> list[bytes | None]:
    """Return refused commands in one round trip, None for those that are not kept."""
    with client.pipeline(transaction=False) as pipe:
        for one in refused:
            pipe.hget(keys.refused(shard, one.actor), one.command)
        return list(pipe.execute())


def forget_refused(client: redis.Redis, shards: int, account: AccountId) -> None:
    """Erase the refused commands of an account. What is refused later expires with the mark that is left."""
    # redis-py types no part of its pipelines
    pipe: Any
    with client.pipeline(transaction=False) as pipe:
        for shard in range(shards):
            name = keys.refused(shard, account)
            pipe.unlink(name)
            pipe.hset(name, "", "")
            pipe.expire(name, _REST_SECONDS)
        pipe.execute()
