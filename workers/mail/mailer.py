"""The mailer: one process that makes letters of what happens and sends them, job by job."""

import time
from collections.abc import Callable, Sequence
from typing import Final, Protocol

import redis

from infra.accounts import Accounts
from infra.letters import Letters
from infra.mail.addresses import Addresses
from infra.mail.bell import JOB, QUEUE, Bell
from infra.mail.chats import Chats
from infra.mail.codes import Codes
from infra.mail.composer import Composer
from infra.mail.outbox import Outbox
from infra.mail.progress import Progress
from infra.mail.relay import Relay
from infra.mail.standing import Standing
from infra.mail.written import Written
from infra.store.port import Store
from workers.commands.rq_worker import IDLE_SECONDS, ListedWorker
from workers.mail.build import EmailBuilder
from workers.mail.chat import ChatMailer
from workers.mail.deliver import EmailDelivery
from workers.mail.digests import CodeMailer, DigestMailer, MessageMailer
from workers.mail.notify import MatchMailer

__all__ = ["IDLE_SECONDS", "Mailer", "run"]

LONGEST_SECONDS: Final = 60.0
"""How long one job goes on, so that a worker that is to stop stops soon."""


class MailTask(Protocol):
    """One of the things a mailer does."""

    def round(self) -> int:
        """Do some of what there is to do; gives how much that was, 0 when there is no more."""
        ...


class Mailer:
    """Does all there is to do about mail. `clock` is as `Outbox` has it."""

    def __init__(
        self,
        store: Store,
        accounts: Accounts,
        data: redis.Redis,
        *,
        addresses: Addresses,
        composer: Composer,
        relay: Relay,
        clock: Callable[[], int] | None = None,
    ) -> None:
        outbox, progress = Outbox(data, clock), Progress(data)
        codes = Codes(data, outbox.now)
        writing = EmailBuilder(composer, addresses, progress)
        chats, letters = Chats(data), Letters(data, lambda: store.shape().shards)
        self._parts: Sequence[MailTask] = (
            MatchMailer(store, accounts, progress, outbox, writing, chats=chats, letters=letters),
            CodeMailer(accounts, codes, outbox, writing),
            MessageMailer(accounts, Written(data), progress, outbox, writing),
            ChatMailer(store, accounts, progress, outbox, writing, chats=chats, letters=letters),
            DigestMailer(accounts, progress, outbox, writing),
            EmailDelivery(outbox, relay, accounts, Standing(accounts, codes), addresses),
        )

    def run(self, stopping: Callable[[], bool] = lambda: False) -> None:
        """Go on until there is nothing to do, or for a minute, or until told to stop."""
        end = time.monotonic() + LONGEST_SECONDS
        while self.round() and not stopping() and time.monotonic() < end:
            pass

    def round(self) -> int:
        """Do some of everything; gives how much that was."""
        return sum(part.round() for part in self._parts)


def run(mailer: Mailer, bell: Bell, queue: redis.Redis) -> None:
    """Run the mailer's jobs until SIGTERM or SIGINT, or until Redis goes away.

    `queue` must wait `IDLE_SECONDS` for an answer: the worker listens with a blocking command.
    """

    def see_to_mail() -> None:
        try:
            mailer.run(lambda: worker.stopping)
        finally:
            bell.heard()

    worker = ListedWorker(queue, QUEUE, {JOB: see_to_mail})
    bell.heard()  # by one that was killed it may be asked for still, and never come
    worker.work(logging_level="WARNING")
