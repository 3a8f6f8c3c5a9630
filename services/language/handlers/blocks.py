"""Commands against the challenges of another player: block, unblock, decline all."""

from services.app.blocks import add_block, blocked_userids, remove_block
from services.app.invitations import decline_all as decline_all_of
from services.language.answer import Answer
from services.language.invocation import Invocation


def block(call: Invocation) -> Answer:
    """Block a player, or list the blocked players."""
    account, words = call.account(), call.words
    if len(call.line.all("userid")) == 1:
        names = blocked_userids(call.app, account)
        if not names:
            return Answer(words.gettext("you aren't blocking anyone"))
        return Answer(words.gettext("you are blocking %(names)s", names=words.names(names)))
    declined = add_block(call.app, account, call.line.all("userid")[1])
    said = words.gettext(
        "from now on they can't challenge you, write to you or chat where you read it; "
        "matches in which you have moved continue"
    )
    if declined:
        said += "; " + words.ngettext(
            "%(count)s match in which you hadn't moved was declined",
            "%(count)s matches in which you hadn't moved were declined",
            declined,
        )
    return Answer(said)


def unblock(call: Invocation) -> Answer:
    """End a block."""
    account = call.account()
    remove_block(call.app, account, call.line.all("userid")[1])
    return Answer(call.words.gettext("they can challenge you and write to you again"))


def decline_all(call: Invocation) -> Answer:
    """Decline all matches to which a player invites the account."""
    declined = decline_all_of(call.app, call.actor, call.line.all("userid")[1])
    if not declined:
        return Answer(call.words.gettext("no challenge from them is waiting for you"))
    return Answer(
        call.words.ngettext(
            "%(count)s match was declined", "%(count)s matches were declined", declined
        )
    )
