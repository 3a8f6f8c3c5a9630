"""From what a player asks for to the outcome of its command, the same way for every front end.

A use case that sends commands is a `Course`: it makes a command, gets its outcome, and may go on after it.
`submit` runs one where the caller may block, and `LoopPlay` in an event loop.
"""

import asyncio
from collections.abc import Callable, Generator
from functools import wraps
from typing import Generic, ParamSpec, TypeVar, cast

from msgspec.structs import replace

from domain.errors import Code, Refusal
from domain.match.commands import CommandEnvelope
from infra.store.async_gateway import AsyncCommandGateway, AsyncStore
from infra.store.gateway import WAIT_SECONDS, OutcomePending
from infra.store.outcomes import CommandOutcome
from services.app.context import App
from services.app.receipts import Answered, receipt_in_loop

__all__ = ["WAIT_SECONDS", "OutcomePending"]

Result = TypeVar("Result")
_Parameters = ParamSpec("_Parameters")

Steps = Generator[tuple[CommandEnvelope, int], CommandOutcome, Result]
"""The steps of a use case: each yields a command, with the ply at which its sender saw the match."""


class RecordedRefusal(Refusal):
    """The refusal of a command that was recorded, with the command's outcome."""

    def __init__(self, reason: Refusal, decided: Answered) -> None:
        super().__init__(reason.code, reason.text)
        self.decided = decided


class CommandPending(OutcomePending):
    """The outcome of a command is not known yet."""

    def __init__(self, board: int, command: str, why: str) -> None:
        super().__init__(why)
        self.board = board
        self.command = command
        """The command's id, in hex."""


class OutcomeNotDurable(CommandPending):
    """The server that accepted the command promises no durability, so it counts as pending."""

    def __init__(self, decided: Answered) -> None:
        why = "with durability none this is never more than pending"
        super().__init__(decided.board, decided.id, why)
        self.decided = decided


class Course(Generic[Result]):
    """A use case on its way. Each of its functions returns the result, or None while `sent` is to be submitted.

    With `blocks` its steps may wait for the server, so no event loop may run them.
    """

    def __init__(self, steps: Steps[Result], *, blocks: bool = True) -> None:
        self._steps = steps
        self.blocks = blocks
        self.sent: CommandEnvelope | None = None
        """The last command; None while there was none."""
        self.ply = 0
        """The number of plies that its sender believes were played."""

    def begin(self) -> Result | None:
        """Run the steps before the first command."""
        return self._run(self._steps.__next__)

    def take(self, outcome: CommandOutcome) -> Result | None:
        """Run the steps after an outcome."""
        return self._run(self._steps.send, outcome)

    def fail(self, error: Refusal | OutcomePending) -> Result | None:
        """Run the steps after a refusal that was not recorded; raise `CommandPending` for an `OutcomePending`."""
        if isinstance(error, OutcomePending):
            sent = self.command
            raise CommandPending(sent.match, sent.id.hex(), str(error)) from None
        return self._run(self._steps.throw, error)

    def _run(
        self, steps: Callable[..., tuple[CommandEnvelope, int]], *args: object
    ) -> Result | None:
        try:
            self.sent, self.ply = steps(*args)
        except StopIteration as end:
            result: Result = end.value
            return result
        return None

    @property
    def command(self) -> CommandEnvelope:
        """The command to submit."""
        assert self.sent is not None
        return self.sent


def course(
    steps: Callable[_Parameters, Steps[Result]],
) -> Callable[_Parameters, Course[Result]]:
    """Make a use case of a function of steps, which may block."""

    @wraps(steps)
    def begun(*args: _Parameters.args, **kwargs: _Parameters.kwargs) -> Course[Result]:
        return Course(steps(*args, **kwargs))

    return begun


@course
def give(app: App, command: Callable[[], CommandEnvelope]) -> Steps[Answered]:
    """Carry out one command that needs no view of its match, such as a start; `command` makes it."""
    return (yield from decided(app, command()))


def decided(app: App, sent: CommandEnvelope, ply: int = 0) -> Steps[Answered]:
    """Submit a command, and return its outcome; see `finish`."""
    return finish(app, sent, (yield sent, ply))


def finish(app: App, sent: CommandEnvelope, outcome: CommandOutcome) -> Answered:
    """Return the outcome of an accepted command; raise `RecordedRefusal` or `OutcomeNotDurable` for another."""
    return check(app, Answered.of(sent.match, sent.id, outcome), outcome)


def check(app: App, found: Answered, outcome: CommandOutcome) -> Answered:
    """Return an outcome if it may be called accepted; else raise as `finish` does."""
    if not outcome.accepted:
        raise RecordedRefusal(Refusal(Code(outcome.code), outcome.text), found)
    if not app.durable:
        raise OutcomeNotDurable(found)
    return found


def submit(app: App, asked: Course[Result], seconds: float = WAIT_SECONDS) -> Result:
    """Run a course, and return its result.

    Raises the refusals of the use case and those of the gateway, a `RecordedRefusal` for a command that was
    refused, and `CommandPending` if an outcome is not known after `seconds`. Errors of the server pass through;
    where `asked.sent` is set then, its command may have been accepted.
    """
    result = asked.begin()
    while result is None:
        try:
            outcome = app.gateway.send(asked.command, asked.ply, seconds)
        except (Refusal, OutcomePending) as error:
            result = asked.fail(error)
        else:
            result = asked.take(outcome)
    return result


class LoopPlay:
    """Runs courses in an event loop, and makes the receipts of their outcomes there."""

    def __init__(self, app: App, gateway: AsyncCommandGateway, store: AsyncStore) -> None:
        self._app = app
        self._gateway = gateway
        self._store = store

    async def submit(
        self, asked: Course[Result], seconds: float = WAIT_SECONDS, *, receipt: bool = False
    ) -> Result:
        """Run a course as the function `submit` does; with `receipt` an outcome and a refusal have theirs."""
        try:
            result = await self._run(asked, seconds)
        except RecordedRefusal as reason:
            if not receipt:
                raise
            raise RecordedRefusal(reason, await self.with_receipt(reason.decided)) from None
        if receipt and isinstance(result, Answered):
            return cast("Result", await self.with_receipt(result))
        return result

    async def _run(self, asked: Course[Result], seconds: float) -> Result:
        blocks = asked.blocks
        result = await asyncio.to_thread(asked.begin) if blocks else asked.begin()
        while result is None:
            try:
                outcome = await self._gateway.send(asked.command, asked.ply, seconds)
            except (Refusal, OutcomePending) as error:
                result = await asyncio.to_thread(asked.fail, error) if blocks else asked.fail(error)
            else:
                result = (
                    await asyncio.to_thread(asked.take, outcome) if blocks else asked.take(outcome)
                )
        return result

    async def with_receipt(self, found: Answered) -> Answered:
        """Return a durable outcome with its receipt, if there is one now."""
        receipt = await receipt_in_loop(self._app, self._store, found)
        return replace(found, receipt=receipt) if receipt else found

    async def known(self, found: Answered, outcome: CommandOutcome) -> Answered:
        """Return an outcome that was found stored, with its receipt; a refusal without one until it is durable.

        Raises `CommandPending` for an acceptance that is not known to be durable.
        """
        if outcome.accepted:
            check(self._app, found, outcome)
        try:
            await self._gateway.confirmed(outcome)
        except OutcomePending as pending:
            if not outcome.accepted:
                return found
            raise CommandPending(found.board, found.id, str(pending)) from None
        return await self.with_receipt(found)
