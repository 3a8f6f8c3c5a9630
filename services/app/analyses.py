"""Analyses of matches: when there may be one, the request for it, its reading, and its making in a job.

An analysis is for after the end. While people play a match it would be help for one of them, so there is none,
and one that was made before an arbiter set the match back is not shown until the match is over again.
"""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from domain.engine.match_analysis import (
    ANALYSIS_VERSION,
    analyse_position,
    nodes_of_position,
)
from domain.engine.robot_move import match_seed
from domain.errors import Code, Refusal
from domain.match.events import AccountId
from domain.match.robots import robot_level
from domain.match.state import MatchState, Reason, first_position, positions
from domain.rules import MissingRules, rules_by_id
from domain.sentences import Text
from infra.process.failpoints import failpoint
from infra.store.analyses import Analyses, StoredAnalysis
from services.app.context import App
from services.app.damaged_match import refuse_damaged
from services.app.matches import check_ply, load_state
from services.app.sentences import SAY

if TYPE_CHECKING:
    from infra.store.analysis_jobs import AnalysisJobs, AnalysisProgress

_STORE_SECONDS: Final = 5.0
"""How much work is lost at most if a job is killed, but for the position under way."""

_TURN_SECONDS: Final = 300.0
"""A job that takes longer gets another turn, so that it never looks stuck on a busy machine."""


def check_may_be_analysed(board: int, state: MatchState) -> None:
    """Refuse a match that must not be analysed now: `too-early`, `not-started`, `unknown-rules`."""
    rules = rules_by_id(state.rules)
    if isinstance(rules, MissingRules):
        raise Refusal(Code.UNKNOWN_RULES, rules.text)
    if not state.over and len(state.seats) > 1 and not all(map(robot_level, state.seats)):
        raise Refusal(Code.TOO_EARLY, SAY("analysed-later", board=board))
    if state.result is not None and state.result.reason == Reason.TRANSFERRED:
        raise Refusal(Code.TOO_EARLY, SAY("analysed-elsewhere", board=board))
    check_ply(board, state, state.ply)


def may_be_analysed(board: int, state: MatchState) -> bool:
    """Return whether a match may be analysed now."""
    try:
        check_may_be_analysed(board, state)
    except Refusal:
        return False
    return True


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
    if not may_be_analysed(board, state):
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
        found = found.with_position(position)
        failpoint("analysis.position")
        if time.monotonic() - stored_at >= _STORE_SECONDS:
            stored.put(board, found)
            stored_at = time.monotonic()
    stored.put(board, found)
    return True


def _jobs(app: App) -> "AnalysisJobs":
    from infra.store.analysis_jobs import AnalysisJobs  # noqa: PLC0415 - RQ is slow to import, and not always needed

    return AnalysisJobs(app.queue)
