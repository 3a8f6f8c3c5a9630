"""Reads of several modules in one round trip.

A module returns a `Read` in place of its result; `read_all` sends the commands of many in one pipeline.
"""

from collections.abc import Callable
from typing import Any, Generic, NamedTuple, TypeVar

import redis

Result = TypeVar("Result")


class Read(NamedTuple, Generic[Result]):
    """Commands that only read, and how their replies are understood."""

    queue: Callable[[Any], object]
    """Adds the commands to a pipeline; redis-py types no part of its pipelines."""
    parse: Callable[[list[Any]], Result]
    """Returns the result from the replies to these commands."""


def read_all(client: redis.Redis, *reads: Read[Any]) -> list[Any]:
    """Return the result of each read; one round trip for all, none without a command."""
    with client.pipeline(transaction=False) as pipe:
        ends = []
        for read in reads:
            read.queue(pipe)
            ends.append(len(pipe))
        replies = pipe.execute()
    starts = [0, *ends]
    return [
        read.parse(replies[start:end])
        for read, start, end in zip(reads, starts, ends, strict=False)
    ]


def read_one(client: redis.Redis, read: Read[Result]) -> Result:
    """Return the result of one read."""
    (result,) = read_all(client, read)
    return result  # type: ignore[no-any-return]  # `read_all` can't type results of several types
