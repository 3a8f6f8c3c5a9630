"""Cases as players and arbiters read them: each claim with its rulings, its appeal, and their texts."""

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from domain.errors import Code, Refusal
from domain.match.disputes import APPEAL_MS
from domain.match.events import Appealed, Claimed, ResultChanged, Ruled, SetBack, TimeGiven
from domain.match.evolve import ply_after
from domain.match.history import EventEnvelope, decode_event
from domain.match.state import MatchState
from domain.records import AccountId
from infra.people.statements import Statement
from infra.projections.cases import OpenCase
from services.app.context import App
from services.app.damaged_match import refuse_damaged
from services.app.disputes import check_arbiter, check_may_see
from services.app.matches import load_state, statements_of
from services.app.sentences import SAY

PAGE: Final = 20
"""Cases of a page of the queue."""

Remedy = SetBack | ResultChanged | TimeGiven


class CaseStep(msgspec.Struct, frozen=True):
    """A claim, a ruling or an appeal."""

    event: EventEnvelope
    text: str | None
    """None for a text that was erased."""
    salt: bytes
    """Together with the text it hashes to the digest in the event; empty for an erased text."""
    remedies: tuple[Remedy, ...] = ()
    """The changes in the match that followed a ruling."""

    @property
    def body(self) -> Claimed | Ruled | Appealed:
        """The event itself."""
        body = self.event.body
        assert isinstance(body, Claimed | Ruled | Appealed)
        return body

    @property
    def kind(self) -> str:
        """`claim`, `ruling` or `appeal`."""
        return {Claimed: "claim", Ruled: "ruling", Appealed: "appeal"}[type(self.body)]


class CaseView(msgspec.Struct, frozen=True):
    """A claim, or a ruling without one, with all that follows."""

    board: int
    number: int
    """That of the event it began with."""
    ply: int
    steps: tuple[CaseStep, ...]

    @property
    def waits(self) -> bool:
        """Whether it waits for a ruling."""
        return self.steps[-1].kind != "ruling"

    @property
    def final(self) -> bool:
        """Whether an arbiter has ruled on its appeal."""
        return not self.waits and any(step.kind == "appeal" for step in self.steps)

    @property
    def appeal_until(self) -> int:
        """Until when an appeal is possible, ms; 0 if none is."""
        return 0 if self.waits or self.final else self.steps[-1].event.at + APPEAL_MS

    @property
    def arbiters(self) -> list[AccountId]:
        """The arbiters who have ruled on it."""
        return [step.event.actor for step in self.steps if step.kind == "ruling"]

    @property
    def since(self) -> int:
        """The time of its last event, ms."""
        return self.steps[-1].event.at

    def can_appeal(self, now: int) -> bool:
        """Return whether a player can still appeal at that time, ms."""
        return now < self.appeal_until


class QueuedCase(msgspec.Struct, frozen=True):
    """A case in the arbiters' queue, with its match."""

    case: OpenCase
    state: MatchState | None
    """None for a match that can't be read."""
    view: CaseView | None


def cases_of(app: App, account: AccountId, board: int) -> tuple[MatchState, list[CaseView]]:
    """Return a match and its cases, the first claimed first; `not-a-player` for anybody else."""
    state = load_state(app, board)
    check_may_see(app, account, state)
    return state, _cases(app, board, state)


def case_of(
    app: App, account: AccountId, board: int, number: int | None = None
) -> tuple[MatchState, CaseView]:
    """Return a case of a match, by default the one that waits, or else the last.

    `unknown-claim` for a match without such a case.
    """
    state, found = cases_of(app, account, board)
    if number is not None:
        found = [case for case in found if case.number == number]
    if not found:
        if number is None:
            raise Refusal(Code.UNKNOWN_CLAIM, SAY("no-case", board=board))
        raise Refusal(Code.UNKNOWN_CLAIM, SAY("no-such-case", board=board, number=number))
    return state, next((case for case in found if case.waits), found[-1])


def queue_of(app: App, account: AccountId, start: int, count: int = PAGE) -> list[QueuedCase]:
    """Return the cases that wait for a ruling, the oldest first; `not-an-arbiter`."""
    check_arbiter(app, account)
    return [_queued(app, one) for one in app.cases.of(start, count)]


def _queued(app: App, one: OpenCase) -> QueuedCase:
    try:
        state = load_state(app, one.board)
        views = [case for case in _cases(app, one.board, state) if case.number == one.claim]
    except Refusal:
        return QueuedCase(one, None, None)
    return QueuedCase(one, state, views[0] if views else None)


def _cases(app: App, board: int, state: MatchState) -> list[CaseView]:
    if not state.cases:
        return []
    with refuse_damaged(app.damage, board):
        history = [decode_event(data) for data in app.store.events(board)]
    texts = {statement.digest: statement for statement in statements_of(app, board)}
    found: dict[int, tuple[int, list[CaseStep]]] = {}
    for step, ply in _steps(history, texts):
        body, seq = step.body, step.event.seq
        number = seq if isinstance(body, Claimed) or body.claim is None else body.claim
        at = body.ply if isinstance(body, Claimed) else ply
        found.setdefault(number, (at, []))[1].append(step)
    return [CaseView(board, number, at, tuple(steps)) for number, (at, steps) in found.items()]


def _steps(
    history: Sequence[EventEnvelope], texts: dict[bytes, Statement]
) -> Iterator[tuple[CaseStep, int]]:
    """Return each step, with the ply at which the match stood."""
    ply = 0
    for place, event in enumerate(history):
        if isinstance(event.body, Claimed | Ruled | Appealed):
            statement = texts.get(event.body.text)
            remedies = tuple(
                one.body
                for one in history[place + 1 :]
                if one.command == event.command and isinstance(one.body, Remedy)
            )
            yield (
                CaseStep(
                    event,
                    statement.text if statement else None,
                    statement.salt if statement else b"",
                    remedies,
                ),
                ply,
            )
        else:
            ply = ply_after(event.body, ply)
