"""Reading matches: as they stand or stood, drawn, and with the part that one player may see.

Analyses of matches: when there may be one, the request for it, its reading, and its making in a job.

An analysis is for after the end. While people play a match it would be help for one of them, so there is none,
and one that was made before an arbiter set the match back is not shown until the match is over again.
"""

import time
from collections.abc import Callable, Sequence
from threading import Lock
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import msgspec
import redis

from domain.engine.match_analysis import (
    ANALYSIS_VERSION,
    analyse_position,
    nodes_of_position,
)
from domain.engine.robot_move import match_seed
from domain.errors import Code, Refusal
from domain.match.conditional_moves import ConditionalMoves, unpack
from domain.match.deals import DealKind, deal_kind
from domain.match.events import MatchPaired
from domain.match.history import PackedSnapshot, Snapshot, decode_event, unpack_snapshot
from domain.match.state import MatchState, Reason, first_position, positions, robot_level
from domain.records import AccountId
from domain.rules import AnyRules, MissingRules, Seat, rules_by_id
from domain.sentences import Text
from infra.people.statements import ROUND_ENDED, Statement
from infra.process.failpoints import failpoint
from infra.store.analyses import Analyses, StoredAnalysis
from infra.store.watermarks import read_published_sizes
from services.app.context import App
from services.app.damaged_match import refuse_damaged
from services.app.drafts import draft_of
from services.app.sentences import SAY

if TYPE_CHECKING:
    from infra.store.analyses import AnalysisJobs, AnalysisProgress


MatchPhase: TypeAlias = Literal["waiting", "active", "over"]


def load_snapshot(app: App, board: int) -> Snapshot:
    """Return a match as it is stored; `unknown-board`, or `damaged` if it can't be read."""
    (data,) = app.store.snapshots([board])
    return check_exists(board, read_snapshot(app, board, data))


def read_snapshot(app: App, board: int, data: PackedSnapshot | None) -> Snapshot:
    """Return a stored snapshot, an empty one for None; `damaged` if it can't be read."""
    with refuse_damaged(app.damage, board):
        return unpack_snapshot(data)


def load_state(app: App, board: int) -> MatchState:
    """Return a match as it stands; refused as `load_snapshot` does."""
    return load_snapshot(app, board).state


def check_exists(board: int, snapshot: Snapshot) -> Snapshot:
    """Return the snapshot, unless it is that of a board without a match: `unknown-board`."""
    if not snapshot.state.started:
        raise Refusal(Code.UNKNOWN_BOARD, SAY("no-board", board=board))
    return snapshot


def phase_of(state: MatchState) -> MatchPhase:
    """Return whether a match waits for consent or its draw, is going on, or is over."""
    if state.over:
        return "over"
    return "waiting" if state.awaits_entropy or state.invitation else "active"


def seals_its_draw(state: MatchState) -> bool:
    """Return whether the draw of a match is still to come, from texts to which its players commit."""
    if state.gather is None or state.over:
        return False
    return state.invitation is None or not state.invitation.server_deals


def running_seat(state: MatchState) -> Seat | None:
    """Return the seat whose clock the match counts, unless it is paused; None before and after the play."""
    return None if state.over or state.invitation else state.next


def paused_since(state: MatchState) -> int | None:
    """Return when the pause of a match began, ms; None without a pause."""
    return None if state.clock is None or state.invitation else state.clock.paused or None


def check_ply(board: int, state: MatchState, ply: int) -> int:
    """Return the ply, unless the match has not come to it (`unknown-ply`) or has no position.

    A match has no position (`not-started`) before its draw.
    """
    if not 0 <= ply <= state.ply:
        raise Refusal(Code.UNKNOWN_PLY, SAY("no-ply-yet", board=board, now=state.ply, ply=ply))
    if state.has_no_position:
        if state.over:
            raise Refusal(Code.NOT_STARTED, SAY("ended-early", board=board))
        raise Refusal(Code.NOT_STARTED, SAY("no-position", board=board))
    return ply


