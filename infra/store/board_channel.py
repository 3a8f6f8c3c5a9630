"""The channels on which changes of matches are published, on RQ's Redis.

A message is the sequence number of the match's last event. It may be lost, so a subscriber also looks at
the match from time to time.
"""

from typing import Any


def channel_of(board: int) -> str:
    """Return the name of a match's channel."""
    return f"board:{board}"


def add_news(pipe: Any, board: int, seq: int) -> None:
    """Add to a pipeline the message that a match has events up to number `seq`."""
    pipe.publish(channel_of(board), str(seq))
