"""The first page of a guest: a board to try, the games, who waits for an opponent, a match in progress."""

from typing import Final

import msgspec
from litestar import Response

from domain.rules import latest_rules
from services.app.games import game_keys
from services.app.matches import load_state
from services.app.names import names_by_seat
from services.http.context import ApiContext
from services.http.web.render import render
from services.http.web.session import Visitor
from services.http.web.views.board_view import draw_match
from services.http.web.views.guides import game_cards, welcome_game
from services.http.web.views.live_try import easiest_robot, live_try
from services.http.web.views.new_match_form import robot_offers, showcase_games
from services.http.web.views.open_challenges import offers

_MAX_OFFERS: Final = 6


class LiveMatch(msgspec.Struct, frozen=True):
    """A match in progress, which the page follows."""

    board: int
    title: str
    players: tuple[str, ...]
    svg: str
    ply: int
    seq: int


def show_welcome(context: ApiContext, visitor: Visitor) -> Response[str]:
    """Show a guest what this is."""
    known = [latest_rules(key) for key in game_keys()]
    open_ = context.app.challenges.list_open(None, 0, _MAX_OFFERS)
    return render(
        "welcome.html",
        visitor,
        live=_live_match(context, visitor.language),
        live_try=live_try(welcome_game(), visitor.language, easiest_robot(context.app)),
        games=game_cards([one for one in known if one.players != (1,)], visitor),
        puzzles=game_cards([one for one in known if one.players == (1,)], visitor),
        offers=offers(context, open_, visitor),
        **robot_offers(context.app),
    )


def _live_match(context: ApiContext, language: str) -> LiveMatch | None:
    """Return a match in progress; None if there is none."""
    for rules in showcase_games():
        for row in context.app.lists.playing(rules.key, 0, 1):
            state = load_state(context.app, row.board)
            if not state.has_no_position:
                names = names_by_seat(context.app, state.seats, language)
                svg = draw_match(state, state.ply, names, language=language)
                return LiveMatch(row.board, rules.title, names, svg, state.ply, state.seq)
    return None
