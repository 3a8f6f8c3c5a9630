"""The names of tournaments beside their matches and in notices, for those who may see them."""

from collections.abc import Mapping, Sequence

from domain.aggregates import TournamentSnapshot, unpack
from domain.errors import Refusal
from domain.records import AccountId
from infra.people.tournament_texts import TournamentText
from infra.projections.match_lists import MatchListRow
from infra.redis.reads import read_all
from services.app.context import App
from services.app.tournaments import sees_club


def visible_names(
    app: App,
    viewer: AccountId | None,
    clubs_of: Mapping[int, str],
    said: Mapping[int, TournamentText],
) -> dict[int, str]:
    """Return the names of tournaments that have started to take entries, by number, of those an account may see.

    `clubs_of` has for each the club whose members alone see it, or an empty text.
    """
    return {
        number: said[number].name or f"#{number}"
        for number, club in clubs_of.items()
        if not club or sees_club(app, viewer, club)
    }


def names_in_notices(app: App, viewer: AccountId, numbers: Sequence[int]) -> dict[int, str]:
    """Return the names of tournaments as `visible_names` does, by themselves, because their list may come later."""
    try:
        stored = app.store.snapshots(numbers)
    except Refusal:  # one is in the archive, which is away; a row without a form has no club yet
        rows = app.tournaments.rows(numbers)
        clubs_of = {row.number: row.club for row in rows if row is not None and row.form}
    else:
        clubs_of = {
            number: one.state.terms.club
            for number, one in zip(numbers, map(unpack, stored), strict=True)
            if isinstance(one, TournamentSnapshot) and one.state.terms is not None
        }
    return (
        visible_names(app, viewer, clubs_of, app.tournament_texts.of(numbers)) if clubs_of else {}
    )


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
