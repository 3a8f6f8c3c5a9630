"""The names of players, as sentences and lists show them."""

from collections.abc import Iterable, Sequence
from typing import Final

from domain.match.state import ROBOT_ACCOUNTS, is_bot
from domain.records import SERVER_ACCOUNT, AccountId
from domain.sentences import ENGLISH, Sentences, Translation
from services.app.context import App

SAY: Final = Sentences(
    "names",
    {
        # the name of an account that was erased; it has spaces, which no userid has
        "former-player": "a former player",
        "the-server": "the server",
    },
)


def userids_of(app: App, accounts: Iterable[AccountId]) -> dict[AccountId, str | None]:
    """Return the userids of accounts; None for an account that was erased."""
    wanted = list(dict.fromkeys(accounts))
    return dict(zip(wanted, app.accounts.name_of(wanted), strict=True))


def names_of(
    app: App, accounts: Iterable[AccountId], language: Translation = ENGLISH
) -> dict[AccountId, str]:
    """Return the names of accounts, also of those that were erased."""
    found = userids_of(app, accounts)
    shown = {account: shown_name(name, language) for account, name in found.items()}
    if SERVER_ACCOUNT in shown:
        shown[SERVER_ACCOUNT] = SAY("the-server").in_language(language)
    return shown


def names_by_seat(
    app: App, seats: Sequence[AccountId], language: Translation = ENGLISH
) -> tuple[str, ...]:
    """Return the names of a match's players."""
    return shown_names(app.accounts.name_of(seats), language)


def shown_names(userids: Iterable[str | None], language: Translation = ENGLISH) -> tuple[str, ...]:
    """Return the names to show for userids."""
    return tuple(shown_name(userid, language) for userid in userids)


def shown_name(userid: str | None, language: Translation = ENGLISH) -> str:
    """Return the name to show for a userid."""
    return userid or SAY("former-player").in_language(language)


def name_of(app: App, account: AccountId) -> str:
    """Return the name of one account."""
    return names_by_seat(app, [account])[0]


def owner_of(app: App, account: AccountId) -> AccountId | None:
    """Return the owner of a bot; None for anybody else, who is not even read."""
    profile = app.accounts.record_of(account) if is_bot(account) else None
    return profile.owner or None if profile else None


def are_of_one(app: App, accounts: Sequence[AccountId]) -> bool:
    """Return whether two of the accounts are bots of one owner, or a bot and its owner."""
    owners = [owner_of(app, one) or one for one in accounts]
    return len(set(owners)) < len(owners)


def robot_userids(app: App) -> set[str]:
    """Return the userids of the robots' accounts, so that a list can mark them."""
    return {name for name in app.accounts.name_of(list(ROBOT_ACCOUNTS.values())) if name}
