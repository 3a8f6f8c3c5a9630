"""Requests counted in the memory of this process: by network, or by account of who has logged in."""

from typing import Any, Final

from litestar.connection import ASGIConnection

from domain.errors import Code, Refusal
from domain.match.events import AccountId
from infra.limits import CommandLimit
from infra.settings import Settings
from services.api.networks import network_of_request

AnyConnection = ASGIConnection[Any, Any, Any, Any]

WEIGHT: Final = "weight"
"""Under which a route says that it costs as much as several others."""


class Visitors:
    """Counts requests; `settings` say how many there may be, and whether a proxy is believed."""

    def __init__(self, settings: Settings) -> None:
        self._most = settings.address_rate
        self._networks = CommandLimit(settings.address_rate)
        self._accounts = CommandLimit(settings.address_rate, what="requests of your account")
        self._behind_proxy = settings.trusted_proxy == "on"

    def network(self, connection: AnyConnection) -> str:
        """Return where a request comes from."""
        return network_of_request(connection.scope, behind_proxy=self._behind_proxy)

    def check(self, connection: AnyConnection, weight: int | None = None) -> None:
        """Count a request; `too-fast` when there were too many from its network in this minute."""
        counted = weight_of(connection) if weight is None else weight
        try:
            self._networks.check(self.network(connection).encode(), counted)
        except Refusal:
            raise Refusal(
                Code.TOO_FAST,
                f"more than {self._most} requests without a good token came from your address "
                "in a minute; try again in a minute, or send a token",
            ) from None

    def check_account(self, connection: AnyConnection, account: AccountId) -> None:
        """Count a request of who has logged in with a browser, wherever it comes from."""
        self._accounts.check(account, weight_of(connection))


def weight_of(connection: AnyConnection) -> int:
    """Return how many requests a request counts for, as its route says."""
    weight: int = connection.scope["route_handler"].opt.get(WEIGHT, 1)
    return weight
