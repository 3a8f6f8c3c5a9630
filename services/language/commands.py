"""The table of forms: each of the grammar's rules with its usage, its meaning and its handler."""

from typing import Final

from services.language.authentication import signer
from services.language.form import CommandForm
from services.language.game_forms import GAME_FORMS
from services.language.handlers import (
    accounts,
    blocks,
    disputes,
    follows,
    help_pages,
    listing,
    messages,
    multiple,
    rankings,
    vacations,
)

_OWN: Final = "userid password"
_IN_MATCH: Final = "BOARD userid password"

GENERAL_FORMS: Final = (
    CommandForm(
        "help",
        "help",
        "[GAME|COMMAND] [--lang=en|de]",
        "explain",
        lambda call: help_pages.show_help(call, FORMS),
    ),
    CommandForm("games", "games", "", "list the games and puzzles", help_pages.list_games),
    CommandForm("signup", "signup", f"{_OWN} [ADDRESS ...]", "make an account", accounts.signup),
    CommandForm(
        "add",
        "add",
        f"{_OWN} ADDRESS ...",
        "add mail addresses",
        accounts.add_addresses,
        proof=signer,
    ),
    CommandForm(
        "verify",
        "verify",
        f"{_OWN} CODE",
        "prove a mail address by the code that was mailed there",
        accounts.verify,
        proof=signer,
    ),
    CommandForm(
        "change_password",
        "change password",
        "userid old new [--keep-tokens]",
        "give the account another password, and end its sessions and tokens",
        accounts.change_password,
        proof=signer,
    ),
    CommandForm(
        "change_address",
        "change address",
        f"{_OWN} [ADDRESS ...]",
        "replace all mail addresses, by none if none is given",
        accounts.change_addresses,
        proof=signer,
    ),
    CommandForm(
        "set",
        "set",
        f"{_OWN} language en|de  |  notify move|daily|none  |  challenges anyone|known|none"
        "  |  receipts on|off",
        "choose the language of help, when and how mail is sent, and whose challenges you accept",
        accounts.set_preference,
        proof=signer,
    ),
    CommandForm(
        "vacation",
        "vacation",
        f"{_OWN} [DAYS|back]",
        "stop your clocks for whole days",
        vacations.vacation,
        proof=signer,
    ),
    CommandForm(
        "signoff",
        "signoff",
        _OWN,
        "stop all mail; `set ... notify` starts it again",
        accounts.signoff,
        proof=signer,
    ),
    CommandForm(
        "delete",
        "delete",
        _OWN,
        "erase the account and all personal data, for good",
        accounts.delete,
    ),
    CommandForm(
        "block",
        "block",
        f"{_OWN} [userid]",
        "accept no challenges, messages or chat from a player, or list the players you block",
        blocks.block,
        proof=signer,
    ),
    CommandForm(
        "unblock", "unblock", f"{_OWN} userid", "end a block", blocks.unblock, proof=signer
    ),
    CommandForm(
        "decline_all",
        "decline all",
        f"{_OWN} userid",
        "decline all matches to which a player invites you",
        blocks.decline_all,
        proof=signer,
    ),
    CommandForm(
        "watch",
        "watch",
        _IN_MATCH,
        "put a match on your list of those you watch",
        follows.watch,
        proof=signer,
    ),
    CommandForm(
        "unwatch",
        "unwatch",
        _IN_MATCH,
        "take a match off the list of those you watch",
        follows.unwatch,
        proof=signer,
    ),
    CommandForm(
        "follow",
        "follow",
        f"{_OWN} userid",
        "see in `watching` what a player plays",
        follows.follow,
        proof=signer,
    ),
    CommandForm(
        "unfollow", "unfollow", f"{_OWN} userid", "end that", follows.unfollow, proof=signer
    ),
    CommandForm(
        "watching",
        "watching",
        _OWN,
        "list the matches you watch, and what the players you follow play",
        follows.watching,
        proof=signer,
    ),
    CommandForm(
        "mute",
        "mute",
        _IN_MATCH,
        "get no notices and mails of the chat of a match",
        messages.mute,
        proof=signer,
    ),
    CommandForm("unmute", "unmute", _IN_MATCH, "get them again", messages.unmute, proof=signer),
    CommandForm(
        "list",
        "list",
        "[GAME ...]",
        "list the players, or those of some games",
        rankings.list_players,
    ),
    CommandForm(
        "robots",
        "robots",
        "",
        "list the robots, which accept any challenge by name at once",
        rankings.list_robots,
    ),
    CommandForm(
        "message",
        "message",
        f"{_OWN} userid[,userid ...] TEXT",
        "write to players; the text may also begin on the next line",
        messages.message,
        proof=signer,
    ),
    CommandForm(
        "messages",
        "messages",
        _OWN,
        "read what was written to you",
        messages.messages,
        proof=signer,
    ),
    CommandForm(
        "broadcast",
        "broadcast",
        f"{_OWN} TEXT",
        "write to everybody; arbiters only",
        messages.broadcast,
        proof=signer,
    ),
    CommandForm(
        "claim",
        "claim",
        f"{_IN_MATCH} #PLY TEXT",
        "ask an arbiter to look at a match, from a ply on; the text says what is wrong",
        disputes.claim,
        proof=signer,
    ),
    CommandForm(
        "appeal",
        "appeal",
        f"{_IN_MATCH} TEXT",
        "object to a ruling, once, within 14 days; another arbiter rules on it",
        disputes.appeal,
        proof=signer,
    ),
    CommandForm(
        "case",
        "case",
        _IN_MATCH,
        "show the claims and rulings of a match, to its players and to arbiters",
        disputes.show_case,
        proof=signer,
    ),
    CommandForm(
        "cases",
        "cases",
        f"{_OWN} [FROM]",
        "list the cases that wait for a ruling, the oldest first; arbiters only",
        disputes.list_cases,
        proof=signer,
    ),
    CommandForm(
        "rule",
        "rule",
        f"{_IN_MATCH} [--own-motion] dismissed|back #PLY [time SIDE=DAYS]|result SIDE[,SIDE]|draw|annul"
        "|time SIDE=DAYS[,SIDE=DAYS] REASONS",
        "rule on the case of a match that waits, or of your own motion; arbiters only",
        disputes.rule,
        proof=signer,
    ),
    CommandForm(
        "multiple",
        "multiple",
        "and a command on each line after",
        "carry out several commands, each with its own answer",
        multiple.multiple,
    ),
    CommandForm(
        "all_show",
        "all show",
        "userid [next|active]",
        "show a player's boards in all games",
        listing.all_show,
    ),
)

FORMS: Final[tuple[CommandForm, ...]] = (*GENERAL_FORMS, *GAME_FORMS)