def preferred_display(app: App, account: AccountId, rules: AnyRules) -> str:
    """Return the display that an account has chosen for a game, or the game's first."""
    profile = app.accounts.record_of(account)
    # an erased account is no failure, because the drawing may answer an accepted move
    chosen = dict(profile.displays).get(rules.key, "") if profile else ""
    return chosen if chosen in rules.displays else rules.displays[0]


class PrivatePart(msgspec.Struct, frozen=True):
    """The part of a match that only one player may see."""

    conditional_moves: ConditionalMoves
    draft: str
    """The move that the player submitted and has not confirmed; empty without one."""


def private_part(app: App, board: int, state: MatchState, account: AccountId) -> PrivatePart | None:
    """Return the part of a match that a player alone may see; None for an account that does not play."""
    if account not in state.seats:
        return None
    ((_, data),) = app.store.snapshots_with_conditional_moves([board])
    stored = unpack(data).get(state.seats.index(account), ConditionalMoves())
    draft = draft_of(app, account, board, state)
    return PrivatePart(stored, draft.text if draft else "")


_STORE_SECONDS: Final = 5.0
"""How much work is lost at most if a job is killed, but for the position under way."""

_TURN_SECONDS: Final = 300.0
"""A job that takes longer gets another turn, so that it never looks stuck on a busy machine."""


def check_may_be_analysed(board: int, state: MatchState) -> None:
    """Refuse a match that must not be analysed now: `too-early`, `not-started`, `unknown-rules`."""
    rules = rules_by_id(state.rules)
    if isinstance(rules, MissingRules):
        raise Refusal(Code.UNKNOWN_RULES, rules.text)
    if _goes_on_among_people(state):
        raise Refusal(Code.TOO_EARLY, SAY("analysed-later", board=board))
    if _goes_on_elsewhere(state):
        raise Refusal(Code.TOO_EARLY, SAY("analysed-elsewhere", board=board))
    check_ply(board, state, state.ply)


def may_be_analysed(state: MatchState) -> bool:
    """Return whether a match may be analysed now."""
    return not (
        isinstance(rules_by_id(state.rules), MissingRules)
        or _goes_on_among_people(state)
        or _goes_on_elsewhere(state)
        or state.has_no_position
    )


def _goes_on_among_people(state: MatchState) -> bool:
    return not state.over and len(state.seats) > 1 and not all(map(robot_level, state.seats))


def _goes_on_elsewhere(state: MatchState) -> bool:
    return state.result is not None and state.result.reason == Reason.TRANSFERRED


def analysis_of(
    app: App, board: int, state: MatchState
) -> "StoredAnalysis | AnalysisProgress | None":
    """Return the analysis of a match, or how far the job is; None if nobody has asked for it.

    Refused as `check_may_be_analysed` does, and as `unavailable` if its process was killed again and again.
    """
    check_may_be_analysed(board, state)
    return stored_analysis(app, board, state) or _jobs(app).progress(board, state.seq)


def stored_analysis(app: App, board: int, state: MatchState) -> StoredAnalysis | None:
    """Return the analysis of a match that may be analysed, or None if it is not made."""
    found = Analyses(app.data).get(board, state)
    return found if found is not None and found.whole else None


def start_analysis(
    app: App, account: AccountId, board: int, state: MatchState
) -> "StoredAnalysis | AnalysisProgress":
    """Ask for the analysis of a match, unless it is there already.

    Refused as `check_may_be_analysed` and `AnalysisJobs.request` do.
    """
    known = analysis_of(app, board, state)
    if known is not None:
        return known
    return _jobs(app).request(board, state.seq, state.ply + 1, account)


def score_bound(state: MatchState) -> Text:
    """Return the best score that is known to be possible in a puzzle; empty for other games."""
    score = rules_by_id(state.rules).score(first_position(state))
    return score.limit if score else ""


