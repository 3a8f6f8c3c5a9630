"""Which players may contact which: challenges by name, open challenges, messages, chat and follows.

A refusal is `not-wanted`: it names the player who does not want the contact, but no reason.
"""

from collections.abc import Sequence
from typing import Final

from domain.errors import Code, Refusal
from domain.match.state import MatchState, is_bot, robot_level
from domain.records import AccountId
from domain.rules import game_keys
from domain.sentences import Sentence
from infra.people.accounts import Profile
from infra.people.moderation import SanctionKind
from infra.projections.match_lists import MatchFilter as Listed
from services.app.context import App
from services.app.matches import read_snapshot
from services.app.names import name_of, names_by_seat, owner_of
from services.app.sanctions import sanction_held
from services.app.sentences import SAY

ANYONE: Final = "anyone"
KNOWN: Final = "known"
NONE: Final = "none"

_SEARCHED: Final = 500
"""How many active matches are searched for the other player, the newest first."""


def check_challenge(app: App, challenger: AccountId, others: Sequence[AccountId]) -> None:
    """Refuse a challenge by name that one of the others does not want."""
    _check_blocks(app, challenger, others, SAY("no-challenges"))
    for other in others:
        profile = _active(app, other)
        wanted = profile.challenges if profile else ANYONE
        if wanted == NONE:
            raise _refused(app, other, SAY("none-by-name"))
        knowing = filter(None, (other, owner_of(app, other)))
        if wanted == KNOWN and not any(is_known(app, one, challenger) for one in knowing):
            raise _refused(
                app,
                other,
                SAY("only-known"),
            )


def check_pairing(app: App, account: AccountId) -> None:
    """Refuse a player who can't be paired by an organiser at the moment, or a bot: `not-wanted`, `sanctioned`."""
    if is_bot(account):
        raise _refused(app, account, SAY("bot-unpaired"))
    _active(app, account)
    if sanction_held(app, account, SanctionKind.NO_MATCHES):
        said = SAY("not-wanted", player=name_of(app, account), why=SAY("kept-from-matches"))
        raise Refusal(Code.SANCTIONED, said)


def _active(app: App, account: AccountId) -> Profile | None:
    """Return the profile of a player who is not suspended."""
    profile = app.accounts.record_of(account)
    if profile and profile.suspended:
        raise _refused(app, account, SAY("is-suspended"))
    return profile


def check_pair(app: App, seats: Sequence[AccountId]) -> None:
    """Refuse a match of players one of whom has blocked another, and name the two: `not-wanted`."""
    for other in seats:
        for player in app.blocks.by([one for one in seats if one != other], other):
            names = names_by_seat(app, [player, other])
            raise Refusal(Code.NOT_WANTED, SAY("not-with", player=names[0], other=names[1]))


def check_message(app: App, sender: AccountId, recipients: Sequence[AccountId]) -> None:
    """Refuse a message that one of its recipients does not want, or that a program writes or would get."""
    if is_bot(sender):
        raise Refusal(Code.NOT_WANTED, SAY("bot-writes"))
    for recipient in recipients:
        if robot_level(recipient) is not None:
            raise _refused(app, recipient, SAY("robot-messages"))
        if owner := owner_of(app, recipient):
            raise _refused(app, recipient, SAY("bot-messages", owner=name_of(app, owner)))
    _check_blocks(app, sender, recipients, SAY("no-messages"))


def check_chat(app: App, sender: AccountId, players: Sequence[AccountId]) -> None:
    """Refuse a line in the chat of a match that one of its players does not want to read."""
    others = [player for player in players if player != sender]
    if others and all(robot_level(player) is not None for player in others):
        raise _refused(app, others[0], SAY("robot-chat"))
    _check_blocks(app, sender, others, SAY("no-chat"))


def check_open_challenge(app: App, account: AccountId, players: Sequence[AccountId]) -> None:
    """Refuse an account that one of the players of an open challenge does not want to meet."""
    _check_blocks(app, account, players, SAY("no-challenges"))


def check_follow(app: App, account: AccountId, players: Sequence[AccountId]) -> None:
    """Refuse an account that one of the players does not want to be followed by."""
    _check_blocks(app, account, players, SAY("no-follows"))


def _check_blocks(app: App, account: AccountId, others: Sequence[AccountId], why: Sentence) -> None:
    # a block of a bot's owner, or by one, is a block of the bot
    players = {one: other for other in others for one in _with_owner(app, other)}
    for one in _with_owner(app, account):
        for blocking in app.blocks.by(list(players), one):
            raise _refused(app, players[blocking], why)


def _with_owner(app: App, account: AccountId) -> tuple[AccountId, ...]:
    owner = owner_of(app, account)
    return (account, owner) if owner else (account,)


def _refused(app: App, account: AccountId, why: Sentence) -> Refusal:
    """Return the refusal of a player for a reason of another's, whose sentence begins with the name."""
    return Refusal(Code.NOT_WANTED, SAY("not-wanted", player=name_of(app, account), why=why))


# whom a player knows


def is_known(app: App, account: AccountId, other: AccountId) -> bool:
    """Return whether an account knows another, by what the account itself has done.

    It does if it has written to the other within 180 days, if a challenge of its own waits for the
    other, if it has moved in a match of both that goes on, or if one has ended that counts.
    """
    return (
        app.messages.has_written(account, other)
        or any(other in entry.others for entry in app.starts.of(account))
        or _plays(app, account, other)
        or any(app.head_to_head.of(game, account, other).played for game in game_keys())
    )


def strangers_to(app: App, account: AccountId, recipients: Sequence[AccountId]) -> list[AccountId]:
    """Return the recipients who do not know an account; none for an arbiter, whom the operator chose."""
    profile = app.accounts.record_of(account)
    if profile is not None and profile.arbiter:
        return []
    return [one for one in recipients if one != account and not is_known(app, one, account)]


def _plays(app: App, account: AccountId, other: AccountId) -> bool:
    rows = app.lists.of(account, Listed.ACTIVE, count=_SEARCHED) + app.lists.proposed(account)
    boards = [row.board for row in rows if other in row.seats]
    snapshots = app.store.snapshots(boards) if boards else []
    for board, data in zip(boards, snapshots, strict=True):
        state = read_snapshot(app, board, data).state
        if has_taken_up(state, state.seats.index(account)):
            return True
    return False


def has_taken_up(state: MatchState, seat: int) -> bool:
    """Return whether a seat has moved, or accepted a match that others have yet to accept."""
    if state.invitation is not None:
        return seat not in state.invited
    if state.texts:
        return state.awaits_entropy and (state.sealed or seat not in state.waits)
    return bool(state.acted >> seat & 1)
