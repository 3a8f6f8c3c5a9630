"""A server's life by chance: matches of all kinds, each command decided and committed for real."""

import random
from collections import Counter
from collections.abc import Iterator
from hashlib import sha256
from itertools import islice

from msgspec import UNSET
from msgspec.structs import replace

from domain.clocks.time_control import TimeControl
from domain.fairness import Commitment, entropy_text
from domain.match.commands import (
    AnswerOffer,
    Command,
    DeclineMatch,
    MakeOffer,
    PlayMove,
    ResignMatch,
    RevealText,
    StartMatch,
)
from domain.match.events import SERVER_ACCOUNT, MatchSource
from domain.match.history import unpack_snapshot
from domain.match.imports import import_command
from domain.match.state import MatchState, position_of
from domain.rules import rules_by_id
from infra.store.gateway import submission_of
from infra.store.port import Submission
from tests.helpers.bench import Bench
from tests.helpers.given import Match

GAMES = (
    ("torere/1", 2),
    ("line/1", 2),
    ("pow2/1", 2),
    ("halves/1", 2),
    ("halves/1", 3),
    ("powerdrain/1", 2),
    ("one/1", 1),
    ("jump/1", 1),
)
DRAWN = ("halves/1", "powerdrain/1")

Action = tuple[bytes, Command]


class Corpus:
    """Players by chance, on a bench; the same seed gives the same commands."""

    def __init__(self, bench: Bench, seed: int = 1, players: int = 30, matches: int = 120) -> None:
        self._bench = bench
        self._chance = random.Random(seed)
        self._players = [b"player%02d" % number for number in range(players)]
        self._most = matches
        self._boards: list[int] = []
        self._last = 0
        self.commands: Counter[str] = Counter()

    def step(self) -> None:
        """Give one command in each of the matches that go on, and have all decided together."""
        new = [self._new(board, *self._action(state)) for board, state in self._going_on()]
        for _ in range(min(20, self._most - len(self._boards))):
            self._last += 1
            self._boards.append(self._last)
            new.append(self._new(self._last, *self._challenge()))
        self._bench.store.submit(new)
        self._bench.drain()

    def leaves(self) -> int:
        """Count the leaves of all logs."""
        return sum(self._bench.store.watermark().ends)

    def _new(self, board: int, actor: bytes, command: Command) -> Submission:
        self.commands[type(command).__name__.lower()] += 1
        return submission_of(self._bench.order(actor, command, board), 0, "door:test")

    def _going_on(self) -> Iterator[tuple[int, MatchState]]:
        found = self._bench.store.snapshots(self._boards)
        states = [unpack_snapshot(data).state for data in found]
        pairs = list(zip(self._boards, states, strict=True))
        self._boards = [board for board, state in pairs if state.started and not state.over]
        return (pair for pair in pairs if pair[0] in set(self._boards))

    def _challenge(self) -> Action:
        rules, count = self._chance.choice(GAMES)
        seats = tuple(self._chance.sample(self._players, count))
        gather = rules in DRAWN and self._chance.random() < 0.3
        terms = TimeControl(rated=self._chance.random() < 0.8)
        text = entropy_text(bytes(16), "word") if gather else b""
        start = StartMatch(
            rules=rules, options=(), seats=seats, gather=gather, terms=terms, text=text
        )
        if gather and self._chance.random() < 0.7:
            own = [Commitment(sha256(account).digest()) for account in seats]
            given = tuple(self._chance.choice([one, one, Commitment()]) for one in own)
            start = replace(start, text=b"", commitments=given)
        if self._chance.random() < 0.15:
            return SERVER_ACCOUNT, self._from_elsewhere(replace(start, gather=False, text=b""))
        return seats[0], start

    def _from_elsewhere(self, start: StartMatch) -> Command:
        """A match that was played on another server, and may be over there."""
        there = Match((start.seats[0], replace(start, commitments=UNSET)))
        for _ in range(self._chance.randrange(12)):
            if there.state.next is not None:
                there.do(
                    there.state.seats[there.state.next], PlayMove(text=self._move(there.state))
                )
        if not there.state.over and self._chance.random() < 0.3:
            there.do(self._chance.choice(start.seats), ResignMatch())
        source = MatchSource("record", "", 1, b"", 0, bytes(32))
        return import_command(there.state, start.seats, source)

    def _action(self, state: MatchState) -> Action:
        """Choose what somebody does next; now and then what is refused."""
        chance = self._chance
        if state.awaits_entropy:
            return self._before_a_draw(state, state.seats[chance.choice(state.waits)])
        if state.offer is not None and chance.random() < 0.5:
            others = [seat for seat in state.active_seats if seat != state.offer.seat]
            return state.seats[chance.choice(others)], AnswerOffer(accept=chance.random() < 0.5)
        odd = self._odd()
        if odd is not None:
            return state.seats[chance.choice(state.active_seats)], odd
        assert state.next is not None
        return state.seats[state.next], PlayMove(text=self._move(state))

    def _before_a_draw(self, state: MatchState, account: bytes) -> Action:
        """Accept, commit or reveal; or decline."""
        if self._chance.random() < 0.1:
            return account, DeclineMatch()
        if state.sealed:
            return account, RevealText(text=account)
        commitment = Commitment(sha256(account).digest()) if state.gather else UNSET
        return account, AnswerOffer(accept=True, commitment=commitment)

    def _odd(self) -> Command | None:
        """Choose something that is no move of who is to move, one time in ten."""
        kind = self._chance.choice(("draw", "undo", "abort", "pause", "transfer"))
        text = self._chance.choice(("a1", "done", "what is no move"))
        odd = (ResignMatch(), MakeOffer(kind=kind), PlayMove(text=text), DeclineMatch())
        nothing = 0.9
        return self._chance.choices([None, *odd], [nothing, 0.03, 0.03, 0.03, 0.01])[0]

    def _move(self, state: MatchState) -> str:
        rules = rules_by_id(state.rules)
        if len(state.seats) == 1 and self._chance.random() < 0.1:
            return "done"
        return str(self._chance.choice(list(islice(rules.legal_moves(position_of(state)), 6))))
