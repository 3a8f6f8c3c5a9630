"""The channels on which changes of matches are published, on RQ's Redis.

Each match has a channel, `board:<number>`. A message is the sequence number of the match's last event, in
decimal. A drain publishes it after the commit, together with the outcomes, and once for each batch in
which the match has changed.

A message may be lost, and two may come in either order, so a subscriber reads
the events that it lacks, and also looks at the match from time to time.
"""

from typing import Any, Final

LOOK_SECONDS: Final = 5.0
"""How often a subscriber looks at its matches by itself."""

_PREFIX: Final = "board:"


def channel_of(board: int) -> str:
    """Return the name of a match's channel."""
    return f"{_PREFIX}{board}"


def add_news(pipe: Any, board: int, seq: int) -> None:
    """Add to a pipeline the message that a match has events up to number `seq`."""
    pipe.publish(channel_of(board), str(seq))


def read_news(channel: bytes, message: bytes) -> tuple[int, int]:
    """Return the board of a channel, and the sequence number in a message on it."""
    return int(channel.decode().removeprefix(_PREFIX)), int(message)
