"""Decoding records: whatever the bytes are, there is one kind of error.

msgspec raises others beside its own: `UnicodeDecodeError` for a text that is no UTF-8, and `RecursionError`
for arrays in arrays. A caller that looks for `msgspec.MsgspecError` alone would miss them, and one
damaged byte would end its process.
"""

from typing import Generic, TypeVar

import msgspec

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
