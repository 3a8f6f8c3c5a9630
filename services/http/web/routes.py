"""The routes of all pages."""

from typing import Any, Final

from litestar import Request, Router
from litestar.di import Provide

from services.http.web.assets import show_asset
from services.http.web.browser_stream import follow
from services.http.web.error_pages import HANDLERS
from services.http.web.pages.account import (
    change_addresses,
    change_password,
    change_preferences,
    delete_account,
    end_session,
    log_out_everywhere,
    make_token,
    revoke_token,
    set_display,
    show_account,
    take_vacation,
    verify_address,
)
from services.http.web.pages.analyses import (
    request_match_analysis,
    show_better_line,
    show_match_analysis,
)
from services.http.web.pages.blocks import block_player, decline_challenges, unblock_player
from services.http.web.pages.cases import (
    download_evidence,
    give_ruling,
    make_appeal,
    make_claim,
    show_case,
    show_claim_form,
    show_queue,
)
from services.http.web.pages.challenges import (
    show_challenge_page,
    show_challenges,
    take,
    withdraw,
)
from services.http.web.pages.exports import (
    download_document,
    export_json,
    export_text,
    show_picture,
)
from services.http.web.pages.forgotten import (
    ask_for_link,
    reset_password,
    show_forgotten,
    show_reset,
)
from services.http.web.pages.games import (
    check_variation_move,
    choose_try_options,
    list_variation_moves,
    show_board,
    show_game,
    show_games,
    show_live_try,
    show_picture_of_game,
    try_game,
    variation_in_address,
)
from services.http.web.pages.help import show_commands, show_help
from services.http.web.pages.home import go_to_next, show_home
from services.http.web.pages.lists import (
    show_notices,
    show_scores,
)
from services.http.web.pages.log import show_log
from services.http.web.pages.login import log_in, log_out, show_login, show_signup, sign_up
from services.http.web.pages.match import check_move, list_moves, show_chat, show_match
from services.http.web.pages.match_actions import act, go_to_check
from services.http.web.pages.match_lists import show_games_matches, show_own, show_players
from services.http.web.pages.match_writing import (
    add_conditional_moves,
    mute_chat,
    unmute_chat,
    write_chat_line,
    write_note,
)
from services.http.web.pages.messages import mark_unread, show_messages, write_message
from services.http.web.pages.new_match import (
    complete_name,
    describe_offer,
    show_new,
    start_new,
)
from services.http.web.pages.players import (
    list_players,
    show_all_ratings,
    show_player,
    show_ratings,
)
from services.http.web.pages.playing import show_playing
from services.http.web.pages.previews import (
    show_embedded,
    show_game_preview,
    show_match_preview,
)
from services.http.web.pages.push import allow_notifications, end_notifications
from services.http.web.pages.puzzles import (
    check_puzzle_move,
    hand_in_puzzle,
    list_puzzle_moves,
    puzzle_in_address,
    show_puzzle,
    show_puzzles,
)
from services.http.web.pages.records import (
    export_move_proof,
    export_move_receipt,
    export_proof,
    export_receipt,
)
from services.http.web.pages.replay import (
    check_if,
    compare,
    list_moves_if,
    show_board_if,
    show_ply,
    what_if,
)
from services.http.web.pages.reveals import list_reveals
from services.http.web.pages.robots import add_robot, play_robot, start_rematch
from services.http.web.pages.unsubscribing import unsubscribe
from services.http.web.pages.watching import (
    follow_player,
    show_watching,
    unfollow_player,
    unwatch_match,
    watch_match,
)
from services.http.web.render import add_security_headers
from services.http.web.session import form, visitor
from services.http.web.site_files import SITE_FILES
from services.http.web.verify_page import show_verify_page

PAGES: Final[tuple[Any, ...]] = (
    show_asset,
    set_display,
    show_home,
    go_to_next,
    show_login,
    log_in,
    show_signup,
    sign_up,
    log_out,
    show_forgotten,
    ask_for_link,
    show_reset,
    reset_password,
    show_match,
    list_moves,
    show_chat,
    check_move,
    act,
    go_to_check,
    list_reveals,
    write_chat_line,
    mute_chat,
    unmute_chat,
    add_conditional_moves,
    write_note,
    show_claim_form,
    make_claim,
    make_appeal,
    give_ruling,
    show_case,
    show_queue,
    download_evidence,
    show_match_analysis,
    request_match_analysis,
    show_better_line,
    show_ply,
    compare,
    what_if,
    show_board_if,
    list_moves_if,
    check_if,
    export_json,
    download_document,
    export_text,
    export_receipt,
    export_proof,
    export_move_receipt,
    export_move_proof,
    show_picture,
    show_match_preview,
    show_game_preview,
    show_embedded,
    *SITE_FILES,
    show_new,
    describe_offer,
    complete_name,
    start_new,
    take,
    withdraw,
    add_robot,
    play_robot,
    start_rematch,
    show_games,
    show_game,
    show_board,
    show_picture_of_game,
    try_game,
    show_live_try,
    choose_try_options,
    list_variation_moves,
    check_variation_move,
    show_puzzles,
    show_puzzle,
    list_puzzle_moves,
    check_puzzle_move,
    hand_in_puzzle,
    show_all_ratings,
    show_ratings,
    list_players,
    show_player,
    block_player,
    unblock_player,
    decline_challenges,
    allow_notifications,
    end_notifications,
    unsubscribe,
    show_watching,
    watch_match,
    unwatch_match,
    follow_player,
    unfollow_player,
    show_playing,
    show_account,
    change_preferences,
    change_addresses,
    change_password,
    verify_address,
    make_token,
    revoke_token,
    end_session,
    log_out_everywhere,
    take_vacation,
    delete_account,
    show_help,
    show_commands,
    show_log,
    show_verify_page,
    follow,
    show_own,
    show_players,
    show_games_matches,
    show_challenges,
    show_challenge_page,
    show_notices,
    show_scores,
    show_messages,
    write_message,
    mark_unread,
)


async def _skip_api_authentication(_: Request[Any, Any, Any]) -> None:
    """Replace the API's authentication, because the pages have their own."""


WEB_ROUTES: Final = (
    Router(
        path="/",
        route_handlers=PAGES,
        dependencies={
            "visitor": Provide(visitor, sync_to_thread=True),
            "form": Provide(form),
            "tried_line": Provide(variation_in_address, sync_to_thread=True),
            "puzzle": Provide(puzzle_in_address, sync_to_thread=True),
        },
        exception_handlers=HANDLERS,
        request_class=Request,
        before_request=_skip_api_authentication,
        after_request=add_security_headers,
        include_in_schema=False,
    ),
)
