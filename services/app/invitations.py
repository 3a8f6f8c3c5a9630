"""Invitations to matches by name: declining all of one challenger's, and the matches that a block ends."""

from collections.abc import Callable, Iterable

from domain.match.commands import CommandEnvelope, DeclineMatch
from domain.match.events import AccountId, command_id
from domain.match.moves import may_decline
from domain.match.state import MatchState
from infra.projections.match_lists import MatchFilter
from services.app.actor import Actor
from services.app.context import App
from services.app.matches import read_snapshot

_VIA = "decline-all"
"""In place of a front end's name in the ids of these commands, so that each match is declined once."""

_SEARCHED = 500
"""How many running matches are searched for the other player, the newest first."""


def decline_all(app: App, actor: Actor, userid: str) -> int:
    """Decline all matches by name to which a player invites the actor; return how many.

    `unknown-user` for the player. The answers are submitted, and nobody waits for their outcomes.
    """
    other = app.accounts.id_of(userid)

    def invites(state: MatchState, account: AccountId) -> bool:
        return is_invited(state, account) and not is_invited(state, other)

    return _decline(app, actor.account, _together(app, actor.account, other), invites)


def count_from(app: App, account: AccountId, other: AccountId) -> int:
    """Return to how many matches by name a player invites an account."""
    invited = [
        {row.seats[seat] for seat in row.invited}
        for row in app.lists.proposed(account)
        if other in row.seats
    ]
    return sum(account in accounts and other not in accounts for accounts in invited)


def decline_unplayed(app: App, account: AccountId, other: AccountId) -> int:
    """Decline all matches with another player in which the account has not moved; return how many."""
    boards = _together(app, account, other)
    rows = app.lists.of(account, MatchFilter.ACTIVE, count=_SEARCHED)
    boards |= {row.board for row in rows if other in row.seats}
    return _decline(app, account, boards, _has_not_moved)


def is_invited(state: MatchState, account: AccountId) -> bool:
    """Return whether a player has yet to accept a match by name."""
    return account in state.seats and state.seats.index(account) in state.invited


def _has_not_moved(state: MatchState, account: AccountId) -> bool:
    if account not in state.seats or state.over:
        return False
    return may_decline(state.seats.index(account), state)


def _together(app: App, account: AccountId, other: AccountId) -> set[int]:
    """Return the boards of the invitations between two players, also those that are in no list yet."""
    listed = {row.board for row in app.lists.proposed(account) if other in row.seats}
    started = [entry.command for entry in app.starts.of(other) if account in entry.others]
    started += [entry.command for entry in app.starts.of(account) if other in entry.others]
    numbers = app.store.board_numbers(started) if started else []
    return listed | {board for board in numbers if board is not None}


def _decline(
    app: App,
    account: AccountId,
    boards: Iterable[int],
    wanted: Callable[[MatchState, AccountId], bool],
) -> int:
    numbers = sorted(boards)
    snapshots = app.store.snapshots(numbers) if numbers else []
    found = [
        board
        for board, data in zip(numbers, snapshots, strict=True)
        if wanted(read_snapshot(app, board, data).state, account)
    ]
    app.gateway.submit_all(
        [
            CommandEnvelope(board, command_id(_VIA, account, str(board)), account, DeclineMatch())
            for board in found
        ]
    )
    return len(found)
