"""The names and texts of tournaments, which their organisers write: they are in no log, so they can be changed and removed.

| key | what |
|---|---|
| `{tournaments}:texts` | hash: number -> packed `TournamentText` |
"""

from collections.abc import Sequence
from typing import Any, Final

import msgspec
import redis

from infra.people.clubs import read_club_name
from infra.people.texts import read_text
from infra.redis import keys
from infra.redis.reads import Read, read_one

MOST_OF_TEXT: Final = 10_000
"""Characters of the text about a tournament."""

_ENCODE: Final = msgspec.msgpack.Encoder().encode


class TournamentText(msgspec.Struct, frozen=True, array_like=True):
    """The name and the text that an organiser gives a tournament."""

    name: str
    text: str = ""
    """In Markdown."""


_DECODE: Final = msgspec.msgpack.Decoder(TournamentText).decode


class TournamentTexts:
    """The texts. Errors of the server pass through; thread-safe."""

    def __init__(self, client: redis.Redis) -> None:
        self._client = client

    def put(self, number: int, said: TournamentText) -> None:
        """Store the text of a tournament, in place of an earlier one."""
        self._client.hset(keys.TOURNAMENT_TEXTS, str(number), _ENCODE(said))

    def of(self, numbers: Sequence[int]) -> dict[int, TournamentText]:
        """Return the texts by number; one without a text has an empty name."""
        return read_one(self._client, self.read(numbers))

    @staticmethod
    def read(numbers: Sequence[int]) -> Read[dict[int, TournamentText]]:
        """Return the read of `of`."""

        def queue(pipe: Any) -> None:
            if numbers:
                pipe.hmget(keys.TOURNAMENT_TEXTS, [str(one) for one in numbers])

        return Read(
            queue,
            lambda pages: {
                number: TournamentText("") if data is None else _DECODE(data)
                for number, data in zip(numbers, pages[0] if pages else (), strict=True)
            },
        )


def checked_text(name: str, text: str) -> TournamentText:
    """Return a name and a text as they are stored; `bad-name`, `too-long`, `bad-request`."""
    return TournamentText(
        read_club_name(name), read_text(text, MOST_OF_TEXT) if text.strip() else ""
    )