def analyse(app: App, board: int, stopping: Callable[[], bool] = lambda: False) -> bool:
    """Make the analysis of a match; return False if it was interrupted, and is to go on later.

    What is made is stored, and is the beginning of the next turn. Nothing is made for a match that must not be
    analysed any more.
    """
    state = load_state(app, board)
    if not may_be_analysed(state):
        return True  # an arbiter has set it back since
    with refuse_damaged(app.damage, board):
        rules, places = rules_by_id(state.rules), positions(state)
    moves = [*state.first_moves(state.ply), ""]
    stored = Analyses(app.data)
    found = stored.get(board, state) or StoredAnalysis(ANALYSIS_VERSION, state.seq, state.ply, ())
    nodes, jobs = nodes_of_position(rules, len(places)), _jobs(app)
    began_at = stored_at = time.monotonic()
    for ply in range(len(found.positions), len(places)):
        jobs.report(ply, len(places))
        out_of_time = time.monotonic() - began_at >= _TURN_SECONDS
        if stopping() or out_of_time or jobs.robots_wait():
            stored.put(board, found)
            return False
        seed = match_seed(board, state.rules, state.setup, ply)
        position = analyse_position(rules, places[ply], moves[ply], nodes, seed)
        if ply < state.opening:
            # no player chose the moves of an opening
            position = msgspec.structs.replace(position, better=())
        found = found.with_position(position)
        failpoint("analysis.position")
        if time.monotonic() - stored_at >= _STORE_SECONDS:
            stored.put(board, found)
            stored_at = time.monotonic()
    stored.put(board, found)
    return True


def _jobs(app: App) -> "AnalysisJobs":
    from infra.store.analyses import AnalysisJobs  # noqa: PLC0415 - RQ is slow to import, and not always needed

    return AnalysisJobs(app.queue)


def statements_of(app: App, board: int) -> list[Statement]:
    """Return the texts of claims and rulings in a match.

    A ruling that ends a match because a player has left its tournament has the reasons of the withdrawal, which are
    stored once, with the tournament; at the end of a round they are always the same.
    """
    found = app.statements.of_match(board)
    for data in filter(None, app.store.first_events([board])):
        body = decode_event(data).body
        if isinstance(body, MatchPaired):
            found += [*app.statements.of_match(body.tournament), ROUND_ENDED]
    return found


def staff_at_deal(app: App, board: int, state: MatchState) -> tuple[Seat, ...]:
    """Return the seats of arbiters in a match of several whose deal the server's operator can choose.

    Arbiters stand for all who run the server. None in a sealed deal, and where chance sets up nothing.
    """
    staff = _has_deal(state) and [
        seat for seat, one in enumerate(state.seats) if app.is_arbiter(one)
    ]
    if not staff:
        return ()
    return () if _kind(app, board) in (None, DealKind.SEALED) else tuple(staff)


def was_sealed(app: App, board: int, state: MatchState) -> bool:
    """Return whether the players of a match kept the texts for its deal themselves, as in a rematch again."""
    return _has_deal(state) and _kind(app, board) in (DealKind.SEALED, DealKind.AGREED)


def _has_deal(state: MatchState) -> bool:
    chance = state.setup is not None or (state.awaits_entropy and not state.over)
    return chance and len(state.seats) > 1


def _kind(app: App, board: int) -> DealKind | None:
    return deal_kind(decode_event(data).body for data in app.store.events(board))


SIZES_SECONDS: Final = 1.0


class RecentPublishedSizes:
    """How far the logs are published, as of a second ago, because a page must not cost a read for it; thread-safe."""

    def __init__(self, client: Callable[[], redis.Redis], shards: Callable[[], int]) -> None:
        self._client = client
        self._shards = shards
        self._lock = Lock()
        self._due = 0.0
        """When they are read again, by the monotonic clock."""
        self._sizes: Sequence[int] = ()

    def of(self, shard: int) -> int:
        """Return how many leaves of a shard's log are published."""
        with self._lock:
            if time.monotonic() >= self._due:
                found = read_published_sizes(self._client(), self._shards())
                self._sizes = [one.size for one in found]
                self._due = time.monotonic() + SIZES_SECONDS
            return self._sizes[shard]
