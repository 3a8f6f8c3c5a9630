"""A server's life by chance: matches of all kinds, each command decided and committed for real."""

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from hashlib import sha256
from itertools import islice
from typing import Any

from msgspec import UNSET
from msgspec.structs import replace

from domain.clocks.time_control import DAY, TimeControl
from domain.fairness import Commitment, entropy_text
from domain.match.commands import (
    AnswerOffer,
    Command,
    DeclineMatch,
    GiveRuling,
    MakeAppeal,
    MakeClaim,
    MakeOffer,
    PlayMove,
    ResignMatch,
    RevealText,
    StartMatch,
)
from domain.match.events import MatchSource
from domain.match.history import unpack_snapshot
from domain.match.imports import import_command
from domain.match.state import MatchState, position_of
from domain.records import SERVER_ACCOUNT
from domain.rules import rules_by_id
from infra.people.seen_texts import SeenTexts
from infra.store.draw_texts import DrawTexts
from infra.store.gateway import submission_of
from infra.store.port import Submission
from tests.helpers.bench import Bench
from tests.helpers.given import Match

GAMES = (
    ("torere/1", 2), ("line/1", 2), ("pow2/1", 2), ("halves/1", 2), ("halves/1", 3),
    ("powerdrain/1", 2), ("one/1", 1), ("jump/1", 1),
)  # fmt: skip
DRAWN = ("halves/1", "powerdrain/1")
ARBITERS = (b"arbiter1", b"arbiter2", b"arbiter3")
TEXT = bytes(32)
LAPSE = 14 * DAY
Action = tuple[bytes, Command]


