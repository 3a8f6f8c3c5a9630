"""Requests that are one command in a match: what they have in common, from the token to the answer."""

from typing import Annotated, Final, TypeAlias

import msgspec
from litestar.di import NamedDependency
from litestar.params import HeaderParameter, QueryParameter

from services.app.actor import Actor
from services.app.context import App
from services.app.play import WAIT_SECONDS, Course, Result
from services.http.api.auth import Own
from services.http.context import ApiContext

MOST_WAIT: Final = 60.0

Wait = Annotated[
    float,
    QueryParameter(
        ge=0,
        le=MOST_WAIT,
        description="seconds to wait for the outcome; after that the answer is 202",
    ),
]
Key = Annotated[
    str | None,
    HeaderParameter(
        name="Idempotency-Key",
        min_length=1,
        max_length=200,
        description="a request repeated with its key is carried out once, and gets the same answer "
        "each time; a request without a key gets a random one",
    ),
]


class CommandSender(msgspec.Struct, frozen=True):
    """A player who sends a command, and how many seconds the request waits for the outcome."""

    context: ApiContext
    actor: Actor
    wait: float

    @property
    def app(self) -> App:
        """The context of the use cases."""
        return self.context.app

    async def submit(self, asked: Course[Result]) -> Result:
        """Run a course, and return its result, with a receipt if that is an outcome."""
        return await self.context.play.submit(asked, self.wait, receipt=True)


Sender: TypeAlias = NamedDependency[CommandSender]
"""The type of a function's parameter `sender`; its route needs the scope `play`."""


def sender(own: Own, key: Key = None, wait: Wait = WAIT_SECONDS) -> CommandSender:
    """Return the sender of a command, for functions that take it as a parameter."""
    return CommandSender(own.context, own.actor(key), wait)
