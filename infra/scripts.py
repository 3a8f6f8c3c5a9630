"""Lua scripts: read from `lua/`, sent by hash, loaded again where a server has forgotten them."""

from collections.abc import Callable, Sequence
from hashlib import sha1
from importlib.resources import files
from typing import Any, Final

import redis
from redis.exceptions import NoScriptError

from infra.pipe import Pipe, sound

Arg = str | bytes | int


class Script:
    """One script of `lua/`; the head of its file names KEYS, ARGV and what it returns."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.source = files("infra").joinpath("lua", f"{name}.lua").read_text("utf-8")
        self.sha = sha1(self.source.encode(), usedforsecurity=False).hexdigest()

    def words(self, keys: Sequence[str], args: Sequence[Arg]) -> tuple[Arg, ...]:
        """Return the EVALSHA command."""
        return ("EVALSHA", self.sha, len(keys), *keys, *args)


ANCHOR: Final = Script("anchor")
ALLOCATE: Final = Script("allocate")
CLAIM: Final = Script("claim")
COMMIT: Final = Script("commit")
LAY_REPLIES: Final = Script("lay_replies")
LEAVE: Final = Script("leave")
MARK: Final = Script("mark")
PROJECT: Final = Script("project")
RENEW: Final = Script("renew")
SUBMIT: Final = Script("submit")
SWAP: Final = Script("swap")
TAKE: Final = Script("take")
WATERMARK: Final = Script("watermark")

Call = tuple[Script, Sequence[str], Sequence[Arg]]


def claim(client: redis.Redis, key: str, value: str, milliseconds: int) -> bool:
    """Set a mark that lasts for a while; False when there is one.

    One with more time left than it can have counts as expired: a clock ran ahead when it was set.
    """
    return bool(call(client, CLAIM, [key], [value, milliseconds, milliseconds]))


def call(client: redis.Redis, script: Script, keys: Sequence[str], args: Sequence[Arg]) -> Any:
    """Run one script; a server that does not know it is taught and asked again."""
    return call_all(client, [(script, keys, args)])[0]


def call_all(
    client: redis.Redis, calls: Sequence[Call], finish: Callable[[Any], None] | None = None
) -> list[Any]:
    """Run scripts in one pipeline that `finish` may end with commands; give all replies.

    Calls a server answers with NOSCRIPT did nothing, so exactly those are sent again after
    loading, with the same end. Any other error reply is raised: `ResponseError`.
    """
    replies = _send(client, calls, finish)
    unknown = [i for i, r in enumerate(replies[: len(calls)]) if isinstance(r, NoScriptError)]
    if unknown:
        for script in {calls[i][0] for i in unknown}:
            client.script_load(script.source)
        again = _send(client, [calls[i] for i in unknown], finish)
        for i, reply in zip(unknown, again, strict=False):
            replies[i] = reply
        replies[len(calls) :] = again[len(unknown) :]
    return sound(replies)


async def call_all_async(pipe: Pipe, calls: Sequence[Call]) -> list[Any]:
    """Run scripts as `call_all` does, from an event loop."""
    replies = await _send_async(pipe, calls)
    unknown = [i for i, reply in enumerate(replies) if isinstance(reply, NoScriptError)]
    if unknown:
        for script in {calls[i][0] for i in unknown}:
            await pipe.send([("SCRIPT", "LOAD", script.source)])
        again = await _send_async(pipe, [calls[i] for i in unknown])
        for i, reply in zip(unknown, again, strict=True):
            replies[i] = reply
    return sound(replies)


async def _send_async(pipe: Pipe, calls: Sequence[Call]) -> list[Any]:
    return await pipe.send(script.words(names, args) for script, names, args in calls)


def _send(
    client: redis.Redis, calls: Sequence[Call], finish: Callable[[Any], None] | None
) -> list[Any]:
    # redis-py types no part of its pipelines
    pipe: Any = client.pipeline(transaction=False)
    with pipe:
        for script, keys, args in calls:
            pipe.execute_command(*script.words(keys, args))
        if finish is not None:
            finish(pipe)
        return list(pipe.execute(raise_on_error=False))
