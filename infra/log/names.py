"""The names of a shard's published log: its folder in the object store, its origin and its keys."""

import re
from base64 import b64decode, b64encode
from collections.abc import Iterable
from typing import Final, Self

import msgspec

from infra.log.signed_note import NoteError, SignatureType, Signer, VerifierKey

CHECKPOINT: Final = "checkpoint"
"""The object of a shard that changes."""

WITNESSED: Final = "witnessed"
"""The object with the last checkpoint that witnesses have cosigned."""

_OF_SHARD: Final = re.compile(r"/s[0-9]{2,3}(?:/receipts)?$")

_PRIVATE: Final = "PRIVATE+KEY+"
_ED25519: Final = b"\x01"


def folder(shard: int) -> str:
    """Return the folder of a shard in the object store, which ends its origin too."""
    return f"s{shard:02}"


def object_name(shard: int, path: str) -> str:
    """Return the name of an object of a shard's log, by its path below the log's prefix."""
    return f"{folder(shard)}/{path}"


def origin(base: str, shard: int) -> str:
    """Return the origin of a shard's log, of the name of the server's logs: `example.org/log`."""
    return f"{base}/{folder(shard)}"


def keys_of_log(keys: Iterable[VerifierKey], name: str) -> list[VerifierKey]:
    """Return those keys that sign under a name, such as `play.example.org/log/s07`.

    A key under the common name of a server's logs, `play.example.org/log`, stands for the keys of all shards.
    """
    names = (name, _OF_SHARD.sub("", name))
    return [
        VerifierKey(name, key.public, key.type)
        for key in keys
        if key.type is SignatureType.ED25519 and key.name in names
    ]


class LogSecret(msgspec.Struct, frozen=True):
    """An Ed25519 key that signs for all shards, each under a name of its own.

    As text it is `PRIVATE+KEY+name+id+base64`, as of Go's note package.
    """

    base: str
    """The common beginning of the names: `example.org/log`."""
    secret: bytes
    """32 bytes."""

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read the text; `NoteError` if it is no private key, without repeating it."""
        name, _, data = [*text.strip().removeprefix(_PRIVATE).split("+", 2), "", ""][:3]
        try:
            material = b64decode(data, validate=True)
            found = cls(name, material[1:])
            if str(found) == text.strip():
                return found
        except ValueError:
            pass
        raise NoteError("a private key is `PRIVATE+KEY+name+id+base64` with an Ed25519 key")

    def __str__(self) -> str:
        id_ = Signer(self.base, self.secret).key.id.hex()
        return f"{_PRIVATE}{self.base}+{id_}+{b64encode(_ED25519 + self.secret).decode()}"

    def __repr__(self) -> str:
        return f"LogSecret({self.base})"

    @property
    def public(self) -> VerifierKey:
        """Return the public key under the common name."""
        return Signer(self.base, self.secret).key

    def signer(self, shard: int, suffix: str = "") -> Signer:
        """Return the signer of a shard; a receipt's has the suffix `/receipts`."""
        return Signer(origin(self.base, shard) + suffix, self.secret)


def shard_key(public: VerifierKey, shard: int, suffix: str = "") -> VerifierKey:
    """Return the key by which a shard's notes are verified, of one under the common name."""
    return VerifierKey(origin(public.name, shard) + suffix, public.public)
