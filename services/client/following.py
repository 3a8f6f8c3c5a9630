"""Streams of events over connections that break: a stream goes on after the last event that came."""

import time
from collections.abc import Iterator
from typing import Final

import httpx

from services.client.client import Client, ProblemError
from services.client.stream_messages import StreamMessage, read_messages

PAUSE_SECONDS: Final = 1.0
"""Pause before a stream is opened again."""

_TEMPORARY: Final = frozenset({"busy", "unavailable", "too-fast"})
"""Refusals after which a stream is opened again."""


class Link:
    """A listener for the state of a follower's connection; this one does nothing."""

    def opened(self) -> None:
        """Note that a stream has been opened."""

    def broken(self, reason: str) -> None:
        """Note that the connection is lost, or could not be made again."""


def follow(client: Client, path: str, last: str, link: Link) -> Iterator[StreamMessage]:
    """Yield the events of a stream after that with the id `last` as they come, until none can follow.

    If the connection breaks the stream is opened again after the last event. An empty `last` begins
    with what happens from now on. Raises `ProblemError` if the server refuses the stream for good.
    """
    while True:
        try:
            with client.open_stream(path, last) as response:
                link.opened()
                if response.status_code == httpx.codes.NO_CONTENT:
                    return
                for id_, message in read_messages(response.iter_lines()):
                    last = id_
                    if message is not None:
                        yield message
        except httpx.TransportError as error:
            link.broken(str(error) or type(error).__name__)
        except ProblemError as problem:
            if problem.code not in _TEMPORARY:
                raise
            link.broken(problem.detail)
        time.sleep(PAUSE_SECONDS)
