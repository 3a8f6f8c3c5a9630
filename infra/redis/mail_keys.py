"""The names of the keys of mail in Redis; `infra.redis.key_table` explains each."""

from hashlib import sha256
from typing import Any, Final

import redis

from infra.redis import keys

EMAILS: Final = "{mail}:letters"
DUE: Final = "{mail}:due"
TRIES: Final = "{mail}:tries"
BACKOFF: Final = "{mail}:rest"
CURSOR: Final = "{mail}:read"
ADDRESSES_TO_VERIFY: Final = "{mail}:named"
ADDRESSES_IN_WORK: Final = "{mail}:naming"
MESSAGE_QUEUE: Final = "{mail}:written"
CHAT_DUE: Final = "{mail}:chat:due"
CHAT_FIRST: Final = "{mail}:chat:first"
CHAT_LAST: Final = "{mail}:chat:last"
DIGESTS_DUE: Final = "{mail}:daily"
RESET_REQUESTS: Final = "{mail}:resets"
PUSH_CURSOR: Final = "{mail}:push:read"
PUSH_DUE: Final = "{mail}:push:due"
HOOK_CURSOR: Final = "{mail}:hooks:read"
HOOKS_DUE: Final = "{mail}:hooks:due"
KEY_FINGERPRINT: Final = "{mail}:key"


def known_email(key: str) -> str:
    """Return the key of the mark that an e-mail was queued."""
    return f"{{mail}}:known:{key}"


def first_email(board: int, seat: int) -> str:
    """Return the key of the first Message-ID of a match, which the later e-mails reply to."""
    return f"{{mail}}:first:{board}:{seat}"


def hooks_of(place: str) -> str:
    """Return the key of the hooks of a club or a tournament."""
    return f"{{mail}}:hooks:of:{place}"


def hook_log(hook: str) -> str:
    """Return the key of the deliveries of a hook."""
    return f"{{mail}}:hooks:log:{hook}"


def digest_items(account: bytes) -> str:
    """Return the key of the items for an account's digest."""
    return f"{{mail}}:news:{account.hex()}"


def sent_codes(address: str) -> str:
    """Return the key of the count of codes for a mailbox or a network, which is hashed in it."""
    return f"{{mail}}:codes:{sha256(address.encode(errors='surrogatepass')).hexdigest()[:32]}"


def address_owners(address: str) -> str:
    """Return the key of the accounts that have proven an address, which is hashed in it."""
    return f"{{mail}}:owners:{sha256(address.encode()).hexdigest()[:32]}"


def codes(account: bytes) -> str:
    """Return the key of the codes that verify an account's addresses."""
    return f"{keys.account(account)}:codes"


def codes_withheld(account: bytes) -> str:
    """Return the key of the mark that an account was sent no codes, because it asked for too many."""
    return f"{keys.account(account)}:withheld"


def due_members(client: redis.Redis, name: str, now: int, ahead: int, count: int) -> list[Any]:
    """Return up to `count` members of a sorted set that are due, each with its time in ms.

    If none is due, return members that are more than `ahead` ms in the future, because a clock ran
    ahead when they were added.
    """
    late = f"({now + ahead}"
    found: Any = client.zrangebyscore(name, "-inf", now, start=0, num=count, withscores=True)
    return found or client.zrangebyscore(name, late, "+inf", start=0, num=count, withscores=True)
