"""Request limits in the memory of a process: by network, or by the account of a browser."""

from typing import Any, Final

from litestar.connection import ASGIConnection

from domain.errors import Code, Refusal
from domain.match.events import AccountId
from infra.rate_limits import CommandRateLimit, NetworkRateLimit
from infra.sentences import SAY
from infra.settings import Settings
from services.http.client_network import network_of_request

AnyConnection = ASGIConnection[Any, Any, Any, Any]

WEIGHT: Final = "weight"
"""The `opt` key of a route that counts as several requests."""


class RequestLimits:
    """Counts requests within the limits of `settings`."""

    def __init__(self, settings: Settings) -> None:
        self._most = settings.address_rate
        self._networks = NetworkRateLimit(settings.address_rate, setting="address_rate")
        self._accounts = CommandRateLimit(
            settings.address_rate, what=SAY("account-requests"), setting="address_rate"
        )
        self._behind_proxy = settings.trusted_proxy == "on"

    def network(self, connection: AnyConnection) -> str:
        """Return the network of a request."""
        return network_of_request(connection.scope, behind_proxy=self._behind_proxy)

    def check(self, connection: AnyConnection, weight: int | None = None) -> None:
        """Count a request; `too-fast` if its network has sent too many in this minute."""
        counted = request_weight(connection) if weight is None else weight
        try:
            self._networks.check(self.network(connection), counted)
        except Refusal:
            raise Refusal(
                Code.TOO_FAST,
                SAY("network-requests", most=self._most),
            ) from None

    def count_account_request(
        self, connection: AnyConnection, account: AccountId, weight: int | None = None
    ) -> None:
        """Count a request of a logged-in browser, whatever its network."""
        self._accounts.check(account, request_weight(connection) if weight is None else weight)

    def count_more(self, connection: AnyConnection, account: AccountId | None, weight: int) -> None:
        """Count what a request costs more than its route declares, in matches that it reads."""
        if account is None:
            self.check(connection, weight)
        else:
            self.count_account_request(connection, account, weight)


def request_weight(connection: AnyConnection) -> int:
    """Return how many requests this one counts for, as its route declares."""
    handler: Any = connection.scope.get("route_handler")  # an address that is no page has none
    weight: int = handler.opt.get(WEIGHT, 1) if handler else 1
    return weight
