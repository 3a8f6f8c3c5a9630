"""The channel on which a match's news is published, on the server of the queue.

| channel | message |
|---|---|
| `board:<board>` | the number of the match's last event, in decimal |

A message may be lost, so a listener also looks
at the store from time to time. A message that is older than another does no harm: the listener keeps
the highest number.
"""

from typing import Any, Final

PREFIX: Final = "board:"


def channel_of(board: int) -> str:
    """Return the name of a match's channel."""
    return f"{PREFIX}{board}"


def board_of(channel: bytes) -> int:
    """Return the match of a channel."""
    return int(channel.decode().removeprefix(PREFIX))


def add_news(pipe: Any, board: int, seq: int) -> None:
    """Add to a pipeline the message that a match has events up to `seq`.

    `pipe` is a pipeline of redis-py to the server of the queue.
    """
    pipe.publish(channel_of(board), str(seq))
