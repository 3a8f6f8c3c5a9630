"""Blocks: players whose challenges, messages and chat an account does not want, and that may not follow it."""

from domain.errors import Code, Refusal
from domain.match.events import AccountId
from services.app.context import App
from services.app.follows import end_follows
from services.app.invitations import decline_unplayed
from services.app.names import userids_of
from services.app.sentences import SAY


def add_block(app: App, account: AccountId, userid: str) -> int:
    """Block a player, and decline the matches with that player in which the account has not moved.

    Returns how many those are. `unknown-user`, `too-many`, and `bad-option` for oneself.
    """
    other = app.accounts.id_of(userid)
    if other == account:
        raise Refusal(Code.BAD_OPTION, SAY("block-self"))
    app.blocks.add(account, other)
    # crash window: a blocked player still follows, and matches go on; the same block again ends that
    end_follows(app, other, account)
    return decline_unplayed(app, account, other)


def remove_block(app: App, account: AccountId, userid: str) -> None:
    """Unblock a player, who need not be blocked; `unknown-user`."""
    app.blocks.remove(account, [app.accounts.id_of(userid)])


def blocked_userids(app: App, account: AccountId) -> list[str]:
    """Return the userids of the players that an account blocks, sorted.

    Those whose accounts were erased are dropped.
    """
    userids = userids_of(app, app.blocks.of(account))
    app.blocks.remove(account, [other for other, userid in userids.items() if userid is None])
    return sorted(userid for userid in userids.values() if userid is not None)
