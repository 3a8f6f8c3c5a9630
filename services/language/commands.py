"""The table of forms: each of the grammar's rules with its usage, its meaning and its handler."""

from typing import Final

from infra.languages.wording import N_
from services.language.form import LANGUAGES, OWN, OWN_IN_MATCH, CommandForm, signed
from services.language.game_forms import GAME_FORMS
from services.language.handlers import (
    accounts,
    clubs,
    disputes,
    follows,
    help_pages,
    listing,
    messages,
    multiple,
    rankings,
    tournaments,
    vacations,
)
from services.language.handlers import follows as blocks

GENERAL_FORMS: Final = (
    CommandForm(
        "help",
        "help",
        f"[GAME|COMMAND ...] [--lang={LANGUAGES}]",
        N_("explain a game or a command"),
        lambda call: help_pages.show_help(call, FORMS),
        for_guests=True,
    ),
    CommandForm(
        *("games", "games", "", N_("list the games and puzzles"), help_pages.list_games),
        for_guests=True,
    ),
    CommandForm(
        "signup",
        "signup",
        f"{OWN} [ADDRESS ...] [--link=LINK]",
        N_("create an account"),
        accounts.signup,
        for_guests=True,
    ),
    signed("add", "add", f"{OWN} ADDRESS ...", N_("add e-mail addresses"), accounts.add_addresses),
    signed(
        "verify",
        "verify",
        f"{OWN} CODE",
        N_("verify an e-mail address with the code sent there"),
        accounts.verify,
    ),
    signed(
        "change_password",
        "change password",
        "userid old new [--keep-tokens]",
        N_("change the account's password, and end its sessions and tokens"),
        accounts.change_password,
    ),
    signed(
        "change_address",
        "change address",
        f"{OWN} [ADDRESS ...]",
        N_("replace all e-mail addresses, or remove them if none follow"),
        accounts.change_addresses,
    ),
    signed(
        "set",
        "set",
        f"{OWN} language {LANGUAGES}  |  notify move|daily|none  |  challenges anyone|known|none"
        "  |  receipts on|off",
        N_("choose your language, when and how mail is sent, and whose challenges you accept"),
        accounts.set_preference,
    ),
    signed(
        "vacation",
        "vacation",
        f"{OWN} [DAYS|back]",
        N_("go on vacation: stop your clocks for whole days"),
        vacations.vacation,
    ),
    signed(
        "signoff",
        "signoff",
        OWN,
        N_("stop all mail; `set ... notify` starts it again"),
        accounts.signoff,
    ),
    CommandForm(
        "delete",
        "delete",
        OWN,
        N_("erase the account and all personal data, for good"),
        accounts.delete,
        for_guests=True,
    ),
    signed(
        "block",
        "block",
        f"{OWN} [userid]",
        N_("accept no challenges, messages or chat from a player, or list the players you block"),
        blocks.block,
    ),
    signed("unblock", "unblock", f"{OWN} userid", N_("unblock a player"), blocks.unblock),
    signed(
        "decline_all",
        "decline all",
        f"{OWN} userid",
        N_("decline all challenges from a player"),
        blocks.decline_all,
    ),
    *follows.FORMS,
    *clubs.FORMS,
    *tournaments.FORMS,
    signed(
        "mute",
        "mute",
        OWN_IN_MATCH,
        N_("stop notices and mail about a match's chat"),
        messages.mute,
    ),
    signed("unmute", "unmute", OWN_IN_MATCH, N_("get them again"), messages.unmute),
    CommandForm(
        "list",
        "list",
        "[GAME ...]",
        N_("list the players, or those of some games"),
        rankings.list_players,
    ),
    CommandForm(
        "robots",
        "robots",
        "",
        N_("list the robots, which accept any challenge by name at once"),
        rankings.list_robots,
    ),
    signed(
        "message",
        "message",
        f"{OWN} userid[,userid ...] TEXT",
        N_("write to players; the text may also begin on the next line"),
        messages.message,
    ),
    signed("messages", "messages", OWN, N_("read what was written to you"), messages.messages),
    signed(
        "broadcast",
        "broadcast",
        f"{OWN} TEXT",
        N_("write to everybody; arbiters only"),
        messages.broadcast,
    ),
    signed(
        "claim",
        "claim",
        f"{OWN_IN_MATCH} #PLY TEXT",
        N_("ask an arbiter to look at a match from a ply on; the text says why"),
        disputes.claim,
    ),
    signed(
        "appeal",
        "appeal",
        f"{OWN_IN_MATCH} TEXT",
        N_("appeal against a ruling, once, within 14 days; another arbiter decides"),
        disputes.appeal,
    ),
    signed(
        "case",
        "case",
        OWN_IN_MATCH,
        N_("show the claims and rulings of a match, to its players and to arbiters"),
        disputes.show_case,
    ),
    signed(
        "cases",
        "cases",
        f"{OWN} [FROM]",
        N_("list the cases waiting for a ruling, oldest first; arbiters only"),
        disputes.list_cases,
    ),
    signed(
        "rule",
        "rule",
        f"{OWN_IN_MATCH} [--own-motion] dismissed|back #PLY [time SIDE=DAYS]|result SIDE[,SIDE]|draw|annul"
        "|time SIDE=DAYS[,SIDE=DAYS] REASONS",
        N_("rule on a match's waiting case, or of your own motion; arbiters only"),
        disputes.rule,
    ),
    CommandForm(
        "multiple",
        "multiple",
        "and a command on each line after",
        N_("carry out several commands, each with its own answer"),
        multiple.multiple,
        for_guests=True,
    ),
    CommandForm(
        "all_show",
        "all show",
        "userid [next|active]",
        N_("show a player's boards in all games"),
        listing.all_show,
    ),
    CommandForm(
        "all_history",
        "history",
        "[userid ...]",
        N_("list finished matches of all games"),
        rankings.history,
    ),
    CommandForm(
        "all_standings",
        "standings",
        "",
        N_("list how often each player has won, game by game"),
        rankings.all_standings,
    ),
)

FORMS: Final[tuple[CommandForm, ...]] = (*GENERAL_FORMS, *GAME_FORMS)
