"""Erases the lists and notices of deleted accounts, and keeps a rebuild from making them again.

A deleted account is first added to a set that every feeder reads before it folds, once it knows the
checkpoints. Then the checkpoints of the buckets that may have data of the account are changed, so that a
writer that has not seen the account in the set writes nothing. Then the data are deleted.

The matches stay, with the ids of their players, because they are the record of the other players too.
"""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

import redis
from msgspec.structs import replace

from domain.records import AccountId
from infra.projections.archived_places import archived_key
from infra.projections.buckets import (
    HISTORY,
    LISTS,
    NOTICES,
    TOURNAMENTS,
    Bucket,
    Spec,
    decode,
    encode,
)
from infra.projections.finished_matches import account_key
from infra.projections.generations import Generations
from infra.projections.match_lists import (
    active_key,
    asked_key,
    next_key,
    proposed_key,
)
from infra.projections.notices import notices_key
from infra.projections.projection import Fact
from infra.projections.tournaments import tournaments_key
from infra.redis import keys, scripts

_KEYS: Final[Mapping[Spec, Sequence[Callable[[AccountId], str]]]] = MappingProxyType(
    {
        LISTS: (next_key, asked_key, active_key, proposed_key),
        HISTORY: (account_key, lambda account: archived_key(account_key(account))),
        NOTICES: (notices_key,),
        TOURNAMENTS: (tournaments_key,),
    }
)
"""The keys of an account, by projection."""


def erase_projections(client: redis.Redis, account: AccountId) -> None:
    """Erase the lists and notices of an account without a record, in all generations; it may be repeated.

    As long as the record is there it does nothing: a deletion that was cut off leaves the account whole.
    """
    if client.exists(keys.account(account)):
        return
    client.sadd(keys.ERASED_ACCOUNTS, account)
    for spec, names in _KEYS.items():
        for generation in Generations(client, spec).stored():
            bucket = generation.of(account)
            for one in (bucket, *Generations(client, spec).parts_of(bucket)):
                _stop_writers(client, one)
            gone = [name(account) for name in names]
            client.unlink(*map(bucket.key, gone))
            client.srem(bucket.names_key, *gone)


def is_erased(client: redis.Redis, spec: Spec, name: str) -> bool:
    """Return whether a key of a projection is one that is erased with its account, and the account is deleted."""
    prefixes = tuple(key(b"") for key in _KEYS.get(spec, ()))
    if not name.startswith(prefixes):
        return False
    # redis-py types members as text only
    account: Any = bytes.fromhex(name.rpartition(":")[2])
    return bool(client.sismember(keys.ERASED_ACCOUNTS, account))


def _stop_writers(client: redis.Redis, bucket: Bucket) -> None:
    """Change a bucket's checkpoint, so that only writers that read it later can write."""
    while True:
        found: Any = client.get(bucket.checkpoint_key)
        if found is None:
            return
        before = decode(found)
        after = encode(replace(before, erasures=before.erasures + 1))
        if scripts.compare_and_set(client, bucket.checkpoint_key, found, after):
            return


def mark_erased(
    client: redis.Redis, facts: Sequence[Fact], present: set[AccountId]
) -> Sequence[Fact]:
    """Return facts with those of their players whose accounts are deleted.

    Those of `present` are not asked for, and others that are not deleted are added to it. It has to be emptied
    after a checkpoint of the written buckets was read again.
    """
    seats = dict.fromkeys(account for fact in facts for account in fact.players)
    seats |= dict.fromkeys(one.account for fact in facts for one in fact.notices)
    accounts = [account for account in seats if account not in present]
    if not accounts:
        return facts
    # redis-py types no answer precisely
    answers: Any = client.smismember(keys.ERASED_ACCOUNTS, accounts)
    erased = {account for account, is_in in zip(accounts, answers, strict=True) if is_in}
    present.update(account for account in accounts if account not in erased)
    if not erased:
        return facts
    return [replace(fact, erased=erased.intersection(_concerned(fact))) for fact in facts]


def _concerned(fact: Fact) -> tuple[AccountId, ...]:
    """Return the players of a fact's match, or those who get a notice of a tournament's event."""
    return (*fact.players, *(one.account for one in fact.notices))
