"""Matches as the `eventsourcing` library has them: an aggregate and its application."""

from typing import Any
from uuid import UUID

from eventsourcing.application import Application
from eventsourcing.domain import Aggregate, event

from domain.rules import latest_rules


class MatchAggregate(Aggregate):
    """A match of pow2."""

    def __init__(self) -> None:
        rules = latest_rules("pow2")
        self.position: Any = rules.start(rules.read_options(()), 2, None)

    def play(self, text: str) -> None:
        """Check a move by the rules, and record it."""
        rules = latest_rules("pow2")
        move = rules.check(self.position, rules.read(text))
        self.moved(rules.write(move))

    @event("Moved")
    def moved(self, move: str) -> None:
        """Apply a recorded move."""
        rules = latest_rules("pow2")
        self.position = rules.play(self.position, rules.read(move))
        rules.outcome(self.position)


class MatchApplication(Application[UUID]):
    """The application with all matches."""

    def start(self) -> UUID:
        """Start a match, and return its id."""
        match = MatchAggregate()
        self.save(match)
        return match.id

    def move(self, match_id: UUID, text: str) -> None:
        """Play a move in a match."""
        match: MatchAggregate = self.repository.get(match_id)
        match.play(text)
        self.save(match)
