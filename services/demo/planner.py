"""Plans the matches of the demo server from the recorded games, as of a moment."""

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from random import Random
from typing import Final

from domain.clocks.calendar import DAY
from domain.game.engine import LEVELS, RobotLevel
from domain.match.commands import AnswerOffer, MakeOffer, ResignMatch
from domain.match.robots import robot_name
from domain.rules import Seat
from services.demo.conversations import chat_steps
from services.demo.match_plan import HOUR, MINUTE, MatchPlan, PlannedStep, move_steps
from services.demo.move_times import answer_time, times_before
from services.demo.people import BY_NAME, PEOPLE, VISITOR, Person
from services.demo.recorded_games import RecordedGame

_PACES: Final = (20.0, 11.0, 5.0, 2.5, 1.0)
"""Hours that a move takes about; a quicker pace where there was no time for a slower one."""

_SOLVERS_PACE: Final = 0.3

_MOST: Final = 5 * DAY
"""The most that a move takes, so that nobody has to be reminded."""

_MOST_WITH_WORDS: Final = 3 * DAY // 2
"""The same where the time control is not chosen by chance."""

_TIME_CONTROLS: Final[tuple[tuple[tuple[str, ...], float, int], ...]] = (
    ((), math.inf, _MOST),
    ((), math.inf, _MOST),
    ((), math.inf, _MOST),
    (("--days=3",), 11.0, 2 * DAY),
    (("--days=5",), 20.0, 3 * DAY),
    (("--bank=45+1",), 5.0, _MOST),
    (("--weekends=off",), math.inf, _MOST),
    (("--totaltime=90",), 11.0, _MOST),
    (("--unrated",), math.inf, _MOST),
)
"""Time controls, each with the slowest pace at which it is chosen, and the most that a move takes then."""

_RESIGNATIONS: Final = 0.3
"""The share of lost games that are resigned before their end."""

_RESIGNED_FROM: Final = 14
"""Plies from which on a player resigns."""

_SETTLED: Final = 6 * HOUR
"""How long a new player looks around before the first match."""

_OTHERS: Final = tuple(one for one in PEOPLE if one.name != VISITOR)
"""All people but the visitor, whose running matches are planned one by one."""

_STEP: Final = 0.7
"""The difference in strength that two levels of robots stand for."""

_TABLES: Final = 12
"""How many sets of players are tried for a game; the one that fits best plays it."""

_BEFORE: Final = 6
_QUICK: Final = 5
"""The players of a match had joined so many days before its end, and a day more for so many moves."""

_HISTORY: Final = 215
"""Days for which matches have been played."""


_LONG: Final = 12
"""Plies of a game that is worth to be looked at while it runs."""

_DRAWN: Final = (
    ("powerdrain", ("chidi", "nadia"), 16, 51.0),
    ("powerdrain", ("emre", "bruno"), 16, 17.3),
    ("powerdrain", ("tomoko", "quinn"), 9, 0.4),
    ("halves", ("oskar", "ilse"), 12, 0.7),
)
"""Game, players, moves, and how many days ago the last of them was."""


_WITH_ROBOTS: Final = (
    (RobotLevel.EASY, "quinn", 92.4),
    (RobotLevel.EASY, "ulla", 40.1),
    (RobotLevel.EASY, "yusuf", 9.6),
    (RobotLevel.MEDIUM, "farida", 71.2),
    (RobotLevel.MEDIUM, "sven", 25.7),
    (RobotLevel.MEDIUM, "wanjiru", 3.3),
    (RobotLevel.HARD, "anneke", 55.5),
    (RobotLevel.HARD, "tomoko", 12.9),
)
"""Level of the robot, person, and how many days ago the match ended."""

UNRATED: Final = ("--unrated",)
"""The time control of a match with a robot."""


class NoFittingGameError(LookupError):
    """No recorded game is left that fits."""


