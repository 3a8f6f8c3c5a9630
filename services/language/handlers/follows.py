"""Commands against the challenges of another player: block, unblock, decline all.

Matches that a player watches or pins, and players that one follows.
"""

from typing import Final

from infra.languages.wording import N_
from services.app.challenges import decline_all as decline_all_of
from services.app.follows import (
    add_block,
    blocked_userids,
    follow_player,
    followed_boards,
    followed_userids,
    pin_match,
    remove_block,
    unfollow_player,
    unpin_match,
    unwatch_match,
    watch_match,
    watched_matches,
)
from services.app.queries import listed_matches
from services.language.answer import Answer
from services.language.arguments import read_board
from services.language.form import OWN, OWN_IN_MATCH, signed
from services.language.handlers.listing import lines_of
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


_PLAYED: Final = 20
"""Matches of followed players in one answer."""


def watch(call: Invocation) -> Answer:
    """Watch a match."""
    board = read_board(call.line.get("board"), call.words)
    watch_match(call.app, call.account(), board)
    return Answer(call.words.gettext("match %(board)s is in `watching`", board=board))


def unwatch(call: Invocation) -> Answer:
    """Stop watching a match."""
    board = read_board(call.line.get("board"), call.words)
    unwatch_match(call.app, call.account(), board)
    return Answer(call.words.gettext("match %(board)s is not in `watching`", board=board))


def pin(call: Invocation) -> Answer:
    """Put a match of the player first in the player's lists."""
    board = read_board(call.line.get("board"), call.words)
    pin_match(call.app, call.account(), board)
    return Answer(call.words.gettext("match %(board)s is pinned", board=board))


def unpin(call: Invocation) -> Answer:
    """Put a match back in its usual place in the player's lists."""
    board = read_board(call.line.get("board"), call.words)
    unpin_match(call.app, call.account(), board)
    return Answer(call.words.gettext("match %(board)s is not pinned", board=board))


def pinned(call: Invocation) -> Answer:
    """List the pinned matches."""
    boards = call.app.follows.of(call.account()).pinned
    lines = lines_of(call, list(listed_matches(call.app, boards).values()))
    return Answer(page="\n".join(lines) or call.words.gettext("you have no pinned matches"))


def follow(call: Invocation) -> Answer:
    """Follow a player."""
    follow_player(call.app, call.account(), call.line.all("userid")[1])
    return Answer(call.words.gettext("`watching` shows what they play; they won't be told"))


def unfollow(call: Invocation) -> Answer:
    """Stop following a player."""
    unfollow_player(call.app, call.account(), call.line.all("userid")[1])
    return Answer(call.words.gettext("`watching` no longer shows what they play"))


def watching(call: Invocation) -> Answer:
    """List the watched matches, the followed players, and what these play now."""
    app, account = call.app, call.account()
    found = app.follows.of(account)
    names = followed_userids(app, account, found)
    lines = lines_of(call, watched_matches(app, found))
    if names:
        played = listed_matches(app, followed_boards(app, account, found)[:_PLAYED]).values()
        who = call.words.names(names)
        head = call.words.gettext("you follow %(names)s, who are playing:", names=who)
        lines += [head, *lines_of(call, list(played))]
    none = call.words.gettext("you aren't watching any matches or following anyone")
    return Answer(page="\n".join(lines) or none)


FORMS: Final = (
    signed(
        "watch",
        "watch",
        OWN_IN_MATCH,
        N_("add a match to your watched matches"),
        watch,
    ),
    signed(
        "unwatch",
        "unwatch",
        OWN_IN_MATCH,
        N_("remove a match from your watched matches"),
        unwatch,
    ),
    signed("pin", "pin", OWN_IN_MATCH, N_("put a match first in your lists"), pin),
    signed("unpin", "unpin", OWN_IN_MATCH, N_("put a match back in its usual place"), unpin),
    signed("pinned", "pinned", OWN, N_("list the matches you have pinned"), pinned),
    signed(
        "follow",
        "follow",
        f"{OWN} userid",
        N_("follow a player: `watching` shows what they play"),
        follow,
    ),
    signed("unfollow", "unfollow", f"{OWN} userid", N_("stop following a player"), unfollow),
    signed(
        "watching",
        "watching",
        OWN,
        N_("list the matches you watch, and what the players you follow are playing"),
        watching,
    ),
)
