"""Refused commands, kept so that an audit can decide them again; docs/design/043-refused-commands.md.

| key | what |
|---|---|
| `{s07.a1y}:refused:<hex>` | hash: id of a refused command of an account -> the command as it was sent, without its envelope |

`commit.lua` keeps a command with its outcome, up to 1,000 of an account in a shard. It is kept until its match is
retired, or its account is deleted. It may quote what a person has typed, so it is in no log, document or archive.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import redis

from domain.match.commands import without_envelope
from domain.records import AccountId, CommandId
from infra.redis import keys

KEPT_LIMIT: Final = 1_024
"""The most bytes of a command that is kept: a longer one is a text that no move has."""

_REST_SECONDS: Final = 24 * 3600
"""How long what is kept after the account's deletion may stay: of commands that waited meanwhile."""


class RefusedId(NamedTuple):
    """A refused command of an account."""

    actor: AccountId
    command: CommandId


NO_REFUSED: Final[Mapping[int, Sequence[RefusedId]]] = {}


def command_to_keep(payload: bytes) -> bytes:
    """Return what is kept of a refused command, by its inbox entry; empty if it is too long."""
    command = without_envelope(payload)
    return command if len(command) <= KEPT_LIMIT else b""


def read_kept(client: redis.Redis, shard: int, refused: Sequence[RefusedId]) -> list[bytes | None]:
    """Return refused commands in one round trip, None for those that are not kept."""
    with client.pipeline(transaction=False) as pipe:
        for one in refused:
            pipe.hget(keys.refused(shard, one.actor), one.command)
        return list(pipe.execute())


def forget_refused(client: redis.Redis, shards: int, account: AccountId) -> None:
    """Erase the refused commands of an account. What is refused later expires with the mark that is left."""
    # redis-py types no part of its pipelines
    pipe: Any
    with client.pipeline(transaction=False) as pipe:
        for shard in range(shards):
            name = keys.refused(shard, account)
            pipe.unlink(name)
            pipe.hset(name, "", "")
            pipe.expire(name, _REST_SECONDS)
        pipe.execute()


def read_refused(client: redis.Redis, shard: int, account: AccountId) -> dict[CommandId, bytes]:
    """Return the refused commands of an account in a shard, by id, without their envelopes."""
    found: Any = client.hgetall(keys.refused(shard, account))
    return {command: data for command, data in found.items() if command}
