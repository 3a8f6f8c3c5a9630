"""The names of everything of mail in Redis.

| key | what |
|---|---|
| `{mail}:letters` | hash: letter -> packed entry, until it is sent or given up |
| `{mail}:due` | sorted set: letter by the ms at which it is tried next |
| `{mail}:tries` | hash: letter -> how often it was tried |
| `{mail}:known:<letter>` | set while a letter of that id is not taken again: a week |
| `{mail}:rest` | until when the relay is left alone, and why |
| `{mail}:read` | how far each shard's log has been told by mail |
| `{mail}:first:<board>:<seat>` | id of the first letter of a match to a player, 400 days |
| `{mail}:named` | set: accounts that gave addresses which are to be verified |
| `{mail}:naming` | set: those of them that are being seen to |
| `{mail}:written` | list of messages that are to be mailed, packed |
| `{mail}:chat:due` | sorted set: `<account>:<board>` by the ms at which chat is mailed: `infra.mail.chats` |
| `{mail}:chat:first` | the same, by the time of the first line that is not mailed |
| `{mail}:chat:last` | the same, by the time of the newest line |
| `{mail}:daily` | sorted set: account by the ms at which its digest is due |
| `{mail}:news:<account>` | sorted set: what a digest is to tell, by time |
| `{mail}:key` | what tells the mail key in use from another: `infra.mail.agreed` |
| `{mail}:codes:<address>` | how many codes an address was sent of late; the address is hashed |
| `{mail}:taken:<mail>` | set while the same mail is not carried out again: 30 days; `infra.mail.deliveries` |
| `answers:told/<hash>/<most>/1/hour` | answers to an address within an hour; written by `limits` |
| `{mail}:wanted` | set while the mailer is asked for, in RQ's Redis |
| `{a:<hex>}:codes` | hash: address -> the code that proves it |

One slot of a cluster has it all, but for the codes: they are beside the account they belong to.
"""

from hashlib import sha256
from typing import Final

from infra import keys

LETTERS: Final = "{mail}:letters"
DUE: Final = "{mail}:due"
TRIES: Final = "{mail}:tries"
REST: Final = "{mail}:rest"
READ: Final = "{mail}:read"
NAMED: Final = "{mail}:named"
NAMING: Final = "{mail}:naming"
WRITTEN: Final = "{mail}:written"
CHAT_DUE: Final = "{mail}:chat:due"
CHAT_FIRST: Final = "{mail}:chat:first"
CHAT_LAST: Final = "{mail}:chat:last"
DAILY: Final = "{mail}:daily"
KEY: Final = "{mail}:key"
WANTED: Final = "{mail}:wanted"


def known(letter: str) -> str:
    """Name the mark that a letter was taken."""
    return f"{{mail}}:known:{letter}"


def first(board: int, seat: int) -> str:
    """Name the id of the letter that a match's others answer."""
    return f"{{mail}}:first:{board}:{seat}"


def news(account: bytes) -> str:
    """Name what an account's digest is to tell."""
    return f"{{mail}}:news:{account.hex()}"


def sent_codes(address: str) -> str:
    """Name the count of codes sent to an address; who lists the keys reads no address."""
    return f"{{mail}}:codes:{sha256(address.encode()).hexdigest()[:32]}"


def codes(account: bytes) -> str:
    """Name the codes an account's addresses are proven with."""
    return f"{keys.account(account)}:codes"
