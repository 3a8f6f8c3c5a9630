"""Bots: accounts of programs, each of which belongs to a person, its owner.

A bot has no password: its program acts with a token that the owner makes, which may read and play. All else about
the bot, such as the challenges that it accepts, is set by the owner. What holds for the owner holds for the bot:
suspension, sanctions, blocks, and the end of the account.
"""

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec
from msgspec.structs import replace

from domain.errors import Code, Refusal
from domain.match.state import is_bot
from domain.records import AccountId
from infra.people.accounts import Account, Profile
from infra.people.accounts.writing import refuse_suspended
from infra.people.tokens import USUAL_DAYS, FreshToken, Scope, Token
from services.app.accounts import begin_account, delete_bot_account, end_if_suspended, own_profile
from services.app.bot_rules import read_rules
from services.app.context import App
from services.app.preferences import read_challengers
from services.app.sentences import SAY
from services.app.userids import BOT, claimed_userid

MOST_BOTS: Final = 5
"""Bots of one owner."""

TOKEN_SCOPES: Final = (Scope.READ, Scope.PLAY)
"""The permissions of a bot's token."""


class Bot(msgspec.Struct, frozen=True):
    """A bot as its owner sees it."""

    account: AccountId
    profile: Profile
    tokens: tuple[Token, ...]


def bots_of(app: App, owner: AccountId) -> list[Bot]:
    """Return the bots of an account, by userid."""
    found = sorted(app.accounts.bots_of(owner).items())
    return [
        Bot(account, profile, tuple(app.tokens.list_of(account)))
        for _, account in found
        if (profile := app.accounts.record_of(account))
    ]


def make_bot(app: App, owner: AccountId, userid: str) -> Bot:
    """Make a bot, whose userid begins with `bot-` whether that was typed or not.

    `bad-name`, `name-taken`, `too-many`, and `not-wanted` for a bot of a bot.
    """
    app.ready()
    if is_bot(owner):
        raise Refusal(Code.NOT_WANTED, SAY("bot-of-bot"))
    name = userid.strip().lower()
    name = name if name.startswith(BOT) else BOT + name
    with claimed_userid(app, name, is_bot=True):
        _note_name(app, owner, name)
        # crash window: the owner's record has the name, and nobody has it; the same request again goes on
        try:
            account = app.accounts.make_bot(name, owner)
        except Refusal:
            _drop_name(app, owner, name)
            raise
    profile = app.accounts.record_of(owner)
    if profile is None or name not in profile.bots:
        # the owner was deleted at this moment, or made another bot as the last one, and did not find this one
        delete_bot_account(app, name)
        raise Refusal(Code.BUSY, SAY("bot-cut-off"))
    begin_account(app, account, None)
    return Bot(account, own_profile(app, account), ())


def _note_name(app: App, owner: AccountId, name: str) -> None:
    """Note the name of a bot that will be made, if there is room for it; `too-many`."""
    known = app.accounts.bots_of(owner)

    def with_name(record: Account) -> Account:
        # at the limit, names without an account are of bots whose making was cut off
        every = {*record.bots, name}
        bots = every if len(every) <= MOST_BOTS else {*known, name}
        if len(bots) > MOST_BOTS:
            raise Refusal(Code.TOO_MANY, SAY("most-bots", most=MOST_BOTS))
        return replace(record, bots=tuple(sorted(bots)))

    app.accounts.change_of(owner, with_name)


def _drop_name(app: App, owner: AccountId, name: str) -> None:
    """Take a name out of the owner's record, unless it is that of a bot."""

    def without(record: Account) -> Account:
        return replace(record, bots=tuple(one for one in record.bots if one != name))

    if name not in app.accounts.bots_of(owner):
        app.accounts.change_of(owner, without)


def own_bot(app: App, owner: AccountId, userid: str) -> Bot:
    """Return a bot of an account; `not-found` for any other userid."""
    for bot in bots_of(app, owner):
        if bot.profile.name == userid.strip().lower():
            return bot
    raise Refusal(Code.NOT_FOUND, SAY("no-bot", name=userid[:24]))


def change_bot(
    app: App, owner: AccountId, userid: str, changes: Mapping[str, str | Sequence[str]]
) -> Bot:
    """Change which challenges a bot accepts: all of these changes, or none; `not-found`, `bad-option`, `unknown-game`.

    `challengers` is whose, as for players; the others are fields of `BotRules`.
    """
    bot = own_bot(app, owner, userid)

    def changed(record: Account) -> Account:
        whose = changes.get("challengers")
        challenges = record.challenges if whose is None else read_challengers(str(whose))
        return replace(record, challenges=challenges, rules=read_rules(record.rules, changes))

    app.accounts.change_of(bot.account, changed)
    return own_bot(app, owner, userid)


def delete_bot(app: App, owner: AccountId, userid: str) -> None:
    """Delete a bot for good, like an account; `not-found`. Its matches stay."""
    app.ready()
    name = own_bot(app, owner, userid).profile.name
    delete_bot_account(app, name)
    # crash window: the owner's record has a name that nobody has; it is dropped when there is no room
    _drop_name(app, owner, name)


def make_bot_token(
    app: App, owner: AccountId, userid: str, label: str, days: int | None = USUAL_DAYS
) -> FreshToken:
    """Make a token for a bot's program; `not-found`, `suspended`, and as for a token of an account."""
    bot = own_bot(app, owner, userid)
    refuse_suspended(bot.profile)
    made = app.tokens.issue(bot.account, label, TOKEN_SCOPES, days)
    end_if_suspended(app, bot.account)
    return made


def revoke_bot_token(app: App, owner: AccountId, userid: str, id_: str) -> None:
    """End a token of a bot, at once and everywhere; `not-found`."""
    if not app.tokens.revoke(own_bot(app, owner, userid).account, id_):
        raise Refusal(Code.NOT_FOUND, SAY("no-token"))
