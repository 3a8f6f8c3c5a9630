"""Ports of this machine that nothing listens on, for a server that is started at one, or again at the same.

A port that the system gives to connections by itself is none of these: between the look and the start, or while a
server is stopped, somebody else's connection could have it.
"""

import secrets
import socket
from typing import Final

LOOPBACK: Final = "127.0.0.1"

_PORTS: Final = range(11_000, 22_000)
"""Ports that no system gives to connections by itself, nor those that a cluster's nodes use 10,000 above them."""


def free_port() -> int:
    """Return a port that nothing listens on."""
    return first_of_free_ports(1)


def first_of_free_ports(count: int) -> int:
    """Return a port that nothing listens on, nor on the `count - 1` after it."""
    while True:
        first = secrets.choice(_PORTS)
        if not any(listens(port) for port in range(first, first + count)):
            return first


def listens(port: int) -> bool:
    """Return whether something listens on a port."""
    with socket.socket() as one:
        return one.connect_ex((LOOPBACK, port)) == 0
