"""Erases all that mail keeps of an account."""

import redis

from domain.match.events import AccountId
from infra.mail.chats import Chats
from infra.mail.codes import Codes
from infra.mail.outbox import Outbox
from infra.mail.progress import Progress
from infra.mail.written import Written


def forget_mail(client: redis.Redis, account: AccountId) -> None:
    """Erase letters to an account, its codes and digests, chat that waits, and what it wrote to be mailed.

    Doing it twice is harmless. What keeps an id or an address from being used too often is a
    hash, and expires.
    """
    outbox = Outbox(client)
    outbox.forget(account)
    Codes(client, outbox.now).forget(account)
    Progress(client).forget(account)
    Written(client).forget(account)
    Chats(client).forget(account)
