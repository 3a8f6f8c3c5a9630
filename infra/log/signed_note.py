"""Signed notes (C2SP signed-note): texts with Ed25519 signatures, and cosignatures of checkpoints.

A note is a text that ends in a newline, an empty line, and signature lines. Signatures by unknown keys
are ignored; one bad signature by a known key refuses the whole note.

The lines of signed texts and proof files: decimal numbers, base64 and hashes, each in one form only.
"""

import re
from base64 import b64decode, b64encode
from collections.abc import Iterable, Sequence
from enum import IntEnum
from hashlib import sha256
from typing import Final, Self

import msgspec
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from infra.log.merkle import HASH_SIZE

MOST_SIGNATURES: Final = 64
"""Signatures in a note; the specification asks for at least 16."""

_ID_SIZE: Final = 4
_TIME_SIZE: Final = 8
_SIGNATURE: Final = re.compile(r"— (\S+) ([A-Za-z0-9+/]+={0,2})")
_CONTROLS: Final = bytes((*range(0x0A), *range(0x0B, 0x20)))
"""Control characters but the newline."""


class NoteError(ValueError):
    """A note or key is malformed, or a signature does not hold; the message is a sentence."""


class SignatureType(IntEnum):
    """Identifier byte of a signature's algorithm."""

    ED25519 = 1
    """Over the text."""
    COSIGNATURE = 4
    """Over the text of a checkpoint and the time, by a witness."""


class VerifierKey(msgspec.Struct, frozen=True):
    """A public key with its name."""

    name: str
    public: bytes
    """32 bytes."""
    type: SignatureType = SignatureType.ED25519

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `name+hex id+base64`; `NoteError` if it is not a verifier key."""
        name, id_, data = [*text.split("+", 2), "", ""][:3]
        material = _decode_base64(data)
        if material[:1] not in (b"\x01", b"\x04") or len(material) != 1 + 32:
            raise NoteError("a verifier key has the type 1 or 4 and an Ed25519 key of 32 bytes")
        key = cls(name, material[1:], SignatureType(material[0]))
        _check_name(name)
        if key.id.hex() != id_:
            raise NoteError(f"the id of the verifier key {name!r} does not fit its key")
        return key

    def __str__(self) -> str:
        return f"{self.name}+{self.id.hex()}+{b64encode(bytes([self.type]) + self.public).decode()}"

    @property
    def id(self) -> bytes:
        """Return the 4 bytes that name the key in signatures."""
        text = self.name.encode() + b"\n" + bytes([self.type]) + self.public
        return sha256(text).digest()[:_ID_SIZE]

    def verify(self, text: str, signature: bytes) -> None:
        """Verify a signature without its key id; `NoteError` if it is not this key's."""
        message = text.encode()
        if self.type is SignatureType.COSIGNATURE:
            message = cosigned_message(text, int.from_bytes(signature[:_TIME_SIZE]))
            signature = signature[_TIME_SIZE:]
        try:
            Ed25519PublicKey.from_public_bytes(self.public).verify(signature, message)
        except (InvalidSignature, ValueError):
            raise NoteError(f"the signature by {self.name} does not hold") from None


class Signer:
    """A private Ed25519 key with its name; it signs texts, or as a witness checkpoints."""

    def __init__(
        self, name: str, secret: bytes, type_: SignatureType = SignatureType.ED25519
    ) -> None:
        _check_name(name)
        self._private = Ed25519PrivateKey.from_private_bytes(secret)
        self.key = VerifierKey(name, self._private.public_key().public_bytes_raw(), type_)
        self._id = self.key.id

    def signature(self, text: str, seconds: int = 0) -> str:
        """Return the signature line of a text; a cosignature has a time, s since the epoch."""
        if self.key.type is SignatureType.COSIGNATURE:
            signed = self._private.sign(cosigned_message(text, seconds))
            signed = seconds.to_bytes(_TIME_SIZE) + signed
        else:
            signed = self._private.sign(text.encode())
        return f"— {self.key.name} {b64encode(self._id + signed).decode()}\n"


