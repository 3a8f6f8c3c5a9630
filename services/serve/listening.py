"""The socket of the HTTP door. It listens before the process that answers on it is there.

So whoever comes early, or while that process is started again, waits a moment and is answered.
"""

import errno
import os
import socket
from typing import Final

_BACKLOG: Final = 2048


def listen(address: str) -> socket.socket:
    """Listen on `host:port`; OSError, with a sentence, when that is not possible."""
    host, _, port = address.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    try:
        family, kind, protocol, _, place = socket.getaddrinfo(
            host, int(port), type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listening = socket.socket(family, kind, protocol)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(place)
    except (OSError, OverflowError) as error:
        raise OSError(f"MATCHPOST_HTTP can't be {address}: {_why(error)}") from error
    listening.listen(_BACKLOG)
    return listening


def _why(error: Exception) -> str:
    if isinstance(error, OSError) and error.errno == errno.EADDRINUSE:
        return "another program listens there; choose another port, or off"
    if isinstance(error, socket.gaierror) or not isinstance(error, OSError):
        return "there is no such address"
    return os.strerror(error.errno or 0)


def address_of(listening: socket.socket) -> str:
    """Give the URL at which a socket is reached from this machine."""
    host, port = listening.getsockname()[:2]
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - shown, not bound
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
