"""Recorded matches: the players of a recorded game, when each of its moves came, and all else that happened in it.

They are in the file `matches.jsonl`, one JSON object a line, and were recorded once. Times are in seconds: how long
before now a match began, and for each step how long after the step before. A step that is only a number is the next
move of the game; another has a userid, empty for the server, and what was done.

Recorded games: complete games that the engine has played, each as its moves.

They are in the file `games.txt`, one a line, with fields between tabs: the rules, the options, the level of
each seat, the seats that won, the offer by which the game ended if it did so by consent, the seat of each
move, and the moves. The seats of moves are left out where the seats move in turn. A game without winners was
broken off.
"""

from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from itertools import cycle, islice
from typing import Final

import msgspec

from domain.game.engine import RobotLevel
from domain.match.commands import (
    AnswerOffer,
    DeclineMatch,
    FlagPlayer,
    MakeOffer,
    PlayMove,
    RemindPlayer,
    ResignMatch,
)
from domain.rules import Seat
from services.app.disputes import AppealAction, ClaimAction, RuleAction

SERVER: Final = ""
"""In place of a userid: the server itself, as the scheduler."""


class RecordedChat(msgspec.Struct, frozen=True, tag="chat"):
    """A line in the chat of a match."""

    text: str


class RecordedClaim(ClaimAction, frozen=True, tag="claim"):
    """A claim."""


class RecordedAppeal(AppealAction, frozen=True, tag="appeal"):
    """An appeal against a ruling."""


class RecordedRuling(RuleAction, frozen=True, tag="rule"):
    """A ruling of an arbiter."""


RecordedAction = (
    PlayMove
    | MakeOffer
    | AnswerOffer
    | ResignMatch
    | DeclineMatch
    | RemindPlayer
    | FlagPlayer
    | RecordedChat
    | RecordedClaim
    | RecordedAppeal
    | RecordedRuling
)


class RecordedMatch(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A match from its start on."""

    players: tuple[str, ...]
    ago: int
    """Seconds since its start."""
    steps: tuple[int | tuple[int, str, RecordedAction], ...]
    """Each with the seconds since the step before, or since the start."""
    game: int | None = None
    """The number of the recorded game, from 0; None where chance draws the setup, and moves are chosen then."""
    drawn: str = ""
    """The rules of such a match, such as `powerdrain/1`."""
    terms: tuple[str, ...] = ()
    """The time control, such as `--days=3`."""


@cache
def recorded_matches() -> tuple[RecordedMatch, ...]:
    """Return the matches of `matches.jsonl`, in its order."""
    data = files(__package__).joinpath("matches.jsonl").read_bytes()
    return tuple(msgspec.json.Decoder(RecordedMatch).decode_lines(data))


GAMES_FILE: Final = "games.txt"

_COMMENT: Final = "#"


class RecordedGame(msgspec.Struct, frozen=True):
    """A complete game."""

    rules: str
    """Such as `pow2/1`."""
    options: tuple[str, ...]
    levels: tuple[RobotLevel, ...]
    """Of the robots that played it, by seat."""
    winners: tuple[Seat, ...]
    """All seats in a draw; empty for a game that was broken off."""
    offer: str
    """The kind of the offer by which it ended, such as `count`; empty for most games."""
    seats: tuple[Seat, ...]
    """The seat of each move."""
    moves: tuple[str, ...]

    @property
    def players(self) -> int:
        """Return the number of seats."""
        return len(self.levels)


def write_game(game: RecordedGame) -> str:
    """Return a game as a line."""
    in_turn = game.seats == _in_turn(game.players, len(game.moves))
    fields = (
        game.rules,
        " ".join(game.options),
        " ".join(game.levels),
        "".join(map(str, game.winners)),
        game.offer,
        "" if in_turn else "".join(map(str, game.seats)),
        " ".join(game.moves),
    )
    return "\t".join(fields)


def read_game(line: str) -> RecordedGame:
    """Return the game of a line; `ValueError` if it is none."""
    rules, options, levels, winners, offer, seats, moves = line.split("\t")
    by_seat = tuple(map(RobotLevel, levels.split()))
    played = tuple(moves.split())
    return RecordedGame(
        rules=rules,
        options=tuple(options.split()),
        levels=by_seat,
        winners=tuple(map(int, winners)),
        offer=offer,
        seats=tuple(map(int, seats)) if seats else _in_turn(len(by_seat), len(played)),
        moves=played,
    )


def read_games(lines: Iterable[str]) -> tuple[RecordedGame, ...]:
    """Return the games of lines, of which some may be comments."""
    return tuple(read_game(line) for line in lines if line and not line.startswith(_COMMENT))


@cache
def recorded_games() -> tuple[RecordedGame, ...]:
    """Return the games of `games.txt`, in its order."""
    return read_games(files(__package__).joinpath(GAMES_FILE).read_text("utf-8").splitlines())


def _in_turn(players: int, count: int) -> tuple[Seat, ...]:
    return tuple(islice(cycle(range(players)), count))
