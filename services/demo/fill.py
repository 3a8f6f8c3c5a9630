"""Fills an empty server with people and months of matches.

Everything happens in the order of its time: accounts first, because the log knows nothing of them, then each
start, move, claim and line of chat at the moment that is planned for it.
"""

import secrets
from contextlib import suppress
from functools import partial
from random import Random
from typing import Final

import msgspec
from msgspec.structs import replace

from domain.clocks.calendar import DAY
from domain.engine.robot_move import choose_move
from domain.game.engine import RobotLevel
from domain.match.commands import Command, CommandEnvelope, PlayMove
from domain.match.events import SERVER_ACCOUNT, AccountId
from domain.match.history import unpack_snapshot
from domain.match.robots import ROBOT_ACCOUNTS, robot_name
from domain.match.start_command import start_command
from domain.match.start_options import read_start_options
from domain.match.state import MatchState, position_of
from domain.rules import rules_by_id
from infra.people.accounts import Account, create_robot_accounts
from services.app.disputes import AppealAction, ClaimAction, RuleAction, dispute
from services.app.play import OutcomeNotDurable, submit
from services.demo.community import write_community
from services.demo.match_plan import SERVER, MatchPlan, PlannedChat, PlannedStep
from services.demo.past_server import PastApp, Timeline, demo_command_id
from services.demo.people import ARBITER, FIRST_DAY, PEOPLE, SECOND_ARBITER, VISITOR, AccountIds
from services.demo.planner import Planner
from services.demo.recorded_games import recorded_games
from services.demo.special_matches import special_matches
from services.demo.visitor_matches import visitor_matches

SEED: Final = 20_261_122
"""Seed of the plan, so that demo servers look alike."""

RUNNING: Final = 24
"""Running matches of people who were chosen by chance."""


class FillReport(msgspec.Struct, frozen=True):
    """The size of a filled server."""

    people: int
    matches: int
    moves: int


def plan_matches(now: int) -> list[MatchPlan]:
    """Return all matches of the demo server as of a moment, in ms."""
    chance = Random(SEED)  # noqa: S311 - a plan, not a secret
    games = list(recorded_games())
    chance.shuffle(games)
    planner = Planner(now, games, chance)
    plans = [*visitor_matches(planner), *special_matches(planner)]
    plans += [*planner.drawn(), *planner.with_robots()]
    running = [planner.running_by_chance() for _ in range(RUNNING)]
    return [*plans, *filter(None, running), *planner.finished()]


def fill(app: PastApp, password: str) -> FillReport:
    """Fill a server; `password` is the visitor's. `FillError` if the server refuses something."""
    now = app.now
    return _Filling(app, now, _sign_up(app, now, password)).run(plan_matches(now))


def _sign_up(app: PastApp, now: int, password: str) -> AccountIds:
    """Create the accounts of all people and of the robots, and return their ids."""
    create_robot_accounts(app.people, app.macs)
    ids: AccountIds = {robot_name(level): account for level, account in ROBOT_ACCOUNTS.items()}
    for account in ids.values():
        app.accounts.change_of(account, lambda old: replace(old, created=now - FIRST_DAY * DAY))
    chance = Random(SEED)  # noqa: S311 - as above
    for person in PEOPLE:
        secret = password if person.name == VISITOR else secrets.token_hex(32)
        account = app.accounts.signup(person.name, secret)
        created = now - person.joined * DAY + round(chance.random() * DAY / 4)

        def changed(
            old: Account, created: int = created, language: str = person.language
        ) -> Account:
            return replace(old, created=created, language=language)

        app.accounts.change_of(account, changed)
        ids[person.name] = account
    for name in (ARBITER, SECOND_ARBITER):
        app.accounts.set_arbiter(name, True)
    return ids


class _Filling:
    """The filling of one server."""

    def __init__(self, app: PastApp, now: int, ids: AccountIds) -> None:
        self._app = app
        self._now = now
        self._ids = ids
        self._boards: dict[str, int] = {}
        self._timeline = Timeline()
        self._moves = 0

    def run(self, plans: list[MatchPlan]) -> FillReport:
        for plan in plans:
            self._timeline.at(plan.begin, partial(self._start, plan))
            for number, step in enumerate(plan.steps):
                self._timeline.at(step.at, partial(self._take_step, plan, number, step))
        write_community(self._app, self._timeline, self._now, self._ids)
        self._timeline.at(self._now - DAY, partial(self._let_visitor_read, plans))
        self._timeline.run(self._app)
        return FillReport(len(PEOPLE), len(plans), self._moves)

    def _let_visitor_read(self, plans: list[MatchPlan]) -> None:
        """Mark all messages and chat for the visitor as read, so that only those of the last day are news."""
        messages, visitor = self._app.messages, self._ids[VISITOR]
        messages.mark_read(visitor, messages.read(visitor))
        for plan in plans:
            board = self._boards.get(plan.name)
            if board is not None and VISITOR in plan.players:
                messages.mark_chat_read(visitor, board, messages.chat_of(board))

    def _start(self, plan: MatchPlan) -> None:
        rules = rules_by_id(plan.game.rules)
        seats = [self._ids[name] for name in plan.players]
        id_ = demo_command_id(seats[0], plan.name)
        agreed = read_start_options(plan.words, len(seats))
        start = start_command(rules, plan.game.options, agreed, seats, id_)
        board = self._boards[plan.name] = self._app.store.allocate(id_)
        self._app.add(CommandEnvelope(board, id_, seats[0], start))
        for ply, at in enumerate(plan.drawn):
            self._timeline.at(at, partial(self._choose_move, plan, ply))

    def _choose_move(self, plan: MatchPlan, ply: int) -> None:
        """Play a move in a match whose setup was drawn; for that it has to be decided up to now."""
        self._app.drain()
        state = self._state(plan)
        if state.next is None:
            return
        rules = rules_by_id(state.rules)
        text = choose_move(rules, position_of(state), RobotLevel.EASY, b"%d" % ply)
        account = state.seats[state.next]
        self._send(plan, account, f"{plan.name} drawn {ply}", PlayMove(text=text, ply=ply))

    def _state(self, plan: MatchPlan) -> MatchState:
        (data,) = self._app.store.snapshots([self._boards[plan.name]])
        return unpack_snapshot(data).state

    def _take_step(self, plan: MatchPlan, number: int, step: PlannedStep) -> None:
        account = SERVER_ACCOUNT if step.actor == SERVER else self._ids[step.actor]
        key = f"{plan.name} {number}"
        board = self._boards[plan.name]
        match step.action:
            case PlannedChat(text):
                seats = [self._ids[name] for name in plan.players]
                id_ = demo_command_id(account, key)
                self._app.messages.chat(board, account, text, id_, seats)
            case ClaimAction() | AppealAction() | RuleAction() as action:
                self._app.drain()
                asked = dispute(self._app, self._app.actor(account, key), board, action)
                with suppress(OutcomeNotDurable):
                    submit(self._app, asked)
            case command:
                self._send(plan, account, key, command)

    def _send(self, plan: MatchPlan, account: AccountId, key: str, command: Command) -> None:
        self._moves += isinstance(command, PlayMove)
        id_ = demo_command_id(account, key)
        self._app.add(CommandEnvelope(self._boards[plan.name], id_, account, command))
