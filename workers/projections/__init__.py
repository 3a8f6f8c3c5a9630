"""Runs the folds of `infra.projections`: the log reader, the feed, rebuilds and checks."""

from typing import Final

from infra.projections.head_to_head import HeadToHeadProjection
from infra.projections.history import HistoryProjection
from infra.projections.lists import ListsProjection
from infra.projections.notices import NoticesProjection
from infra.projections.projection import Projection
from infra.projections.ratings import RatingsProjection
from infra.projections.scores import ScoresProjection
from infra.projections.standings import StandingsProjection

PROJECTIONS: Final[tuple[Projection, ...]] = (
    ListsProjection(),
    NoticesProjection(),
    ScoresProjection(),
    HistoryProjection(),
    StandingsProjection(),
    HeadToHeadProjection(),
    RatingsProjection(),
)
"""Every one of `infra.projections.specs`; a test keeps them complete."""
