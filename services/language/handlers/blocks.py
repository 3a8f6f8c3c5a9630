"""Commands against the challenges of another player: block, unblock, decline all."""

from services.app.blocks import add_block, blocked_userids, remove_block
from services.app.invitations import decline_all as decline_all_of
from services.app.names import join_names
from services.language.answer import Answer
from services.language.invocation import Invocation


def block(call: Invocation) -> Answer:
    """Block a player, or list the blocked players."""
    account = call.account()
    if len(call.line.all("userid")) == 1:
        names = blocked_userids(call.app, account)
        return Answer(f"you block {join_names(names)}" if names else "you block nobody")
    declined = add_block(call.app, account, call.line.all("userid")[1])
    ended = f"; {_declined(declined, ' in which you had not moved')}" if declined else ""
    return Answer(
        "from now on they can't challenge you, write to you or chat where you read it; "
        f"matches in which you have moved go on{ended}"
    )


def unblock(call: Invocation) -> Answer:
    """End a block."""
    account = call.account()
    remove_block(call.app, account, call.line.all("userid")[1])
    return Answer("they can challenge you and write to you again")


def decline_all(call: Invocation) -> Answer:
    """Decline all matches to which a player invites the account."""
    declined = decline_all_of(call.app, call.actor, call.line.all("userid")[1])
    return Answer(_declined(declined) if declined else "they invite you to no match")


def _declined(number: int, which: str = "") -> str:
    if number == 1:
        return f"1 match{which} is declined"
    return f"{number} matches{which} are declined"
