"""Corrections: one ruling that an arbiter applies to many matches, of the arbiter's own motion.

The command of each match has an id from the plan's id and the board. So a correction that was killed is run
again, and rules on those matches that it has not reached.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from enum import StrEnum
from itertools import chain
from typing import Annotated, Any, Final

import msgspec
import redis

from domain.errors import Code, Refusal
from domain.match.state import MatchState
from domain.records import AccountId
from domain.rules import game_keys
from infra.redis import keys
from infra.store.outcomes import parse
from services.app.context import Actor, App
from services.app.disputes import (
    RuleAction,
    TriedRuling,
    Verdict,
    check_arbiter,
    dispute,
    read_grants,
    ruling_of,
    try_ruling,
)
from services.app.matches import load_state
from services.app.play import OutcomePending, submit

CORRECTION_FRONT_END: Final = "correction"
"""The front end in the ids of the commands of corrections."""

MOST_BOARDS: Final = 1_000_000
"""Matches of one correction."""

_PAGE: Final = 500


class _PlanPart(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A part of a plan. What is unknown is refused, because it would be left out in silence."""


class PlannedRuling(_PlanPart, frozen=True):
    """The ruling on each match."""

    verdict: str
    """`back`, `result`, `draw`, `annul` or `time`."""
    ply: Annotated[int, msgspec.Meta(ge=0)] | None = None
    winners: tuple[str, ...] = ()
    """Sides or userids."""
    time: dict[str, str] = {}
    """By side or userid, such as `3d` or `12h`."""


class Selection(_PlanPart, frozen=True):
    """The matches of a game that ended in a time."""

    game: str
    ended_from: datetime
    ended_to: datetime
    """Not included."""
    reason: str = ""
    """Only those that ended for this reason, such as `time`; empty for any."""


class CorrectionPlan(_PlanPart, frozen=True):
    """A correction, as an operator writes it down."""

    id: Annotated[str, msgspec.Meta(pattern="^[A-Za-z0-9._-]{1,60}$")]
    """Never used for another correction."""
    arbiter: str
    """The userid of the arbiter in whose name it is."""
    ruling: PlannedRuling
    reasons: str
    boards: Annotated[
        tuple[Annotated[int, msgspec.Meta(ge=1)], ...], msgspec.Meta(max_length=MOST_BOARDS)
    ] = ()
    select: Selection | None = None
    """In place of boards."""

    @property
    def verdict(self) -> Verdict:
        """The ruling as an arbiter writes it; `usage` for time in another form."""
        planned = self.ruling
        grants = chain.from_iterable(
            read_grants(f"{who}={span}") for who, span in planned.time.items()
        )
        return Verdict(planned.verdict, planned.ply, planned.winners, tuple(grants))


class MatchStanding(StrEnum):
    """How a match stands towards a correction."""

    OPEN = "open"
    """It would be ruled on."""
    DONE = "done"
    """The correction has ruled on it."""
    REFUSED = "refused"
    """It can't be ruled on."""
    PENDING = "pending"
    """The ruling is submitted, and its outcome is not known."""


class CorrectedMatch(msgspec.Struct, frozen=True):
    """A match of a correction."""

    board: int
    standing: MatchStanding
    why: str = ""
    """Why it can't be ruled on, or what is not known."""
    state: MatchState | None = None
    tried: TriedRuling | None = None
    """The effect of the ruling, in a match that is open."""


def read_plan(data: bytes) -> CorrectionPlan:
    """Read a plan; `bad-request` with a sentence for bytes that are none."""
    try:
        plan = msgspec.json.decode(data, type=CorrectionPlan)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Refusal(Code.BAD_REQUEST, f"the plan can't be read: {error}") from None
    if bool(plan.boards) == (plan.select is not None):
        raise Refusal(Code.BAD_REQUEST, "a plan has either `boards` or `select`")
    if plan.select is not None:
        _check_selection(plan.select)
    return plan


def _check_selection(select: Selection) -> None:
    if select.game not in game_keys():
        raise Refusal(Code.UNKNOWN_GAME, f"there is no game {select.game[:24]!r}")
    if None in (select.ended_from.tzinfo, select.ended_to.tzinfo):
        raise Refusal(Code.BAD_REQUEST, "write times with their zone, such as 2026-11-01T00:00:00Z")


