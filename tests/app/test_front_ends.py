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
    """The front ends that offer a use case, and why the others do not."""

    offered: tuple[str, ...] = ALL
    reason: str = ""


NO_OPEN_CHALLENGES: Final = Row(
    (API, WEB),
    "an open challenge is found in a list and taken by its id, which pbmserv's language has no form for",
)
LINES: Final = Row((API,), "a stream is for programs; people have lists")
CALENDAR: Final = Row((API, WEB), "an address with a secret is in no mail and no command line")
WITHIN: Final = Row((), "a step of other use cases")
NO_DRAFTS_ON_PAGES: Final = Row(
    (LANGUAGE, API), "a page shows where a move leads before it is sent, so it stores no draft"
)

REPORTS: Final = Row((API, WEB), "a line shows no notes of challenges, and moderators have a queue")
CLUBS_ON_PAGES: Final = Row(
    (API, WEB), "a club is run on its page; a line joins, leaves and writes to it"
)
PAIRED_BY_PROGRAMS: Final = Row(
    (API,), "a batch comes from a tool; people pair in tournaments and challenges"
)
OPERATOR: Final = Row((), "the operator alone does it, with a command of `matchpost`")
ADMIN: Final = Row(
    (API, WEB), "operators have commands of `matchpost` at a terminal, and nothing by mail"
)
FIRST_OPERATOR: Final = Row((WEB,), "the link is opened in a browser")
BACKUPS: Final = Row((API, WEB), "a terminal makes one itself")
KEPT_BACKUPS: Final = Row((API,), "a terminal lists them with `restore --list`")
SESSIONS: Final = Row((WEB,), "a session is a browser's")
BY_LINK: Final = Row(
    (WEB,),
    "a link is opened in a browser; programs have tokens, and who reads mail can open the link",
)
BY_BROWSERS: Final = Row(
    (API, WEB), "only a browser shows notifications, and it subscribes by HTTP"
)
BY_HTTP: Final = Row(
    (API, WEB), "a secret is shown once, and an address is a secret: neither belongs into a mail"
)
BY_PASSKEYS: Final = Row((WEB,), "only a browser has passkeys")
FACTORS: Final = Row((WEB,), "a program that could change them would be one more way around them")
BY_PROVIDER: Final = Row((WEB,), "a provider sends browsers back and forth")
BOTS: Final = Row((API, WEB), "a bot is of no use without a token, and lines make none")
NO_TOKENS_IN_LINES: Final = Row((API, WEB), "tokens are made and ended over HTTP")
APPS_OVER_HTTP: Final = Row((API, WEB), "apps are registered and ended where tokens are")
CONSENT: Final = Row((WEB,), "a player lets an app act on a page, where nobody else can")
BY_APPS: Final = Row((API,), "only an app asks so")
RECEIPTS_LATER: Final = Row(
    (API, WEB), "the language returns a receipt with its command, and a proof is a file"
)
USE_CASES: Final[dict[str, Row]] = {
    "start.start_by_name": Row(),
    "challenges.propose": NO_OPEN_CHALLENGES,
    "challenges.take": NO_OPEN_CHALLENGES,
    "challenges.fill_with_robot": NO_OPEN_CHALLENGES,
    "challenges.withdraw": NO_OPEN_CHALLENGES,
    "challenges.begun_when_full": NO_OPEN_CHALLENGES,
    "names.owner_of": WITHIN,
    "names.are_of_one": WITHIN,
    "accounts.delete_bot_account": WITHIN,
    "opponents.is_start_over": WITHIN,
    "start.unrated_with_robots": WITHIN,
    "bots.bots_of": BOTS,
    "bots.make_bot": BOTS,
    "bots.own_bot": WITHIN,
    "bots.change_bot": BOTS,
    "bots.delete_bot": BOTS,
    "bots.make_bot_token": BOTS,
    "bots.revoke_bot_token": BOTS,
    "bot_rules.check_bots_accept": WITHIN,
    "bot_rules.reserve_bots": WITHIN,
    "opponents.robots_play": Row((WEB,), "the others list the robots, which are none then"),
    "opponents.robots_here": Row(),
    "opponents.games_of_robots": Row((LANGUAGE, API), "a page has their buttons"),
    "opponents.robot_of": Row((WEB,), "a page has a button for each level"),
    "opponents.check_robots_play": WITHIN,
    "opponents.check_wanted": WITHIN,
    "opponents.reserve_robot_match": WITHIN,
    "rematch.rematch": Row(),
    "rematch.rematch_command": WITHIN,
    "rematch.rematch_board": Row(
        (WEB,),
        "a page shows it in the place of its button; elsewhere it is a match among the others",
    ),
    "start.numbered_start": WITHIN,
    "commands.act": Row(),
    "commands.command_of": WITHIN,
    "play.give": Row(),
    "play.submit": Row(),
    "play.decided": WITHIN,
    "play.finish": WITHIN,
    "play.check": WITHIN,
    "conditional_moves.conditional_moves_of": Row(
        (LANGUAGE, API), "a page reads them with its match, in one round trip"
    ),
    "conditional_moves.set_conditional_moves": Row(),
    "conditional_moves.drop_conditional_moves": Row(),
    "matches.analysis_of": Row(),
    "matches.stored_analysis": Row((WEB,), "a list of moves has marks, or none"),
    "matches.start_analysis": Row(),
    "matches.analyse": Row((), "`services.jobs` makes it"),
    "drafts.submit": NO_DRAFTS_ON_PAGES,
    "drafts.draft_of": Row((API,), "the language shows it by `matches.private_part`"),
    "drafts.confirm": NO_DRAFTS_ON_PAGES,
    "drafts.drop": Row(
        (API,), "a draft at a terminal is replaced by the next, and no page stores one"
    ),
    "vacations.status": Row(),
    "vacations.take_until": Row((WEB,), "a page has a field for a date, the others a number"),
    "vacations.change": Row((LANGUAGE, WEB), "the API has a number in place of a text"),
    "vacations.take": Row((API,), "the others read a text, by `vacations.change`"),
    "vacations.end": Row((API,), "the others read a text, by `vacations.change`"),
    "contact.check_challenge": WITHIN,
    "contact.check_open_challenge": WITHIN,
    "contact.check_message": WITHIN,
    "contact.check_chat": WITHIN,
    "contact.check_follow": WITHIN,
    "contact.check_pairing": WITHIN,
    "contact.check_pair": WITHIN,
    "contact.strangers_to": WITHIN,
    "follows.end_follows": WITHIN,
    "contact.is_known": WITHIN,
    "draws.accept_command": WITHIN,
    "exports.export_match": Row((API, WEB), "a document is no answer to a line of text"),
    "exports.match_document": WITHIN,
    "exports.export_tournament": Row((API, WEB), "a document is no answer to a line of text"),
    "exports.export_number": OPERATOR,
    "exports.export_game_text": Row(
        (API, WEB), "a game text is a file; `matchpost export --text` writes it"
    ),
    "match_lines.finished_lines": LINES,
    "match_lines.running_lines": LINES,
    "match_lines.dump_lines": WITHIN,
    "dump.make_dump": Row((), "`services.jobs` makes it, and the operator with `matchpost dump`"),
    "calendar.make_calendar": CALENDAR,
    "calendar.end_calendar": CALENDAR,
    "calendar.calendar_of": Row((WEB,), "calendar programs read it at its address"),
    "exports.export_record": OPERATOR,
    "robots.choose": WITHIN,
    "imports.seats_of": OPERATOR,
    "imports.plan_import": OPERATOR,
    "imports.imported_from": WITHIN,
    "accounts.sign_up": Row(),
    "accounts.authenticate": Row((LANGUAGE, API), "a page goes on to ask for a code"),
    "accounts.own_profile": Row((LANGUAGE,), "a token and a session come with their account"),
    "accounts.change_password": Row(),
    "accounts.add_addresses": Row((LANGUAGE,), "the others show all addresses and replace them"),
    "accounts.replace_addresses": Row(),
    "accounts.prove_address": Row((LANGUAGE, WEB), "who reads the mail with the code has these"),
    "accounts.sign_off": Row((LANGUAGE, WEB), "a program has `none` as a time for mail"),
    "accounts.delete_account": Row(),
    "accounts.open_session": SESSIONS,
    "accounts.close_session": SESSIONS,
    "accounts.end_session": SESSIONS,
    "accounts.log_out_everywhere": NO_TOKENS_IN_LINES,
    "accounts.revoke_token": NO_TOKENS_IN_LINES,
    "apps.register_app": APPS_OVER_HTTP,
    "apps.remove_app": APPS_OVER_HTTP,
    "apps.connected_apps": APPS_OVER_HTTP,
    "apps.disconnect_app": APPS_OVER_HTTP,
    "apps.owner_of": CONSENT,
    "apps.waiting_device": CONSENT,
    "apps.answer_device": CONSENT,
    "oauth.read_authorization": CONSENT,
    "oauth.answer_authorization": CONSENT,
    "oauth.token_answer": BY_APPS,
    "oauth.revocation_answer": BY_APPS,
    "oauth.device_answer": BY_APPS,
    "passwords.can_reset": BY_LINK,
    "passwords.ask_reset": BY_LINK,
    "passwords.check_link": WITHIN,
    "passwords.link_needs_code": BY_LINK,
    "second_factors.log_in": SESSIONS,
    "second_factors.go_on": SESSIONS,
    "second_factors.finish_login": SESSIONS,
    "second_factors.ask_passkey": BY_PASSKEYS,
    "second_factors.log_in_by_passkey": BY_PASSKEYS,
    "second_factors.begin_passkey": BY_PASSKEYS,
    "second_factors.add_passkey": BY_PASSKEYS,
    "second_factors.remove_passkey": FACTORS,
    "second_factors.begin_app": FACTORS,
    "second_factors.app_in_setup": FACTORS,
    "second_factors.confirm_app": FACTORS,
    "second_factors.remove_app": FACTORS,
    "second_factors.renew_recovery_codes": FACTORS,
    "provided_accounts.provider_of": WITHIN,
    "provided_accounts.begin_sign_in": BY_PROVIDER,
    "provided_accounts.end_sign_in": BY_PROVIDER,
    "provided_accounts.make_provided_account": BY_PROVIDER,
    "provided_accounts.choose_password": BY_PROVIDER,
    "passwords.reset_password": BY_LINK,
    "accounts.erase_account": WITHIN,
    "accounts.begin_account": WITHIN,
    "accounts.set_suspended": ADMIN,
    "accounts.all_profiles": OPERATOR,
    "accounts.account_page": ADMIN,
    "first_operator.check_first_link": FIRST_OPERATOR,
    "first_operator.become_first_operator": FIRST_OPERATOR,
    "accounts.log_out_account": ADMIN,
    "roles.set_role": ADMIN,
    "roles.has_role": WITHIN,
    "roles.require_operator": ADMIN,
    "roles.holders_of": Row((WEB,), "a list of accounts has their roles"),
    "roles.require_moderator": Row((WEB,), "a page checks it before it reads anything"),
    "acts.record_act": WITHIN,
    "acts.acts_of": ADMIN,
    "passwords.make_account": Row((API,), "a page makes a list of accounts, by `make_accounts`"),
    "passwords.make_accounts": Row((WEB,), "a program makes them one by one"),
    "passwords.replace_lost_password": ADMIN,
    "backups.backup_state": BACKUPS,
    "backups.ask_for_backup": BACKUPS,
    "backups.kept_backups": KEPT_BACKUPS,
    "own_data.own_files": Row(WITHIN.offered, "`services.words.own_archive` puts it into one file"),
    "own_data.own_matches": Row(
        WITHIN.offered, "`services.words.own_archive` puts it into one file"
    ),
    "own_data.export_account": OPERATOR,
    "accounts.end_if_suspended": Row(
        (API, WEB), "only a token or a session that was just made may have to end again"
    ),
    "userids.claimed_userid": WITHIN,
    "admission.check_signups": Row((WEB,), "a page says so before its form; the others refuse"),
    "admission.admitted": WITHIN,
    "admission.recent_admission": Row((WEB,), "pages leave out links to what is not shown"),
    "admission.admission_now": ADMIN,
    "admission.change_admission": ADMIN,
    "admission.make_signup_link": ADMIN,
    "admission.signup_links": ADMIN,
    "admission.revoke_signup_link": ADMIN,
    "games_off.keys_on": Row((LANGUAGE, WEB), "the API lists all games, and says which are off"),
    "games_off.is_off": Row((API, WEB), "a line is refused"),
    "games_off.check_on": Row((WEB,), "a form says so before it is filled in; the others refuse"),
    "games_off.switched_games": ADMIN,
    "games_off.switch_games": ADMIN,
    "moderation.report_message": Row(),
    "moderation.report_chat": Row(),
    "moderation.report_note": REPORTS,
    "moderation.report_tournament": REPORTS,
    "moderation.report_player": Row(),
    "moderation.waiting_reports": REPORTS,
    "moderation.report_of": WITHIN,
    "moderation.decide_report": REPORTS,
    "moderation.impose": WITHIN,
    "moderation.sanction_player": Row((API,), "a page imposes them with a report"),
    "moderation.sanctions_of": REPORTS,
    "moderation.appeal_sanction": REPORTS,
    "moderation.appeals": Row((WEB,), "a program reads the sanctions of those whom it asks about"),
    "moderation.lift_sanction": REPORTS,
    "sanctions.check_may_write": WITHIN,
    "sanctions.check_may_start": WITHIN,
    "sanctions.sanction_held": WITHIN,
    "sanctions.end_after": WITHIN,
    "accounts.close_account": WITHIN,
    "accounts.reopen_account": WITHIN,
    "site.change_site": ADMIN,
    "site.shown_text": Row(
        (WEB,), "the texts are pages; a program reads all of them by `/api/site`"
    ),
    "clubs.may_found": Row((WEB,), "a page has the form only for those who may send it"),
    "clubs.found_club": CLUBS_ON_PAGES,
    "clubs.clubs_for": Row(),
    "clubs.club_at": Row(),
    "clubs.view_of": Row(),
    "clubs.is_member": WITHIN,
    "clubs.may_see": WITHIN,
    "clubs.organised": WITHIN,
    "clubs.pairing_club": WITHIN,
    "pairings.pair": PAIRED_BY_PROGRAMS,
    "pairings.batch_of": PAIRED_BY_PROGRAMS,
    "clubs.join": Row(),
    "clubs.join_by_link": Row(),
    "clubs.club_of_link": Row((WEB,), "a page asks before it joins"),
    "clubs.leave": Row(),
    "clubs.answer_request": CLUBS_ON_PAGES,
    "clubs.remove_from_club": CLUBS_ON_PAGES,
    "clubs.announce": Row(),
    "clubs.club_links": Row((WEB,), "a program knows the links that it has made"),
    "clubs.make_club_link": CLUBS_ON_PAGES,
    "clubs.revoke_club_link": CLUBS_ON_PAGES,
    "clubs.set_club_role": CLUBS_ON_PAGES,
    "clubs.change_club": CLUBS_ON_PAGES,
    "clubs.close_club": CLUBS_ON_PAGES,
    "clubs.organised_by": Row((WEB,), "a form lists the clubs that may be chosen"),
    "clubs.visible_challenge": NO_OPEN_CHALLENGES,
    "clubs.challenges_of_club": NO_OPEN_CHALLENGES,
    "clubs.matches_of_club": Row((WEB,), "the others list the matches of each player"),
    "tournaments.draft_tournament": Row(),
    "tournaments.open_entry": Row(),
    "tournaments.enter": Row(),
    "tournaments.leave": Row(),
    "teams.name_team": Row(),
    "tournaments.leave_all": WITHIN,
    "tournaments.start": Row(),
    "tournaments.challenge": Row(),
    "tournaments.end_ladder": Row(),
    "tournaments.withdraw": Row(),
    "tournaments.volunteer": Row(),
    "tournaments.substitute": Row(),
    "tournaments.confirm": Row(),
    "tournaments.cancel": Row(),
    "tournaments.change_text": Row((API, WEB), "a line has no room for a text of paragraphs"),
    "tournament_entries.rating_of_entrant": WITHIN,
    "tournament_entries.check_code": WITHIN,
    "tournament_invitations.invite": Row(),
    "tournament_invitations.make_code": Row(),
    "tournament_plans.terms_of": WITHIN,
    "threes.ends_with": WITHIN,
    "tournament_directors.directs_match": WITHIN,
    "tournament_directors.appoint": Row(),
    "tournament_directors.adjudicate": Row(),
    "tournament_directors.director_view": Row((WEB,), "the others ask for matches by themselves"),
    "tournaments.ask": WITHIN,
    "tournaments.ask_with_reasons": WITHIN,
    "tournaments.check_directs": WITHIN,
    "tournaments.visible_state": Row(
        (API, WEB), "its events, and the receipt of its last one, as of a match"
    ),
    "tournaments.tournaments_for": Row(),
    "tournaments.view_of": Row(),
    "matches.staff_at_deal": Row((WEB,), "the page of a match says who could have chosen the deal"),
    "matches.statements_of": WITHIN,
    "matches.was_sealed": Row((WEB,), "a page asks for a text before it starts a rematch"),
    "challenges.count_from": Row((WEB,), "the others decline all of a player by name"),
    "hooks.place_of": BY_HTTP,
    "hooks.may_have": WITHIN,
    "hooks.hooks_at": BY_HTTP,
    "hooks.hook_at": BY_HTTP,
    "hooks.add_hook": BY_HTTP,
    "hooks.secrets_of": WITHIN,
    "hooks.shown_address": BY_HTTP,
    "hooks.rotate_secret": BY_HTTP,
    "hooks.switch_on": BY_HTTP,
    "hooks.send_test": BY_HTTP,
    "hooks.send_again": BY_HTTP,
    "preferences.vapid_key": BY_BROWSERS,
    "preferences.subscribe": BY_BROWSERS,
    "preferences.unsubscribe": BY_BROWSERS,
    "follows.add_block": Row(),
    "follows.remove_block": Row(),
    "follows.blocked_userids": Row(),
    "challenges.decline_all": Row(),
    "challenges.decline_unplayed": WITHIN,
    "follows.watch_match": Row(),
    "follows.unwatch_match": Row(),
    "follows.pin_match": Row(),
    "follows.unpin_match": Row(),
    "follows.follow_player": Row(),
    "follows.unfollow_player": Row(),
    "follows.followed_userids": Row(),
    "follows.watched_matches": Row((LANGUAGE, WEB), "a program gets the numbers of the matches"),
    "follows.followed_boards": Row((LANGUAGE, WEB), "a program asks for each player's matches"),
    "queries.listed_matches": Row((LANGUAGE, WEB), "the API lists matches by `infra`"),
    "queries.with_older": WITHIN,
    "queries.running_matches": Row((API,), "a page reads its matches with their rows"),
    "messages.mark_unread_from": Row((WEB,), "a program keeps by itself what it shows as new"),
    "messages.mute_chat": Row(),
    "messages.unmute_chat": Row(),
    "matches.load_snapshot": WITHIN,
    "matches.read_snapshot": Row((WEB,), "the API loads in its event loop, the language a state"),
    "matches.load_state": Row(),
    "matches.preferred_display": Row((LANGUAGE,), "a display is for boards as text"),
    "matches.private_part": Row((LANGUAGE,), "the others show its parts, each in its place"),
    "messages.find_recipients": Row(),
    "messages.send_message": Row(),
    "messages.broadcast": Row((LANGUAGE,), "arbiters write to everybody at the terminal"),
    "messages.inbox": Row(),
    "messages.mark_read_until": Row((API,), "for the others what they show is read"),
    "messages.write_chat": Row(),
    "messages.read_chat": Row(
        (LANGUAGE, API), "a page reads the chat with marks and note, in one round trip"
    ),
    "disputes.dispute": Row(),
    "disputes.check_arbiter": WITHIN,
    "disputes.check_may_see": Row((WEB,), "the page of a claim that is not made yet checks it"),
    "exports.document_statements": WITHIN,
    "exports.frozen_evidence": Row((), "`services.jobs` freezes it"),
    "exports.evidence_of": Row((API, WEB), "a document is no answer to a line"),
    "cases.cases_of": Row(),
    "cases.case_of": Row((WEB,), "a page shows one case, the others all of a match"),
    "cases.queue_of": Row(),
    "messages.write_note": Row((WEB,), "a note stands on the page of its match"),
    "names.userids_of": Row((API,), "a program gets null for an account that was erased"),
    "names.names_of": Row((LANGUAGE, WEB), "a program gets userids"),
    "names.names_by_seat": Row(),
    "names.robot_userids": Row((LANGUAGE, WEB), "the API says it of each player"),
    "names.name_of": Row((LANGUAGE,), "the others have the userid in their answer"),
    "receipts.receipt_if_any": Row((LANGUAGE, API), "a page has no place for it in its answer"),
    "receipts.receipt_of_leaf": WITHIN,
    "receipts.leaf_of_command": WITHIN,
    "receipts.leaf_shown_to": Row((API,), "a refusal is asked for by the id of its command"),
    "receipts.check_sent": Row((API,), "with the outcome that is asked for by its id"),
    "receipts.leaf_of_event": RECEIPTS_LATER,
    "receipts.require_receipt": RECEIPTS_LATER,
    "receipts.proof_of": RECEIPTS_LATER,
    "tournaments.matches_going_on": Row((WEB,), "the others list matches by themselves"),
    "tournaments.shown_name": Row(
        (LANGUAGE, WEB), "an answer of the API has the number of a match's tournament"
    ),
    "tournaments.sees_club": Row(
        (API,), "a stream that goes on asks whether its reader is still a member"
    ),
    "tournament_names.visible_names": Row((WEB,), "a program has the numbers of its notices"),
    "tournament_names.names_in_notices": Row((WEB,), "a program has the numbers of its notices"),
    "tournament_names.tournaments_of_matches": Row(
        (LANGUAGE, WEB), "a row of the API has the number of a match's tournament"
    ),
    "tournament_feed.feed_of": Row((WEB,), "a feed is an address of its own"),
    "tournaments.plan_like": Row((WEB,), "a form is filled in from an earlier tournament"),
    "passwords.check_recent_password": Row((API, WEB), "each command line has the password"),
    "preferences.change_preferences": Row(),
    "waiting.own_matches": Row((WEB,), "the others list matches by `infra`, without an order"),
    "waiting.waiting_matches": Row((WEB,), "the others list matches by `infra`, without an order"),
    "waiting.next_match": Row((WEB,), "the others have no page to go on to"),
    "queries.find_player": Row((API, WEB), "the language has no form about a player as such"),
    "puzzles.hand_in": Row((WEB,), "the others play a puzzle move by move"),
    "puzzles.solution_commands": WITHIN,
    "queries.has_player": Row((WEB,), "the others refuse the challenge itself"),
    "queries.names_starting": Row((WEB,), "a form completes a name while it is typed"),
    "queries.ratings_of": Row((API, WEB), "a line has the ratings of a game"),
    "queries.rating_series": Row(),
    "queries.head_to_head": Row(),
    "queries.finished_matches": Row((LANGUAGE, API), "pages list matches, by `infra`"),
    "queries.count_finished": Row((LANGUAGE,), "the API has a cursor"),
    "queries.best_scores": Row(),
    "queries.best_score_of": Row((WEB,), "a page shows the visitor's own points beside the best"),
    "queries.count_scores": Row((WEB,), "only pages say how many pages a list has"),
    "queries.score_of": Row((LANGUAGE, WEB), "the API has the rank alone"),
}
"""Each public function of `services.app` that takes an `App`."""

