"""The commands a match understands, as they wait in the inbox.

A command holds what its sender meant and nothing else: who sent it, when it arrived and its id
travel beside it (`Sent`). Unknown fields are refused; a command is never stored after its outcome.
"""

from hashlib import sha256
from typing import Final

import msgspec
from msgspec import UNSET, UnsetType

from domain.clocks.terms import Terms
from domain.fairness import Commitment
from domain.match.events import AccountId, CommandId

TEXT_LIMIT: Final = 512
"""Characters a command's text may have."""


class Order(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a sender asks for, in the imperative."""


class Start(Order, frozen=True, tag="start"):
    """Begin the match. The door has read the options and looked up the players."""

    rules: str
    options: tuple[str, ...]
    seats: tuple[AccountId, ...]
    text: bytes = b""
    """The challenger's entropy text; see `domain.fairness`."""
    gather: bool = False
    """Wait for every other player's entropy before the draw."""
    terms: Terms | None = None
    """The time there is; None for a match without clocks."""
    # what is not set is not encoded: the digests of commands without it stay what they were
    commitments: tuple[Commitment, ...] | UnsetType = UNSET
    """With `gather`: what the players have committed to until now, by seat."""


class Move(Order, frozen=True, tag="move"):
    """Play a move; `ply`, if given, is the number of plies the sender believes were played."""

    text: str
    ply: int | None = None


class Offer(Order, frozen=True, tag="offer"):
    """Propose something that needs the others' consent."""

    kind: str


class Answer(Order, frozen=True, tag="answer"):
    """Accept or reject the offer that stands."""

    accept: bool
    text: bytes = b""
    """Entropy text, where the match gathers it without commitments."""
    commitment: Commitment | UnsetType = UNSET
    """What the player commits to, where the match gathers commitments."""


class Reveal(Order, frozen=True, tag="reveal"):
    """Show the text that was committed to."""

    text: bytes


class Resign(Order, frozen=True, tag="resign"):
    """Give up."""


class Decline(Order, frozen=True, tag="decline"):
    """Refuse to play, before the own first move."""


class Resume(Order, frozen=True, tag="resume"):
    """End a pause."""


class Away(Order, frozen=True, tag="away"):
    """Stop the own clock until `until`, ms: a vacation."""

    until: int


class Return(Order, frozen=True, tag="return"):
    """End a vacation early, at `until`, ms."""

    until: int


class Nag(Order, frozen=True, tag="nag"):
    """Remind who is to move at that ply. Given by the keeper."""

    ply: int | None = None


class Flag(Order, frozen=True, tag="flag"):
    """Say that the time of who is to move at that ply is over. Given by the keeper."""

    ply: int | None = None


Command = (
    Start | Move | Offer | Answer | Reveal | Resign | Decline | Resume | Away | Return | Nag | Flag
)


class Sent(msgspec.Struct, frozen=True, array_like=True):
    """A command on its way: what the inbox holds, less the received time."""

    match: int
    id: CommandId
    actor: AccountId
    command: Command


_ENCODER: Final = msgspec.msgpack.Encoder()
_DECODER: Final = msgspec.msgpack.Decoder(Sent)


def encode(sent: Sent) -> bytes:
    """Return the bytes for the inbox."""
    return _ENCODER.encode(sent)


def decode(data: bytes) -> Sent:
    """Read an inbox entry; `msgspec.DecodeError` or `ValidationError` when it is none."""
    return _DECODER.decode(data)


def digest(data: bytes) -> bytes:
    """Give 8 bytes that tell whether a repeated id came with the same command (`encode`d)."""
    return sha256(data).digest()[:8]
