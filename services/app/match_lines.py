"""Matches as lines of JSON, for programs that want many: a player's, and those of the dump.

A player's matches that have ended come in the order of their ends, so that the last line that a program has says where it
goes on. A match whose result a ruling has changed comes again, at the time of that.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import msgspec
from msgspec import UNSET, UnsetType

from domain.errors import Code, Refusal
from domain.match.events import Ended, ResultChanged, SetBack
from domain.match.history import Snapshot, decode_event, unpack_snapshot
from domain.records import AccountId
from infra.projections.archived_places import Place
from infra.projections.buckets import HISTORY
from infra.projections.lag import unread_events
from infra.projections.match_lists import MatchFilter
from services.app.context import App
from services.app.damaged_match import UNREADABLE, damaged_match
from services.app.names import userids_of
from services.app.sentences import SAY

AT_ONCE: Final = 50
"""Matches that are read together."""

_MOST_UNREAD: Final = 5_000
"""Leaves of each shard that are looked through for ends that the lists may lack."""


class MatchLine(msgspec.Struct, frozen=True):
    """A match with its moves and its result."""

    board: int
    rules: str
    options: tuple[str, ...]
    accounts: tuple[str, ...]
    """Account ids by seat, in hex."""
    started: int
    """Time of the first event, in ms since 1970."""
    ended: int | None
    """Time of the result, in ms since 1970; null while the match goes on."""
    setup: Any
    """The setup that chance drew; null without one."""
    moves: str
    """In the notation of the game, separated by blanks."""
    left: tuple[tuple[int, int], ...]
    """Seats that left while others played on, each with the number of moves before that."""
    winners: tuple[int, ...] | None
    """Seats that have won: all tied seats for a draw, none if the match does not count."""
    reason: str | None
    rated: bool
    tournament: int | None
    opening: int
    """How many of the first moves the match was given."""
    imported: bool
    """Whether it began on another server, so that nothing proves its first moves here."""
    head: str
    """Leaf hash of the last event, in hex, by which the published log proves the match."""
    players: tuple[str | None, ...] | UnsetType = UNSET
    """Userids by seat; null for an erased account."""
    cursor: str | UnsetType = UNSET
    """The `since` of the matches after this one."""


class UnreadLine(msgspec.Struct, frozen=True):
    """A match that can't be read."""

    board: int
    code: str
    cursor: str


AnyLine = MatchLine | UnreadLine


def match_line(
    board: int, snapshot: Snapshot, started: int, ended: int | None, **more: Any
) -> MatchLine:
    """Return the line of a match."""
    state, result = snapshot.state, snapshot.state.result
    return MatchLine(
        board=board,
        rules=state.rules,
        options=state.options,
        accounts=tuple(account.hex() for account in state.seats),
        started=started,
        ended=ended,
        setup=None if state.setup is None else msgspec.json.decode(state.setup),
        moves=state.moves,
        left=state.out,
        winners=None if result is None else result.winners,
        reason=None if result is None else result.reason,
        rated=state.over and state.rated,
        tournament=state.pairing[0] if state.pairing else None,
        opening=state.opening,
        imported=state.imported is not None,
        head=snapshot.head.hex(),
        **more,
    )


def cursor_of(place: Place) -> str:
    """Return the cursor of a place in a list of finished matches."""
    at, board = place
    return f"{at}-{board.decode()}"


def read_cursor(text: str) -> Place:
    """Return the place of a cursor, the first of all for an empty one; `bad-request`."""
    at, hyphen, board = text.partition("-")
    digits = at + board
    if not text:
        return 0, b""
    if not (hyphen and at and board and digits.isascii() and digits.isdecimal() and len(text) < 36):  # noqa: PLR2004
        raise Refusal(Code.BAD_REQUEST, SAY("cursor-form"))
    return int(at), board.encode()


