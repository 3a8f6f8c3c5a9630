"""Which front end offers which use case: a table of decisions, held against the code."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

import pytest

ROOT: Final = Path(__file__).parents[2] / "services"

LANGUAGE, API, WEB = "language", "http/api", "http/web"
"""The command language is what the terminal and mail have."""

ALL: Final = (LANGUAGE, API, WEB)


class Row(NamedTuple):
    """The front ends that offer some use cases, why the others do not, and the modules and functions of these."""

    offered: tuple[str, ...]
    reason: str
    functions: str


ADMIN: Final = "operators have commands of `matchpost` at a terminal, and nothing by mail"
DECISIONS: Final = (
    Row(ALL, "",
        "accounts: change_password delete_account replace_addresses sign_up; cases: cases_of queue_of; challenges: decline_all; clubs: "
        "announce club_at clubs_for join join_by_link leave view_of; commands: act; conditional_moves: drop_conditional_moves "
        "set_conditional_moves; disputes: dispute; follows: add_block blocked_userids follow_player followed_userids pin_match "
        "remove_block unfollow_player unpin_match unwatch_match watch_match; matches: analysis_of load_state start_analysis; messages: "
        "find_recipients inbox mute_chat send_message unmute_chat write_chat; moderation: report_chat report_message report_player; "
        "names: names_by_seat; opponents: robots_here; play: give submit; preferences: change_preferences; queries: best_scores "
        "head_to_head rating_series; rematch: rematch; start: start_by_name; teams: name_team; tournament_directors: adjudicate "
        "appoint; tournament_invitations: invite make_code; tournaments: cancel challenge confirm draft_tournament end_ladder enter "
        "leave open_entry start substitute tournaments_for view_of volunteer withdraw; vacations: status"),
    Row((API, WEB), "an open challenge is found in a list and taken by its id, which pbmserv's language has no form for",
        "challenges: begun_when_full fill_with_robot propose take withdraw; clubs: challenges_of_club visible_challenge"),
    Row((API, WEB), "a bot is of no use without a token, and lines make none",
        "bots: bots_of change_bot delete_bot make_bot make_bot_token revoke_bot_token"),
    Row((API, WEB), "a document is no answer to a line of text", "exports: export_match export_tournament"),
    Row((API, WEB), "a game text is a file; `matchpost export --text` writes it", "exports: export_game_text"),
    Row((API, WEB), "an address with a secret is in no mail and no command line", "calendar: end_calendar make_calendar"),
    Row((API, WEB), "tokens are made and ended over HTTP", "accounts: log_out_everywhere revoke_token"),
    Row((API, WEB), "apps are registered and ended where tokens are", "apps: connected_apps disconnect_app register_app remove_app"),
    Row((API, WEB), ADMIN,
        "accounts: account_page log_out_account set_suspended; acts: acts_of; admission: admission_now change_admission "
        "make_signup_link revoke_signup_link signup_links; games_off: switch_games switched_games; passwords: replace_lost_password; "
        "roles: require_operator set_role; site: change_site"),
    Row((API, WEB), "a terminal makes one itself", "backups: ask_for_backup backup_state"),
    Row((API, WEB), "only a token or a session that was just made may have to end again", "accounts: end_if_suspended"),
    Row((API, WEB), "a line is refused", "games_off: is_off"),
    Row((API, WEB), "a line shows no notes of challenges, and moderators have a queue",
        "moderation: appeal_sanction decide_report lift_sanction report_note report_tournament sanctions_of waiting_reports"),
    Row((API, WEB), "a club is run on its page; a line joins, leaves and writes to it",
        "clubs: answer_request change_club close_club found_club make_club_link remove_from_club revoke_club_link set_club_role"),
    Row((API, WEB), "a line has no room for a text of paragraphs", "tournaments: change_text"),
    Row((API, WEB), "its events, and the receipt of its last one, as of a match", "tournaments: visible_state"),
    Row((API, WEB), "a secret is shown once, and an address is a secret: neither belongs into a mail",
        "hooks: add_hook hook_at hooks_at place_of rotate_secret send_again send_test shown_address switch_on"),
    Row((API, WEB), "only a browser shows notifications, and it subscribes by HTTP", "preferences: subscribe unsubscribe vapid_key"),
    Row((API, WEB), "a document is no answer to a line", "exports: evidence_of"),
    Row((API, WEB), "the language returns a receipt with its command, and a proof is a file",
        "receipts: leaf_of_event proof_of require_receipt"),
    Row((API, WEB), "each command line has the password", "passwords: check_recent_password"),
    Row((API, WEB), "the language has no form about a player as such", "queries: find_player"),
    Row((API,), "a line has the ratings of a game, and a page reads them with all else, in two round trips", "queries: ratings_of"),
    Row((LANGUAGE, API), "a page has their buttons", "opponents: games_of_robots"),
    Row((LANGUAGE, API), "a page reads them with its match, in one round trip", "conditional_moves: conditional_moves_of"),
    Row((LANGUAGE, API), "a page shows where a move leads before it is sent, so it stores no draft", "drafts: confirm submit"),
    Row((LANGUAGE, API), "a page goes on to ask for a code", "accounts: authenticate"),
    Row((LANGUAGE, API), "a page reads the chat with marks and note, in one round trip", "messages: read_chat"),
    Row((LANGUAGE, API), "a page has no place for it in its answer", "receipts: receipt_if_any"),
    Row((LANGUAGE, API), "pages list matches, by `infra`", "queries: finished_matches"),
    Row((LANGUAGE, WEB), "the API has a number in place of a text", "vacations: change"),
    Row((LANGUAGE, WEB), "who reads the mail with the code has these", "accounts: prove_address"),
    Row((LANGUAGE, WEB), "a program has `none` as a time for mail", "accounts: sign_off"),
    Row((LANGUAGE, WEB), "the API lists all games, and says which are off", "games_off: keys_on"),
    Row((LANGUAGE, WEB), "a program gets the numbers of the matches", "follows: watched_matches"),
    Row((LANGUAGE, WEB), "a program asks for each player's matches", "follows: followed_boards"),
    Row((LANGUAGE, WEB), "the API lists matches by `infra`", "queries: listed_matches"),
    Row((LANGUAGE, WEB), "a program gets userids", "names: names_of"),
    Row((LANGUAGE, WEB), "the API says it of each player", "names: robot_userids"),
    Row((LANGUAGE, WEB), "an answer of the API has the number of a match's tournament", "tournaments: shown_name"),
    Row((LANGUAGE, WEB), "a row of the API has the number of a match's tournament", "tournament_names: tournaments_of_matches"),
    Row((LANGUAGE, WEB), "the API has the rank alone", "queries: score_of"),
    Row((API,), "the language shows it by `matches.private_part`", "drafts: draft_of"),
    Row((API,), "a draft at a terminal is replaced by the next, and no page stores one", "drafts: drop"),
    Row((API,), "the others read a text, by `vacations.change`", "vacations: end take"),
    Row((API,), "a stream is for programs; people have lists", "match_lines: finished_lines running_lines"),
    Row((API,), "only an app asks so", "oauth: device_answer revocation_answer token_answer"),
    Row((API,), "a page makes a list of accounts, by `make_accounts`", "passwords: make_account"),
    Row((API,), "a terminal lists them with `restore --list`", "backups: kept_backups"),
    Row((API,), "a page imposes them with a report", "moderation: sanction_player"),
    Row((API,), "a batch comes from a tool; people pair in tournaments and challenges", "pairings: batch_of pair"),
    Row((API,), "a page reads its matches with their rows", "queries: running_matches"),
    Row((API,), "for the others what they show is read", "messages: mark_read_until"),
    Row((API,), "a program gets null for an account that was erased", "names: userids_of"),
    Row((API,), "a refusal is asked for by the id of its command", "receipts: leaf_shown_to"),
    Row((API,), "with the outcome that is asked for by its id", "receipts: check_sent"),
    Row((API,), "a stream that goes on asks whether its reader is still a member", "tournaments: sees_club"),
    Row((LANGUAGE,), "a token and a session come with their account", "accounts: own_profile"),
    Row((LANGUAGE,), "the others show all addresses and replace them", "accounts: add_addresses"),
    Row((LANGUAGE,), "a display is for boards as text", "matches: preferred_display"),
    Row((LANGUAGE,), "the others show its parts, each in its place", "matches: private_part"),
    Row((LANGUAGE,), "arbiters write to everybody at the terminal", "messages: broadcast"),
    Row((LANGUAGE,), "the others have the userid in their answer", "names: name_of"),
    Row((LANGUAGE,), "the API has a cursor", "queries: count_finished"),
    Row((WEB,), "the others list the robots, which are none then", "opponents: robots_play"),
    Row((WEB,), "a page has a button for each level", "opponents: robot_of"),
    Row((WEB,), "a page shows it in the place of its button; elsewhere it is a match among the others", "rematch: rematch_board"),
    Row((WEB,), "a list of moves has marks, or none", "matches: stored_analysis"),
    Row((WEB,), "a page has a field for a date, the others a number", "vacations: take_until"),
    Row((WEB,), "calendar programs read it at its address", "calendar: calendar_of"),
    Row((WEB,), "a session is a browser's", "accounts: close_session end_session open_session; second_factors: finish_login go_on log_in"),
    Row((WEB,), "a player lets an app act on a page, where nobody else can",
        "apps: answer_device owner_of waiting_device; oauth: answer_authorization read_authorization"),
    Row((WEB,), "a link is opened in a browser; programs have tokens, and who reads mail can open the link",
        "passwords: ask_reset can_reset link_needs_code reset_password"),
    Row((WEB,), "only a browser has passkeys", "second_factors: add_passkey ask_passkey begin_passkey log_in_by_passkey"),
    Row((WEB,), "a program that could change them would be one more way around them",
        "second_factors: app_in_setup begin_app confirm_app remove_app remove_passkey renew_recovery_codes"),
    Row((WEB,), "a provider sends browsers back and forth",
        "provided_accounts: begin_sign_in choose_password end_sign_in make_provided_account"),
    Row((WEB,), "the link is opened in a browser", "first_operator: become_first_operator check_first_link"),
    Row((WEB,), "a list of accounts has their roles", "roles: holders_of"),
    Row((WEB,), "a page checks it before it reads anything", "roles: require_moderator"),
    Row((WEB,), "a program makes them one by one", "passwords: make_accounts"),
    Row((WEB,), "a page says so before its form; the others refuse", "admission: check_signups"),
    Row((WEB,), "pages leave out links to what is not shown", "admission: recent_admission"),
    Row((WEB,), "a form says so before it is filled in; the others refuse", "games_off: check_on"),
    Row((WEB,), "a program reads the sanctions of those whom it asks about", "moderation: appeals"),
    Row((WEB,), "the texts are pages; a program reads all of them by `/api/site`", "site: shown_text"),
    Row((WEB,), "a page has the form only for those who may send it", "clubs: may_found"),
    Row((WEB,), "a page asks before it joins", "clubs: club_of_link"),
    Row((WEB,), "a program knows the links that it has made", "clubs: club_links"),
    Row((WEB,), "a form lists the clubs that may be chosen", "clubs: organised_by"),
    Row((WEB,), "the others list the matches of each player", "clubs: matches_of_club"),
    Row((WEB,), "the others ask for matches by themselves", "tournament_directors: director_view"),
    Row((WEB,), "the page of a match says who could have chosen the deal", "matches: staff_at_deal"),
    Row((WEB,), "a page asks for a text before it starts a rematch", "matches: was_sealed"),
    Row((WEB,), "the others decline all of a player by name", "challenges: count_from"),
    Row((WEB,), "a program keeps by itself what it shows as new", "messages: mark_unread_from"),
    Row((WEB,), "the API loads in its event loop, the language a state", "matches: read_snapshot"),
    Row((WEB,), "the page of a claim that is not made yet checks it", "disputes: check_may_see"),
    Row((WEB,), "a page shows one case, the others all of a match", "cases: case_of"),
    Row((WEB,), "a note stands on the page of its match, and finds it in a list", "match_notes: boards_with_note write_note"),
    Row((WEB,), "the others list matches by themselves", "tournaments: matches_going_on"),
    Row((WEB,), "a program has the numbers of its notices", "tournament_names: names_in_notices visible_names"),
    Row((WEB,), "a feed is an address of its own", "tournament_feed: feed_of"),
    Row((WEB,), "a form is filled in from an earlier tournament", "tournaments: plan_like"),
    Row((WEB,), "the others list matches by `infra`, without an order", "waiting: own_matches waiting_matches"),
    Row((WEB,), "the others have no page to go on to", "waiting: next_match"),
    Row((WEB,), "the others play a puzzle move by move", "puzzles: hand_in"),
    Row((WEB,), "the others refuse the challenge itself", "queries: has_player"),
    Row((WEB,), "a form completes a name while it is typed", "queries: names_starting"),
    Row((WEB,), "a page shows the visitor's own points beside the best", "queries: best_score_of"),
    Row((WEB,), "only pages say how many pages a list has", "queries: count_scores"),
    Row((), "a step of other use cases",
        "accounts: begin_account close_account delete_bot_account erase_account reopen_account; acts: record_act; admission: admitted; "
        "bot_rules: check_bots_accept reserve_bots; bots: own_bot; challenges: decline_unplayed; clubs: is_member may_see organised "
        "pairing_club; commands: command_of; contact: check_challenge check_chat check_follow check_message check_open_challenge "
        "check_pair check_pairing is_known strangers_to; disputes: check_arbiter; draws: accept_command; exports: document_statements "
        "match_document; follows: end_follows; hooks: may_have secrets_of; imports: imported_from; match_lines: dump_lines; matches: "
        "load_snapshot statements_of; moderation: impose report_of; names: are_of_one owner_of; opponents: check_robots_play "
        "check_wanted is_start_over reserve_robot_match; passwords: check_link; play: check decided finish; provided_accounts: "
        "provider_of; puzzles: solution_commands; queries: with_older; receipts: leaf_of_command receipt_of_leaf; rematch: "
        "rematch_command; robots: choose; roles: has_role; sanctions: check_may_start check_may_write end_after sanction_held; start: "
        "numbered_start unrated_with_robots; threes: ends_with; tournament_directors: directs_match; tournament_entries: check_code "
        "rating_of_entrant; tournament_plans: terms_of; tournaments: ask ask_with_reasons check_directs leave_all; userids: "
        "claimed_userid"),
    Row((), "`services.jobs` makes it", "matches: analyse"),
    Row((), "the operator alone does it, with a command of `matchpost`",
        "accounts: all_profiles; exports: export_number export_record; imports: plan_import seats_of; own_data: export_account"),
    Row((), "`services.jobs` makes it, and the operator with `matchpost dump`", "dump: make_dump"),
    Row((), "`services.words.own_archive` puts it into one file", "own_data: own_files own_matches"),
    Row((), "`services.jobs` freezes it", "exports: frozen_evidence"),
)  # fmt: skip
"""Each public function of `services.app` that takes an `App`."""

USE_CASES: Final = {
    f"{module.strip()}.{function}": row
    for row in DECISIONS
    for module, _, functions in (one.partition(":") for one in row.functions.split(";"))
    for function in functions.split()
}

IN_LOOP: Final = {"submit": "play.submit", "with_receipt": "receipts.receipt_if_any"}
"""The use cases behind the methods of `LoopPlay`, which waits for outcomes in the event loop."""


def public_functions() -> Iterator[str]:
    for file in sorted((ROOT / "app").glob("*.py")):
        for node in ast.parse(file.read_text("utf-8")).body:
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
                first = node.args.args[:1]
                if first and ast.unparse(first[0]) == "app: App":
                    yield f"{file.stem}.{node.name}"


def called_by(folder: str) -> set[str]:
    """The use cases that the modules of a front end refer to."""
    texts = (file.read_text("utf-8") for file in (ROOT / folder).rglob("*.py"))
    modules = (ast.parse(text) for text in texts if "services.app" in text or ".play." in text)
    return {name for module in modules for name in called_in(module)} & USE_CASES.keys()


def called_in(module: ast.Module) -> Iterator[str]:
    aliases: dict[str, str] = {}
    for node in ast.walk(module):
        if isinstance(node, ast.ImportFrom) and node.module == "services.app":
            aliases |= {one.asname or one.name: one.name for one in node.names}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("services.app."):
            yield from (f"{str(node.module).rpartition('.')[2]}.{one.name}" for one in node.names)
    for node in ast.walk(module):
        match node:
            case ast.Attribute(value=ast.Name(id=name), attr=attr) if name in aliases:
                yield f"{aliases[name]}.{attr}"
            case ast.Attribute(value=ast.Attribute(attr="play"), attr=attr) if attr in IN_LOOP:
                yield IN_LOOP[attr]
            case _:
                pass


def test_every_use_case_is_in_the_table_once_and_there_is_no_other() -> None:
    listed = [one for row in DECISIONS for one in row.functions.replace(";", " ").split()]
    assert len([one for one in listed if not one.endswith(":")]) == len(USE_CASES)
    assert set(public_functions()) == USE_CASES.keys()


@pytest.mark.parametrize("folder", ALL)
def test_a_front_end_calls_what_the_table_says_and_nothing_else(folder: str) -> None:
    assert called_by(folder) == {name for name, row in USE_CASES.items() if folder in row.offered}


def test_what_a_front_end_does_not_offer_has_a_reason() -> None:
    assert [row for row in DECISIONS if bool(row.reason) == (set(row.offered) == set(ALL))] == []


def test_mail_and_the_command_line_call_those_of_the_language_and_the_operator() -> None:
    assert called_by("mail") <= {
        "names.names_of",
        "accounts.own_profile",
        "matches.preferred_display",
        "matches.statements_of",
        "tournament_names.names_in_notices",
    }
    own = {name for name, row in USE_CASES.items() if not row.offered or row.reason == ADMIN}
    own.add("passwords.make_account")
    also = {"play.give", "play.submit", "exports.export_match", "matches.load_state"}
    also |= {"accounts.log_out_everywhere", "exports.export_game_text"}
    assert called_by("cli") <= own | also
