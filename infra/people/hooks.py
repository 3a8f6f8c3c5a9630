"""Hooks: addresses outside to which an account has its notices sent, or the public news of its club or tournament.

| key | what |
|---|---|
| `{a:<hex>}:hooks` | hash: id of a hook -> packed hook |
| `{mail}:hooks:of:<place>` | hash: id of a hook of a club or a tournament -> account that made it |
| `{mail}:hooks:log:<hook>` | hash: id of a delivery -> packed delivery |
| `{mail}:hooks:due` | sorted set: `<account>:<hook>:<delivery>` by the ms at which it is tried next |

A hook belongs to the account that made it and leaves with it; also one of a club or a tournament, which works while the
account owns or directs it. A delivery has the notice and no text: what is sent is written when it is sent. The address and
the secrets are sealed by `services.app.hooks`.
"""

from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from hashlib import sha256
from typing import Any, Final, Self

import msgspec
import redis
from msgspec.structs import replace

from domain.errors import Code, Refusal
from domain.records import AccountId
from infra.people.account_index import index_under_account
from infra.projections.notices import OF_TOURNAMENTS, NoticeKind
from infra.redis import keys, scripts
from infra.redis import mail_keys as names
from infra.sentences import SAY

MOST_HOOKS: Final = 5
"""Hooks of an account's own, and as many of each club and tournament."""

MOST_OF_ACCOUNT: Final = 20
"""All hooks that an account has made."""

MOST_KEPT: Final = 50
"""Deliveries of a hook that are done and can be looked at, the newest."""

MOST_WAITING: Final = 200
"""Deliveries of a hook that wait; further ones are not noted."""

_CLAIM: Final = scripts.Script("claim_due")
_REPLACE: Final = scripts.Script("replace_field")


class HookKind(StrEnum):
    """The kinds of hooks: signed JSON for a program, or a sentence for people."""

    WEBHOOK = "webhook"
    APPRISE = "apprise"


class HookTopic(StrEnum):
    """The notices that an account may choose."""

    TURN = "turn"
    CHALLENGE = "challenge"
    OFFER = "offer"
    CHAT = "chat"
    OVER = "over"
    TOURNAMENT = "tournament"


TOPIC_OF: Final = {
    NoticeKind.YOUR_TURN: HookTopic.TURN,
    NoticeKind.REMINDER: HookTopic.TURN,
    NoticeKind.REVEAL: HookTopic.TURN,
    NoticeKind.REPLIED: HookTopic.TURN,
    NoticeKind.RESUMED: HookTopic.TURN,
    NoticeKind.TAKEN_OVER: HookTopic.TURN,
    NoticeKind.CHALLENGED: HookTopic.CHALLENGE,
    NoticeKind.STARTED: HookTopic.CHALLENGE,
    NoticeKind.DECLINED: HookTopic.CHALLENGE,
    NoticeKind.OFFER: HookTopic.OFFER,
    NoticeKind.ANSWERED: HookTopic.OFFER,
    NoticeKind.CHAT: HookTopic.CHAT,
    NoticeKind.MESSAGE: HookTopic.CHAT,
    NoticeKind.OVER: HookTopic.OVER,
    NoticeKind.RESIGNED: HookTopic.OVER,
    NoticeKind.FLAGGED: HookTopic.OVER,
    NoticeKind.CLAIMED: HookTopic.OVER,
    NoticeKind.RULED: HookTopic.OVER,
    NoticeKind.APPEALED: HookTopic.OVER,
} | dict.fromkeys(OF_TOURNAMENTS, HookTopic.TOURNAMENT)
"""The topic of each notice; only what says that a hook was switched off has none."""


class HookOff(StrEnum):
    """Why nothing is sent to a hook."""

    GONE = "gone"
    """The receiver answered that it does not exist any longer."""
    FAILED = "failed"
    """Nothing arrived for three days."""
    ACCESS = "access"
    """All access to the account was ended."""


