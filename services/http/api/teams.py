"""Teams of a tournament as programs read and name them."""

from typing import Annotated

import msgspec

from services.app.context import App
from services.app.names import userids_of
from services.app.teams import TeamRow, teams_of
from services.app.tournaments import TournamentView
from services.http.api.bodies import RequestBody


class NamedTeam(RequestBody, frozen=True):
    """The players whom you name for your team."""

    userids: Annotated[
        tuple[Annotated[str, msgspec.Meta(max_length=24)], ...], msgspec.Meta(max_length=40)
    ]
    """In the order in which they play, in place of those before; those beyond the size of a team are reserves."""


class TeamOfPlayers(msgspec.Struct, frozen=True):
    """A team of a tournament."""

    captain: str | None
    """Userid; null for a deleted account, as in all lists of this team."""
    players: tuple[str | None, ...]
    """In the order in which they play: before the start all whom the captain has named, afterwards those who play."""
    reserves: tuple[str | None, ...]
    """Those named beyond the ones who play; none before the start."""
    entered: tuple[str | None, ...]
    """Those of all these who have entered."""
    place: int | None
    """Null before the start, as is what follows."""
    match_points: int | None
    """Two for each match of teams that it has won, one for each drawn one."""
    points: float | None
    """Of all its players."""
    left: int | None
    """How many matches of its players have no result."""


def shown_teams(app: App, view: TournamentView) -> tuple[TeamOfPlayers, ...]:
    """Return the teams, by place once the tournament has started; none in other forms."""
    rows = teams_of(view) if view.terms.teams else []
    userids = userids_of(
        app, [one for row in rows for one in (row.captain, *row.players, *row.reserves)]
    )
    return tuple(_shown(row, userids) for row in rows)


def _shown(row: TeamRow, userids: dict[bytes, str | None]) -> TeamOfPlayers:
    line = row.line
    return TeamOfPlayers(
        userids[row.captain],
        tuple(userids[one] for one in row.players),
        tuple(userids[one] for one in row.reserves),
        tuple(userids[one] for one in (*row.players, *row.reserves) if one in row.entered),
        line.place if line else None,
        line.match_points if line else None,
        float(line.points) if line else None,
        line.left if line else None,
    )
