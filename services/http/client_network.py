"""The network that a request comes from: an IPv4 address, or a /64 of IPv6."""

from collections.abc import Iterable
from functools import lru_cache
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Any, Final

_IPV6_PREFIX: Final = 64
"""Prefix bits of an IPv6 network, because a client with one of its addresses has all of them."""

_FORWARDED_FOR: Final = b"x-forwarded-for"


def network_of_request(scope: Any, *, behind_proxy: bool) -> str:
    """Return the network of an ASGI scope; X-Forwarded-For counts only behind a trusted proxy."""
    if behind_proxy and (forwarded := _last_forwarded(scope["headers"])):
        return network_of(forwarded)
    client = scope.get("client")
    return network_of(client[0] if client else "")


def _last_forwarded(headers: Iterable[tuple[bytes, bytes]]) -> str:
    """Return the last address, because the client may have written those before it."""
    found = [value for name, value in headers if name == _FORWARDED_FOR]
    return found[-1].decode("latin-1").rpartition(",")[2].strip() if found else ""


@lru_cache(4_096)
def network_of(address: str) -> str:
    """Return an IPv4 address itself, the network of an IPv6 address, or an empty text for neither."""
    try:
        read = ip_address(address)
    except ValueError:
        return ""
    if not isinstance(read, IPv6Address):
        return str(read)
    if read.ipv4_mapped:
        return str(read.ipv4_mapped)
    return str(ip_network((int(read), _IPV6_PREFIX), strict=False))
