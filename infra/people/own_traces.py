"""Notes that the server makes about an account by itself, for its owner to read: see `services.app.own_data`.

These are the small keys under an account that no page shows. Secrets are not read: of a code or a link it is said
that there is one.
"""

from collections.abc import Callable
from typing import Any, Final

import msgspec
import redis

from domain.records import AccountId
from infra.redis import keys, mail_keys
from infra.redis.reads import Read, read_all

_ID_LENGTH: Final = 16
"""Of an account in hex."""


class OwnTraces(msgspec.Struct, frozen=True):
    """The notes about an account. Times are ms since 1970, but for `networks`."""

    networks: dict[str, float]
    """By the hash of each network that the account was logged in from, when that was last; seconds."""
    read_until: dict[str, float]
    """By kind of message, up to when it was read."""
    written_to: tuple[AccountId, ...]
    """The accounts that it has written to within half a year."""
    strangers_today: tuple[AccountId, ...]
    """Those that did not know it, and that it has written to today."""
    deal_texts_seen: dict[str, float]
    """By match, when a browser with the account's text for its deal was last seen."""
    addresses_with_code: tuple[str, ...]
    """The addresses that a code was sent to."""
    codes_withheld: bool
    """Whether no codes are sent, because too many were asked for."""
    reset_link: bool
    """Whether a link for a new password waits."""
    digest_due: float | None
    """When the next digest is mailed."""
    digest_items: int
    """Lines that wait for it."""
    addresses_wait: bool
    """Whether codes for new addresses are about to be mailed."""


def read_traces(client: redis.Redis, account: AccountId) -> OwnTraces:
    """Return the notes about an account."""
    # redis-py types members as text only
    member: Any = account

    def zset(name: str) -> Read[dict[str, float]]:
        return _read(lambda pipe: pipe.zrange(name, 0, -1, withscores=True), _times)

    def here(name: str) -> Read[bool]:
        return _read(lambda pipe: pipe.exists(name), bool)

    reads: list[Read[Any]] = [
        _read(lambda pipe: pipe.zrange(keys.networks(account), 0, -1, withscores=True), _by_hash),
        zset(keys.read_marks(account)),
        _read(lambda pipe: pipe.smembers(keys.recipients(account)), _sorted),
        _read(lambda pipe: pipe.hkeys(keys.strangers(account)), _strangers),
        zset(keys.seen_texts(account)),
        _read(lambda pipe: pipe.hkeys(mail_keys.codes(account)), _texts),
        here(mail_keys.codes_withheld(account)),
        here(keys.password_reset(account)),
        _read(lambda pipe: pipe.zscore(mail_keys.DIGESTS_DUE, member), _same),
        _read(lambda pipe: pipe.zcard(mail_keys.digest_items(account)), _same),
        _read(lambda pipe: pipe.sismember(mail_keys.ADDRESSES_TO_VERIFY, member), bool),
    ]
    return OwnTraces(*read_all(client, *reads))


def _read(queue: Callable[[Any], object], parse: Callable[[Any], Any]) -> Read[Any]:
    return Read(queue, lambda replies: parse(replies[0]))


def _times(found: list[tuple[bytes, float]]) -> dict[str, float]:
    return {member.decode(): at for member, at in found}


def _by_hash(found: list[tuple[bytes, float]]) -> dict[str, float]:
    return {member.hex(): at for member, at in found}


def _sorted(found: set[bytes]) -> tuple[bytes, ...]:
    return tuple(sorted(found))


def _strangers(found: list[bytes]) -> tuple[AccountId, ...]:
    """Return the accounts at the end of fields, each once: see `infra.people.messages.count_strangers`."""
    return tuple(sorted({bytes.fromhex(field.decode()[-_ID_LENGTH:]) for field in found}))


def _texts(found: list[bytes]) -> tuple[str, ...]:
    return tuple(sorted(field.decode() for field in found))


def _same(found: Any) -> Any:
    return found
