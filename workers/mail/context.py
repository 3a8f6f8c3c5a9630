"""The stores that all parts of the mailer share, and the addresses of an account's mail."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from infra.mail.chat_queue import ChatMailQueue
from infra.mail.email import Attachment
from infra.mail.outbox import Outbox
from infra.mail.progress import MailerProgress
from infra.people.accounts import Accounts
from infra.people.messages import MessageStore
from infra.store.port import Store
from workers.mail.build import EmailBuilder

BATCH: Final = 100
"""About how many mails a part makes in a round."""


@dataclass(frozen=True)
class MailContext:
    """The stores of a mailer, and the builder of its e-mails."""

    store: Store
    accounts: Accounts
    progress: MailerProgress
    outbox: Outbox
    builder: EmailBuilder
    chats: ChatMailQueue
    messages: MessageStore
    attach: Callable[[int, bytes], tuple[Attachment, ...]]
    """Returns the attachments of a mail about a match, by its board and its last event in the mail."""