def finished_lines(app: App, account: AccountId, since: str = "") -> Iterator[list[AnyLine]]:
    """Yield a player's finished matches in the order of their ends, some at a time, after a cursor.

    The matches of the last moments are left out until no earlier one can follow. Refused as `bad-request` for
    a wrong cursor, and as `unavailable` where the archive can't be read now.
    """
    after = read_cursor(since)
    newest = app.history.places(account, 0, 1)
    complete = _complete_until(app, newest[0][0] if newest else 0)
    while places := [place for place in _places_after(app, account, after) if place[0] < complete]:
        yield _lines(app, places)
        after = places[-1]


def running_lines(app: App, account: AccountId) -> Iterator[list[AnyLine]]:
    """Yield a player's running matches, some at a time, the newest first."""
    start = 0
    while rows := app.lists.of(account, MatchFilter.ACTIVE, None, start, AT_ONCE):
        start += len(rows)
        yield [
            one
            for one in _lines(app, [(0, b"%d" % row.board) for row in rows])
            if not isinstance(one, MatchLine) or one.winners is None
        ]


def _complete_until(app: App, newest: int) -> int:
    """Return the time, ms, before which all ends are in the lists; if it can be, beyond that of the newest."""
    mark = app.store.watermark(newest)
    unread = unread_events(app.store, app.data, HISTORY, mark, _MOST_UNREAD)
    ends = (one.at for one in unread if isinstance(one.body, Ended | ResultChanged | SetBack))
    return min((mark.at, *ends))


def _places_after(app: App, account: AccountId, after: Place) -> list[Place]:
    """Return the next places after one, the oldest first."""
    read = app.history.places

    def is_had(index: int) -> bool:
        found = read(account, index, 1)
        return not found or found[0] <= after

    # the newest come first, so those that are new stand before those that are known
    new = bisect_left(range(app.history.count(None, account)), True, key=is_had)
    start = max(0, new - AT_ONCE)
    return [one for one in reversed(read(account, start, new - start)) if one > after]


def _lines(app: App, places: Sequence[Place]) -> list[AnyLine]:
    read = _read_all(app, [int(member) for _, member in places])
    names = userids_of(app, (one for found in read if found for one in found[0].state.seats))
    return [
        UnreadLine(int(place[1]), Code.DAMAGED, cursor_of(place))
        if found is None
        else match_line(
            int(place[1]),
            *found,
            place[0] or None,
            players=tuple(names[account] for account in found[0].state.seats),
            cursor=cursor_of(place) if place[0] else UNSET,
        )
        for place, found in zip(places, read, strict=True)
    ]


def dump_lines(app: App, places: Sequence[Place]) -> list[MatchLine]:
    """Return finished matches without names; none of those that a player never accepted, or that can't be read."""
    read = _read_all(app, [int(member) for _, member in places])
    return [
        match_line(int(place[1]), *found, place[0])
        for place, found in zip(places, read, strict=True)
        if found and found[0].state.over and found[0].state.invitation is None
    ]


def _read_all(app: App, boards: Sequence[int]) -> list[tuple[Snapshot, int] | None]:
    """Return each match with the time of its first event, ms; None for those that are damaged."""
    snapshots, firsts = (
        _each(read, boards) for read in (app.store.snapshots, app.store.first_events)
    )
    return [_read(app, *one) for one in zip(boards, snapshots, firsts, strict=True)]


def _each(read: Callable[[Sequence[int]], list[Any]], boards: Sequence[int]) -> list[Any]:
    """Return what is read of matches, None for those that are damaged."""
    try:
        return read(boards)
    except Refusal as refusal:
        if refusal.code is not Code.DAMAGED:
            raise
        return [None] if len(boards) == 1 else [_each(read, [board])[0] for board in boards]


def _read(app: App, board: int, snapshot: Any, first: bytes | None) -> tuple[Snapshot, int] | None:
    if snapshot is None or first is None:
        return None
    try:
        return unpack_snapshot(snapshot), decode_event(first).at
    except UNREADABLE as error:
        damaged_match(app.damage, board, error)
        return None
