"""Fills an empty server with people and months of matches.

Everything happens in the order of its time: accounts first, because the log knows nothing of them, then each
start, move, claim and line of chat at the moment at which it was recorded, counted from now.
"""

import secrets
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from random import Random
from typing import Final

import msgspec
from msgspec.structs import replace

from domain.clocks.time_control import DAY
from domain.engine.robot_move import choose_move
from domain.game.engine import RobotLevel
from domain.match.commands import Command, CommandEnvelope, PlayMove
from domain.match.history import unpack_snapshot
from domain.match.start import read_start_options, start_command
from domain.match.state import ROBOT_ACCOUNTS, MatchState, position_of, robot_name
from domain.records import SERVER_ACCOUNT, AccountId
from domain.rules import rules_by_id
from infra.people.accounts import Account, AccountRole, create_robot_accounts
from services.app.disputes import AppealAction, ClaimAction, RuleAction, dispute
from services.app.play import OutcomeNotDurable, submit
from services.demo.community import (
    ARBITER,
    FIRST_DAY,
    PEOPLE,
    SECOND_ARBITER,
    VISITOR,
    AccountIds,
    write_community,
)
from services.demo.past_server import PastApp, Timeline, demo_command_id
from services.demo.recorded_matches import (
    SERVER,
    RecordedAction,
    RecordedChat,
    RecordedGame,
    RecordedMatch,
    recorded_games,
    recorded_matches,
)
from services.demo.tournaments import add_tournaments

SEED: Final = 20_261_122
"""Seed of the hours at which people joined, so that demo servers look alike."""


class FillReport(msgspec.Struct, frozen=True):
    """The size of a filled server."""

    people: int
    matches: int
    moves: int


def fill(app: PastApp, password: str) -> FillReport:
    """Fill a server; `password` is the visitor's. `FillError` if the server refuses something."""
    now = app.now
    return _Filling(app, now, _sign_up(app, now, password)).run(recorded_matches())


def _sign_up(app: PastApp, now: int, password: str) -> AccountIds:
    """Create the accounts of all people and of the robots, and return their ids."""
    create_robot_accounts(app.people, app.macs)
    ids: AccountIds = {robot_name(level): account for level, account in ROBOT_ACCOUNTS.items()}
    for account in ids.values():
        app.accounts.change_of(account, lambda old: replace(old, created=now - FIRST_DAY * DAY))
    chance = Random(SEED)  # noqa: S311 - not a secret
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
        app.accounts.set_role(name, AccountRole.ARBITER, held=True)
    return ids


class _Filling:
    """The filling of one server."""

    def __init__(self, app: PastApp, now: int, ids: AccountIds) -> None:
        self._app = app
        self._now = now
        self._ids = ids
        self._boards: dict[str, int] = {}
        """By the name of the match in the ids of its commands."""
        self._timeline = Timeline()
        self._moves = 0

    def run(self, matches: Sequence[RecordedMatch]) -> FillReport:
        named = {f"match {number}": match for number, match in enumerate(matches, 1)}
        for name, match in named.items():
            self._plan(name, match)
        write_community(self._app, self._timeline, self._now, self._ids)
        add_tournaments(self._app, self._timeline, self._now, self._ids)
        visited = [name for name, match in named.items() if VISITOR in match.players]
        self._timeline.at(self._now - DAY, partial(self._let_visitor_read, visited))
        self._timeline.run(self._app)
        return FillReport(len(PEOPLE), len(matches), self._moves)

    def _plan(self, name: str, match: RecordedMatch) -> None:
        """Add all steps of a match to the timeline."""
        game = None if match.game is None else recorded_games()[match.game]
        at, ply = self._now - 1000 * match.ago, 0
        self._timeline.at(at, partial(self._start, name, match, game))
        for number, step in enumerate(match.steps):
            key = f"{name} {number}"
            if not isinstance(step, int):
                after, actor, action = step
                work = partial(self._take_step, name, match, key, actor, action)
            elif game is not None:
                after, actor = step, match.players[game.seats[ply]]
                move = PlayMove(text=game.moves[ply], ply=ply)
                work = partial(self._take_step, name, match, key, actor, move)
                ply += 1
            else:
                after, work = step, partial(self._choose_move, name, ply)
                ply += 1
            at += 1000 * after
            self._timeline.at(at, work)

    def _let_visitor_read(self, names: Sequence[str]) -> None:
        """Mark all messages and chat for the visitor as read, so that only those of the last day are news."""
        messages, visitor = self._app.messages, self._ids[VISITOR]
        messages.mark_read(visitor, messages.read(visitor))
        for name in names:
            board = self._boards.get(name)
            if board is not None:
                messages.mark_chat_read(visitor, board, messages.chat_of(board))

    def _start(self, name: str, match: RecordedMatch, game: RecordedGame | None) -> None:
        rules = rules_by_id(game.rules if game else match.drawn)
        seats = [self._ids[player] for player in match.players]
        id_ = demo_command_id(seats[0], name)
        agreed = read_start_options(match.terms, len(seats))
        start = start_command(rules, game.options if game else (), agreed, seats, id_)
        board = self._boards[name] = self._app.store.allocate(id_)
        self._app.add(CommandEnvelope(board, id_, seats[0], start))

    def _choose_move(self, name: str, ply: int) -> None:
        """Play a move in a match whose setup was drawn; for that it has to be decided up to now."""
        self._app.drain()
        state = self._state(name)
        if state.next is None:
            return
        rules = rules_by_id(state.rules)
        text = choose_move(rules, position_of(state), RobotLevel.EASY, b"%d" % ply)
        account = state.seats[state.next]
        self._send(name, account, f"{name} drawn {ply}", PlayMove(text=text, ply=ply))

    def _state(self, name: str) -> MatchState:
        (data,) = self._app.store.snapshots([self._boards[name]])
        return unpack_snapshot(data).state

    def _take_step(
        self, name: str, match: RecordedMatch, key: str, actor: str, action: RecordedAction
    ) -> None:
        account = SERVER_ACCOUNT if actor == SERVER else self._ids[actor]
        board = self._boards[name]
        match action:
            case RecordedChat(text):
                seats = [self._ids[player] for player in match.players]
                id_ = demo_command_id(account, key)
                self._app.messages.chat(board, account, text, id_, seats)
            case ClaimAction() | AppealAction() | RuleAction():
                self._app.drain()
                asked = dispute(self._app, self._app.actor(account, key), board, action)
                with suppress(OutcomeNotDurable):
                    submit(self._app, asked)
            case command:
                self._send(name, account, key, command)

    def _send(self, name: str, account: AccountId, key: str, command: Command) -> None:
        self._moves += isinstance(command, PlayMove)
        id_ = demo_command_id(account, key)
        self._app.add(CommandEnvelope(self._boards[name], id_, account, command))
