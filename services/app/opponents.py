"""Robots as opponents: which there are, and the rules of a match with one.

A match with a robot starts at once, and is never rated. A robot takes a free seat of an open challenge
only when the player who opened it asks for that, because others may want to play there.
"""

from collections.abc import Sequence
from hashlib import sha256
from typing import Any, Final

import msgspec

from domain.engine.robot_move import choose_move
from domain.errors import Code, Refusal
from domain.game.engine import RobotLevel
from domain.match.state import ROBOT_ACCOUNTS, robot_level, robot_name
from domain.records import AccountId, CommandId
from domain.rules import AnyRules, latest_rules
from infra.people.challenges import Challenge
from infra.people.pending_starts import MOST_ROBOT_MATCHES, MOST_SLOW_MATCHES, PendingStart
from services.app.context import Actor, App
from services.app.games_off import keys_on
from services.app.matches import read_snapshot
from services.app.names import name_of, names_by_seat
from services.app.sentences import SAY

START_SECONDS: Final = 3_600
"""Age at which a start that has no match yet counts as failed."""


class RobotPlayer(msgspec.Struct, frozen=True):
    """A robot that plays here."""

    level: RobotLevel
    account: AccountId
    userid: str


def robots_play(app: App) -> bool:
    """Return whether this server runs processes in which robots move."""
    return app.settings.robots > 0


def robots_here(app: App) -> tuple[RobotPlayer, ...]:
    """Return the robots that play here, the weakest first; none where no process of theirs runs."""
    if not robots_play(app):
        return ()
    names = app.accounts.name_of(list(ROBOT_ACCOUNTS.values()))
    return tuple(
        RobotPlayer(level, account, name)
        for (level, account), name in zip(ROBOT_ACCOUNTS.items(), names, strict=True)
        if name is not None
    )


def robot_of(app: App, level: RobotLevel) -> RobotPlayer:
    """Return the robot of a level; `not-wanted` if none plays here."""
    found = [robot for robot in robots_here(app) if robot.level is level]
    if not found:
        raise _no_robots(robot_name(level))
    return found[0]


def games_of_robots(app: App) -> tuple[AnyRules, ...]:
    """Return the games that robots play: all for two or more that are not switched off."""
    return tuple(rules for rules in map(latest_rules, keys_on(app)) if rules.players != (1,))


def has_robot(seats: Sequence[AccountId]) -> bool:
    """Return whether one of the accounts is a robot's."""
    return any(robot_level(account) is not None for account in seats)


def check_robots_play(app: App, seats: Sequence[AccountId]) -> None:
    """Refuse a match with a robot as `not-wanted` where robots do not play."""
    if has_robot(seats) and not robots_play(app):
        robot = next(account for account in seats if robot_level(account) is not None)
        raise _no_robots(name_of(app, robot))


def _no_robots(name: str) -> Refusal:
    return Refusal(Code.NOT_WANTED, SAY("no-robots", robot=name))


def reserve_robot_match(
    app: App, account: AccountId, command: CommandId, seats: Sequence[AccountId]
) -> None:
    """Count a match with a robot that an account starts; `too-many` where there is no room."""
    starts = app.starts.with_robots
    # one that thinks long has fewer at a time, by the limit of starts against one player
    slow = [seat for seat in seats if robot_level(seat) is RobotLevel.HARD]
    if not starts.add(account, command, slow):
        return
    # nothing reports here that a match has ended, so those that are over are found now
    starts.remove(account, [one.command for one in starts.of(account) if is_start_over(app, one)])
    match starts.add(account, command, slow):
        case "":
            return
        case "all":
            raise Refusal(Code.TOO_MANY, SAY("robot-matches", most=MOST_ROBOT_MATCHES))
        case _:
            robot = robot_name(RobotLevel.HARD)
            raise Refusal(Code.TOO_MANY, SAY("slow-matches", most=MOST_SLOW_MATCHES, robot=robot))


def is_start_over(app: App, start: PendingStart) -> bool:
    """Return whether a match is over, or was not started within an hour."""
    (board,) = app.store.board_numbers([start.command])
    if board is not None:
        state = read_snapshot(app, board, app.store.snapshots([board])[0]).state
        if state.started:
            return state.over
    # a start in the future was asked for while a clock ran ahead
    return not 0 <= app.store.now() - start.at < START_SECONDS * 1000


def check_wanted(app: App, challenge: Challenge, robot: AccountId) -> None:
    """Refuse, as `not-wanted`, a robot that one of the players of a challenge has blocked."""
    for player in app.blocks.by(challenge.players, robot):
        names = names_by_seat(app, [player, robot])
        raise Refusal(Code.NOT_WANTED, SAY("not-with", player=names[0], other=names[1]))


def check_fills(challenge: Challenge, actor: Actor) -> None:
    """Refuse an account that did not open a challenge, and so fills no seat of it with a robot."""
    if challenge.account != actor.account:
        raise Refusal(
            Code.NOT_A_PLAYER,
            SAY("not-opener", challenge=challenge.id),
        )


def robot_answers(rules: AnyRules, position: Any, seat: int, played: str) -> list[str]:
    """Return a robot's moves on a board that somebody tries, until a seat is to move, or until the end.

    Nothing is stored. The moves depend on those that were played, and on nothing else, so an address
    has one answer. The robot is the weakest, because it answers within some milliseconds.
    """
    found: list[str] = []
    while rules.to_move(position) not in (None, seat):
        seed = sha256(" ".join([played, *found]).encode()).digest()
        found.append(choose_move(rules, position, RobotLevel.EASY, seed))
        position = rules.play(position, rules.check(position, rules.read(found[-1])))
    return found
