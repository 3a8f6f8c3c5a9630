"""Which accounts have proven an address, so that somebody who knows only the address finds them.

The keys have hashes of addresses and ids of accounts, and an entry may be outdated: a reader checks it with the
account's record. An account from before this index is added at its next login.
"""

from typing import Any, Final

import redis

from domain.records import AccountId
from infra.people.accounts.record import Profile, decode_profile
from infra.redis import keys
from infra.redis.mail_keys import address_owners

_MOST: Final = 10
"""Accounts of one address that are looked at."""


class AddressOwners:
    """The index on a server. Errors of the server pass through; thread-safe."""

    def __init__(self, client: redis.Redis) -> None:
        self._client = client

    def changed(
        self, account: AccountId, old: Profile | None = None, new: Profile | None = None
    ) -> None:
        """Bring the index up to date after a change of a record; None stands for no record."""
        before, after = proven_addresses(old), proven_addresses(new)
        # crash window: an entry is missing until the next login, or outdated, which readers see
        for address in after - before:
            self._client.sadd(address_owners(address), account)
        for address in before - after:
            self._client.srem(address_owners(address), account)

    def of(self, address: str) -> list[AccountId]:
        """Return the accounts that have proven an address, and still have it."""
        found: Any = self._client.srandmember(address_owners(address.lower()), _MOST)
        return [account for account in sorted(found) if address.lower() in self._proven(account)]

    def _proven(self, account: AccountId) -> set[str]:
        data: Any = self._client.get(keys.account(account))
        return proven_addresses(None if data is None else decode_profile(data))


def proven_addresses(profile: Profile | None) -> set[str]:
    """Return the proven addresses of a record, in lower case."""
    found = profile.addresses if profile else ()
    return {one.address.lower() for one in found if one.verified}
