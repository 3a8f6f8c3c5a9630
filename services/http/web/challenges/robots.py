"""Matches with robots, and rematches: each from one click."""

import asyncio
from functools import partial
from urllib.parse import urlencode

from litestar.response import Redirect

from domain.errors import Code, Refusal
from domain.game.engine import read_level
from domain.rules import latest_rules
from services.app.challenges import begun_when_full, fill_with_robot
from services.app.opponents import RobotPlayer, robot_of
from services.app.play import give
from services.app.rematch import rematch
from services.app.sentences import SAY
from services.app.start import start_by_name
from services.http.context import ApiContext
from services.http.web.challenges.new_match import seat_of_challenger
from services.http.web.challenges.new_match_form import chosen_terms
from services.http.web.declared import Pages
from services.http.web.forms import own_form
from services.http.web.params import (
    BoardNumber,
    ContextDependency,
    FormDependency,
    Id,
    Own,
    VisitorDependency,
)
from services.http.web.render import redirect_to

pages = Pages()


@pages.post("/robots")
async def play_robot(
    form: FormDependency, context: ContextDependency, visitor: VisitorDependency
) -> Redirect:
    """Start a match with a robot; a guest signs up first, and finds the match chosen then."""
    game, _, level = form.get("play").partition(" ")
    rules = latest_rules(game.lower())
    robot = await _robot(context, level)
    if visitor.account is None:
        wanted = f"/new?{urlencode({'game': rules.key, 'opponent': robot.userid})}"
        return redirect_to(f"/signup?{urlencode({'next': wanted})}")
    own = own_form(form, context, visitor)
    actor = own.actor(f"{own.key} robot {rules.key} {robot.level}")
    names = [robot.userid]
    names.insert(seat_of_challenger(None, 2, actor.command_id()), visitor.name)
    start = partial(
        start_by_name,
        context.app,
        actor,
        rules,
        names,
        options=(),
        terms=chosen_terms(form),
    )
    begun = await context.play.submit(give(context.app, start))
    return redirect_to(f"/m/{begun.board}")


@pages.post("/challenges/{challenge:str}/robot")
async def add_robot(challenge: Id, own: Own) -> Redirect:
    """Let a robot take a free seat of the visitor's challenge; the last one starts the match."""
    robot = await _robot(own.context, own.get("level"))
    seat = partial(fill_with_robot, own.app, own.actor(), challenge, robot.level)
    taken = await own.context.play.submit(begun_when_full(own.app, seat))
    return redirect_to(f"/c/{taken.id}" if taken.board is None else f"/m/{taken.board}")


async def _robot(context: ApiContext, text: str) -> RobotPlayer:
    level = read_level(text)
    if level is None:
        raise Refusal(Code.BAD_REQUEST, SAY("which-robot"))
    return await asyncio.to_thread(robot_of, context.app, level)


@pages.post("/m/{board:int}/rematch")
async def start_rematch(board: BoardNumber, own: Own) -> Redirect:
    """Start the rematch of a match, or show the one that another player has started."""
    asked = rematch(own.app, own.actor(), board, own.get("commitment"))
    begun = await own.context.play.submit(asked)
    return redirect_to(f"/m/{begun.board}")
