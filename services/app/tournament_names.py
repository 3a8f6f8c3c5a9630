"""The names of tournaments beside their matches."""

from collections.abc import Sequence

from domain.records import AccountId
from infra.projections.match_lists import MatchListRow
from infra.redis.reads import read_all
from services.app.context import App
from services.app.tournaments import visible_names


def tournaments_of_matches(
    app: App, viewer: AccountId | None, matches: Sequence[MatchListRow]
) -> dict[int, str]:
    """Return the names of the tournaments of these matches, by number, of those that an account may see.

    `viewer` is None for a guest. They are read in one round trip, and not at all where no match is of one.
    """
    numbers = list(dict.fromkeys(row.tournament for row in matches if row.tournament))
    if not numbers:
        return {}
    rows, said = read_all(
        app.data, app.tournaments.read_rows(numbers), app.tournament_texts.read(numbers)
    )
    return visible_names(app, viewer, {row.number: row.club for row in rows}, said)
