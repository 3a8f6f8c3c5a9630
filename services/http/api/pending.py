"""Commands whose outcome is not known yet, with the path at which the API will have it."""

from collections.abc import Iterator
from contextlib import contextmanager

from domain.match.events import CommandId
from services.app.commands import OutcomePending


class PendingAt(OutcomePending):
    """The outcome of a submitted command is not known yet; `place` is its path in the API."""

    def __init__(self, board: int, command: CommandId, why: str) -> None:
        self.place = f"/api/matches/{board}/commands/{command.hex()}"
        super().__init__(f"{why}; its outcome will be at {self.place}")


@contextmanager
def outcome_at(board: int, command: CommandId) -> Iterator[None]:
    """Raise `PendingAt` in place of an `OutcomePending` from inside."""
    try:
        yield
    except OutcomePending as pending:
        raise PendingAt(board, command, str(pending)) from None
