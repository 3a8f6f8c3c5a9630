"""The keys of mail in Redis.

| key | what |
|---|---|
| `{mail}:letters` | hash: id of an e-mail -> packed entry, until it is sent or given up |
| `{mail}:due` | sorted set: id by the ms at which it is tried next |
| `{mail}:tries` | hash: id -> how often it was tried |
| `{mail}:known:<id>` | mark that an e-mail of that id was queued, kept a week |
| `{mail}:rest` | until when the relay is not tried, and why |
| `{mail}:read` | per shard, how many leaves of the log the mailer has read |
| `{mail}:first:<board>:<seat>` | Message-ID of the first e-mail of a match to a player, 400 days |
| `{mail}:named` | set: accounts with new addresses to verify |
| `{mail}:naming` | set: those of them that the mailer is working on |
| `{mail}:written` | list of messages to mail, packed |
| `{mail}:chat:due` | sorted set: `<account>:<board>` by the ms at which chat is mailed: `infra.mail.chat_queue` |
| `{mail}:chat:first` | the same, by the time of the first line that is not mailed |
| `{mail}:chat:last` | the same, by the time of the newest line |
| `{mail}:daily` | sorted set: account by the ms at which its digest is due |
| `{mail}:news:<account>` | sorted set: items for a digest, by time |
| `{mail}:resets` | list of requests for a new password: `infra.people.password_resets` |
| `{mail}:push:read` | per shard, how many leaves were read for notifications in browsers |
| `{mail}:push:due` | sorted set: packed notifications by the ms at which they are tried next |
| `{mail}:owners:<address>` | set: accounts that have proven an address, which is hashed |
| `{mail}:key` | fingerprint of the mail key in use: `infra.secret_record` |
| `{mail}:codes:<address>` | codes for a mailbox, or a network, within a day; hashed |
| `{mail}:taken:<mail>` | mark that a mail was processed, kept 30 days: `infra.mail.processed` |
| `answers:sent/<hash>/<most>/1/hour` | replies to an address within an hour; written by `limits` |
| `answers:unproven/<hash>/<most>/1/day` | replies within a day to senders of whom nothing is known |
| `{a:<hex>}:codes` | hash: address -> the code that verifies it |
| `{a:<hex>}:withheld` | mark that no codes were sent, because too many were asked for; a day at most |

All are in one slot of a cluster but the last two, which are in the slot of their account.
"""

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
KEY_FINGERPRINT: Final = "{mail}:key"


def known_email(key: str) -> str:
    """Return the key of the mark that an e-mail was queued."""
    return f"{{mail}}:known:{key}"


def first_email(board: int, seat: int) -> str:
    """Return the key of the first Message-ID of a match, which the later e-mails reply to."""
    return f"{{mail}}:first:{board}:{seat}"


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
