"""Webhooks and notices of groups: queues what the logs have, and gives it to the receivers.

Each delivery is sent in a thread of its own, so that a receiver that is slow holds up nobody else, and at most a few at a
time to one host. A delivery is claimed before it is sent: another process takes it only after the claim has ended.
"""

import logging
from collections import Counter
from collections.abc import Callable
from functools import partial
from threading import Lock, Thread
from typing import Final

from msgspec.structs import replace
from redis.exceptions import RedisError

from domain.match.events import Accepted, Ended, MatchPaired, MatchProposed, MatchStarted
from domain.match.state import Reason
from domain.records import AccountId
from domain.tournament import events
from infra.mail.hooks import GIVEN_UP_MS, RETRY_MS, HookAnswer, HookComposer, HookQueue
from infra.people.clubs import Clubs
from infra.people.hooks import Delivery, DeliveryState, Hook, HookOff, Hooks
from infra.process.metrics import count_sent_hook
from infra.projections.projection import NO_MATCH, Fact
from infra.store.port import Store
from workers.mail.notify import OLD_MS
from workers.mail.push import MatchPush
from workers.projections.log_reader import LogChunk

logger = logging.getLogger(__name__)

THREADS: Final = 32
"""How many deliveries are sent at a time."""

TO_HOST: Final = 3
"""How many of them to one host, and of one account, because it may have names for many hosts."""

CLAIM_MS: Final = 60_000
"""Three times as long as a delivery may take."""
BUSY_MS: Final = 5_000
"""How long a delivery waits whose host or account has its share."""

_GONE: Final = 410

_NEWS: Final = (
    events.TournamentStarted
    | events.SectionPaired
    | events.ResultsCounted
    | events.MatchesAdjudicated
    | events.TournamentFinished
    | events.PlacesConfirmed
    | events.TournamentCancelled
)


class MatchHooks(MatchPush):
    """Queues notices for hooks of players, and public news for those of clubs and tournaments."""

    what = "given to hooks"
    life_ms = OLD_MS
    skips_pairings = False

    def __init__(self, store: Store, queue: HookQueue, clubs: Clubs) -> None:
        super().__init__(store, queue, queue.hooks)
        self._hooks = queue
        self._clubs = clubs

    def begin_round(self, chunk: LogChunk) -> None:
        """Find out who of the players in these matches has hooks, and queue the public news."""
        super().begin_round(chunk)
        for fact in chunk.all_facts:
            event = fact.event
            if event.at < self._oldest:
                continue
            if fact.setup is NO_MATCH and isinstance(event.body, _NEWS):
                self._hooks.add_news(f"tournament:{event.match}", event.at, event.match, event.seq)
            elif fact.setup is not NO_MATCH and _is_news(fact):
                for club in self._clubs_of(fact.setup.seats):
                    self._hooks.add_news(f"club:{club}", event.at, event.match, event.seq)

    def _clubs_of(self, seats: tuple[AccountId, ...]) -> list[str]:
        """Return the clubs of which two or more of the players are members, as a club's page lists its matches."""
        found = Counter(club.id for one in dict.fromkeys(seats) for club, _ in self._clubs.of(one))
        return [club for club, members in found.items() if members > 1]


def _is_news(fact: Fact) -> bool:
    body = fact.event.body
    if isinstance(body, Ended):
        return body.reason != Reason.DECLINED
    if isinstance(body, Accepted):
        return body.next is not None
    # a proposed match is its players' alone until they accept, and of a paired one the tournament's own news say it
    return isinstance(body, MatchStarted) and not isinstance(body, MatchProposed | MatchPaired)


