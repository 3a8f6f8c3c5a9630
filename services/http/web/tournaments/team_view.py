"""The teams of a tournament, as its page shows them."""

from collections.abc import Mapping, Sequence

import msgspec

from domain.records import AccountId
from infra.languages.wording import Wording
from services.app.context import App
from services.app.names import names_of
from services.app.teams import TeamRow, matches_of_teams, teams_of
from services.app.tournaments import TournamentView
from services.words.tournaments import points_text, team_name


class TeamPlayer(msgspec.Struct, frozen=True):
    """A player whom a captain has named."""

    name: str
    """With a blank in it for an account that was erased."""
    entered: bool


class ShownTeam(msgspec.Struct, frozen=True):
    """A team, with its row of the table once the tournament has started."""

    name: str
    captain: str
    own: bool
    """Whether the visitor is its captain."""
    wants: bool
    """Whether it names the visitor, who has not entered."""
    players: tuple[TeamPlayer, ...]
    reserves: tuple[TeamPlayer, ...]
    place: int = 0
    match_points: int = 0
    points: str = ""
    cells: tuple[tuple[str, ...], ...] = ()
    """Its points against each team in the order of places, match by match; empty against itself."""
    left: int = 0
    """How many matches of its players have no result."""


def shown_teams(
    app: App, view: TournamentView, words: Wording, viewer: bytes | None
) -> tuple[ShownTeam, ...]:
    """Return the teams by place, or before the start in the order in which they were named."""
    rows = teams_of(view)
    accounts = [account for row in rows for account in (row.captain, *row.players, *row.reserves)]
    names = names_of(app, accounts, words)
    against = _against(view, words)
    return tuple(_team(row, rows, names, against, words, viewer) for row in rows)


def _against(view: TournamentView, words: Wording) -> dict[tuple[int, int], list[str]]:
    """Return what each team has made against each other, match by match."""
    found: dict[tuple[int, int], list[str]] = {}
    for match in matches_of_teams(view):
        for pair, made in zip((match.teams, match.teams[::-1]), match.points, strict=True):
            found.setdefault(pair, []).append(points_text(made, words))
    return found


def _team(
    row: TeamRow,
    rows: Sequence[TeamRow],
    names: Mapping[AccountId, str],
    against: Mapping[tuple[int, int], Sequence[str]],
    words: Wording,
    viewer: bytes | None,
) -> ShownTeam:
    def players(accounts: Sequence[AccountId]) -> tuple[TeamPlayer, ...]:
        return tuple(TeamPlayer(names[one], one in row.entered) for one in accounts)

    shown = ShownTeam(
        name=team_name(names[row.captain], words),
        captain=names[row.captain],
        own=row.captain == viewer,
        wants=viewer in (*row.players, *row.reserves) and viewer not in row.entered,
        players=players(row.players),
        reserves=players(row.reserves),
    )
    if row.line is None:
        return shown
    others = [one.line.team for one in rows if one.line is not None]
    return msgspec.structs.replace(
        shown,
        place=row.line.place,
        match_points=row.line.match_points,
        points=points_text(row.line.points, words),
        cells=tuple(tuple(against.get((row.line.team, one), ())) for one in others),
        left=row.line.left,
    )
