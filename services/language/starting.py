"""What a match begins with: the start command of a challenge, by whatever door it came."""

from typing import Final

from domain.errors import Code, Refusal
from domain.match.commands import Sent, Start
from domain.match.events import THE_SERVER, AccountId, CommandId, decode
from domain.match.record import unpack_snapshot
from domain.match.start_command import check_players, start_command
from domain.match.state import MatchState
from infra.starts import MOST, MOST_BETWEEN_TWO, Entry
from services.language import contact
from services.language.desk import Desk
from services.language.draws import NO_PART, Part, commitment_of, committed

__all__ = ["check_players", "sent_by_name", "start_command"]

_START_SECONDS: Final = 3_600
"""After which a start that has no match yet is taken to have come to nothing."""

_LEFT_SECONDS: Final = 24 * 3_600
"""For which a match counts that its challenger left before any of the others acted."""


def sent_by_name(
    desk: Desk,
    challenger: AccountId,
    command: CommandId,
    start: Start,
    part: Part = NO_PART,
    *,
    counted: bool = True,
) -> Sent:
    """Return a start of players by name, under its board's number: the rule of every way in.

    `part` is what the challenger adds to the draw of a match that gathers. Refused as `bad-players`
    for a challenger who does not play, as `bad-option`, as `not-wanted`, and as `too-many`; a
    repetition of a start that has its match is never refused. Uncounted are the starts of the
    operator, who is nobody's challenger.
    """
    if challenger not in start.seats:
        raise Refusal(Code.BAD_PLAYERS, "you are none of the players; name yourself as one")
    if part.commitment and not start.gather:
        raise Refusal(Code.BAD_OPTION, "a commitment belongs to a match with --gather")
    (board,) = desk.store.numbers([command])
    if board is None or not _state(desk, board).started:
        others = [seat for seat in start.seats if seat != challenger]
        contact.check_challenge(desk, challenger, others)
        if counted and others:
            _reserve(desk, challenger, command, start)
        # crash window: the start is counted and has no match; an hour later it is not counted
        board = desk.store.allocate(command)
    sent = Sent(board, command, challenger, start)
    if not start.gather:
        return sent
    own = commitment_of(desk.words, board, challenger, part)
    return committed(desk, sent, {challenger: own})


def _reserve(desk: Desk, challenger: AccountId, command: CommandId, start: Start) -> None:
    """Count a start that the others have not taken up; `too-many` where there is no room."""
    others = [seat for seat in start.seats if seat != challenger]
    if not desk.starts.add(challenger, command, others, gather=start.gather):
        return
    # who takes a match up or ends it tells nobody here, so what no longer waits is found now
    entries = desk.starts.of(challenger)
    settled = [entry.command for entry in entries if not _waits(desk, challenger, entry)]
    desk.starts.strike(challenger, settled)
    if full := desk.starts.add(challenger, command, others, gather=start.gather):
        raise _too_many(desk, full)


def _waits(desk: Desk, challenger: AccountId, entry: Entry) -> bool:
    """Return whether a start waits for one of the others, or counts as if it did."""
    (board,) = desk.store.numbers([entry.command])
    state = _state(desk, board) if board is not None else MatchState()
    if board is None or not state.started:
        return _is_within(desk, entry, _START_SECONDS)
    if state.over:
        return _is_within(desk, entry, _LEFT_SECONDS) and _left(desk, challenger, board)
    if entry.gather and not state.gathering:
        return False
    return any(
        not contact.has_taken_up(state, seat)
        for seat, account in enumerate(state.seats)
        if account != challenger
    )


def _is_within(desk: Desk, entry: Entry, seconds: int) -> bool:
    """Return whether a start was asked for in the last seconds.

    One from the time to come was not: it was asked for while a clock ran ahead.
    """
    return 0 <= desk.store.now() - entry.at < seconds * 1000


def _left(desk: Desk, challenger: AccountId, board: int) -> bool:
    """Return whether a match that is over ended without any act of another player.

    Then its challenger ended it. It goes on counting because the others were written to all the
    same, and starting and resigning in turn would be a way round the limit.
    """
    actors = {decode(event).actor for event in desk.store.events(board)}
    return actors <= {challenger, THE_SERVER}


def _too_many(desk: Desk, full: str) -> Refusal:
    if full == "all":
        return Refusal(
            Code.TOO_MANY,
            f"{MOST} matches that you have started wait for others to take them up, and that is "
            "the most; wait until they move. One that you resign or decline before that counts "
            "for a day from its start",
        )
    (name,) = desk.accounts.name_of([bytes.fromhex(full)])
    return Refusal(
        Code.TOO_MANY,
        f"{name or 'a former player'} has not taken up {MOST_BETWEEN_TWO} matches that you have "
        "started, and that is the most; wait until they move in one. One that you resign or "
        "decline before that counts for a day from its start",
    )


def _state(desk: Desk, board: int) -> MatchState:
    (data,) = desk.store.snapshots([board])
    return unpack_snapshot(data).state