class Hook(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A hook. Stored as a map: a new field needs a default, and a default never changes."""

    id: str
    account: AccountId
    kind: HookKind
    label: str
    host: str
    """Where it leads, without what is secret of it."""
    sealed: bytes
    """Packed `HookSecrets`, sealed."""
    since: int
    """Milliseconds."""
    topics: tuple[HookTopic, ...] = ()
    place: str = ""
    """`club:<id>` or `tournament:<number>`; empty for the account's own notices."""
    off: HookOff | None = None
    failing: int = 0
    """Since when nothing has arrived, ms; 0 while it works."""


class HookSecrets(msgspec.Struct, frozen=True):
    """The sealed part of a hook."""

    address: str
    secret: str = ""
    """Of a webhook: `whsec_` and base64."""
    old: str = ""
    """The secret before."""
    old_until: int = 0
    """Until when it signs, too, ms."""


class DeliveryState(StrEnum):
    """The states of a delivery."""

    WAITING = "waiting"
    SENT = "sent"
    FAILED = "failed"
    OVERTAKEN = "overtaken"
    """It was not sent, because it did not hold any longer, or might not be sent."""


class Delivery(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A notice for a hook. Stored as a map."""

    id: str
    """The same at each try: receivers know a repetition by it."""
    hook: str
    account: AccountId
    at: int
    """Of the event, ms."""
    board: int = 0
    """The match or tournament; 0 for messages."""
    seq: int = 0
    kind: NoticeKind | None = None
    """None for public news of a club or a tournament, and for a test."""
    detail: str = ""
    test: bool = False
    state: DeliveryState = DeliveryState.WAITING
    tries: int = 0
    once: bool = False
    """Whether it is tried a single time, because somebody asked for it."""
    due: int = 0
    """When it is tried next, ms; 0 once it is done."""
    tried: int = 0
    """When it was tried last, ms."""
    status: int = 0
    """Of the last answer; 0 if there was none."""
    answer: str = ""
    """Its first letters, or the key of the sentence why there was none."""

    @classmethod
    def of(cls, hook: Hook, at: int, board: int = 0, seq: int = 0, **more: Any) -> Self:
        """Return a delivery, whose id follows from its hook, its event and its notice."""
        about = [hook.id, str(at), str(board), str(seq), *map(str, more.values())]
        id_ = "msg_" + sha256("/".join(about).encode()).hexdigest()[:32]
        return cls(
            id=id_, hook=hook.id, account=hook.account, at=at, board=board, seq=seq, due=at, **more
        )

    @property
    def member(self) -> str:
        """Its member of the sorted set."""
        return f"{self.account.hex()}:{self.hook}:{self.id}"


_ENCODER: Final = msgspec.msgpack.Encoder()
_HOOK: Final = msgspec.msgpack.Decoder(Hook)
_DELIVERY: Final = msgspec.msgpack.Decoder(Delivery)


class Hooks:
    """The hooks of a server. Errors of the server pass through; thread-safe."""

    def __init__(self, client: redis.Redis) -> None:
        # redis-py types no answer precisely
        self._client: Any = client

    def add(self, hook: Hook) -> None:
        """Add a hook; `too-many`, and `unknown-user` for a deleted account."""
        if hook.place:
            if self._client.hlen(names.hooks_of(hook.place)) >= MOST_HOOKS:
                raise _too_many()
            # crash window: the place has a hook that its account does not know
            self._client.hset(names.hooks_of(hook.place), hook.id, hook.account)
        elif sum(not one.place for one in self.of(hook.account)) >= MOST_HOOKS:
            raise _too_many()
        name, value, is_there = _key(hook.account), _ENCODER.encode(hook), False
        try:
            is_there = index_under_account(
                self._client, hook.account, name, hook.id, value, MOST_OF_ACCOUNT
            )
        finally:
            if not is_there and hook.place:
                self._client.hdel(names.hooks_of(hook.place), hook.id)
        if not is_there:
            raise _too_many()

    def change(self, hook: Hook, change: Callable[[Hook], Hook]) -> Hook | None:
        """Change a hook, as it is stored now, and return it; None if it was removed."""
        name = _key(hook.account)
        while (data := self._client.hget(name, hook.id)) is not None:
            old = _HOOK.decode(data)
            if (new := change(old)) == old:
                return old
            if scripts.call(self._client, _REPLACE, [name], [hook.id, data, _ENCODER.encode(new)]):
                return new
        return None

    def of(self, account: AccountId) -> list[Hook]:
        """Return the hooks that an account has made, the newest first."""
        found = map(_HOOK.decode, self._client.hvals(_key(account)))
        return sorted(found, key=lambda one: (-one.since, one.id))

    def of_place(self, place: str) -> list[Hook]:
        """Return the hooks of a club or a tournament, the newest first."""
        found: dict[bytes, bytes] = self._client.hgetall(names.hooks_of(place))
        hooks = [self.get(account, id_.decode()) for id_, account in found.items()]
        return sorted((one for one in hooks if one), key=lambda one: (-one.since, one.id))

    def get(self, account: AccountId, id_: str) -> Hook | None:
        """Return a hook; None if the account has none of this id."""
        found = self._client.hget(_key(account), id_)
        return None if found is None else _HOOK.decode(found)

    def those_with(self, accounts: Iterable[AccountId]) -> set[AccountId]:
        """Return those of the accounts that have made a hook, by one round trip."""
        asked: Sequence[AccountId] = list(accounts)
        with self._client.pipeline(transaction=False) as pipe:
            for account in asked:
                pipe.exists(_key(account))
            return {one for one, there in zip(asked, pipe.execute(), strict=True) if there}

    def remove(self, hook: Hook) -> None:
        """Remove a hook and its deliveries; safe to repeat."""
        self._client.hdel(_key(hook.account), hook.id)
        if hook.place:
            self._client.hdel(names.hooks_of(hook.place), hook.id)
        log = names.hook_log(hook.id)
        gone = [one.member for one in self.deliveries(hook)]
        with self._client.pipeline(transaction=True) as pipe:
            pipe.delete(log)
            if gone:
                pipe.zrem(names.HOOKS_DUE, *gone)
            pipe.execute()

    def switch_off(self, account: AccountId, why: HookOff) -> None:
        """Switch off all hooks of an account that are on; each can be switched on again."""
        for hook in self.of(account):
            self.change(hook, lambda one: one if one.off else replace(one, off=why))

    def forget(self, account: AccountId) -> None:
        """Erase the hooks of an account and their deliveries; safe to repeat."""
        for hook in self.of(account):
            self.remove(hook)
        self._client.delete(_key(account))

    # deliveries

    def queue(self, hook: Hook, one: Delivery) -> None:
        """Add a delivery that is due, unless it is there or too many wait; safe to repeat."""
        log = names.hook_log(hook.id)
        if self._client.hlen(log) >= MOST_WAITING + MOST_KEPT:
            return
        with self._client.pipeline(transaction=True) as pipe:
            pipe.hsetnx(log, one.id, _ENCODER.encode(one))
            pipe.execute()
        stored = self.delivery(hook.id, one.id)
        if stored and stored.due:
            # crash window: it is noted and not due; the same leaves are read again
            self._client.zadd(names.HOOKS_DUE, {stored.member: stored.due}, nx=True)

    def deliveries(self, hook: Hook) -> list[Delivery]:
        """Return all stored deliveries of a hook, the newest first."""
        found = map(_DELIVERY.decode, self._client.hvals(names.hook_log(hook.id)))
        return sorted(found, key=lambda one: (-max(one.tried, one.at), one.id))

    def delivery(self, hook: str, id_: str) -> Delivery | None:
        """Return a delivery; None if there is none of this id."""
        found = self._client.hget(names.hook_log(hook), id_)
        return None if found is None else _DELIVERY.decode(found)

    def is_due(self, now: int) -> bool:
        """Return whether a delivery is due."""
        return bool(self._client.zcount(names.HOOKS_DUE, "-inf", now))

    def claim(self, now: int, until: int, count: int) -> list[Delivery]:
        """Take deliveries that are due; until then nobody else gets them, whatever becomes of this process."""
        found = scripts.call(self._client, _CLAIM, [names.HOOKS_DUE], [now, until, count])
        claimed = []
        for member in found:
            _, hook, id_ = member.decode().split(":")
            one = self.delivery(hook, id_)
            if one is None or not one.due:  # removed, or done before a crash
                self._client.zrem(names.HOOKS_DUE, member)
            else:
                claimed.append(one)
        return claimed

    def put_back(self, one: Delivery, due: int) -> None:
        """Let a delivery that was not tried wait."""
        self._client.zadd(names.HOOKS_DUE, {one.member: due}, xx=True)

    def store(self, one: Delivery) -> None:
        """Store a delivery after a try, which waits for its next one or is done; keep the newest that are done."""
        log = names.hook_log(one.hook)
        if not self._client.hexists(log, one.id):
            self._client.zrem(names.HOOKS_DUE, one.member)
            return  # the hook was removed meanwhile
        with self._client.pipeline(transaction=True) as pipe:
            pipe.hset(log, one.id, _ENCODER.encode(one))
            if one.due:
                pipe.zadd(names.HOOKS_DUE, {one.member: one.due})
            else:
                pipe.zrem(names.HOOKS_DUE, one.member)
            pipe.execute()
        done = [
            other
            for other in map(_DELIVERY.decode, self._client.hvals(log))
            if not other.due and other.state is not DeliveryState.WAITING
        ]
        late = sorted(done, key=lambda other: (-other.tried, other.id))[MOST_KEPT:]
        if late:
            self._client.hdel(log, *(other.id for other in late))


def _too_many() -> Refusal:
    return Refusal(Code.TOO_MANY, SAY("hooks", most=MOST_HOOKS))


def _key(account: AccountId) -> str:
    return f"{keys.account(account)}:hooks"
