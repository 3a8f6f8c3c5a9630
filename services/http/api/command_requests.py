"""Requests that are one command in a match: what they have in common, from the token to the answer."""

from typing import Annotated, Final, TypeAlias

import msgspec
from litestar.di import NamedDependency
from litestar.params import HeaderParameter, QueryParameter

from domain.errors import Refusal
from services.app.actor import Actor
from services.app.answered import Answered, answered
from services.app.commands import WAIT_SECONDS, MatchCommand, finish
from services.app.context import App
from services.app.receipts import DecidedCommand
from services.http.api.auth import Own
from services.http.api.pending import outcome_at
from services.http.api.problem_details import RecordedRefusal
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

    async def send(self, command: MatchCommand) -> Answered:
        """Submit the command, and return its outcome; otherwise as `send`."""
        return await send(self.context, command, self.wait)


Sender: TypeAlias = NamedDependency[CommandSender]
"""The type of a function's parameter `sender`; its route needs the scope `play`."""


def sender(own: Own, key: Key = None, wait: Wait = WAIT_SECONDS) -> CommandSender:
    """Return the sender of a command, for functions that take it as a parameter."""
    return CommandSender(own.context, own.actor(key), wait)


async def send(context: ApiContext, command: MatchCommand, wait: float) -> Answered:
    """Submit a command, and return its outcome; raise `RecordedRefusal` if it was refused."""
    sent = command.sent
    with outcome_at(sent.match, sent.id):
        outcome = await context.gateway.send(sent, command.ply, wait)
        return await answer_decided(context, DecidedCommand(sent.match, sent.id, outcome))


async def answer_decided(context: ApiContext, decided: DecidedCommand) -> Answered:
    """Return the outcome of a command with its receipt; raise `RecordedRefusal` if it was refused."""
    receipt = await context.receipt(decided)
    try:
        finish(context.app, decided.outcome)
    except Refusal as reason:
        raise RecordedRefusal(reason, receipt) from None
    return answered(decided, receipt)
