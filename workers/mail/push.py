"""Web push: queues notifications of what happened in matches and tournaments, and gives them to push services.

A notification may be sent twice after a kill, and the later one replaces the earlier; none is lost within its life.
"""

import logging
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from msgspec.structs import replace

from domain.match.events import MatchPaired
from domain.match.history import decode_event
from domain.records import AccountId, CommandId
from infra.mail.hooks import HookQueue
from infra.mail.push import (
    LIFE_MS,
    PushComposer,
    PushMessage,
    PushQueue,
    QueuedPush,
)
from infra.mail.push_client import PushClient, PushStatus
from infra.people.hooks import Hooks
from infra.people.push_subscriptions import PushSubscription, PushSubscriptions
from infra.process.metrics import count_sent_push
from infra.projections.notice_fold import detail_of, notices_of_command
from infra.projections.projection import Fact
from infra.projections.tournament_notices import notices_by_account
from infra.settings.push_services import origin_of
from infra.store.port import Store
from workers.mail.log_round import LogRound
from workers.mail.notify import isolate_errors
from workers.projections.log_reader import LogChunk

logger = logging.getLogger(__name__)

_MINUTE: Final = 60_000

RETRY_MS: Final = (1 * _MINUTE, 5 * _MINUTE, 15 * _MINUTE, 60 * _MINUTE)
"""Until a notification is tried again; the last one repeats while the notice is worth it."""

REST_SECONDS: Final = 60.0
"""How long nothing is sent to a push service that can't be reached."""

BATCH: Final = 16
"""About how many messages are sent in a round."""

_THREADS: Final = 8


class MatchPush(LogRound):
    """Queues notifications for players who allowed them."""

    what = "pushed"
    life_ms = LIFE_MS
    """How long a notice is worth being queued."""
    skips_pairings = True
    """Whether the tournament's own notification says how many matches begin."""

    def __init__(
        self,
        store: Store,
        queue: PushQueue | HookQueue,
        subscriptions: PushSubscriptions | Hooks,
    ) -> None:
        super().__init__(store, queue)
        self._queue = queue
        self._subscriptions = subscriptions
        self._subscribed: set[AccountId] = set()
        self._oldest = 0

    def begin_round(self, chunk: LogChunk) -> None:
        """Find out who of the players in these matches allowed notifications."""
        players = dict.fromkeys(seat for fact in chunk.facts for seat in fact.setup.seats)
        players |= dict.fromkeys(one.account for fact in chunk.all_facts for one in fact.notices)
        self._subscribed = self._subscriptions.those_with(players) if players else set()
        self._oldest = self._store.now() - self.life_ms

    def notify(self, board: int, command: CommandId, fact: Fact) -> None:
        """Queue the notices of a command."""
        if fact.event.at < self._oldest or self._subscribed.isdisjoint(fact.setup.seats):
            return
        if self.skips_pairings and isinstance(fact.event.body, MatchPaired):
            return
        with isolate_errors(f"match {board}"):
            events = [decode_event(data) for data in self._store.events(board)]
            own = [event for event in events if event.command == command]
            found: dict[AccountId, list[tuple[str, str]]] = {}
            for account, kind, event in notices_of_command(fact.setup, events, own):
                if account in self._subscribed:
                    detail = detail_of(event.body)
                    found.setdefault(account, []).append((kind, detail.text if detail else ""))
            self._queue.add(
                QueuedPush(account, own[0].at, board, own[0].seq, tuple(notices))  # type: ignore[arg-type]
                for account, notices in found.items()
            )

    def notify_of_tournament(self, number: int, command: CommandId, fact: Fact) -> None:
        """Queue the notices of a command in a tournament."""
        if fact.event.at < self._oldest or not self._subscribed:
            return
        with isolate_errors(f"tournament {number}"):
            events = [decode_event(data) for data in self._store.events(number)]
            first = next(event for event in events if event.command == command)
            found = notices_by_account(events, command)
            self._queue.add(
                QueuedPush(
                    account,
                    first.at,
                    number,
                    first.seq,
                    tuple((one.kind, one.detail.text if one.detail else "") for one in notices),
                )
                for account, notices in found.items()
                if account in self._subscribed
            )


class PushDelivery:
    """Sends what is due; `clock` is in ms since 1970."""

    def __init__(
        self,
        queue: PushQueue,
        subscriptions: PushSubscriptions,
        composer: PushComposer,
        client: PushClient,
        clock: Callable[[], int],
    ) -> None:
        self._queue = queue
        self._subscriptions = subscriptions
        self._composer = composer
        self._client = client
        self._clock = clock
        self._resting: dict[str, float] = {}
        """Services that could not be reached, each with the time until which nothing is sent there."""

    def round(self) -> int:
        """Send some entries that are due; return their number."""
        now = self._clock()
        done = sent = 0
        for entry in self._queue.due(now, BATCH):
            done += 1
            delivered = False
            # one that fails must not keep the others from being sent
            with isolate_errors(f"a notification of match {entry.board}"):
                sent += self._deliver(entry, now)
                delivered = True
            if not delivered:
                self._queue.done(entry)
            if sent >= BATCH:
                break
        return done

    def _deliver(self, entry: QueuedPush, now: int) -> int:
        """Send an entry to each of the account's browsers; return to how many."""
        message: PushMessage | None = None
        # after a logout a browser shows nothing
        to = self._subscriptions.lasting(entry.account) if now - entry.at < LIFE_MS else []
        chosen = [one for one in to if not entry.only or one.id in entry.only]
        if chosen:
            message = self._composer.compose(entry.account, entry.player_notices)
        if message is None:
            self._queue.done(entry)
            return 0
        with ThreadPoolExecutor(_THREADS) as threads:
            statuses = list(threads.map(lambda one: self._send(one, message), chosen))
        later: list[str] = []
        for one, status in zip(chosen, statuses, strict=True):
            count_sent_push(status)
            if status is PushStatus.GONE:
                self._subscriptions.remove(entry.account, one.id)
            elif status in (PushStatus.LATER, PushStatus.AWAY):
                later.append(one.id)
            elif status is PushStatus.REFUSED:
                logger.warning("the push service %s refuses messages", origin_of(one.endpoint))
        # crash window: they are sent, and nobody knows; they go again, and replace these
        if later:
            again = replace(entry, tries=entry.tries + 1, only=tuple(later))
            due = now + RETRY_MS[min(entry.tries, len(RETRY_MS) - 1)]
            self._queue.done(entry, again, due)
        else:
            self._queue.done(entry)
        return len(chosen)

    def _send(self, to: PushSubscription, message: PushMessage) -> PushStatus:
        service = origin_of(to.endpoint)
        if time.monotonic() < self._resting.get(service, 0.0):
            return PushStatus.AWAY
        status = self._client.send(to, message)
        if status is PushStatus.AWAY:
            self._resting[service] = time.monotonic() + REST_SECONDS
        return status
