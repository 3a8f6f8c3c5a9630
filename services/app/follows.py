"""Matches that an account watches or pins, and players that it follows. Nobody else learns of it.

Only what anybody may see is shown by it. Even so a player who blocks an account is not followed by it.

Blocks: players whose challenges, messages and chat an account does not want, and that may not follow it.
"""

from typing import Final

from domain.errors import Code, Refusal
from domain.match.decision import seat_of
from domain.records import AccountId
from infra.people.account_lists import PINNED, WATCHED, FollowList
from infra.projections.match_lists import MatchListRow
from infra.redis.reads import read_all
from services.app.challenges import decline_unplayed
from services.app.contact import check_follow
from services.app.context import App
from services.app.matches import load_state
from services.app.names import userids_of
from services.app.queries import listed_matches
from services.app.sentences import SAY

_PLAYED_EACH: Final = 50
_OWN: Final = 10_000
"""More matches than one account plays."""


def watch_match(app: App, account: AccountId, board: int) -> None:
    """Watch a match; `unknown-board`, `too-many`, and `not-wanted` by one of its players."""
    seats = load_state(app, board).seats
    if account not in seats:
        check_follow(app, account, seats)
    app.follows.boards.add(account, board)


def unwatch_match(app: App, account: AccountId, board: int) -> None:
    """Stop watching a match, which need not be watched or exist."""
    app.follows.boards.remove(account, [board])


def pin_match(app: App, account: AccountId, board: int) -> None:
    """Put one of its matches first in an account's lists; `unknown-board`, `too-many`, `not-a-player`.

    Pins of matches that are over make room for others.
    """
    seat_of(account, load_state(app, board))
    pinned = app.follows.pinned.of(account)
    if len(pinned) >= PINNED.most:
        rows = listed_matches(app, pinned).values()
        app.follows.pinned.remove(account, [row.board for row in rows if row.over])
    app.follows.pinned.add(account, board)


def unpin_match(app: App, account: AccountId, board: int) -> None:
    """Put a match back in its usual place in an account's lists; it need not be pinned or exist."""
    app.follows.pinned.remove(account, [board])


def follow_player(app: App, account: AccountId, userid: str) -> None:
    """Follow a player; `unknown-user`, `too-many`, `not-wanted`, and `bad-option` for oneself."""
    other = app.accounts.id_of(userid)
    if other == account:
        raise Refusal(Code.BAD_OPTION, SAY("follow-self"))
    check_follow(app, account, [other])
    app.follows.accounts.add(account, other)


def unfollow_player(app: App, account: AccountId, userid: str) -> None:
    """Stop following a player, who need not be followed; `unknown-user`."""
    app.follows.accounts.remove(account, [app.accounts.id_of(userid)])


def end_follows(app: App, account: AccountId, other: AccountId) -> None:
    """Have an account stop following another, and watching the matches of the other with third players."""
    app.follows.accounts.remove(account, [other])
    boards = app.follows.of(account).boards
    for row in app.lists.rows(boards):
        if row is not None and other in row.seats and account not in row.seats:
            app.follows.boards.remove(account, [row.board])


def followed_userids(app: App, account: AccountId, followed: FollowList) -> list[str]:
    """Return the userids of the players that an account follows, sorted.

    Those whose accounts were erased are dropped.
    """
    userids = userids_of(app, followed.accounts)
    app.follows.accounts.remove(account, [other for other, name in userids.items() if name is None])
    return sorted(name for name in userids.values() if name is not None)


def watched_matches(
    app: App, followed: FollowList, start: int = 0, count: int = WATCHED.most
) -> list[MatchListRow]:
    """Return some of the watched matches: first those that go on, the newest turn first, then the others.

    Those whose rows have left Redis come last, and are read only if they are wanted. A match that can't be
    read now is left out.
    """
    known = {row.board: row for row in app.lists.rows(followed.boards) if row is not None}
    order = sorted(
        known.values(), key=lambda row: (row.over, -(row.ended or row.since), -row.board)
    )
    boards = [row.board for row in order]
    boards += [board for board in followed.boards if board not in known]
    return list(listed_matches(app, boards[start : start + count], known).values())


def followed_boards(app: App, account: AccountId, followed: FollowList) -> list[int]:
    """Return the matches that followed players play now, the newest first; of each player the newest 50.

    Those that the account watches or plays itself are left out, because other lists have them.
    """
    lists = app.lists
    found, own = read_all(
        app.data,
        lists.read_newest(followed.accounts, _PLAYED_EACH),
        lists.read_newest([account], _OWN),
    )
    return sorted(found - own - set(followed.boards), reverse=True)


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
