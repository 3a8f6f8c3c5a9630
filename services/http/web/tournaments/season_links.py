"""The way to the divisions of a league's seasons, on its page."""

import msgspec

from domain.tournament.seasons import season_sections
from infra.languages.wording import Wording
from services.app.tournaments import TournamentView
from services.words.tournaments import division_at


class SeasonLink(msgspec.Struct, frozen=True):
    """A link to a table of a league."""

    text: str
    section: int
    """The number of the table, from 1."""
    here: bool
    """Whether the page shows it, or a division of it."""


class SeasonLinks(msgspec.Struct, frozen=True):
    """Links to the seasons, the newest first, and to the divisions of the one that is shown."""

    seasons: tuple[SeasonLink, ...]
    divisions: tuple[SeasonLink, ...]


def season_links(view: TournamentView, words: Wording) -> SeasonLinks | None:
    """Return the links of a league; None before the start."""
    state = view.state
    if not state.sections:
        return None
    shown, division = division_at(state, view.first)
    firsts = {
        season: next(at for at, one in enumerate(state.sections, 1) if one.stage == season)
        for season in range(state.stage, 0, -1)
    }
    seasons = (
        SeasonLink(words.gettext("Season %(season)s", season=season), at, season == shown)
        for season, at in firsts.items()
    )
    divisions = (
        SeasonLink(
            words.gettext("Division %(division)s", division=number),
            firsts[shown] + number - 1,
            number == division,
        )
        for number in range(1, len(season_sections(state, shown)) + 1)
    )
    return SeasonLinks(tuple(seasons), tuple(divisions))