def cosigned_message(text: str, seconds: int) -> bytes:
    """Return the bytes that a witness signs for the text of a checkpoint at a time, s."""
    return f"cosignature/v1\ntime {seconds}\n{text}".encode()


def sign(text: str, signers: Iterable[Signer]) -> str:
    """Return the note of a text, signed in this order; ValueError if it can't be a note's text."""
    _check_text(text)
    return text + "\n" + "".join(signer.signature(text) for signer in signers)


def open_note(note: str | bytes, keys: Sequence[VerifierKey]) -> str:
    """Return the text of a note that one of `keys` has signed; `NoteError`, with the reason, else."""
    text, signatures = split_note(note)
    known = {(key.name, key.id): key for key in keys}
    verified = False
    for name, data in signatures:
        key = known.get((name, data[:_ID_SIZE]))
        if key is not None:
            key.verify(text, data[_ID_SIZE:])
            verified = True
    if not verified:
        raise NoteError("the note has no signature by a known key")
    return text


def split_note(note: str | bytes) -> tuple[str, list[tuple[str, bytes]]]:
    """Return a note's text and its signatures, as name and bytes, without verifying them."""
    if isinstance(note, bytes):
        try:
            note = note.decode()
        except UnicodeDecodeError as error:
            raise NoteError(f"a note is UTF-8 text: {error}") from None
    text, gap, lines = note.rpartition("\n\n")
    if not gap or not lines.endswith("\n"):
        raise NoteError("a note is a text, an empty line, and signature lines")
    text += "\n"
    _check_text(text)
    found = []
    for line in lines.removesuffix("\n").split("\n"):
        matched = _SIGNATURE.fullmatch(line)
        data = _decode_base64(matched[2]) if matched else b""
        if matched is None or len(data) <= _ID_SIZE:
            raise NoteError("a signature line is a dash, a name without spaces, and base64")
        _check_name(matched[1])
        found.append((matched[1], data))
    if len(found) > MOST_SIGNATURES:
        raise NoteError(f"a note has at most {MOST_SIGNATURES} signatures")
    return text, found


def _check_text(text: str) -> None:
    if not text.endswith("\n"):
        raise NoteError("the text of a note ends in a newline")
    if _has_controls(text):
        raise NoteError("a note has no control characters but newlines")


def _has_controls(text: str) -> bool:
    data = text.encode(errors="surrogatepass")
    return len(data.translate(None, _CONTROLS)) < len(data)


def _check_name(name: str) -> None:
    if not name or "+" in name or re.search(r"\s", name) or _has_controls(name):
        raise NoteError("the name of a key has a character, and neither spaces nor `+`")


def _decode_base64(text: str) -> bytes:
    try:
        data = b64decode(text, validate=True)
    except ValueError as error:
        raise NoteError(f"base64 can't be read: {error}") from None
    if b64encode(data).decode() != text:
        raise NoteError("base64 has stray bits at its end")
    return data


_DECIMAL: Final = re.compile(r"0|[1-9][0-9]{0,18}")


def read_decimal(text: str, what: str) -> int:
    """Return the number that a line has; `NoteError`, naming `what` it should be, for any other text."""
    if not _DECIMAL.fullmatch(text):
        raise NoteError(f"the {what} is a decimal number without leading zeros")
    return int(text)


def read_hash(text: str) -> bytes:
    """Return the hash that a line has in base64; `NoteError` for any other text."""
    found = read_base64(text)
    if len(found) != HASH_SIZE:
        raise NoteError(f"a hash has {HASH_SIZE} bytes, and this one {len(found)}")
    return found


def read_base64(text: str) -> bytes:
    """Return the bytes of a base64 text; `NoteError` if it is not written as `write_base64` does."""
    try:
        found = b64decode(text, validate=True)
    except ValueError as error:
        raise NoteError(f"base64 can't be read: {error}") from None
    if write_base64(found) != text:
        raise NoteError("base64 has stray bits at its end")
    return found


def write_base64(data: bytes) -> str:
    """Return bytes as base64."""
    return b64encode(data).decode()
