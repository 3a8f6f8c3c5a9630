"""The plates of a match's players, above and below its board: clock, rating, pieces, whose turn it is.

What the match has changed in a player's rating is read here, too.
"""

from collections.abc import Sequence
from typing import Any

import msgspec
from markupsafe import Markup

from domain.clocks.match_clock import ClockStop, time_left, turn_allowance_after
from domain.drawing import PlayerFigure, player_figures
from domain.match.state import MatchState, is_bot, position_of, robot_level
from domain.rules import Seat, rules_by_id
from domain.sentences import text_in
from infra.projections.ratings import MatchChanges, Rating, RatingChange, pool_of
from infra.redis.reads import Read, mapped, read_nothing, read_one
from services.app.context import App
from services.http.web.match.view import MatchView


class PlayerPlate(msgspec.Struct, frozen=True):
    """A player beside the board."""

    seat: Seat
    name: str
    userid: str | None
    """None for a deleted account."""
    side: str
    robot: str | None
    """Level of the robot that plays; None for a person."""
    bot: bool
    playing: bool
    """False once the player has resigned or run out of time."""
    to_move: bool
    won: bool
    icon: Markup
    """The player's piece; empty while the match has no position."""
    counts: str
    """The count of the player's pieces; may be empty."""
    rating: Rating | None
    """None for a match that is not rated, and for a newcomer."""
    left: int | None
    """Counted time of the running turn, or of the next one, ms; None without a limit."""
    deadline: int | None
    """When the flag of the player to move falls, ms; None for others and while the clock stands."""
    away: int | None
    """Until when the player is on vacation, ms."""


class BoardPlates(msgspec.Struct, frozen=True):
    """The players' plates around a board."""

    above: Sequence[PlayerPlate]
    below: Sequence[PlayerPlate]

    @property
    def all(self) -> Sequence[PlayerPlate]:
        """All plates, from above to below."""
        return (*self.above, *self.below)


Ratings = list[Rating | None]
"""Those of a match's players, by seat; None for a newcomer, and in a match that is not rated."""


def board_plates(table: MatchView, ratings: Ratings, *, own_below: bool = True) -> BoardPlates:
    """Return the plates, the visitor's below the board, or else that of the first player."""
    state = table.state
    figures = _figures(table)
    position = None if state.has_no_position else position_of(state)
    plates = [
        _plate(table, seat, figures[seat], ratings[seat], position)
        for seat in range(len(state.seats))
    ]
    return _around(table, plates, own_below=own_below)


def plates_at(
    app: App,
    table: MatchView,
    ply: int,
    position: Any,
    *,
    tried: bool = False,
    own_below: bool = True,
) -> BoardPlates:
    """Return the plates as they stood after so many moves.

    A `tried` position after them has no clocks, and a match that is over has none to keep an eye on.
    """
    state, rules = table.state, table.rules
    at_end = ply == state.ply and not tried
    over = rules.outcome(position) is not None or (at_end and state.over)
    mover = None if over else rules.to_move(position)
    left, figures = dict(state.out), player_figures(rules, position, table.language)
    ratings: Ratings = read_one(app.data, read_ratings(app, state))
    plates = []
    for seat, rating in enumerate(ratings):
        now = _plate(table, seat, figures[seat], rating, position)
        clock = None if tried or state.over else state.clock
        plates.append(
            msgspec.structs.replace(
                now,
                playing=ply < left.get(seat, ply + 1),
                to_move=seat == mover,
                won=now.won and at_end,
                left=clock and turn_allowance_after(clock, seat, ply),
                deadline=None,
                away=None,
            )
        )
    return _around(table, plates, own_below=own_below)


def _around(table: MatchView, plates: Sequence[PlayerPlate], *, own_below: bool) -> BoardPlates:
    own = table.seat if own_below and table.seat is not None else 0
    return BoardPlates(above=[one for one in plates if one.seat != own], below=[plates[own]])


def _figures(table: MatchView) -> Sequence[PlayerFigure]:
    state = table.state
    if state.has_no_position:
        return [PlayerFigure("", "")] * len(state.seats)
    return player_figures(table.rules, position_of(state), table.language)


def read_ratings(app: App, state: MatchState) -> Read[Ratings]:
    """Return the read of the ratings of a match's players."""
    if len(state.seats) == 1 or state.clock is None or not state.clock.terms.rated:
        return read_nothing([None] * len(state.seats))
    return app.ratings.read_known(pool_of(rules_by_id(state.rules).key, state.seats), state.seats)


def _plate(
    table: MatchView, seat: Seat, figure: PlayerFigure, rating: Rating | None, position: Any
) -> PlayerPlate:
    state, result = table.state, table.state.result
    awaited = state.waits if state.next is None else (state.next,)
    clock = state.clock if table.phase == "active" else None
    return PlayerPlate(
        seat=seat,
        name=table.names[seat],
        userid=table.userids[seat],
        side=text_in(table.rules.colour_text(seat, position), table.language),
        robot=robot_level(state.seats[seat]),
        bot=is_bot(state.seats[seat]),
        playing=seat in state.active_seats,
        to_move=not state.over and seat in awaited,
        won=result is not None and seat in result.winners and not table.puzzle,
        icon=Markup(figure.icon),  # noqa: S704 - our own drawing
        counts=figure.counts,
        rating=rating,
        left=time_left(clock, seat, state.next, table.now) if clock else None,
        deadline=table.deadline if seat == state.next else None,
        away=_vacation_end(state, seat, table.now),
    )


def _vacation_end(state: MatchState, seat: Seat, now: int) -> int | None:
    """Return until when a player is on vacation, as far as the match's clock knows it."""
    stops: Sequence[ClockStop] = state.clock.stops if state.clock and not state.over else ()
    ends = [one.until for one in stops if one.seat == seat and one.since <= now < one.until]
    return max(ends, default=None)


def read_rating_change(
    app: App, board: int, state: MatchState, seat: Seat | None
) -> Read[RatingChange | None]:
    """Return the read of what a match has changed in the rating of a seat's player; None if nothing is known of it."""
    clock = state.clock
    if not state.over or seat is None or clock is None or not clock.terms.rated:
        return read_nothing(None)
    game, _, _ = state.rules.partition("/")

    def of_seat(found: list[MatchChanges]) -> RatingChange | None:
        (changes,) = found
        return changes[seat] if seat < len(changes) else None

    return mapped(app.ratings.read_changes([(pool_of(game, state.seats), board)]), of_seat)
