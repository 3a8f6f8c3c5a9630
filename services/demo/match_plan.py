"""A match as it is planned: its players, its game, and each step with its time."""

from collections.abc import Sequence
from typing import Final, NamedTuple

import msgspec

from domain.clocks.calendar import DAY
from domain.match.commands import Command, PlayMove
from domain.rules import Seat, latest_rules
from services.app.disputes import DisputeAction
from services.demo.recorded_games import RecordedGame

HOUR: Final = DAY // 24
MINUTE: Final = HOUR // 60

SERVER: Final = ""
"""In place of a userid: the server itself, as the scheduler."""


class PlannedChat(NamedTuple):
    """A line in the chat of a match."""

    text: str


class PlannedStep(NamedTuple):
    """One thing that somebody does in a match."""

    at: int
    """Milliseconds since 1970."""
    actor: str
    """A userid, or `SERVER`."""
    action: Command | PlannedChat | DisputeAction


class MatchPlan(msgspec.Struct, kw_only=True):
    """A match from its start on."""

    name: str
    """The match's name in the ids of its commands."""
    game: RecordedGame
    players: tuple[str, ...]
    words: tuple[str, ...] = ()
    """The time control, such as `--days=3`."""
    begin: int
    steps: list[PlannedStep]
    drawn: Sequence[int] = ()
    """Times of moves that are chosen once chance has drawn the setup; then the game has none of its own."""

    def player(self, seat: Seat) -> str:
        """Return the userid of a seat."""
        return self.players[seat]


def move_steps(
    game: RecordedGame, players: Sequence[str], times: Sequence[int], first: int = 0
) -> list[PlannedStep]:
    """Return the steps of a game's moves from ply `first` on, one for each time."""
    return [
        PlannedStep(at, players[game.seats[ply]], PlayMove(text=game.moves[ply], ply=ply))
        for ply, at in enumerate(times, first)
    ]


def other_move(game: RecordedGame, ply: int) -> str:
    """Return a legal move at a ply that was not played there; the last of the game's list."""
    rules = latest_rules(game.rules.partition("/")[0])
    position = rules.start(rules.read_options(game.options), game.players, None)
    for text in game.moves[:ply]:
        position = rules.play(position, rules.read(text))
    return [text for text in rules.legal_moves(position) if text != game.moves[ply]][-1]
