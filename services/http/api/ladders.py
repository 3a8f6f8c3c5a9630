"""Ladders in the API: their rules, a challenge, and the places."""

from typing import Annotated

import msgspec

from domain.records import AccountId
from services.app.context import App
from services.app.ladders import ladder_lines
from services.app.tournaments import TournamentView
from services.http.api.bodies import RequestBody


class LadderRules(RequestBody, frozen=True):
    """The rules of a ladder."""

    reach: Annotated[int, msgspec.Meta(ge=0, le=1_000)] = 3
    """How many places above a challenge may go."""
    running: Annotated[int, msgspec.Meta(ge=0, le=1_000)] = 2
    """How many matches of a player may run at a time."""
    rest: Annotated[int, msgspec.Meta(ge=0, le=10_000)] = 14
    """Days that the same two wait after their last match."""
    insertion: bool = True
    """Whether a challenger who wins takes the place and all between move down one; otherwise the two swap."""
    silence: Annotated[int, msgspec.Meta(ge=0, le=10_000)] = 60
    """Days without a match after which a player drops; 0 for never."""
    drop: Annotated[int, msgspec.Meta(ge=0, le=10_000)] = 5
    """How many places; 0 for to the bottom."""


class LadderChallenge(RequestBody, frozen=True):
    """A challenge on a ladder."""

    userid: Annotated[str, msgspec.Meta(max_length=24, examples=["bob"])]


class LadderPlace(msgspec.Struct, frozen=True):
    """A player's place on a ladder."""

    place: int
    player: int
    """The number in `entrants`, from 0."""
    won: int
    drawn: int
    lost: int
    running: tuple[int, ...]
    """The pairings of the player's matches that run, see `sections`."""
    change: int
    """How many places the last change was up; below 0, down; 0 if there was none."""
    changed: int | None
    """When that was, in ms since 1970."""
    challenge: bool
    """Whether you may challenge the player now."""
    why_not: str | None
    """Why you may not; null for yourself, and if you are not on the ladder."""


class TournamentLadder(msgspec.Struct, frozen=True):
    """A ladder that has started."""

    order: tuple[LadderPlace, ...]
    """From the top."""
    closed: bool
    """Whether it was ended, and nobody can challenge any more."""


def shown_ladder(
    app: App, view: TournamentView, viewer: AccountId | None
) -> TournamentLadder | None:
    """Return a ladder as an account sees it; None before its start, and in other forms."""
    if view.state.ladder is None:
        return None
    order = (
        LadderPlace(
            place=line.place,
            player=line.player,
            won=line.record.won,
            drawn=line.record.drawn,
            lost=line.record.lost,
            running=line.running,
            change=line.record.change,
            changed=line.record.changed or None,
            challenge=line.possible,
            why_not=str(line.why_not) if line.why_not else None,
        )
        for line in ladder_lines(view, viewer, app.store.now())
    )
    return TournamentLadder(tuple(order), view.state.ladder.closed)