class HookDelivery:
    """Sends what is due; `clock` is in ms since 1970, `hosts` are those that the operator allows."""

    def __init__(
        self,
        hooks: Hooks,
        composer: HookComposer,
        clock: Callable[[], int],
        hosts: tuple[str, ...],
    ) -> None:
        self._hooks = hooks
        self._composer = composer
        self._clock = clock
        self._hosts = hosts
        self._lock = Lock()
        self._busy: Counter[str | AccountId] = Counter()
        """How many deliveries are being sent, by host and by account."""
        self._running = 0

    def round(self) -> int:
        """Begin to send some deliveries that are due; return how many were looked at."""
        with self._lock:
            free = THREADS - self._running
        if free <= 0:
            return 0
        now = self._clock()
        claimed = self._hooks.claim(now, now + CLAIM_MS, free)
        for one in claimed:
            hook = self._hooks.get(one.account, one.hook)
            if hook is None or hook.off:
                self._finish(one, state=DeliveryState.OVERTAKEN)
            elif self._has_begun(hook):
                start(partial(self._work, hook, one))
            else:
                self._hooks.put_back(one, now + BUSY_MS)
        return len(claimed)

    def _has_begun(self, hook: Hook) -> bool:
        """Note that a delivery begins; False if its host or its account has its share."""
        shares = _shares(hook)
        with self._lock:
            if any(self._busy[one] >= TO_HOST for one in shares):
                return False
            self._busy.update(shares)
            self._running += 1
            return True

    def _work(self, hook: Hook, one: Delivery) -> None:
        try:
            self._deliver(hook, one)
        except RedisError:
            logger.warning("delivery %s is tried again when its claim ends", one.id)
        except Exception:
            logger.exception("ALARM: delivery %s can't be sent", one.id)
            # later tries may find mended what is wrong, and there are not many
            self._note(hook, one, HookAnswer(0, "hook-no-answer"))
        finally:
            with self._lock:
                self._running -= 1
                self._busy -= Counter(_shares(hook))

    def _deliver(self, hook: Hook, one: Delivery) -> None:
        message = self._composer.compose(hook, one)
        if message is None:
            self._finish(one, state=DeliveryState.OVERTAKEN)
            return
        from infra.mail.hook_client import send  # noqa: PLC0415 - slow to import

        answer = send(message, one.id, self._hosts)
        # crash window: it arrived, and nobody knows; it goes again under the same id
        count_sent_hook(hook.kind, "sent" if answer.is_success else "failed")
        if answer.is_success:
            self._finish(one, answer)
            self._hooks.change(hook, lambda found: replace(found, failing=0))
        else:
            self._note(hook, one, answer)

    def _note(self, hook: Hook, one: Delivery, answer: HookAnswer) -> None:
        """Note a try that failed, and switch off a hook to which nothing arrives any longer."""
        now = self._clock()
        is_last = one.once or one.tries >= len(RETRY_MS) or answer.status == _GONE
        if is_last:
            self._finish(one, answer, DeliveryState.FAILED)
        else:
            due = now + max(RETRY_MS[one.tries], answer.wait * 1000)
            self._finish(one, answer, DeliveryState.WAITING, due)

        def off_after(failing: int) -> HookOff | None:
            if answer.status == _GONE:
                return HookOff.GONE
            given_up = is_last and not one.once and now - failing >= GIVEN_UP_MS
            return HookOff.FAILED if given_up else None

        before: list[Hook] = []

        def changed(found: Hook) -> Hook:
            before[:] = [found]
            failing = found.failing or now
            return replace(found, failing=failing, off=found.off or off_after(failing))

        stored = self._hooks.change(hook, changed)
        if stored and stored.off and not before[0].off:
            self._composer.note_off(stored)

    def _finish(
        self,
        one: Delivery,
        answer: HookAnswer | None = None,
        state: DeliveryState = DeliveryState.SENT,
        due: int = 0,
    ) -> None:
        """Store the end of a try of a delivery; without an answer it was not tried."""
        done = replace(one, state=state, due=due)
        if answer is not None:
            done = replace(
                *(done,), tries=one.tries + 1, tried=self._clock(), status=answer.status, answer=answer.text
            )  # fmt: skip
        self._hooks.store(done)


def _shares(hook: Hook) -> tuple[str, AccountId]:
    return hook.host.partition(":")[0], hook.account


def start(work: Callable[[], None]) -> None:
    """Do work in a thread that does not keep the process from ending."""
    Thread(target=work, name="hook", daemon=True).start()
