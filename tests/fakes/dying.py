"""A client of a process that is killed after some round trips."""

from collections.abc import Callable
from typing import Any

from redis import Redis


class Killed(BaseException):
    """The process is no more; nothing of it catches this."""


class DyingClient:
    """Passes `trips` round trips on to a client; before the next one the process is killed."""

    def __init__(self, client: Redis, trips: int) -> None:
        self._client = client
        self._left = trips

    def __getattr__(self, name: str) -> Any:
        return self._counted(getattr(self._client, name))

    def pipeline(self, transaction: bool = True) -> Any:  # noqa: FBT001, FBT002 - redis-py's own
        pipe = self._client.pipeline(transaction=transaction)
        pipe.execute = self._counted(pipe.execute)  # type: ignore[method-assign]
        return pipe

    def _counted(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*args: Any, **kwargs: Any) -> Any:
            if self._left == 0:
                raise Killed
            self._left -= 1
            return call(*args, **kwargs)

        return counted
