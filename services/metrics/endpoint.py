"""The address at which a process serves its metrics to Prometheus.

It is not that of the pages, because metrics show strangers how busy the server is.
"""

import logging
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import count
from threading import Event, Thread
from typing import Final

from prometheus_client import ProcessCollector, start_http_server

from infra.health.heartbeats import Role
from infra.process.metrics import ALARMS, REGISTRY, describe_process
from infra.settings.settings import Settings
from services import __version__

logger = logging.getLogger(__name__)

_OFF: Final = "off"

_AGAIN_SECONDS: Final = 1.0
_QUIET_TRIES: Final = 10
"""An address that is in use for longer is said to be."""

ProcessCollector(registry=REGISTRY)


@contextmanager
def serving_metrics(address: str) -> Iterator[str]:
    """Serve the metrics on `host:port` while entered, and yield their URL; empty if they are off.

    Raises `OSError` with a sentence if the address can't be used.
    """
    if address == _OFF:
        yield ""
        return
    host, _, port = address.rpartition(":")
    try:
        server, thread = start_http_server(
            int(port), host.removeprefix("[").removesuffix("]"), REGISTRY
        )
    except (OSError, OverflowError) as error:
        raise OSError(f"MATCHPOST_METRICS can't be {address}: {error}") from error
    counting = _AlarmCounter()
    logging.getLogger().addHandler(counting)
    try:
        url = f"http://{host}:{server.server_port}/metrics"
        logger.info("metrics are at %s", url)
        yield url
    finally:
        logging.getLogger().removeHandler(counting)
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def serving_role_metrics(settings: Settings, role: Role, name: str) -> Iterator[str]:
    """Serve the metrics of a process; while its address is in use it works without, because moves come first."""
    describe_process(role, name, __version__)
    with ExitStack() as stack:
        url = ""
        try:
            url = stack.enter_context(serving_metrics(settings.metrics))
        except OSError:
            stack.enter_context(_serving_later(settings.metrics))
        yield url


@contextmanager
def _serving_later(address: str) -> Iterator[None]:
    """Serve the metrics as soon as the address is free, as it is seconds after this process has replaced another."""
    ended = Event()

    def serve() -> None:
        for tries in count(1):
            try:
                with serving_metrics(address):
                    ended.wait()
            except OSError as error:
                if tries == _QUIET_TRIES:
                    said = "this process has no metrics: %s; give it an address of its own"
                    logger.warning(said, error)
            if ended.wait(_AGAIN_SECONDS):
                return

    thread = Thread(target=serve, name="metrics", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


class _AlarmCounter(logging.Handler):
    """Counts the lines of the log that need a person."""

    def emit(self, record: logging.LogRecord) -> None:
        """Count a record if it is an alarm."""
        if str(record.msg).startswith("ALARM"):
            ALARMS.inc()
