"""Matches that a player watches and players that one follows: watch, unwatch, follow, unfollow, watching."""

from typing import Final

from services.app.follows import (
    follow_player,
    followed_boards,
    followed_userids,
    unfollow_player,
    unwatch_match,
    watch_match,
    watched_matches,
)
from services.app.listed_matches import listed_matches
from services.language.answer import Answer
from services.language.arguments import read_board
from services.language.handlers.listing import lines_of
from services.language.invocation import Invocation

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
