"""A client of a real server on which a test can do something between any two commands."""

from collections.abc import Callable
from urllib.parse import urlsplit

from redis import ConnectionPool, Redis, UnixDomainSocketConnection


class Killed(Exception):  # noqa: N818 - nothing is wrong, the process is gone
    """Stands for the end of a process; nobody catches it but the test."""


class Steps:
    """Runs `action` once: before command number `step` is sent, or as soon as it was carried out.

    Commands are counted from 1; a pipeline is one. `happened` tells whether there were as many.
    """

    def __init__(self, step: int, action: Callable[[], object], *, after: bool = False) -> None:
        self._step = step
        self._action = action
        self._after = after
        self._sent = 0
        self.happened = False

    def sending(self) -> None:
        self._sent += 1
        self._act(after=False)

    def answered(self) -> None:
        self._act(after=True)

    def _act(self, *, after: bool) -> None:
        if self._sent == self._step and after is self._after and not self.happened:
            self.happened = True
            self._action()


class SteppedConnection(UnixDomainSocketConnection):
    """Tells `steps` what goes over it, once that is set."""

    steps: Steps | None = None

    def send_packed_command(self, command, check_health=True):  # noqa: FBT002 - redis-py's own
        if self.steps:
            self.steps.sending()
        super().send_packed_command(command, check_health)

    def read_response(self, *args, **kwargs):
        answer = super().read_response(*args, **kwargs)
        if self.steps:
            self.steps.answered()
        return answer


def kill() -> None:
    """End the process, as far as a test can."""
    raise Killed


def stepped_client(url: str) -> tuple[Redis, Callable[[Steps], None]]:
    """Give a client of a `unix://` server, and what begins to count its commands."""
    pool = ConnectionPool(
        connection_class=SteppedConnection, max_connections=1, protocol=2, path=urlsplit(url).path
    )
    client = Redis.from_pool(pool)
    client.ping()  # connected: no handshake is counted

    def begin(steps: Steps) -> None:
        connection = pool.get_connection()
        connection.steps = steps
        pool.release(connection)

    return client, begin
