"""What each caller of each route of the API is answered: `ok`, or the code of the refusal.

The challenge that is meant is of none of the four. The club is open, belongs to the opponent, and has alice as
a member; the tournament is open, and alice organises it. Nobody of the four is an arbiter or a moderator.
"""

PUBLIC = ("ok", "ok", "ok", "ok")
OWN_TO_READ = ("unauthorized", "ok", "ok", "ok")
OWN_TO_WRITE = ("unauthorized", "ok", "ok", "missing-scope")
OF_THE_MATCH_TO_READ = ("unauthorized", "not-a-player", "ok", "not-a-player")
OF_A_MODERATOR = ("unauthorized", "not-a-moderator", "not-a-moderator", "missing-scope")
OF_ITS_OWNER = ("unauthorized", "not-an-organiser", "ok", "missing-scope")
OF_THE_ORGANISER = ("unauthorized", "not-an-organiser", "not-an-organiser", "missing-scope")
OF_THE_MATCH_TO_PLAY = ("unauthorized", "not-a-player", "ok", "missing-scope")
OF_AN_OPERATOR = ("unauthorized", "not-an-operator", "not-an-operator", "missing-scope")

ROUTES = {
    PUBLIC: """
        show_match show_ply show_svg show_png show_text show_text_board show_events export_document
        show_game_text stream_matches list_dump list_matches event_receipt list_challenges show_challenge show_site list_clubs
        show_club list_tournaments show_tournament show_tournament_events
        export_tournament_document sign_up make_token show_player list_robots
        list_ratings show_rating list_standings list_history show_head_to_head list_scores
        list_games show_game show_game_schema judge_game show_help do_line show_oauth_metadata ask_for_device revoke_app_token
        show_error openapi show_api health readiness
    """,
    OF_THE_MATCH_TO_PLAY: """
        give_command command_outcome command_receipt lay_replies drop_replies drop_draft say
        make_claim pin_match mute_chat unmute_chat
    """,
    OF_THE_MATCH_TO_READ: """
        show_replies show_chat list_cases
    """,
    OWN_TO_READ: """
        own_challenges list_invitations list_sanctions show_account show_vacation
        list_messages mark_messages list_notices follow_account list_following list_pins
        list_blocks list_push show_calendar
    """,
    OF_ITS_OWNER: """
        change_club close_club announce_to_club set_club_role remove_club_member
        make_club_link revoke_club_link pair_players
    """,
    OWN_TO_WRITE: """
        start_match open_challenge accept_challenge decline_challenges make_tournament
        enter_tournament make_report send_message watch_board unwatch_board follow_player
        unfollow_player unpin_match join_club join_club_by_link change_account
        change_addresses change_password log_out_everywhere delete_account export_account
        take_vacation make_calendar end_calendar block_player unblock_player add_push remove_push list_tokens
        list_bots make_bot
        list_webhooks make_webhook
        list_apps register_app list_connected_apps
    """,
    OF_THE_ORGANISER: """
        change_tournament open_tournament invite_players make_tournament_code start_tournament end_ladder withdraw_player
        substitute_player appoint_directors adjudicate_match confirm_places cancel_tournament
    """,
    OF_A_MODERATOR: """
        list_reports decide_report impose_sanction answer_appeal
    """,
    OF_AN_OPERATOR: """
        list_accounts admin_make_account suspend_account reinstate_account admin_log_out
        reset_account change_role list_signup_links admin_make_link admin_revoke_link
        show_admission admin_change_admission list_switched_games admin_switch_games show_report list_backups start_backup
    """,
}
"""The routes that answer so, by their answers."""

TABLE = {
    **{name: answers for answers, names in ROUTES.items() for name in names.split()},
    "get_app_token": ("invalid_grant", "invalid_grant", "invalid_grant", "invalid_grant"),
    # the app is the opponent's, and acts for nobody
    "remove_app": ("unauthorized", "not-found", "ok", "missing-scope"),
    "disconnect_app": ("unauthorized", "not-found", "not-found", "missing-scope"),
    # the match goes on
    "show_analysis": ("too-early", "too-early", "too-early", "too-early"),
    "request_analysis": ("unauthorized", "too-early", "too-early", "missing-scope"),
    "start_rematch": ("unauthorized", "not-a-player", "too-early", "missing-scope"),
    # nothing is published
    "command_proof": ("unauthorized", "not-a-player", "not-published", "missing-scope"),
    "event_proof": ("not-published", "not-published", "not-published", "not-published"),
    # a text proves itself, and any caller may bring it; the match that is meant waits for none
    "reveal_text": ("too-late", "too-late", "too-late", "too-late"),
    "show_draft": ("unauthorized", "not-a-player", "no-draft", "not-a-player"),
    # it is alice's turn
    "submit_draft": ("unauthorized", "not-a-player", "not-your-turn", "missing-scope"),
    "confirm_draft": ("unauthorized", "not-a-player", "no-draft", "missing-scope"),
    "make_appeal": ("unauthorized", "not-a-player", "unknown-claim", "missing-scope"),
    "give_ruling": ("unauthorized", "not-an-arbiter", "not-an-arbiter", "missing-scope"),
    "show_evidence": ("unauthorized", "not-a-player", "unknown-claim", "not-a-player"),
    "list_waiting_cases": ("unauthorized", "not-an-arbiter", "not-an-arbiter", "not-an-arbiter"),
    "withdraw_challenge": ("unauthorized", "not-a-player", "not-a-player", "missing-scope"),
    "add_robot": ("unauthorized", "not-a-player", "not-a-player", "missing-scope"),
    "change_own_site": ("unauthorized", "not-an-operator", "not-an-operator", "missing-scope"),
    "found_club": ("unauthorized", "not-an-operator", "not-an-operator", "missing-scope"),
    "leave_club": ("unauthorized", "ok", "last-owner", "missing-scope"),
    "answer_club_request": ("unauthorized", "not-an-organiser", "not-found", "missing-scope"),
    "show_trf": ("against-terms",) * 4,
    "leave_tournament": ("unauthorized", "not-entered", "not-entered", "missing-scope"),
    "challenge_on_ladder": ("unauthorized", "not-allowed", "not-allowed", "missing-scope"),
    "name_team": ("unauthorized", "not-allowed", "not-allowed", "missing-scope"),
    "volunteer_as_substitute": ("unauthorized", "not-started", "not-started", "missing-scope"),
    "show_pairings": ("unauthorized", "not-found", "not-found", "missing-scope"),
    "appeal_sanction": ("unauthorized", "not-found", "not-found", "missing-scope"),
    "end_vacation": ("unauthorized", "too-late", "too-late", "missing-scope"),
    "change_bot": ("unauthorized", "not-found", "not-found", "missing-scope"),
    "delete_bot": ("unauthorized", "not-found", "not-found", "missing-scope"),
    "make_bot_token": ("unauthorized", "not-found", "not-found", "missing-scope"),
    "revoke_bot_token": ("unauthorized", "not-found", "not-found", "missing-scope"),
    "revoke_token": ("unauthorized", "not-found", "not-found", "missing-scope"),
    **dict.fromkeys(
        [
            "remove_webhook",
            "renew_webhook_secret",
            "switch_webhook_on",
            "send_webhook_test",
            "list_webhook_deliveries",
            "send_webhook_again",
        ],
        ("unauthorized", "not-found", "not-found", "missing-scope"),
    ),
    "list_acts": ("unauthorized", "not-a-moderator", "not-a-moderator", "missing-scope"),
}
