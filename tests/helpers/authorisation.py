"""What each caller of each route of the API is answered: `ok`, or the code of the refusal."""

PUBLIC = ("ok", "ok", "ok", "ok")
OWN_TO_READ = ("unauthorized", "ok", "ok", "ok")
OWN_TO_PLAY = ("unauthorized", "ok", "ok", "missing-scope")
OWN_TO_CHANGE = ("unauthorized", "ok", "ok", "missing-scope")
OF_THE_MATCH_TO_READ = ("unauthorized", "not-a-player", "ok", "not-a-player")
OF_THE_MATCH_TO_PLAY = ("unauthorized", "not-a-player", "ok", "missing-scope")

TABLE = {
    # matches
    "show_match": PUBLIC,
    "show_ply": PUBLIC,
    "show_svg": PUBLIC,
    "show_text": PUBLIC,
    "show_text_board": PUBLIC,
    "show_events": PUBLIC,
    "export_document": PUBLIC,
    # the match goes on
    "show_analysis": ("too-early", "too-early", "too-early", "too-early"),
    "request_analysis": ("unauthorized", "too-early", "too-early", "missing-scope"),
    "list_matches": PUBLIC,
    "start_match": OWN_TO_PLAY,
    "start_rematch": ("unauthorized", "not-a-player", "too-early", "missing-scope"),
    "give_command": OF_THE_MATCH_TO_PLAY,
    "command_outcome": OF_THE_MATCH_TO_PLAY,
    "command_receipt": OF_THE_MATCH_TO_PLAY,
    "event_receipt": PUBLIC,
    # nothing is published
    "command_proof": ("unauthorized", "not-a-player", "not-published", "missing-scope"),
    "event_proof": ("not-published", "not-published", "not-published", "not-published"),
    # a text proves itself, and any caller may bring it; the match that is meant waits for none
    "reveal_text": ("too-late", "too-late", "too-late", "too-late"),
    "show_replies": OF_THE_MATCH_TO_READ,
    "lay_replies": OF_THE_MATCH_TO_PLAY,
    "drop_replies": OF_THE_MATCH_TO_PLAY,
    "show_draft": ("unauthorized", "not-a-player", "no-draft", "not-a-player"),
    # it is alice's turn
    "submit_draft": ("unauthorized", "not-a-player", "not-your-turn", "missing-scope"),
    "drop_draft": OF_THE_MATCH_TO_PLAY,
    "confirm_draft": ("unauthorized", "not-a-player", "no-draft", "missing-scope"),
    "show_chat": OF_THE_MATCH_TO_READ,
    "say": OF_THE_MATCH_TO_PLAY,
    # disputes; nobody has ruled, and nobody of the four is an arbiter
    "make_claim": OF_THE_MATCH_TO_PLAY,
    "make_appeal": ("unauthorized", "not-a-player", "unknown-claim", "missing-scope"),
    "give_ruling": ("unauthorized", "not-an-arbiter", "not-an-arbiter", "missing-scope"),
    "list_cases": OF_THE_MATCH_TO_READ,
    "show_evidence": ("unauthorized", "not-a-player", "unknown-claim", "not-a-player"),
    "list_waiting_cases": ("unauthorized", "not-an-arbiter", "not-an-arbiter", "not-an-arbiter"),
    # challenges; the one that is meant is of neither of the four
    "list_challenges": PUBLIC,
    "show_challenge": PUBLIC,
    "open_challenge": OWN_TO_PLAY,
    "accept_challenge": OWN_TO_PLAY,
    "withdraw_challenge": ("unauthorized", "not-a-player", "not-a-player", "missing-scope"),
    "add_robot": ("unauthorized", "not-a-player", "not-a-player", "missing-scope"),
    "own_challenges": OWN_TO_READ,
    # the own account
    "sign_up": PUBLIC,
    "show_account": OWN_TO_READ,
    "change_account": OWN_TO_CHANGE,
    "change_addresses": OWN_TO_CHANGE,
    "change_password": OWN_TO_CHANGE,
    "log_out_everywhere": OWN_TO_CHANGE,
    "delete_account": OWN_TO_CHANGE,
    "show_vacation": OWN_TO_READ,
    "take_vacation": OWN_TO_CHANGE,
    "end_vacation": ("unauthorized", "too-late", "too-late", "missing-scope"),
    "list_messages": OWN_TO_READ,
    "send_message": OWN_TO_PLAY,
    "mark_messages": OWN_TO_READ,
    "list_notices": OWN_TO_READ,
    "follow_account": OWN_TO_READ,
    "list_following": OWN_TO_READ,
    "watch_board": OWN_TO_PLAY,
    "unwatch_board": OWN_TO_PLAY,
    "follow_player": OWN_TO_PLAY,
    "unfollow_player": OWN_TO_PLAY,
    "mute_chat": OF_THE_MATCH_TO_PLAY,
    "unmute_chat": OF_THE_MATCH_TO_PLAY,
    "list_blocks": OWN_TO_READ,
    "block_player": OWN_TO_CHANGE,
    "unblock_player": OWN_TO_CHANGE,
    # tokens; the one that is meant is of another account
    "make_token": PUBLIC,
    "list_tokens": OWN_TO_CHANGE,
    "revoke_token": ("unauthorized", "not-found", "not-found", "missing-scope"),
    # what anybody may know
    "show_player": PUBLIC,
    "list_robots": PUBLIC,
    "list_ratings": PUBLIC,
    "show_rating": PUBLIC,
    "list_standings": PUBLIC,
    "list_history": PUBLIC,
    "show_head_to_head": PUBLIC,
    "list_scores": PUBLIC,
    "list_games": PUBLIC,
    "show_game": PUBLIC,
    "show_help": PUBLIC,
    "do_line": PUBLIC,
    "show_error": PUBLIC,
    "openapi": PUBLIC,
    "show_api": PUBLIC,
    "health": PUBLIC,
    "readiness": PUBLIC,
}