class Corpus:
    """Players by chance, on a bench; with the same seed the commands are the same.

    `disputes` is the share of matches that are disputed at their end, up to the last ruling.
    """

    def __init__(
        self,
        bench: Bench,
        seed: int = 1,
        players: int = 30,
        matches: int = 120,
        disputes: float = 0.2,
    ) -> None:
        self._bench = bench
        self._words = DrawTexts(bench.client)
        self._chance = random.Random(seed)
        self._players = [b"player%02d" % number for number in range(players)]
        self._most = matches
        self._disputes = disputes
        self._over: list[int] = []
        """Boards of matches that have just ended."""
        self._boards: list[int] = []
        self._last = 0
        self.commands: Counter[str] = Counter()

    def step(self) -> None:
        """Send one command in each of the matches that go on, and have all decided together."""
        new = [self._new(board, *self._action(board, state)) for board, state in self._going_on()]
        for _ in range(min(20, self._most - len(self._boards))):
            self._last += 1
            self._boards.append(self._last)
            new.append(self._new(self._last, *self._challenge()))
        self._run(new)
        disputed = [board for board in self._over if self._chance.random() < self._disputes]
        for command_of in (
            *(self._claim, self._rule, self._dismiss),
            *(self._appeal, self._rule_again, self._dismiss_again),
        ):
            # some of them may be in the archive by now
            here = [
                (board, state)
                for board, state in self._read(disputed)
                if state.started and (state.cases or command_of == self._claim)
            ]
            self._run([self._new(board, *command_of(state)) for board, state in here])
        self._boards += disputed  # some go on

    def _run(self, new: Sequence[Submission]) -> None:
        if new:
            self._bench.store.submit(new)
            self._bench.drain()

    def _read(self, boards: Sequence[int]) -> list[tuple[int, MatchState]]:
        found = self._bench.store.snapshots(boards)
        states = [unpack_snapshot(data).state for data in found]
        return list(zip(boards, states, strict=True))

    def leaves(self) -> int:
        return sum(self._bench.store.watermark().ends)

    def _new(self, board: int, actor: bytes, command: Command) -> Submission:
        self.commands[type(command).__name__.lower()] += 1
        return submission_of(self._bench.order(actor, command, board), 0, "reply:test")

    def _going_on(self) -> Iterator[tuple[int, MatchState]]:
        pairs = self._read(self._boards)
        self._over = [board for board, state in pairs if state.over and not state.cases]
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
        by_name = count > 1 and (not gather or start.commitments is not UNSET)
        return seats[0], self._by_name(start) if by_name and self._chance.random() < 0.4 else start

    def _by_name(self, start: StartMatch) -> StartMatch:
        """The start with its other players invited; half of the deals are the server's."""
        if not start.gather or self._chance.random() < 0.5:
            return replace(start, lapse=LAPSE)
        own = [self._words.commitment(self._last, start.seats[0])]
        given = (*own, *[Commitment()] * (len(start.seats) - 1))
        return replace(start, lapse=LAPSE, commitments=given, server_deals=True)

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

    def _action(self, board: int, state: MatchState) -> Action:
        """Choose what somebody does next; now and then what is refused."""
        chance = self._chance
        if state.awaits_entropy:
            return self._before_a_draw(board, state, state.seats[chance.choice(state.waits)])
        if state.invited and (state.next in state.invited or chance.random() < 0.5):
            answer = chance.choice([AnswerOffer(accept=True)] * 9 + [DeclineMatch()])
            return state.seats[chance.choice(state.invited)], answer
        if state.offer is not None and chance.random() < 0.5:
            others = [seat for seat in state.active_seats if seat != state.offer.seat]
            return state.seats[chance.choice(others)], AnswerOffer(accept=chance.random() < 0.5)
        odd = self._odd()
        if odd is not None:
            return state.seats[chance.choice(state.active_seats)], odd
        assert state.next is not None
        return state.seats[state.next], PlayMove(text=self._move(state))

    def _before_a_draw(self, board: int, state: MatchState, account: bytes) -> Action:
        """Accept, commit or reveal; or decline."""
        if self._chance.random() < 0.1:
            if state.sealed and board % 3:  # of the others no browser was seen
                SeenTexts(self._bench.client).note(account, [board], state.at)
            return account, DeclineMatch()
        if state.sealed:
            if state.offer is not None or self._chance.random() < 0.1:
                return self._chance.choice(state.seats), MakeOffer(kind="deal")
            return account, RevealText(text=account)
        if state.invitation is not None and state.invitation.server_deals:
            own = self._words.commitment(board, account)
            return account, AnswerOffer(accept=True, commitment=own)
        commitment = Commitment(sha256(account).digest()) if state.gather else UNSET
        return account, AnswerOffer(accept=True, commitment=commitment)

    def _claim(self, state: MatchState) -> Action:
        actor = self._chance.choice([*state.seats, ARBITERS[0]])
        return actor, MakeClaim(ply=self._chance.randrange(state.ply + 1), text=TEXT)

    def _rule(self, state: MatchState) -> Action:
        """Rule on the last case; now and then in a way that is refused."""
        ruling = GiveRuling(claim=state.cases[-1].claim, upheld=True, text=TEXT)
        seat = self._chance.randrange(len(state.seats))
        changes: list[dict[str, Any]] = [
            {"upheld": False},
            {"annul": True},
            {"winners": (seat,)},
            {"back_to": self._chance.randrange(state.ply + 1)},
            {"back_to": self._chance.randrange(state.ply + 1), "time": ((seat, 86_400_000),)},
        ]
        return ARBITERS[0], replace(ruling, **self._chance.choice(changes))

    def _appeal(self, state: MatchState) -> Action:
        return self._chance.choice(state.seats), MakeAppeal(claim=state.cases[-1].claim, text=TEXT)

    def _rule_again(self, state: MatchState) -> Action:
        return ARBITERS[1], self._rule(state)[1]

    def _dismiss(self, state: MatchState) -> Action:
        """Rule, if the first ruling was refused."""
        return ARBITERS[2], GiveRuling(claim=state.cases[-1].claim, upheld=False, text=TEXT)

    def _dismiss_again(self, state: MatchState) -> Action:
        return ARBITERS[1], self._dismiss(state)[1]

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
