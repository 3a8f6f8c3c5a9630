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
from services.app.names import join_names
from services.language.answer import Answer
from services.language.arguments import read_board
from services.language.handlers.listing import lines_of
from services.language.invocation import Invocation

_PLAYED: Final = 20
"""Matches of followed players in one answer."""


def watch(call: Invocation) -> Answer:
    """Watch a match."""
    board = read_board(call.line.get("board"))
    watch_match(call.app, call.account(), board)
    return Answer(f"match {board} is in `watching`")


def unwatch(call: Invocation) -> Answer:
    """Stop watching a match."""
    board = read_board(call.line.get("board"))
    unwatch_match(call.app, call.account(), board)
    return Answer(f"match {board} is not in `watching`")


def follow(call: Invocation) -> Answer:
    """Follow a player."""
    follow_player(call.app, call.account(), call.line.all("userid")[1])
    return Answer("`watching` shows what they play; they do not learn of it")


def unfollow(call: Invocation) -> Answer:
    """Stop following a player."""
    unfollow_player(call.app, call.account(), call.line.all("userid")[1])
    return Answer("`watching` no longer shows what they play")


def watching(call: Invocation) -> Answer:
    """List the watched matches, the followed players, and what these play now."""
    app, account = call.app, call.account()
    found = app.follows.of(account)
    names = followed_userids(app, account, found)
    lines = lines_of(call, watched_matches(app, found))
    if names:
        played = listed_matches(app, followed_boards(app, account, found)[:_PLAYED]).values()
        lines += [f"you follow {join_names(names)}, who play:", *lines_of(call, list(played))]
    return Answer(page="\n".join(lines) or "you watch no match and follow nobody")
