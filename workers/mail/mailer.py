"""The mailer: one process that tells players what the logs have, by e-mail, web push and webhooks, job by job."""

from collections.abc import Callable, Sequence
from typing import Protocol

import redis

from domain.records import AccountId
from infra.mail.addresses import AddressStatus, ServerAddresses
from infra.mail.composer import Composer
from infra.mail.email import Attachment
from infra.mail.hooks import HookComposer, HookQueue
from infra.mail.outbox import Outbox, SentEmails
from infra.mail.progress import MailerProgress
from infra.mail.push import PushComposer, PushQueue
from infra.mail.push_client import PushClient
from infra.mail.queues import ChatMailQueue, MessageMailQueue
from infra.mail.smtp_client import SmtpRelay
from infra.mail.verification_codes import VerificationCodes
from infra.mail.wakeup import JOB, MailerWakeup
from infra.people.accounts import Accounts
from infra.people.accounts.address_owners import AddressOwners
from infra.people.clubs import Clubs
from infra.people.masthead import Mastheads
from infra.people.messages import MessageStore
from infra.people.password_resets import PasswordResets
from infra.people.push_subscriptions import PushSubscriptions
from infra.redis.rq_jobs import MAIL, SEND_MAIL
from infra.store.port import Store
from workers.job_report import report
from workers.leased_run import ENDLESS_SECONDS, LINGER_SECONDS, LeasedRun, LeasedWork
from workers.mail.build import EmailBuilder, MailContext
from workers.mail.deliver import EmailDelivery
from workers.mail.hooks import HookDelivery, MatchHooks
from workers.mail.notify import (
    ChatMailer,
    CodeMailer,
    DigestMailer,
    MatchMailer,
    MessageMailer,
    ResetMailer,
)
from workers.mail.push import MatchPush, PushDelivery
from workers.rq_worker import IDLE_SECONDS, ListedWorker

__all__ = ["IDLE_SECONDS", "MailRun", "Mailer", "run"]


class MailTask(Protocol):
    """One of the things that a mailer does."""

    def round(self) -> int:
        """Do some of the work; return how much was done, 0 if nothing is left."""
        ...


class Mailer:
    """Does everything about outgoing mail and notifications."""

    def __init__(self, tasks: Sequence[MailTask]) -> None:
        self._tasks = tasks

    def round(self) -> int:
        """Do some of everything; return how much was done."""
        return sum(task.round() for task in self._tasks)


def mail_tasks(  # noqa: PLR0913 - one for each part
    store: Store,
    accounts: Accounts,
    data: redis.Redis,
    *,
    addresses: ServerAddresses,
    composer: Composer,
    relay: SmtpRelay,
    sent: SentEmails,
    clock: Callable[[], int] | None = None,
    attach: Callable[[int, bytes], tuple[Attachment, ...]] = lambda *_: (),
    paint: Callable[[bytes], bytes] = lambda _: b"",
    unsubscribe: Callable[[AccountId], str] = lambda _: "",
) -> list[MailTask]:
    """Return the tasks of e-mail.

    `clock` is that of the `Outbox`, `attach` of `MailContext`, `paint` of `EmailDelivery`, and
    `unsubscribe` of `EmailBuilder`.
    """
    outbox, progress = Outbox(data, clock), MailerProgress(data)
    mastheads = Mastheads(data)
    codes = VerificationCodes(data, outbox.now)
    context = MailContext(
        store=store,
        accounts=accounts,
        progress=progress,
        outbox=outbox,
        builder=EmailBuilder(composer, addresses, progress, accounts.record_of, unsubscribe),
        chats=ChatMailQueue(data),
        messages=MessageStore(data, lambda: store.shards),
        attach=attach,
    )
    return [
        MatchMailer(context),
        CodeMailer(context, codes),
        ResetMailer(context, PasswordResets(data), AddressOwners(data)),
        MessageMailer(context, MessageMailQueue(data)),
        ChatMailer(context),
        DigestMailer(context),
        EmailDelivery(
            *(outbox, relay, accounts, AddressStatus(accounts, codes), addresses, sent),
            paint=paint,
            sender=lambda: mastheads.recent().name,
        ),
    ]


def push_tasks(
    store: Store, data: redis.Redis, composer: PushComposer, client: PushClient
) -> list[MailTask]:
    """Return the tasks of web push."""
    queue, subscriptions = PushQueue(data), PushSubscriptions(data)
    return [
        MatchPush(store, queue, subscriptions),
        PushDelivery(queue, subscriptions, composer, client, store.now),
    ]


def hook_tasks(
    store: Store, data: redis.Redis, composer: HookComposer, hosts: tuple[str, ...]
) -> list[MailTask]:
    """Return the tasks of webhooks and notices of groups."""
    queue = HookQueue(data)
    return [
        MatchHooks(store, queue, Clubs(data)),
        HookDelivery(queue.hooks, composer, store.now, hosts),
    ]


class MailRun(LeasedWork):
    """A run of the mailer under its lease; whatever is done twice has the same id."""

    def __init__(
        self, mailer: Mailer, wakeup: MailerWakeup, stopping: Callable[[], bool] = lambda: False
    ) -> None:
        self._mailer = mailer
        self._wakeup = wakeup
        self._run = LeasedRun(
            "mail", wakeup.leases, JOB.lease, stopping, most=ENDLESS_SECONDS, linger=LINGER_SECONDS
        )

    def run(self) -> None:
        """Do what waits, and report in the job that runs how much it was."""
        if done := self._run.run(self):
            report(done=done, seconds=round(self._run.seconds, 3))

    def step(self) -> int | None:
        """Do some of everything."""
        return self._mailer.round() or None

    def has_more(self) -> bool:
        """Return whether there are events to mail or e-mails to send."""
        return self._wakeup.has_work()


def run(mailer: Mailer, wakeup: MailerWakeup, queue: redis.Redis) -> None:
    """Run the mailer's jobs until SIGTERM or SIGINT, or until Redis goes away.

    `queue` must wait `IDLE_SECONDS` for an answer, because the worker listens with a blocking command.
    """

    def send_mail() -> None:
        MailRun(mailer, wakeup, lambda: worker.stopping).run()

    worker = ListedWorker(queue, MAIL, {SEND_MAIL: send_mail})
    worker.work(logging_level="WARNING")
