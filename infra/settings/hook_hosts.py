"""The hosts to which webhooks and notices may be sent: the guard of what players name.

A player names the address to which an own server sends, so a stranger could name one of the operator's network. Which
addresses a name has is looked at when the connection is made (`infra.mail.guarded_http`), because a name may have others
then. Imports nothing slow, because the settings import it.
"""

import re
from ipaddress import IPv4Address, ip_address, ip_network
from typing import Final
from urllib.parse import SplitResult, urlsplit

LONGEST_ADDRESS: Final = 500

_HTTPS_PORT: Final = 443
_FIRST_FREE_PORT: Final = 1024
"""Ports below are those of other protocols, such as mail, whose servers might take a request for one of theirs."""

_NAME: Final = re.compile(r"[a-z0-9.-]+(:[0-9]{1,5})?|\[[0-9a-f:.]+\](:[0-9]{1,5})?")
_GLOBAL_6: Final = ip_network("2000::/3")
_NAT64: Final = ip_network("64:ff9b::/96")
_RELAYS: Final = (
    ip_network("192.0.0.0/24"), ip_network("192.88.99.0/24"), ip_network("2001::/23"), ip_network("2002::/16"),
)  # fmt: skip
"""Addresses of protocols, and such as have another address in them."""


def read_hook_hosts(text: str) -> tuple[str, ...]:
    """Return the hosts in a setting, each maybe with its port; `ValueError` for anything else."""
    hosts = tuple(text.split())
    for one in hosts:
        if not _NAME.fullmatch(one):
            raise ValueError("they are hosts in small letters, each with or without its port")
    return hosts


def is_named(host: str, port: int, hosts: tuple[str, ...]) -> bool:
    """Return whether the operator allows a host, whatever its addresses are."""
    shown = f"[{host}]" if ":" in host else host
    return shown in hosts or f"{shown}:{port}" in hosts


def is_public(text: str) -> bool:
    """Return whether an IP address is one of the public internet."""
    if "%" in text:  # of one network interface
        return False
    address = ip_address(text)
    if address in _NAT64:
        return is_public(str(IPv4Address(address.packed[-4:])))
    if any(address in network for network in _RELAYS):
        return False
    if address.version == 6 and address not in _GLOBAL_6:  # noqa: PLR2004 - the version of the protocol
        return False
    return address.is_global and not address.is_multicast


class AddressError(ValueError):
    """An address that nothing is sent to; `key` is that of its sentence."""

    def __init__(self, key: str) -> None:
        super().__init__(key)
        self.key = key


def checked_address(address: str, hosts: tuple[str, ...]) -> SplitResult:
    """Return the parts of an `https` address, or of an `http` one of a named host; `AddressError`."""
    if not 0 < len(address) <= LONGEST_ADDRESS or not address.isascii():
        raise AddressError("hook-address")
    if any(not letter.isprintable() or letter in ' \\"<>' for letter in address):
        raise AddressError("hook-address")  # programs read them in different ways
    try:
        parts = urlsplit(address)
        port = port_of(parts)
    except ValueError:
        raise AddressError("hook-address") from None
    host = parts.hostname
    if parts.scheme not in ("http", "https") or not host or "@" in parts.netloc or parts.fragment:
        raise AddressError("hook-address")
    check_host(host, port, hosts, secure=parts.scheme == "https")
    return parts


def port_of(parts: SplitResult) -> int:
    """Return the port of an address of the web; `ValueError` for one that no port is."""
    return parts.port or (_HTTPS_PORT if parts.scheme == "https" else 80)


def check_host(host: str, port: int, hosts: tuple[str, ...], *, secure: bool) -> None:
    """Check what can be known of a host without asking for its addresses; `AddressError`."""
    if is_named(host, port, hosts):
        return
    if not secure:
        raise AddressError("hook-https")
    if port != _HTTPS_PORT and port < _FIRST_FREE_PORT:
        raise AddressError("hook-port")
    try:
        public = is_public(host)
    except ValueError:
        # a name; one without a dot, or with digits alone at its end, is none of the internet
        public = "." in host.rstrip(".") and not host.rstrip(".").rpartition(".")[2].isdigit()
    if not public:
        raise AddressError("hook-private")
