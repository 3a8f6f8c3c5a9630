"""Requests that are one command in a match: what they have in common, from the token to the answer."""

from typing import Annotated, Final

import msgspec
from litestar.di import NamedDependency
from litestar.params import HeaderParameter, QueryParameter

from domain.errors import Refusal
from infra.people.tokens import Scope
from services.app.actor import Actor
from services.app.answered import Answered, answered
from services.app.commands import WAIT_SECONDS, MatchCommand, finish
from services.app.receipts import DecidedCommand
from services.http.api.auth import Caller
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


class CommandRequest(msgspec.Struct, frozen=True):
    """A request of a player for a command, and how many seconds it waits for the outcome."""

    context: ApiContext
    actor: Actor
    wait: float

    async def send(self, command: MatchCommand) -> Answered:
        """Submit the command, and return its outcome; otherwise as `send`."""
        return await send(self.context, command, self.wait)


def command_request(
    context: NamedDependency[ApiContext],
    caller: NamedDependency[Caller],
    key: Key = None,
    wait: Wait = WAIT_SECONDS,
) -> CommandRequest:
    """Return the request, for routes that take it as a parameter."""
    return CommandRequest(context, caller.actor(Scope.PLAY, key), wait)


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
