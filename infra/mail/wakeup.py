"""Enqueues the mailer's job when there is work. The job is a wake-up and carries no data.

The work itself is in the logs and in the outbox, which are polled each second: a job that is lost is
enqueued again.
"""

from typing import Final

import redis

from infra.mail.hooks import HookQueue
from infra.mail.outbox import Outbox
from infra.mail.progress import LogCursor, MailerProgress
from infra.mail.push import PushQueue
from infra.mail.queues import ChatMailQueue
from infra.redis import mail_keys as keys
from infra.redis.rq_jobs import MAIL, SEND_MAIL
from infra.store.port import Store
from infra.store.rq_wakeup import LeasedJob, WakeupJob

JOB: Final = LeasedJob(
    # a run ends after a minute; one that takes as long as the job may is stuck
    WakeupJob(MAIL, SEND_MAIL, 300, "build and send e-mails"),
    "mail",
    # a step of the mailer's work may take as long
    15_000,
)


class MailerWakeup:
    """Polls for work of `mail`, `push` and `hooks`; `queue` is a client of RQ's Redis."""

    def __init__(
        self,
        store: Store,
        data: redis.Redis,
        queue: redis.Redis,
        outbox: Outbox | None = None,
        *,
        mail: bool = True,
        push: bool = False,
        hooks: bool = False,
    ) -> None:
        self._sends_mail = mail
        self._sends_hooks = hooks
        self._sends_push = push
        self._store = store
        self._data = data
        self.leases = JOB.leases(queue)
        self._outbox = outbox or Outbox(data)
        self._mailer_progress = MailerProgress(data)
        self._chats = ChatMailQueue(data)
        self._push = PushQueue(data)
        self._hooks = HookQueue(data)

    def begin(self) -> None:
        """Start to send news of events from now on, unless that was started before."""
        begin_mailing(
            *(self._store, self._data),
            mail=self._sends_mail,
            push=self._sends_push,
            hooks=self._sends_hooks,
        )

    def tick(self) -> None:
        """Request the mailer if there is work, or wake it if it waits for some."""
        if self.has_work():
            self.leases.request(JOB.lease)

    def has_work(self) -> bool:
        """Return whether there are events to tell, or e-mails or notifications to send."""
        now = self._outbox.now()
        if self._sends_push and (self._push.is_due(now) or self._has_new_leaves(self._push)):
            return True
        if self._sends_hooks and (
            self._hooks.hooks.is_due(now) or self._has_new_leaves(self._hooks)
        ):
            return True
        return self._sends_mail and (
            self._has_queued(now)
            or self._outbox.is_due(now)
            or self._has_new_leaves(self._mailer_progress)
        )

    def _has_queued(self, now: int) -> bool:
        return bool(
            self._data.exists(
                keys.ADDRESSES_TO_VERIFY,
                keys.ADDRESSES_IN_WORK,
                keys.MESSAGE_QUEUE,
                keys.RESET_REQUESTS,
            )
            or self._chats.due(now, 1)
            or self._mailer_progress.digests_due(now, 1)
        )

    def _has_new_leaves(self, cursor: LogCursor) -> bool:
        read = cursor.cursor()
        return read is not None and bool(self._store.next_leaves(dict(enumerate(read))))


def begin_mailing(
    store: Store,
    data: redis.Redis,
    *,
    mail: bool = True,
    push: bool = False,
    hooks: bool = False,
) -> None:
    """Begin to send news of events by mail, by push and to hooks, unless that was begun before."""
    cursors: list[LogCursor] = [MailerProgress(data)] * mail + [PushQueue(data)] * push
    cursors += [HookQueue(data)] * hooks
    for cursor in cursors:
        if cursor.cursor() is None:
            cursor.begin(store.watermark().ends)
    if not push:
        PushQueue(data).end()
    if not hooks:
        HookQueue(data).end()
