"""Erases all data of an account that belongs to mail."""

import redis

from domain.match.events import AccountId
from infra.mail.chats import Chats
from infra.mail.codes import Codes
from infra.mail.outbox import Outbox
from infra.mail.progress import Progress
from infra.mail.written import Written


def forget_mail(client: redis.Redis, account: AccountId) -> None:
    """Erase e-mails to an account, its codes and digests, and its unsent chat and messages.

    Safe to repeat. The counts per id and per address stay: they are hashed, and expire.
    """
    outbox = Outbox(client)
    outbox.forget(account)
    Codes(client, outbox.now).forget(account)
    Progress(client).forget(account)
    Written(client).forget(account)
    Chats(client).forget(account)
