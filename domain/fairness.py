"""Fair draws: chance that is fixed before the challenge, and that anyone can recompute.

Each shard has a chain of seeds, s(i-1) = SHA-256("matchpost-seed-v1", 0, "chain", 0, s(i)), made
from its last, random one. The first, s(0), is the *anchor*: a leaf of the log before any is used.
The k-th draw uses s(k) and reveals it. Anyone with s(k-1) can check it then, and nobody can derive
it before. The players add entropy, because the operator must not know a draw when anchoring.

HKDF-Extract (RFC 5869) derives one pseudorandom key from the seed, the entropy and the match's
terms. HMAC-SHA-256 in counter mode derives a stream of bits for each purpose from that key.
"""

import hmac
from collections.abc import Sequence
from hashlib import sha256
from typing import Final, TypeVar

import msgspec

T = TypeVar("T")

_LABEL: Final = b"matchpost-seed-v1\0"

CHAIN_LENGTH: Final = 65_536
"""The number of usable seeds of a chain: s(1) to s(CHAIN_LENGTH)."""

SEED_BYTES: Final = 32


class SetupDraw(msgspec.Struct, frozen=True, array_like=True):
    """The part of a draw that the match's start event reveals."""

    chain: int
    """Number of the shard's chain, from 1."""
    k: int
    """The seed's number in the chain, from 1."""
    seed: bytes
    """s(k)."""
    texts: tuple[bytes, ...]
    """Each player's entropy text, by seat; empty for a player who gave none."""


class Commitment(msgspec.Struct, frozen=True, array_like=True):
    """A player's commitment before the draw, so that no text can be chosen to suit another."""

    digest: bytes = b""
    """SHA-256 of the player's text; empty before the player has committed."""
    word_digest: bytes = b""
    """SHA-256 of a word that only the player knows. A text that the server keeps ends with it."""

    def matches(self, text: bytes) -> bool:
        """Return whether this is the text that was committed to."""
        return self.digest == sha256(text).digest()


STORED_TEXT_BYTES: Final = 32
"""Length of the part of a text that the server keeps for a player; the word's digest follows it."""

ENTROPY_TEXT_LIMIT: Final = 64
"""The most bytes of a player's text."""


class ChainSeed(msgspec.Struct, frozen=True):
    """The seed that the next draw of a shard uses."""

    chain: int
    k: int
    seed: bytes


def previous_seed(seed: bytes) -> bytes:
    """Return s(i-1), the seed before s(i)."""
    return sha256(_LABEL + b"chain\0" + seed).digest()


def earlier_seed(seed: bytes, steps: int) -> bytes:
    """Return s(i - steps), for s(i)."""
    for _ in range(steps):
        seed = previous_seed(seed)
    return seed


def entropy_text(command: bytes, word: str) -> bytes:
    """Return the entropy text of a player: the command id, then SHA-256 of the word."""
    return command + sha256(word.encode()).digest()


def contribution(account: bytes, text: bytes) -> bytes:
    """Return c(i), a player's part of the key material: 32 bytes."""
    return sha256(_LABEL + b"player\0" + account + text).digest()


def draw_terms(board: int, rules: str, options: Sequence[str]) -> bytes:
    """Return the salt: SHA-256 of board, game, rules version and options as recorded.

    The hashed text is one line, separated by single blanks.
    """
    game, _, version = rules.partition("/")
    return sha256(" ".join([str(board), game, version, *options]).encode()).digest()


def draw_key(
    draw: SetupDraw, seats: Sequence[bytes], board: int, rules: str, options: Sequence[str]
) -> bytes:
    """Return the pseudorandom key of a match's draw: 32 bytes."""
    parts = [contribution(a, text) for a, text in zip(seats, draw.texts, strict=True)]
    material = draw.seed + b"".join(parts)
    return hmac.digest(draw_terms(board, rules, options), material, "sha256")


class DrawStream:
    """The random numbers of one match, from bits of HMAC-SHA-256(key, label, rules, purpose, counter).

    Each purpose has its own counter from 0. Implements `domain.game.protocol.Chance`.
    """

    def __init__(self, key: bytes, rules: str) -> None:
        self._key = key
        self._rules = rules
        self._purposes: dict[str, _Bits] = {}

    def below(self, purpose: str, n: int) -> int:
        """Return a uniform integer from 0 to n - 1.

        Takes bit_length(n - 1) bits, the most significant first, and repeats until the value is below n.
        """
        if n < 1:
            raise ValueError(f"no integer is below {n}")
        bits = self._purposes.get(purpose)
        if bits is None:
            prefix = _LABEL + self._rules.encode() + b"\0" + purpose.encode() + b"\0"
            bits = self._purposes[purpose] = _Bits(self._key, prefix)
        width = (n - 1).bit_length()
        while (found := bits.take(width)) >= n:
            pass
        return found

    def shuffled(self, purpose: str, items: Sequence[T]) -> list[T]:
        """Return the items in a uniform random order, by Fisher and Yates from the last item down."""
        found = list(items)
        for top in range(len(found) - 1, 0, -1):
            other = self.below(purpose, top + 1)
            found[top], found[other] = found[other], found[top]
        return found


class _Bits:
    """A stream of bits, taken from blocks of 256."""

    def __init__(self, key: bytes, prefix: bytes) -> None:
        self._key = key
        self._prefix = prefix
        self._counter = 0
        self._bits = 0
        self._left = 0

    def take(self, width: int) -> int:
        """Return the next `width` bits as an integer, the first bit the most significant."""
        while self._left < width:
            data = self._prefix + self._counter.to_bytes(8, "big")
            block = hmac.digest(self._key, data, "sha256")
            self._bits = self._bits << 256 | int.from_bytes(block, "big")
            self._left += 256
            self._counter += 1
        self._left -= width
        found = self._bits >> self._left
        self._bits &= (1 << self._left) - 1
        return found
