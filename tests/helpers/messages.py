"""Players who write messages, and what is stored of them.

Unread lines of chat, as pages count them.
"""

from redis import Redis

from domain.records import AccountId
from infra.people.account_notices import UnreadCounter
from infra.people.messages import MessageStore, PlayerMessage

SHARDS = 4
ALICE, BOB, CAROL = (bytes([number]) * 8 for number in (0xA1, 0xB0, 0xCA))


def texts(found: list[PlayerMessage]) -> list[str]:
    return [letter.text for letter in found]


def lists(client: Redis) -> dict[str, bytes]:
    names = [name.decode() for name in client.scan_iter(_type="list")]
    return {name: b"".join(client.lrange(name, 0, -1)) for name in names}


def unread_chat(messages: MessageStore, account: AccountId) -> dict[int, int]:
    """Return an account's unread lines by match."""
    return UnreadCounter(messages._client, messages).counts(account).boards
