"""Requests of who shows no token, counted by address in the memory of this process."""

from ipaddress import IPv6Address, ip_address, ip_network
from typing import Any, Final

from litestar.connection import ASGIConnection

from domain.errors import Code, Refusal
from infra.limits import CommandLimit
from infra.settings import Settings

AnyConnection = ASGIConnection[Any, Any, Any, Any]

_ONE_HOUSEHOLD: Final = 64
"""Bits of an IPv6 address that a network is told apart by: who has one address has all others."""


class Visitors:
    """Counts requests; `settings` say how many there may be, and whether a proxy is believed."""

    def __init__(self, settings: Settings) -> None:
        self._most = settings.address_rate
        self._limit = CommandLimit(settings.address_rate)
        self._behind_proxy = settings.trusted_proxy == "on"

    def check(self, connection: AnyConnection) -> None:
        """Count a request; `too-fast` when there were too many from its address in this minute."""
        try:
            self._limit.check(_network(self._address(connection)).encode())
        except Refusal:
            raise Refusal(
                Code.TOO_FAST,
                f"more than {self._most} requests without a good token came from your address "
                "in a minute; try again in a minute, or send a token",
            ) from None

    def _address(self, connection: AnyConnection) -> str:
        if self._behind_proxy:
            # what stands before the last was written by who asks, and may be anything
            forwarded = connection.headers.getall("x-forwarded-for", [])
            if forwarded:
                return forwarded[-1].rpartition(",")[2].strip()
        client = connection.scope.get("client")
        return client[0] if client else ""


def _network(address: str) -> str:
    """Give what stands for an address: itself, or the network of one of IPv6."""
    try:
        read = ip_address(address)
    except ValueError:
        return ""
    if not isinstance(read, IPv6Address):
        return str(read)
    if read.ipv4_mapped:
        return str(read.ipv4_mapped)
    return str(ip_network((int(read), _ONE_HOUSEHOLD), strict=False))
