"""Vacations of accounts, which the drain reads when a match starts."""

from collections.abc import Mapping, Sequence
from typing import Any

import redis

from domain.clocks.vacation import Vacation, running_vacation
from domain.match.events import AccountId
from infra.people.accounts.record import Profile, decode_profile
from infra.redis import keys


def vacations_of(profile: Profile) -> tuple[Vacation, ...]:
    """Return the vacations of an account."""
    return tuple(Vacation(since, days) for since, days in profile.vacations)


def on_vacation(
    client: redis.Redis, accounts: Sequence[AccountId], now: int
) -> Mapping[AccountId, int]:
    """Return until when accounts are on vacation, ms; those that are not are left out."""
    with client.pipeline(transaction=False) as pipe:
        for account in accounts:
            pipe.get(keys.account(account))
        found: list[Any] = pipe.execute()
    absent = {}
    for account, data in zip(accounts, found, strict=True):
        one = running_vacation(vacations_of(decode_profile(data)), now) if data else None
        if one is not None:
            absent[account] = one.until
    return absent
