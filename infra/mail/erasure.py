"""Erases all data of an account that belongs to mail."""

import redis

from domain.match.events import AccountId
from infra.mail.chat_queue import ChatMailQueue
from infra.mail.message_queue import MessageMailQueue
from infra.mail.outbox import Outbox
from infra.mail.progress import MailerProgress
from infra.mail.push_queue import PushQueue
from infra.mail.verification_codes import VerificationCodes
from infra.people.password_resets import PasswordResets


def erase_mail(client: redis.Redis, account: AccountId) -> None:
    """Erase e-mails to an account, its codes, link and digests, and its unsent chat, messages and notifications.

    Safe to repeat. The counts per id and per address stay: they are hashed, and expire.
    """
    outbox = Outbox(client)
    outbox.forget(account)
    VerificationCodes(client, outbox.now).forget(account)
    MailerProgress(client).forget(account)
    MessageMailQueue(client).forget(account)
    ChatMailQueue(client).forget(account)
    PasswordResets(client).forget(account)
    PushQueue(client).forget(account)
