"""Calls that are interrupted at each of their steps, one after the other."""

import itertools
from collections.abc import Callable, Iterator
from contextlib import closing

from redis import Redis

from domain.errors import Refusal
from infra.valkey.server import EmbeddedServer
from tests.helpers.steps import Killed, Steps, kill, stepped_client


def interrupted(
    valkey: EmbeddedServer,
    prepare: Callable[[], Callable[[Redis], object]],
    action: Callable[[], object] = kill,
    *,
    after: tuple[bool, ...] = (False, True),
) -> Iterator[Refusal | Killed | None]:
    """Prepare, and have something happen at the first step of the call, then at the second, and so on.

    It happens before a command is sent, and then when it was carried out and not heard of. Yields what the
    call raised.
    """
    for late in after:
        for step in itertools.count(1):
            call = prepare()
            steps = Steps(step, action, after=late)
            error: Refusal | Killed | None = None
            client, begin = stepped_client(valkey.url)
            with closing(client):
                begin(steps)
                try:
                    call(client)
                except (Killed, Refusal) as caught:
                    error = caught
            if not steps.happened:
                break
            yield error
        assert step > 3
