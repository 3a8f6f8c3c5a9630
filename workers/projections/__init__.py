"""Runs the folds of `infra.projections`: the log reader, the feed, rebuilds and checks."""

from typing import Final

from infra.projections.cases import CasesProjection
from infra.projections.finished_matches import FinishedMatchesProjection
from infra.projections.head_to_head import HeadToHeadProjection
from infra.projections.leaderboards import LeaderboardsProjection
from infra.projections.match_list_fold import MatchListsProjection
from infra.projections.notice_fold import NoticesProjection
from infra.projections.projection import Projection
from infra.projections.ratings import RatingsProjection
from infra.projections.robots import RobotTurnsProjection
from infra.projections.standings import StandingsProjection
from infra.projections.tournaments import TournamentsProjection

PROJECTIONS: Final[tuple[Projection, ...]] = (
    MatchListsProjection(),
    NoticesProjection(),
    LeaderboardsProjection(),
    FinishedMatchesProjection(),
    StandingsProjection(),
    HeadToHeadProjection(),
    RatingsProjection(),
    CasesProjection(),
    RobotTurnsProjection(),
    TournamentsProjection(),
)
"""Every one of `infra.projections.buckets`; a test keeps them complete."""
