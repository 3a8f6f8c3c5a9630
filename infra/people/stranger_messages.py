"""Messages to players who do not know their writer: so many a day.

| key | what |
|---|---|
| `{a:<hex>}:strangers` | hash: command and recipient, a day from the first |
"""

import math
from collections.abc import Sequence
from typing import Final

import redis

from domain.errors import Code, Refusal
from domain.match.events import AccountId, CommandId
from infra.people.account_index import index_under_account
from infra.redis import keys
from infra.sentences import SAY

STRANGERS_A_DAY: Final = 20
"""Most messages of an account within a day to players who do not know it, counted by recipient."""

_HOUR: Final = 3600


def count_strangers(
    client: redis.Redis, sender: AccountId, strangers: Sequence[AccountId], command: CommandId
) -> None:
    """Count a message, once if it is repeated; `too-many`, and then it counts for nothing."""
    name, counted = keys.strangers(sender), list[str]()
    for field in [(command + other).hex() for other in strangers]:
        fits = index_under_account(client, sender, name, field, "", STRANGERS_A_DAY)
        # crash window: without it the count would not end; the next message sets it
        client.expire(name, 24 * _HOUR, nx=True)
        if not fits:
            if counted:
                client.hdel(name, *counted)
            hours = math.ceil(client.ttl(name) / _HOUR)
            raise Refusal(Code.TOO_MANY, SAY("strangers", most=STRANGERS_A_DAY, hours=hours))
        counted.append(field)
