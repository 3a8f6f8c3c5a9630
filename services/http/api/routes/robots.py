"""Robots as opponents."""

import asyncio

import msgspec
from litestar import get, post
from litestar.di import NamedDependency
from litestar.params import JSONBody

from domain.errors import Code
from domain.game.engine import RobotLevel
from infra.people.challenges import ChallengeState
from infra.people.tokens import Scope
from services.app.challenges import fill_with_robot
from services.app.commands import WAIT_SECONDS
from services.app.opponents import games_of_robots, robots_here
from services.http.api.auth import PLAY_SCOPE, Caller
from services.http.api.bodies import RequestBody
from services.http.api.command_requests import Wait
from services.http.api.declared_errors import declare_errors
from services.http.api.routes.challenges import Id, OpenChallenge, challenge_json, start
from services.http.context import ApiContext


class ListedRobot(msgspec.Struct, frozen=True):
    """A robot that you can play with."""

    userid: str
    level: str
    """`easy`, `medium` or `hard`."""


class Robots(msgspec.Struct, frozen=True):
    """The robots that play here."""

    robots: tuple[ListedRobot, ...]
    """The weakest first; empty where no robots play."""
    games: tuple[str, ...]
    """The games that each of them plays."""


class FreeSeat(RequestBody, frozen=True):
    """A robot that is to take a free seat."""

    level: RobotLevel


@get(
    "/api/robots",
    sync_to_thread=True,
    tags=["players"],
    opt=declare_errors(),
    summary="Robots that play here",
)
def list_robots(context: NamedDependency[ApiContext]) -> Robots:
    """Return the robots; each accepts any challenge by name at once, and no match with one is rated."""
    robots = robots_here(context.app)
    return Robots(
        tuple(ListedRobot(robot.userid, robot.level) for robot in robots),
        tuple(rules.key for rules in games_of_robots()) if robots else (),
    )


@post(
    "/api/challenges/{challenge:str}/robot",
    status_code=200,
    security=PLAY_SCOPE,
    tags=["challenges"],
    opt=declare_errors(
        Code.UNKNOWN_CHALLENGE,
        Code.NOT_A_PLAYER,
        Code.NOT_WANTED,
        Code.TOO_MANY,
        Code.BUSY,
        waits=True,
    ),
    summary="Let a robot join your challenge",
)
async def add_robot(
    challenge: Id,
    data: JSONBody[FreeSeat],
    context: NamedDependency[ApiContext],
    caller: NamedDependency[Caller],
    wait: Wait = WAIT_SECONDS,
) -> OpenChallenge:
    """Let a robot take a free seat; the last one starts the match, which is unrated.

    Only the player who opened the challenge can. The request can be repeated safely.
    """
    actor = caller.actor(Scope.PLAY)
    taken = await asyncio.to_thread(fill_with_robot, context.app, actor, challenge, data.level)
    if taken.state is ChallengeState.TAKEN:
        taken = await start(context, taken, wait)
    return (await asyncio.to_thread(challenge_json, context, [taken]))[0]
