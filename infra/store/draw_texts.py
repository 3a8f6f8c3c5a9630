"""Texts for a draw that the server keeps for players who keep none themselves.

A text is derived from one secret, the board and the account, so nothing is stored for a match: a
repeated command commits to the same text, and the drain derives it when all have committed. The server's
operator can know it, so such a player trusts the operator with that part of the draw.
"""

import hmac
import secrets
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any, Final

import redis

from domain.fairness import STORED_TEXT_BYTES, Commitment
from domain.records import AccountId
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
