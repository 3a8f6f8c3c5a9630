"""A client whose writes are confirmed before their replies are returned.

Commits end in a barrier of their own. What is written without a commit, such as accounts, tokens and messages, is
on the server's disk when it answers, and under durability `replicated` has to be on the replicas, too.
"""

from collections.abc import Callable
from typing import Any, Final

import redis
from redis.client import Pipeline
from redis.exceptions import ResponseError

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
    """A client of the server of `client`; `confirm` returns whether all that was written is durable."""

    def __init__(self, client: redis.Redis, confirm: Callable[[], bool]) -> None:
        super().__init__(connection_pool=client.connection_pool)
        self._confirm = confirm

    def execute_command(self, *args: Any, **options: Any) -> Any:
        """Execute a command; `UnconfirmedWriteError` if it wrote and that is not confirmed."""
        reply = super().execute_command(*args, **options)  # type: ignore[no-untyped-call]
        if _writes(args):
            self.confirm()
        return reply

    def pipeline(self, transaction: bool = True, shard_hint: str | None = None) -> Pipeline:  # noqa: FBT001, FBT002 - as in redis-py
        """Return a pipeline that is confirmed when it was executed."""
        return _ConfirmingPipeline(self, transaction=transaction, shard_hint=shard_hint)

    def confirm(self) -> None:
        """Wait until all that was written is durable; `UnconfirmedWriteError`."""
        if not self._confirm():
            raise UnconfirmedWriteError(_NOT_CONFIRMED)


class _ConfirmingPipeline(Pipeline):
    """The commands of a pipeline, confirmed together."""

    def __init__(self, client: ConfirmingRedis, **options: Any) -> None:
        super().__init__(client.connection_pool, client.response_callbacks, **options)
        self._confirm = client.confirm

    def execute(self, raise_on_error: bool = True) -> list[Any]:  # noqa: FBT001, FBT002 - as in redis-py
        """Execute the commands; `UnconfirmedWriteError` if they wrote and that is not confirmed."""
        wrote = any(_writes(args) for args, _ in self.command_stack)
        replies = super().execute(raise_on_error)
        if wrote:
            self._confirm()
        return replies


def _writes(args: tuple[Any, ...]) -> bool:
    return str(args[0]).upper() not in _READS
