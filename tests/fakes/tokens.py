"""Checks tokens as an event loop does, from a test that has none."""

from collections.abc import Sequence
from typing import Any

from domain.errors import Code, Refusal
from infra.people.tokens import Token, Tokens
from infra.people.tokens.tokens import verification
from infra.redis.server import ServerTime


def check(tokens: Tokens, texts: Sequence[str]) -> list[Token | None]:
    """The tokens of these texts; None for a text that is none, or none any more."""
    time = ServerTime(tokens._clock)
    return [_check(tokens, text, time) for text in texts]


def _check(tokens: Tokens, text: str, time: ServerTime) -> Token | None:
    talk = verification(text, time)
    try:
        words = next(talk)
        while True:
            pipe: Any = tokens._client.pipeline(transaction=False)
            for command in words:
                pipe.execute_command(*command)
            words = talk.send(pipe.execute(raise_on_error=False))
    except StopIteration as end:
        found: Token | None = end.value
        return found


def check_one(tokens: Tokens, text: str) -> Token:
    (token,) = check(tokens, [text])
    if token is None:
        raise Refusal(Code.UNKNOWN_TOKEN, "the token does not exist, was ended or has expired")
    return token
