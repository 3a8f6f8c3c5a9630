"""Prometheus metrics of this process, at a separate address."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from prometheus_client import start_http_server

from services.http.middleware import REGISTRY

logger = logging.getLogger(__name__)

_OFF: Final = "off"


@contextmanager
def serving_metrics(address: str) -> Iterator[str]:
    """Serve the metrics on `host:port` while entered, and yield their URL; empty if they are off.

    They are not at the address of the pages, because they show strangers how busy the server is.
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
    try:
        url = f"http://{host}:{server.server_port}/metrics"
        logger.info("metrics are at %s", url)
        yield url
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