class Planner:
    """Plans matches; each recorded game is used once."""

    def __init__(self, now: int, games: Sequence[RecordedGame], chance: Random) -> None:
        self.now = now
        self.chance = chance
        self._games = list(games)
        self._count = 0
        self._solved: set[tuple[str, str]] = set()
        """The puzzles that people have solved, because once is enough."""

    def take(self, fits: Callable[[RecordedGame], bool]) -> RecordedGame:
        """Take the first game that fits out of those that are left."""
        for number, game in enumerate(self._games):
            if fits(game):
                return self._games.pop(number)
        raise NoFittingGameError

    def take_key(self, key: str, players: int = 2, plies: int = 1, *options: str) -> RecordedGame:
        """Take a game of this key, with at least so many plies and with these options."""
        return self.take(
            lambda game: (
                game.rules.startswith(f"{key}/")
                and game.players == players
                and len(game.moves) >= plies
                and set(options) <= set(game.options)
            )
        )

    def name(self) -> str:
        """Return the name of the next match."""
        self._count += 1
        return f"match {self._count}"

    # matches that are over

    def finished(self) -> list[MatchPlan]:
        """Plan a match that is over with each game that is left."""
        games, self._games = self._games, []
        return [plan for game in games if (plan := self._finished_by_chance(game))]

    def _finished_by_chance(self, game: RecordedGame) -> MatchPlan | None:
        if not game.winners and game.players != 2:  # noqa: PLR2004
            return None
        days = 1 + _HISTORY * self.chance.random() ** 1.4
        end = self.now - round(days * DAY)
        players = self._players_for(game, end)
        return self.finish(game, players, end) if len(players) == game.players else None

    def _players_for(
        self, game: RecordedGame, end: int, people: Sequence[Person] = PEOPLE
    ) -> tuple[str, ...]:
        """Return players who had joined long before, and differ in strength as the robots did; none if too few had."""
        key = game.rules.partition("/")[0]
        days = (self.now - end) / DAY + _BEFORE + len(game.moves) / _QUICK
        there = [one for one in people if one.joined > days and (key, one.name) not in self._solved]
        if len(there) < game.players:
            return ()
        likes = [3.0 if key in one.games or game.players == 1 else 0.4 for one in there]
        tables: list[list[Person]] = []
        while len(tables) < _TABLES:
            table = self.chance.choices(there, likes, k=game.players)
            if len({one.name for one in table}) == game.players:
                tables.append(table)
        best = min(tables, key=lambda table: _misfit(table, game))
        if game.players == 1:
            self._solved.add((key, best[0].name))
        return tuple(one.name for one in best)

    def finish(
        self, game: RecordedGame, players: tuple[str, ...], end: int, words: Sequence[str] = ()
    ) -> MatchPlan:
        """Plan a match that is over: by its rules, by a resignation, or as a draw."""
        steps: list[PlannedStep] = []
        plies = len(game.moves)
        lost = [seat for seat in range(game.players) if seat not in game.winners]
        if game.offer or not game.winners:
            first, second = players[game.seats[-1]], players[1 - game.seats[-1]]
            answered = end + round(self.chance.uniform(1, 15) * HOUR)
            steps += [
                PlannedStep(end + MINUTE, first, MakeOffer(kind=game.offer or "draw")),
                PlannedStep(answered, second, AnswerOffer(accept=True)),
            ]
        elif self._is_resigned(game, lost) and players[lost[0]] in BY_NAME:
            plies = round(plies * self.chance.uniform(0.7, 0.93))
            resigned = end + round(self.chance.uniform(0.2, 12) * HOUR)
            steps.append(PlannedStep(resigned, players[lost[0]], ResignMatch()))
        return self._plan(game, players, plies, end, words, steps, is_over=True)

    def finish_with_robot(
        self, game: RecordedGame, seat: Seat, person: str, days: float
    ) -> MatchPlan:
        """Plan a match with the robot that played a seat of a game, which ended so many days ago."""
        players = [person, person]
        players[seat] = robot_name(game.levels[seat])
        return self.finish(game, tuple(players), self.now - round(days * DAY), UNRATED)

    def with_robots(self) -> list[MatchPlan]:
        """Plan matches of people with robots, which are over."""
        return [self._with_robot(*one) for one in _WITH_ROBOTS]

    def _with_robot(self, level: RobotLevel, person: str, days: float) -> MatchPlan:
        game = self.take(
            lambda one: one.players == 2 and level in one.levels and len(one.winners) == 1  # noqa: PLR2004
        )
        return self.finish_with_robot(game, game.levels.index(level), person, days)

    def _is_resigned(self, game: RecordedGame, lost: Sequence[Seat]) -> bool:
        """Return whether the loser of a game for two resigns before its end."""
        can = game.players == 2 and len(lost) == 1 and len(game.moves) >= _RESIGNED_FROM  # noqa: PLR2004
        return can and self.chance.random() < _RESIGNATIONS

    # matches that chance has set up

    def drawn(self) -> list[MatchPlan]:
        """Plan matches whose setup chance draws, so that no recorded game fits; some are over."""
        return [self._drawn(*one) for one in _DRAWN]

    def _drawn(self, key: str, players: tuple[str, ...], plies: int, days: float) -> MatchPlan:
        game = RecordedGame(f"{key}/1", (), (), (), "", (), ())
        end = self.now - round(days * DAY)
        hours = [_hours(players[ply % len(players)]) for ply in range(plies)]
        times = times_before(self.chance, end, hours, 9.0, _MOST)
        return MatchPlan(
            name=self.name(),
            game=game,
            players=players,
            begin=times[0] - HOUR,
            steps=[],
            drawn=times,
        )

    # matches that go on

    def running(
        self,
        game: RecordedGame,
        players: tuple[str, ...],
        plies: int,
        ago: int,
        words: Sequence[str] = (),
    ) -> MatchPlan:
        """Plan a match that stands after so many plies, the last of them so many ms ago."""
        return self._plan(game, players, plies, self.now - ago, words, [], is_over=False)

    def running_by_chance(self) -> MatchPlan | None:
        """Plan a match that goes on, of players who fit the game; None if nobody fits the next one."""
        game = self.take(lambda one: len(one.moves) >= _LONG or one.players == 1)
        ago = round(self.chance.uniform(0.1, 40) * HOUR)
        players = self._players_for(game, self.now - ago, _OTHERS)
        if len(players) < game.players:
            return None
        plies = round(len(game.moves) * self.chance.uniform(0.15, 0.85))
        return self.running(game, players, max(1, plies), ago)

    def _plan(
        self,
        game: RecordedGame,
        players: tuple[str, ...],
        plies: int,
        end: int,
        words: Sequence[str],
        ending: Sequence[PlannedStep],
        *,
        is_over: bool,
    ) -> MatchPlan:
        alone = game.players == 1
        paces = (_SOLVERS_PACE,) if alone else _PACES[self.chance.randrange(3) :]
        hours = [_hours(players[seat]) for seat in game.seats[:plies]]
        people = [BY_NAME[name] for name in players if name in BY_NAME]
        joined = self.now - min(one.joined for one in people) * DAY + _SETTLED
        for pace in paces:
            chosen, most = (
                (words, _MOST_WITH_WORDS) if words else self._time_control(pace, alone=alone)
            )
            times = times_before(self.chance, end, hours, pace, most)
            begin = times[0] - (
                answer_time(self.chance)
                if hours[0] is None
                else round(self.chance.uniform(0.1, 5) * HOUR)
            )
            if begin >= joined:
                break
        steps = [*move_steps(game, players, times), *ending]
        if not alone and len(people) == len(players):
            lines = chat_steps(self.chance, players, begin, steps, is_over=is_over)
            steps += [line for line in lines if line.at < self.now - MINUTE]
        return MatchPlan(
            name=self.name(),
            game=game,
            players=players,
            words=() if alone else tuple(chosen),
            begin=begin,
            steps=steps,
        )

    def _time_control(self, pace: float, *, alone: bool) -> tuple[tuple[str, ...], int]:
        if alone:
            return (), _MOST
        fitting = [one for one in _TIME_CONTROLS if pace <= one[1]]
        words, _, most = self.chance.choice(fitting)
        return words, most


def _hours(name: str) -> int | None:
    """Return the hours of a person, None for a robot."""
    return BY_NAME[name].hours if name in BY_NAME else None


def _misfit(table: Sequence[Person], game: RecordedGame) -> float:
    """Return how far the strengths of players are from those of the robots that played a game."""
    levels = [_STEP * LEVELS.index(level) for level in game.levels]
    if game.players == 1:
        return abs(table[0].strength - levels[0])
    pairs = pairwise(zip(table, levels, strict=True))
    return sum(abs(a.strength - b.strength - (x - y)) for (a, x), (b, y) in pairs)
