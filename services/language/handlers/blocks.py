"""Blocks: block, unblock."""

from services.app.blocks import add_block, blocked_userids, remove_block
from services.app.names import join_names
from services.language.answer import Answer
from services.language.invocation import Invocation


def block(call: Invocation) -> Answer:
    """Block a player, or list the blocked players."""
    account = call.account()
    if len(call.line.all("userid")) == 1:
        names = blocked_userids(call.app, account)
        return Answer(f"you block {join_names(names)}" if names else "you block nobody")
    add_block(call.app, account, call.line.all("userid")[1])
    return Answer(
        "from now on they can't challenge you, write to you or chat where you read it; "
        "matches that you have with them go on"
    )


def unblock(call: Invocation) -> Answer:
    """End a block."""
    account = call.account()
    remove_block(call.app, account, call.line.all("userid")[1])
    return Answer("they can challenge you and write to you again")