IN_LOOP: Final = {"submit": "play.submit", "with_receipt": "receipts.receipt_if_any"}
"""The use cases behind the methods of `LoopPlay`, which waits for outcomes in the event loop."""


def modules(folder: str) -> Iterator[ast.Module]:
    for file in sorted((ROOT / folder).rglob("*.py")):
        yield ast.parse(file.read_text("utf-8"))


def public_functions() -> Iterator[str]:
    for file in sorted((ROOT / "app").glob("*.py")):
        for node in ast.parse(file.read_text("utf-8")).body:
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
                first = node.args.args[:1]
                if first and ast.unparse(first[0]) == "app: App":
                    yield f"{file.stem}.{node.name}"


def called_by(folder: str) -> set[str]:
    """The functions of `services.app` that the modules of a front end refer to."""
    return {name for module in modules(folder) for name in called_in(module)}


def called_in(module: ast.Module) -> Iterator[str]:
    aliases: dict[str, str] = {}
    for node in ast.walk(module):
        if isinstance(node, ast.ImportFrom) and node.module == "services.app":
            aliases |= {one.asname or one.name: one.name for one in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            for one in node.names:
                if node.module.startswith("services.app."):
                    yield f"{node.module.rpartition('.')[2]}.{one.name}"
    for node in ast.walk(module):
        match node:
            case ast.Attribute(value=ast.Name(id=name), attr=attr) if name in aliases:
                yield f"{aliases[name]}.{attr}"
            case ast.Attribute(value=ast.Attribute(attr="play"), attr=attr) if attr in IN_LOOP:
                yield IN_LOOP[attr]
            case _:
                pass


def test_every_use_case_is_in_the_table_and_there_is_no_other():
    assert set(public_functions()) == USE_CASES.keys()


@pytest.mark.parametrize("folder", ALL)
def test_a_front_end_calls_what_the_table_says_and_nothing_else(folder):
    said = {name for name, row in USE_CASES.items() if folder in row.offered}
    assert called_by(folder) & USE_CASES.keys() == said


def test_what_a_front_end_does_not_offer_has_a_reason():
    for name, row in USE_CASES.items():
        assert bool(row.reason) == (set(row.offered) != set(ALL)), name


def test_mail_offers_use_cases_by_the_language_alone():
    assert called_by("mail") & USE_CASES.keys() <= {
        "names.names_of",
        "accounts.own_profile",
        "matches.preferred_display",
        "matches.statements_of",
        "tournament_names.names_in_notices",
    }


def test_the_command_line_offers_use_cases_by_the_language_and_those_of_the_operator():
    own = {name for name, row in USE_CASES.items() if not row.offered or row is ADMIN}
    own.add("passwords.make_account")
    also = {"play.give", "play.submit", "exports.export_match", "matches.load_state"}
    also |= {"accounts.log_out_everywhere", "exports.export_game_text"}
    assert called_by("cli") & USE_CASES.keys() <= own | also
