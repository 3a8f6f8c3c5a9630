"""Lua scripts: read from `lua/`, sent by hash, and loaded again if a server does not know them."""

from collections.abc import Callable, Mapping, Sequence
from hashlib import sha1
from importlib.resources import files
from typing import Any, Final

import redis
from redis.exceptions import NoScriptError

from infra.redis.autopipeline import CommandPipeline, raise_errors
from infra.redis.cluster import ClusterPipeline, least_confirmed
from infra.redis.exchange import Replies, begin_exchange

Arg = str | bytes | int


def _read(name: str) -> str:
    return files(__package__).joinpath("lua", f"{name}.lua").read_text("utf-8")


_PREAMBLE: Final = _read("preamble")


class Script:
    """One script of `lua/`, behind the functions of `preamble.lua`.

    The head of its file names KEYS, ARGV and what it returns.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.source = _PREAMBLE + _read(name)
        self.sha = sha1(self.source.encode(), usedforsecurity=False).hexdigest()

    def words(
        self, keys: Sequence[str], args: Sequence[Arg], *, load: bool = False
    ) -> tuple[Arg, ...]:
        """Return the EVALSHA command; with `load` an EVAL, by which the server learns the script."""
        name = ("EVAL", self.source) if load else ("EVALSHA", self.sha)
        return (*name, len(keys), *keys, *args)


ALLOCATE_BOARD: Final = Script("allocate_board")
ANCHOR_SEED_CHAIN: Final = Script("anchor_seed_chain")
APPLY_PROJECTION: Final = Script("apply_projection")
ARCHIVE_PLACES: Final = Script("archive_places")
CLAIM: Final = Script("claim")
COMMIT: Final = Script("commit")
COMPARE_AND_SET: Final = Script("compare_and_set")
LEASE_ACQUIRE: Final = Script("lease_acquire")
LEASE_RELEASE: Final = Script("lease_release")
LEASE_RENEW: Final = Script("lease_renew")
LEASE_REQUEST: Final = Script("lease_request")
PROMOTE_GENERATION: Final = Script("promote_generation")
RECORD_PUBLISHED: Final = Script("record_published")
RETIRE: Final = Script("retire")
REPAIR_DUE: Final = Script("repair_due")
RESTORE_BOARD: Final = Script("restore_board")
SET_CONDITIONAL_MOVES: Final = Script("set_conditional_moves")
SET_FIELDS: Final = Script("set_fields")
SUBMIT: Final = Script("submit")
TOKEN_EXTEND: Final = Script("token_extend")
WATERMARK: Final = Script("watermark")
WRITE_ACCOUNT: Final = Script("write_account")

Call = tuple[Script, Sequence[str], Sequence[Arg]]


def claim(client: redis.Redis, key: str, value: str, milliseconds: int) -> bool:
    """Set a mark that lasts for a while; False when there is one.

    One with more time left than it can have counts as expired: a clock ran ahead when it was set.
    """
    return bool(call(client, CLAIM, [key], [value, milliseconds, milliseconds]))


def compare_and_set(
    client: redis.Redis, key: str, old: bytes, new: bytes = b"", milliseconds: int = 0
) -> bool:
    """Replace a value that is still `old`; False when it has changed, and nothing is written.

    An empty `old` means that there is none, an empty `new` deletes it. Without `milliseconds` the
    new value does not expire.
    """
    return bool(call(client, COMPARE_AND_SET, [key], [old, new, milliseconds]))


def set_fields(client: redis.Redis, key: str, fields: Mapping[str, str]) -> None:
    """Set fields of a hash, even if the server's memory is full."""
    call(client, SET_FIELDS, [key], [word for field in fields.items() for word in field])


def call(client: redis.Redis, script: Script, keys: Sequence[str], args: Sequence[Arg]) -> Any:
    """Run one script; it is sent whole if the server does not know it."""
    return call_all(client, [(script, keys, args)])[0]


def call_all(
    client: redis.Redis, calls: Sequence[Call], finish: Callable[[Any], None] | None = None
) -> list[Any]:
    """Run scripts in one pipeline and return all replies; `finish` may add commands at the end.

    A call that is answered with NOSCRIPT did nothing, so exactly those are sent again, with the
    whole script and the same end: in a cluster some nodes may know a script that others do not. Of a
    barrier at the end the smaller numbers are returned. Any other error reply is raised: `ResponseError`.
    """
    return _known(client, calls, finish, _send(client, calls, finish))


def begin_all(
    client: redis.Redis, calls: Sequence[Call], finish: Callable[[Any], None] | None = None
) -> Replies:
    """Send scripts as `call_all` does; what is returned reads the replies."""
    pipe = _pipeline(client, calls, finish)
    replies = pipe.begin() if isinstance(pipe, ClusterPipeline) else begin_exchange(pipe)
    return lambda: _known(client, calls, finish, replies())


def _known(
    client: redis.Redis,
    calls: Sequence[Call],
    finish: Callable[[Any], None] | None,
    replies: list[Any],
) -> list[Any]:
    """Return the replies, after what a server did not know was sent again."""
    unknown = [i for i, r in enumerate(replies[: len(calls)]) if isinstance(r, NoScriptError)]
    if unknown:
        again = _send(client, [calls[i] for i in unknown], finish, load=True)
        for i, reply in zip(unknown, again, strict=False):
            replies[i] = reply
        # a barrier of the first time may be of a node that had nothing to do the second time
        both = zip(replies[len(calls) :], again[len(unknown) :], strict=True)
        replies[len(calls) :] = [least_confirmed(ends) for ends in both]
    return raise_errors(replies)


async def call_all_async(pipe: CommandPipeline, calls: Sequence[Call]) -> list[Any]:
    """Run scripts as `call_all` does, from an event loop."""
    replies = await pipe.send(map(_words, calls))
    unknown = [i for i, reply in enumerate(replies) if isinstance(reply, NoScriptError)]
    if unknown:
        again = await pipe.send(_words(calls[i], load=True) for i in unknown)
        for i, reply in zip(unknown, again, strict=True):
            replies[i] = reply
    return raise_errors(replies)


def _words(call: Call, *, load: bool = False) -> tuple[Arg, ...]:
    script, names, args = call
    return script.words(names, args, load=load)


def _send(
    client: redis.Redis,
    calls: Sequence[Call],
    finish: Callable[[Any], None] | None,
    *,
    load: bool = False,
) -> list[Any]:
    with _pipeline(client, calls, finish, load=load) as pipe:
        return list(pipe.execute(raise_on_error=False))


def _pipeline(
    client: redis.Redis,
    calls: Sequence[Call],
    finish: Callable[[Any], None] | None,
    *,
    load: bool = False,
) -> Any:
    # redis-py types no part of its pipelines
    pipe: Any = client.pipeline(transaction=False)
    for call in calls:
        pipe.execute_command(*_words(call, load=load))
    if finish is not None:
        finish(pipe)
    return pipe
