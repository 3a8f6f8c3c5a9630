"""A client whose writes are confirmed before their replies are returned.

Commits end in a barrier of their own. What is written without a commit, such as accounts, tokens and messages, is
on the server's disk when it answers, and under durability `replicated` has to be on the replicas, too.
"""

from collections.abc import Callable
from typing import Any, Final

import redis
from redis.client import Pipeline
from redis.exceptions import ResponseError

from infra.redis.cluster import slots_of

_READS: Final = frozenset({
    "EXISTS", "GET", "GETRANGE", "HEXISTS", "HGET", "HGETALL", "HKEYS", "HLEN", "HMGET", "HSCAN", "HVALS",
    "INFO", "LINDEX", "LLEN", "LRANGE", "MGET", "PING", "PTTL", "SCAN", "SCARD", "SISMEMBER", "SMEMBERS",
    "SRANDMEMBER", "STRLEN", "TIME", "TTL", "TYPE", "UNWATCH", "WATCH", "XLEN", "XRANGE", "ZCARD", "ZCOUNT",
    "ZRANGE", "ZRANGEBYLEX", "ZRANGEBYSCORE", "ZRANK", "ZREVRANGE", "ZREVRANGEBYSCORE", "ZSCAN", "ZSCORE",
})  # fmt: skip
"""Commands that write nothing. Any other is taken for a write, because that costs no more than time."""

_NOT_CONFIRMED: Final = (
    "what was written is not confirmed by enough replicas, and a failover may take it back; look whether "
    "it is there before you repeat it"
)


class UnconfirmedWriteError(ResponseError):
    """The replicas did not confirm a write in time; the server has it."""


class ConfirmingRedis(redis.Redis):
    """A client of the servers of `client`; `confirm` returns whether all that was written is durable."""

    def __init__(self, client: redis.Redis, confirm: Callable[[], bool]) -> None:
        super().__init__(connection_pool=client.connection_pool)
        self.slots = slots_of(client)
        self.unconfirmed = client
        self._confirm = confirm

    def execute_command(self, *args: Any, **options: Any) -> Any:
        """Execute a command; `UnconfirmedWriteError` if it wrote and that is not confirmed."""
        reply = self.unconfirmed.execute_command(*args, **options)  # type: ignore[no-untyped-call]
        if _writes(args):
            self.confirm()
        return reply

    def pipeline(self, transaction: bool = True, shard_hint: str | None = None) -> Pipeline:  # noqa: FBT001, FBT002 - as in redis-py
        """Return a pipeline whose `execute` raises `UnconfirmedWriteError`, if it wrote, like a command."""
        pipe = self.unconfirmed.pipeline(transaction, shard_hint)
        execute = pipe.execute

        def confirmed(raise_on_error: bool = True) -> list[Any]:  # noqa: FBT001, FBT002 - as in redis-py
            wrote = any(_writes(args) for args, _ in pipe.command_stack)
            replies: list[Any] = execute(raise_on_error)
            if wrote:
                self.confirm()
            return replies

        pipe.execute = confirmed  # type: ignore[method-assign]
        return pipe

    def confirm(self) -> None:
        """Wait until all that was written is durable; `UnconfirmedWriteError`."""
        if not self._confirm():
            raise UnconfirmedWriteError(_NOT_CONFIRMED)


def unconfirmed(client: redis.Redis) -> redis.Redis:
    """Return a client that does not wait for confirmations; a failover may take back its writes."""
    return client.unconfirmed if isinstance(client, ConfirmingRedis) else client


def _writes(args: tuple[Any, ...]) -> bool:
    return str(args[0]).upper() not in _READS
