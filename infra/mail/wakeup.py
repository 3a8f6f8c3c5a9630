"""Enqueues the mailer's job when there is work. The job is a wake-up and carries no data.

The work itself is in the logs and in the outbox, which are polled each second: a job that is lost is
enqueued again.
"""

from typing import Final
from uuid import uuid4

import redis

from infra.mail import keys
from infra.mail.chat_queue import ChatMailQueue
from infra.mail.outbox import Outbox
from infra.mail.progress import MailerProgress
from infra.redis import scripts
from infra.store.port import Store

QUEUE: Final = "mail"
"""The queue the mailer listens on."""

JOB: Final = "mail"
"""The job that does all the mailer's work; it has no arguments."""

JOB_SECONDS: Final = 300
"""A round ends after a minute; a job that takes this long is stuck."""

REQUEST_MS: Final = 60_000
"""How long after a request the mailer is not requested again."""

FAILURE_SECONDS: Final = 3600


class MailerWakeup:
    """Polls for work; `queue` is a client of RQ's Redis."""

    def __init__(
        self, store: Store, data: redis.Redis, queue: redis.Redis, outbox: Outbox | None = None
    ) -> None:
        self._store = store
        self._data = data
        self._queue = queue
        self._outbox = outbox or Outbox(data)
        self._mailer_progress = MailerProgress(data)
        self._chats = ChatMailQueue(data)

    def begin(self) -> None:
        """Start mailing events from now on, unless that was started before."""
        begin_mailing(self._store, self._data)

    def tick(self) -> None:
        """Request the mailer if there is work and it was not requested yet."""
        if self.has_work():
            self.enqueue()

    def has_work(self) -> bool:
        """Return whether there are events to mail or e-mails to send."""
        now = self._outbox.now()
        return self._has_queued(now) or self._outbox.is_due(now) or self._has_new_leaves()

    def enqueue(self) -> None:
        """Request the mailer, unless that was done a short time ago."""
        if scripts.claim(self._queue, keys.MAILER_REQUESTED, "", REQUEST_MS):
            _enqueue(self._queue)

    def acknowledge(self) -> None:
        """Note that the mailer has started: from now on it may be requested again."""
        self._queue.delete(keys.MAILER_REQUESTED)

    def _has_queued(self, now: int) -> bool:
        return bool(
            self._data.exists(keys.ADDRESSES_TO_VERIFY, keys.ADDRESSES_IN_WORK, keys.MESSAGE_QUEUE)
            or self._chats.due(now, 1)
            or self._mailer_progress.digests_due(now, 1)
        )

    def _has_new_leaves(self) -> bool:
        read = self._mailer_progress.cursor()
        return read is not None and bool(self._store.wait_for_leaves(read))


def begin_mailing(store: Store, data: redis.Redis) -> None:
    """Mail events from now on, unless that was begun before."""
    progress = MailerProgress(data)
    if progress.cursor() is None:
        progress.begin(store.watermark().ends)


def _enqueue(client: redis.Redis) -> None:
    from rq import Queue  # noqa: PLC0415 - slow to import, and not always needed
    from rq.serializers import JSONSerializer  # noqa: PLC0415

    Queue(QUEUE, connection=client, serializer=JSONSerializer).enqueue_call(
        JOB,
        job_id=f"mail-{uuid4().hex}",
        timeout=JOB_SECONDS,
        result_ttl=0,
        failure_ttl=FAILURE_SECONDS,
        description="build and send e-mails",
    )
