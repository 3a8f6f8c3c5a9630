"""Scripts and reads that end in the barrier of the durability mode."""

from collections.abc import Sequence
from typing import Any

import redis
from redis.client import Pipeline

from infra.durability.durability import Mode, append_barrier, check_barrier
from infra.process.failpoints import failpoint
from infra.redis import scripts
from infra.redis.exchange import Replies
from infra.store.port import NotDurable


class DurableScripts:
    """Runs scripts of one server; `replicas` is how many the mode `replicated` waits for."""

    def __init__(self, client: redis.Redis, mode: Mode, replicas: int) -> None:
        self._client = client
        self._mode = mode
        self._replicas = replicas
        self.have_barrier = mode.verified
        """Whether there is a barrier at all."""
        self.have_replicas = mode is Mode.REPLICATED

    def run(self, calls: Sequence[scripts.Call]) -> list[Any]:
        """Run scripts, wait until their writes are durable, and return their replies."""
        return self.begin(calls)()

    def begin(self, calls: Sequence[scripts.Call]) -> Replies:
        """Send scripts; what is returned does the rest of `run`."""
        answered = scripts.begin_all(self._client, calls, finish=self.append_barrier)

        def replies() -> list[Any]:
            found = answered()
            failpoint("commit.answered")
            self.check(found[-1], "the server did not confirm that the commit is on disk")
            return found[: len(calls)]

        return replies

    def append_barrier(self, pipe: Pipeline) -> None:
        """Add the barrier as the last command of a pipeline, if there is one."""
        append_barrier(pipe, self._mode, replicas=self._replicas)

    def check(self, reply: object, otherwise: str) -> None:
        """Raise `NotDurable` if the last reply is of a barrier that confirms nothing."""
        if self.have_barrier and not self.confirms(reply):
            raise NotDurable(otherwise)

    def confirms(self, reply: object) -> bool:
        """Return whether the reply of a barrier confirms the writes before it."""
        return check_barrier(reply, self._mode, self._replicas)
