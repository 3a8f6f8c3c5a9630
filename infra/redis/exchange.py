"""Commands that are sent now, and whose replies are read later.

redis-py's pipelines send and wait in one call. A caller who has something else to do meanwhile sends with `begin_exchange`,
does it, and then reads the replies.
"""

from collections.abc import Callable
from typing import Any, TypeAlias

from redis.client import Pipeline
from redis.exceptions import ResponseError

Replies: TypeAlias = Callable[[], list[Any]]
"""Waits for the replies, and returns them in order, errors of commands among them; to be called once.

Until then a connection is taken from the pool. An error of it is raised: `redis.ConnectionError` or `redis.TimeoutError`.
"""

QueuedCommand = tuple[tuple[Any, ...], dict[str, Any]]
"""A command in a pipeline: its words, and redis-py's options for reading the reply."""


def begin_exchange(pipe: Pipeline) -> Replies:
    """Send the commands of a pipeline of one server, which is no transaction."""
    pool, commands = pipe.connection_pool, pipe.command_stack
    connection: Any = pool.get_connection()  # redis-py types little of them

    def drop() -> None:
        connection.disconnect()
        pool.release(connection)

    try:
        connection.send_packed_command(connection.pack_commands([words for words, _ in commands]))
    except BaseException:
        drop()
        raise

    def replies() -> list[Any]:
        try:
            found = [read_reply(pipe, connection, command) for command in commands]
        except BaseException:
            drop()  # the replies that are left would be those of the next commands
            raise
        pool.release(connection)
        return found

    return replies


def read_reply(pipe: Pipeline, connection: Any, command: QueuedCommand) -> Any:
    """Return the next reply on a connection, as redis-py understands that to this command, or its error."""
    words, options = command
    try:
        # a copy, because redis-py takes some out
        return pipe.parse_response(connection, words[0], **dict(options))  # type: ignore[no-untyped-call]
    except ResponseError as error:
        return error
