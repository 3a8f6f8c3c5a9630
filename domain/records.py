"""Records of whatever the server decides: the ids in them, the bases of commands and events, and how bytes are read.

Decoding records: whatever the bytes are, there is one kind of error.

msgspec raises others beside its own: `UnicodeDecodeError` for a text that is no UTF-8, and `RecursionError`
for arrays in arrays. A caller that looks for `msgspec.MsgspecError` alone would miss them, and one
damaged byte would end its process.
"""

from hashlib import sha256
from typing import Final, Generic, TypeVar

import msgspec

SCHEMA: Final = 1
"""Version of the envelope and of the bodies below."""

AccountId = bytes
"""64 random bits, drawn at signup. The name is in the account record only."""

CommandId = bytes
"""16 bytes, the same for every repetition of a command; see `command_id`."""

SERVER_ACCOUNT: Final[AccountId] = bytes(8)
"""The actor of the server's commands."""


class EventBody(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    """The base of all events, which are named in the past tense. Encoded as an array: tag, fields."""


class CommandBase(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The base of all commands, which are named in the imperative."""


def command_id(front_end: str, account: AccountId, key: str) -> CommandId:
    """Return the id of a command, which is the same for each repetition with the same key.

    It is the first 16 bytes of SHA-256 over the name of the front end, a zero byte, the
    account id and the key, such as an Idempotency-Key or a Message-ID.
    """
    return sha256(b"%b\x00%b%b" % (front_end.encode(), account, key.encode())).digest()[:16]


Record = TypeVar("Record")


class RecordDecoder(Generic[Record]):
    """Decodes MessagePack of one type."""

    def __init__(self, type_: type[Record]) -> None:
        self._decode = msgspec.msgpack.Decoder(type_).decode

    def decode(self, data: bytes | memoryview) -> Record:
        """Return the record; `msgspec.DecodeError` or `ValidationError` if the bytes are none."""
        try:
            return self._decode(data)
        except UnicodeDecodeError as error:
            raise msgspec.DecodeError(f"a text isn't UTF-8: {error.reason}") from error
        except RecursionError as error:
            raise msgspec.DecodeError("there are too many arrays in arrays") from error


def decode_text(data: bytes) -> str:
    """Return a text; `msgspec.DecodeError` if the bytes are none."""
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise msgspec.DecodeError(f"a text isn't UTF-8: {error.reason}") from error
