"""The routes of all pages."""

from typing import Any, Final

from litestar import Request, Router
from litestar.di import Provide

from services.web.accounts import (
    change_addresses,
    change_password,
    change_preferences,
    delete_account,
    end_session,
    log_out_everywhere,
    make_token,
    revoke_token,
    show_account,
    take_vacation,
)
from services.web.acts import act
from services.web.assets import show_asset
from services.web.blocks import block_player, unblock_player
from services.web.draws import list_reveals
from services.web.entering import log_in, log_out, show_login, show_signup, sign_up
from services.web.exports import export_film, export_json, export_text, show_picture
from services.web.home import show_home
from services.web.letters import lay_ready, say, write_note
from services.web.library import (
    check_tried,
    line_tried,
    list_moves_tried,
    show_board,
    show_game,
    show_games,
    try_game,
)
from services.web.listings import (
    show_challenges,
    show_games_matches,
    show_notices,
    show_own,
    show_players,
    show_scores,
)
from services.web.matches import check_move, list_moves, show_chat, show_match
from services.web.messages import show_messages
from services.web.pages import secured
from services.web.players import list_players, show_all_ratings, show_player, show_ratings
from services.web.problems import HANDLERS
from services.web.prose import show_help
from services.web.puzzles import show_puzzles
from services.web.replay import check_if, compare, list_moves_if, show_ply, what_if
from services.web.starting import show_new, start_new, take, withdraw
from services.web.stream import follow
from services.web.visitors import form, visitor

PAGES: Final[tuple[Any, ...]] = (
    show_asset,
    show_home,
    show_login,
    log_in,
    show_signup,
    sign_up,
    log_out,
    show_match,
    list_moves,
    show_chat,
    check_move,
    act,
    list_reveals,
    say,
    lay_ready,
    write_note,
    show_ply,
    compare,
    what_if,
    list_moves_if,
    check_if,
    export_json,
    export_text,
    export_film,
    show_picture,
    show_new,
    start_new,
    take,
    withdraw,
    show_games,
    show_game,
    show_board,
    try_game,
    list_moves_tried,
    check_tried,
    show_puzzles,
    show_all_ratings,
    show_ratings,
    list_players,
    show_player,
    block_player,
    unblock_player,
    show_account,
    change_preferences,
    change_addresses,
    change_password,
    make_token,
    revoke_token,
    end_session,
    log_out_everywhere,
    take_vacation,
    delete_account,
    show_help,
    follow,
    show_own,
    show_players,
    show_games_matches,
    show_challenges,
    show_notices,
    show_scores,
    show_messages,
)


async def _come_in(_: Request[Any, Any, Any]) -> None:
    """Replace the API's authentication, because the pages have their own."""


WEB_ROUTES: Final = (
    Router(
        path="/",
        route_handlers=PAGES,
        dependencies={
            "visitor": Provide(visitor, sync_to_thread=True),
            "form": Provide(form),
            "tried_line": Provide(line_tried, sync_to_thread=True),
        },
        exception_handlers=HANDLERS,
        request_class=Request,
        before_request=_come_in,
        after_request=secured,
        include_in_schema=False,
    ),
)
