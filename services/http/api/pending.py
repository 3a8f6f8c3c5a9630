"""Commands whose outcome is not known yet, with the place where the API will have it."""

from collections.abc import Iterator
from contextlib import contextmanager

from domain.match.events import CommandId
from infra.store.gateway import OutcomePending


class PendingAt(OutcomePending):
    """A command was accepted whose outcome is not known yet; `place` is where it will be."""

    def __init__(self, board: int, command: CommandId, why: str) -> None:
        self.place = f"/api/matches/{board}/commands/{command.hex()}"
        super().__init__(f"{why}; its outcome will be at {self.place}")


@contextmanager
def outcome_at(board: int, command: CommandId) -> Iterator[None]:
    """Say of a command that is pending where its outcome will be."""
    try:
        yield
    except OutcomePending as pending:
        raise PendingAt(board, command, str(pending)) from None
