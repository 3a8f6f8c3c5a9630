"""The projections: pure folds, the feed that runs them on the logs, rebuilds."""

from typing import Final

from workers.projections.finished import (
    HeadToHeadProjection,
    HistoryProjection,
    StandingsProjection,
)
from workers.projections.lists import ListsProjection
from workers.projections.notices import NoticesProjection
from workers.projections.projection import Projection
from workers.projections.ratings import RatingsProjection
from workers.projections.scores import ScoresProjection

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
