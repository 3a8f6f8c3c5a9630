"""Request limits in the memory of a process: by network, or by the account of a browser."""

from typing import Any, Final

from litestar.connection import ASGIConnection

from domain.errors import Code, Refusal
from domain.match.events import AccountId
from infra.limits import CommandLimit
from infra.settings import Settings
from services.api.networks import network_of_request

AnyConnection = ASGIConnection[Any, Any, Any, Any]

WEIGHT: Final = "weight"
"""The `opt` key of a route that counts as several requests."""


class Visitors:
    """Counts requests within the limits of `settings`."""

    def __init__(self, settings: Settings) -> None:
        self._most = settings.address_rate
        self._networks = CommandLimit(settings.address_rate)
        self._accounts = CommandLimit(settings.address_rate, what="requests of your account")
        self._behind_proxy = settings.trusted_proxy == "on"

    def network(self, connection: AnyConnection) -> str:
        """Return the network of a request."""
        return network_of_request(connection.scope, behind_proxy=self._behind_proxy)

    def check(self, connection: AnyConnection, weight: int | None = None) -> None:
        """Count a request; `too-fast` if its network has sent too many in this minute."""
        counted = weight_of(connection) if weight is None else weight
        try:
            self._networks.check(self.network(connection).encode(), counted)
        except Refusal:
            raise Refusal(
                Code.TOO_FAST,
                f"more than {self._most} requests without a valid token came from your address "
                "in a minute; try again in a minute, or send a token",
            ) from None

    def check_account(self, connection: AnyConnection, account: AccountId) -> None:
        """Count a request of a logged-in browser, whatever its network."""
        self._accounts.check(account, weight_of(connection))


def weight_of(connection: AnyConnection) -> int:
    """Return how many requests this one counts for, as its route declares."""
    weight: int = connection.scope["route_handler"].opt.get(WEIGHT, 1)
    return weight
