"""The mailer: one process that builds e-mails from the logs and sends them, job by job."""

import time
from collections.abc import Callable, Sequence
from typing import Final, Protocol

import redis

from infra.mail.address_status import AddressStatus
from infra.mail.addresses import ServerAddresses
from infra.mail.chat_queue import ChatMailQueue
from infra.mail.composer import Composer
from infra.mail.message_queue import MessageMailQueue
from infra.mail.outbox import Outbox
from infra.mail.progress import MailerProgress
from infra.mail.smtp_client import SmtpRelay
from infra.mail.verification_codes import VerificationCodes
from infra.mail.wakeup import JOB, QUEUE, MailerWakeup
from infra.people.accounts import Accounts
from infra.people.messages import MessageStore
from infra.store.port import Store
from workers.commands.rq_worker import IDLE_SECONDS, ListedWorker
from workers.mail.build import EmailBuilder
from workers.mail.chat import ChatMailer
from workers.mail.codes import CodeMailer
from workers.mail.context import MailContext
from workers.mail.deliver import EmailDelivery
from workers.mail.digests import DigestMailer
from workers.mail.messages import MessageMailer
from workers.mail.notify import MatchMailer

__all__ = ["IDLE_SECONDS", "Mailer", "run"]

JOB_SECONDS: Final = 60.0
"""How long a job goes on at most, so that a worker that is asked to stop stops soon."""


class MailTask(Protocol):
    """One of the things that a mailer does."""

    def round(self) -> int:
        """Do some of the work; return how much was done, 0 if nothing is left."""
        ...


class Mailer:
    """Does everything about outgoing mail. `clock` is that of the `Outbox`."""

    def __init__(
        self,
        store: Store,
        accounts: Accounts,
        data: redis.Redis,
        *,
        addresses: ServerAddresses,
        composer: Composer,
        relay: SmtpRelay,
        clock: Callable[[], int] | None = None,
    ) -> None:
        outbox, progress = Outbox(data, clock), MailerProgress(data)
        codes = VerificationCodes(data, outbox.now)
        context = MailContext(
            store=store,
            accounts=accounts,
            progress=progress,
            outbox=outbox,
            builder=EmailBuilder(composer, addresses, progress),
            chats=ChatMailQueue(data),
            messages=MessageStore(data, lambda: store.layout().shards),
        )
        self._tasks: Sequence[MailTask] = (
            MatchMailer(context),
            CodeMailer(context, codes),
            MessageMailer(context, MessageMailQueue(data)),
            ChatMailer(context),
            DigestMailer(context),
            EmailDelivery(outbox, relay, accounts, AddressStatus(accounts, codes), addresses),
        )

    def run(self, stopping: Callable[[], bool] = lambda: False) -> None:
        """Go on until there is nothing to do, or for a minute, or until asked to stop."""
        end = time.monotonic() + JOB_SECONDS
        while self.round() and not stopping() and time.monotonic() < end:
            pass

    def round(self) -> int:
        """Do some of everything; return how much was done."""
        return sum(task.round() for task in self._tasks)


def run(mailer: Mailer, wakeup: MailerWakeup, queue: redis.Redis) -> None:
    """Run the mailer's jobs until SIGTERM or SIGINT, or until Redis goes away.

    `queue` must wait `IDLE_SECONDS` for an answer, because the worker listens with a blocking command.
    """

    def send_mail() -> None:
        try:
            mailer.run(lambda: worker.stopping)
        finally:
            wakeup.acknowledge()

    worker = ListedWorker(queue, QUEUE, {JOB: send_mail})
    wakeup.acknowledge()  # a mailer that was killed may have left a request that no job answers any more
    worker.work(logging_level="WARNING")