def _selected(app: App, select: Selection) -> Iterator[int]:
    first, end = (_ms(one) for one in (select.ended_from, select.ended_to))
    for start in range(0, MOST_BOARDS, _PAGE):
        rows = app.history.of(select.game, start=start, count=_PAGE)
        for row in rows:
            if first <= row.at < end and select.reason in ("", row.reason):
                yield row.board
        if len(rows) < _PAGE or rows[-1].at < first:
            return


def _ms(at: datetime) -> int:
    return int(at.astimezone(UTC).timestamp() * 1000)


class Correction:
    """A plan on its way through its matches."""

    def __init__(self, app: App, plan: CorrectionPlan) -> None:
        """Refuses an arbiter who is none, and reasons that are no text."""
        self._app = app
        self._plan = plan
        self._arbiter: AccountId = app.accounts.id_of(plan.arbiter)
        check_arbiter(app, self._arbiter)
        self._verdict = plan.verdict

    def boards(self) -> list[int]:
        """Return the matches of the plan in order; those of a selection as the lists have them now."""
        select = self._plan.select
        return sorted(set(self._plan.boards) if select is None else _selected(self._app, select))

    def look(self, board: int) -> CorrectedMatch:
        """Return how a match stands, and what the ruling would do; nothing is done."""
        app = self._app
        try:
            self._check_outside_archive(board)
            state = load_state(app, board)
            stored = app.store.outcome(board, self._actor(board).command_id())
            if stored is not None:
                return self._decided(board, state, stored)
            _check_unruled(state)
            names = app.accounts.name_of(state.seats)
            ruling = ruling_of(state, names, self._verdict, None)
            tried = try_ruling(self._arbiter, state, ruling, app.store.now())
        except Refusal as reason:
            return CorrectedMatch(board, MatchStanding.REFUSED, f"{reason.code}: {reason.sentence}")
        return CorrectedMatch(board, MatchStanding.OPEN, "", state, tried)

    def rule(self, board: int) -> CorrectedMatch:
        """Rule on a match, unless that was done; a repetition never rules twice."""
        found = self.look(board)
        if found.standing is not MatchStanding.OPEN or found.state is None:
            return found
        app, action = self._app, RuleAction(self._verdict, self._plan.reasons, own_motion=True)
        try:
            submit(app, dispute(app, self._actor(board), board, action))
        except OutcomePending as pending:
            return CorrectedMatch(board, MatchStanding.PENDING, str(pending), found.state)
        except Refusal as reason:
            return CorrectedMatch(board, MatchStanding.REFUSED, f"{reason.code}: {reason.sentence}")
        return CorrectedMatch(board, MatchStanding.DONE, "", found.state, found.tried)

    def _check_outside_archive(self, board: int) -> None:
        if _in_archive(self._app.data, board, self._app.store.shards):
            raise Refusal(Code.MATCH_OVER, "it is in the archive, where no ruling changes it")

    def _decided(self, board: int, state: MatchState, stored: bytes) -> CorrectedMatch:
        """Return how a match stands on which the correction was decided before."""
        outcome = parse(stored)
        if outcome.accepted:
            return CorrectedMatch(board, MatchStanding.DONE, "", state)
        return CorrectedMatch(
            board, MatchStanding.REFUSED, f"{outcome.code}: {outcome.sentence}", state
        )

    def _actor(self, board: int) -> Actor:
        return Actor(self._arbiter, CORRECTION_FRONT_END, f"{self._plan.id} {board}")


def _check_unruled(state: MatchState) -> None:
    """Refuse a match in which an arbiter has ruled by itself."""
    if ruled := [case for case in state.cases if case.ruled_at]:
        raise Refusal(
            Code.ALREADY_RULED, f"an arbiter has ruled in it already, in case {ruled[-1].claim}"
        )


def _in_archive(client: redis.Redis, board: int, shards: int) -> bool:
    name, bit = keys.archive_mark(board, shards)
    found: Any = client.getbit(name, bit)
    return bool(found)
