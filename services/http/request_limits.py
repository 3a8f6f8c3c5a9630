"""Request limits in the memory of a process: by network, or by the account of a browser.

A route declares its weight: how many requests it counts for.
"""

from typing import Any, Final

from domain.errors import Code, Refusal
from domain.records import AccountId
from infra.people.rate_limits import CommandRateLimit, NetworkRateLimit, RateBudget
from infra.sentences import SAY
from infra.settings.settings import Settings
from services.http.requests import AnyConnection, network_of_request

RATE_HEADERS: Final = "rate_headers"
"""The key in a scope of the headers that say what is left of the caller's rate."""

WEIGHT: Final = "weight"
"""The `opt` key of a route that counts as several requests."""


def note_budget(scope: Any, name: str, budget: RateBudget) -> None:
    """Note in a scope what is left of a rate, which its answer has in its headers."""
    scope[RATE_HEADERS] = (
        (b"ratelimit-policy", b'"%s";q=%d;w=60' % (name.encode(), budget.most)),
        (b"ratelimit", b'"%s";r=%d;t=%d' % (name.encode(), budget.left, budget.full_in)),
    )


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

    def check(self, connection: AnyConnection, weight: int | None = None) -> RateBudget:
        """Count a request, and return what is left; `too-fast` if its network has sent too many."""
        counted = request_weight(connection) if weight is None else weight
        try:
            return self._networks.check(self.network(connection), counted)
        except Refusal as reason:
            seconds = reason.retry_after
            sentence = SAY("network-requests", most=self._most, seconds=seconds)
            raise Refusal(Code.TOO_FAST, sentence, seconds) from None

    def count_account_request(
        self, connection: AnyConnection, account: AccountId, weight: int | None = None
    ) -> RateBudget:
        """Count a page of a logged-in browser or a read with a token, whatever its network."""
        counted = request_weight(connection) if weight is None else weight
        return self._accounts.check(account, counted)

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
