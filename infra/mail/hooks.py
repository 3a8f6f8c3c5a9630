"""Notices for hooks: how far the logs were read for them, which hooks want one, and what is sent.

One delivery for each hook and notice, whose id follows from them: what is read twice is queued once.
"""

from collections.abc import Iterable
from typing import Final, Protocol

import msgspec
import redis

from infra.mail.progress import LogCursor
from infra.mail.push import QueuedPush
from infra.people.hooks import TOPIC_OF, Delivery, Hook, Hooks
from infra.redis import mail_keys as keys

_MINUTE: Final = 60_000
_HOUR: Final = 60 * _MINUTE

RETRY_MS: Final = (
    5_000, 5 * _MINUTE, 30 * _MINUTE, 2 * _HOUR, 5 * _HOUR, 10 * _HOUR, 14 * _HOUR, 20 * _HOUR, 20 * _HOUR,
)  # fmt: skip
"""Until a delivery is tried again, as the Standard Webhooks specification proposes; the last try is within three days."""

GIVEN_UP_MS: Final = sum(RETRY_MS)
"""How long nothing must have arrived for a hook to be switched off."""


class HookMessage(msgspec.Struct, frozen=True):
    """A message to a receiver."""

    address: str
    secrets: tuple[str, ...]
    """That sign a webhook; empty for people."""
    body: str
    """The JSON of a webhook, or the sentences."""
    title: str = ""


class HookAnswer(msgspec.Struct, frozen=True):
    """The answer to a request, or why there is none."""

    status: int
    """0 if there was no answer."""
    text: str
    """The first letters of the answer, or why there was none."""
    wait: int = 0
    """The seconds until which the receiver wants no other request."""

    @property
    def is_success(self) -> bool:
        """Whether the receiver has taken it."""
        return 200 <= self.status < 300  # noqa: PLR2004 - the range of HTTP


class HookComposer(Protocol):
    """Writes what is sent; `services.push.hook_texts` implements it."""

    def compose(self, hook: Hook, one: Delivery) -> HookMessage | None:
        """Write a delivery; None when it does not hold any longer, or the hook may not have it."""
        ...

    def note_off(self, hook: Hook) -> None:
        """Notify the account that made a hook that it was switched off."""
        ...


class HookQueue(LogCursor):
    """The way of notices to the hooks of their accounts. Errors of the server pass through; thread-safe."""

    def __init__(self, client: redis.Redis) -> None:
        super().__init__(client, keys.HOOK_CURSOR)
        self._redis = client
        self.hooks = Hooks(client)
        """The hooks of the server."""

    def end(self) -> None:
        """Forget how far the logs were read: this server sends nothing to hooks any more."""
        self._redis.delete(keys.HOOK_CURSOR)

    def is_on(self) -> bool:
        """Return whether anything is sent to hooks at all."""
        return bool(self._redis.exists(keys.HOOK_CURSOR))

    def add(self, entries: Iterable[QueuedPush]) -> None:
        """Queue the notices for those hooks of their accounts that want them; safe to repeat."""
        for entry in entries:
            hooks = [one for one in self.hooks.of(entry.account) if not one.place and not one.off]
            for hook in hooks:
                for kind, detail in entry.notices:
                    if TOPIC_OF.get(kind) in hook.topics:
                        one = Delivery.of(
                            hook, entry.at, entry.board, entry.seq, kind=kind, detail=detail
                        )
                        self.hooks.queue(hook, one)

    def add_news(self, place: str, at: int, board: int, seq: int) -> None:
        """Queue public news of a club or a tournament for its hooks; safe to repeat."""
        for hook in self.hooks.of_place(place):
            if not hook.off:
                self.hooks.queue(hook, Delivery.of(hook, at, board, seq))
