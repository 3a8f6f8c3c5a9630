"""The check of stored matches: the audit of each, and what other keys say of it."""

from collections.abc import Sequence
from functools import partial
from typing import Any, Final

import msgspec
from redis.exceptions import RedisError, ResponseError

from domain import aggregates
from domain.aggregates import AnyState
from domain.errors import Code, Refusal
from domain.match.history import BrokenHistory, PackedSnapshot, decode_event
from domain.match.state import MatchState
from domain.records import AccountId
from infra.audit.stored_match import check_match
from infra.redis import keys
from infra.store import snapshots
from infra.store.board_numbers import BoardNumbers
from infra.store.store_calls import repair_due
from workers.scrub.scrubber import TRANSIENT, ScrubFault, ScrubParts
from workers.scrub.tables import text_faults

_MARKS_AT: Final = 32
_CONDITIONAL, _REFUSED = 1, 2


class MatchIndexes(msgspec.Struct, frozen=True):
    """The entries about a match beside its own record."""

    data: PackedSnapshot | None
    marks: int
    due: int
    ended: int
    has_conditional: bool
    has_refusals: bool
    archived: bool
    has_leaves: bool
    """Whether it has a locator, outcomes, events, moves or times of moves."""


class MatchCheck:
    """Checks matches by their boards."""

    def __init__(self, parts: ScrubParts) -> None:
        self._parts = parts
        layout = parts.store.layout()
        self._numbers = BoardNumbers(parts.data, layout)

    def check(self, boards: Sequence[int]) -> tuple[list[ScrubFault], list[int]]:
        """Return what is wrong with matches, and the boards of those that were checked whole."""
        if not boards:
            return [], []
        faults: list[ScrubFault] = []
        checked = []
        highest = self._highest()
        for board in boards:
            about = f"match {board}"
            if highest is not None and board > highest:
                faults.append(
                    ScrubFault(
                        f"board {board}",
                        f"it has a match, and the counter of boards is at {highest}: it was set back, and "
                        "numbers would be given out twice",
                    )
                )
            try:
                faults += self._one(board)
                checked.append(board)
            except BrokenHistory as broken:
                faults.append(ScrubFault(about, str(broken), board))
            except Refusal as refusal:
                if refusal.code is Code.UNAVAILABLE:
                    raise
                faults.append(ScrubFault(about, str(refusal), board))
            except ResponseError as error:
                faults.append(
                    ScrubFault(about, f"what is stored for it is of another type ({error})", board)
                )
            except TRANSIENT:
                raise
            except Exception as error:  # noqa: BLE001 - damaged bytes may lead to any
                faults.append(ScrubFault(about, f"it can't be checked: {error!r}", board))
        return faults, checked

    def _highest(self) -> int | None:
        """Return the highest board by the counter; None if the counter can't be read."""
        try:
            return self._numbers.highest()
        except (RedisError, ValueError):
            return None

    def _one(self, board: int) -> list[ScrubFault]:
        """Return what is wrong beside the match; raise if the match itself is damaged."""
        indexes = self._indexes(board)
        if indexes.data is None:
            return self._without_state(board, indexes)
        check_match(self._parts.store, board)
        state = aggregates.unpack(indexes.data).state
        return [
            *self._time_faults(board, indexes, state),
            *_mark_faults(board, indexes),
            *self._seat_faults(board, aggregates.accounts_of(state)),
            *(text_faults(self._parts, board, state) if isinstance(state, MatchState) else ()),
        ]

    def _indexes(self, board: int) -> MatchIndexes:
        shard = keys.shard_of(board, self._parts.shards)
        # redis-py types no part of its pipelines
        pipe: Any
        # together, because the three that a commit changes must fit
        with self._parts.data.pipeline(transaction=True) as pipe:
            pipe.execute_command(*snapshots.read_command(shard, board))
            pipe.getrange(keys.snapshot(shard, board), _MARKS_AT, _MARKS_AT)
            pipe.zscore(keys.due(shard), str(board))
            pipe.zscore(keys.ended(shard), str(board))
            pipe.exists(keys.conditional_moves(shard, board))
            pipe.exists(keys.refusals(shard, board))
            pipe.getbit(*keys.archive_mark(board, self._parts.shards))
            for name in (keys.locator, keys.outcomes, keys.events, keys.moves, keys.turns):
                pipe.exists(name(shard, board))
            strings, marks, due, ended, conditional, refused, archived, *parts = pipe.execute()
        return MatchIndexes(
            snapshots.read_reply(strings),
            marks[0] if marks else 0,
            int(due or 0),
            int(ended or 0),
            bool(conditional),
            bool(refused),
            bool(archived),
            any(parts),
        )

    def _time_faults(self, board: int, indexes: MatchIndexes, state: AnyState) -> list[ScrubFault]:
        """Compare the due time and the time of the end with the state; the due time is repaired."""
        faults = []
        due = aggregates.next_due(state)
        if due != indexes.due:
            data = indexes.data
            assert data is not None
            faults.append(
                ScrubFault(
                    f"due time of match {board}",
                    f"the list had it due at {indexes.due or 'no time'}, and it is due at {due or 'no time'}: "
                    "the list was repaired",
                    mend=partial(
                        repair_due,
                        self._parts.data,
                        self._parts.shards,
                        board,
                        data.state[:32],
                        due,
                    ),
                )
            )
        if not self._end_fits(board, indexes.ended, state):
            faults.append(
                ScrubFault(
                    f"end of match {board}",
                    f"the list of matches that are over has its end at {indexes.ended or 'no time'}, and by "
                    f"its events it is {f'over since {state.at}' if state.over else 'not over'}",
                )
            )
        if indexes.archived:
            faults.append(
                ScrubFault(
                    f"archive mark of match {board}", "it is marked as in the archive and is not"
                )
            )
        return faults

    def _end_fits(self, board: int, ended: int, state: AnyState) -> bool:
        """Return whether the time of the end is that of an event; there may be events after the end."""
        over_at = aggregates.ended_at(state)
        if not over_at or not ended:
            return over_at == ended
        if ended == over_at:
            return True
        return ended in {decode_event(event).at for event in self._parts.store.events(board)}

    def _seat_faults(self, board: int, accounts: Sequence[AccountId]) -> list[ScrubFault]:
        """Return the accounts that are neither there nor deleted."""
        with self._parts.data.pipeline(transaction=False) as pipe:
            for account in accounts:
                pipe.exists(keys.account(account))
            there = pipe.execute()
        missing = [
            account for account, one in zip(accounts, there, strict=True) if account and not one
        ]
        if not missing:
            return []
        erased: Any = self._parts.data.smismember(keys.ERASED_ACCOUNTS, missing)
        return [
            ScrubFault(
                f"account {account.hex()}",
                f"it plays match {board}, and is neither there nor deleted by its player",
            )
            for account, is_erased in zip(missing, erased, strict=True)
            if not is_erased
        ]

    def _without_state(self, board: int, indexes: MatchIndexes) -> list[ScrubFault]:
        """Check what is stored of a start that was refused: outcomes, and a locator with their leaves."""
        if not indexes.has_leaves:
            return []
        if indexes.archived:
            raise BrokenHistory(
                1, "it is in the archive, and parts of it are in the server's memory"
            )
        shard = keys.shard_of(board, self._parts.shards)
        client: Any = self._parts.data
        if client.exists(keys.moves(shard, board), keys.turns(shard, board)) or not client.exists(
            keys.events(shard, board), keys.outcomes(shard, board)
        ):
            raise BrokenHistory(1, "parts of the match are there, and its snapshot is missing")
        check_match(self._parts.store, board)
        return []


def _mark_faults(board: int, indexes: MatchIndexes) -> list[ScrubFault]:
    wanted = _CONDITIONAL * indexes.has_conditional + _REFUSED * indexes.has_refusals
    if indexes.marks == wanted:
        return []
    return [
        ScrubFault(
            f"marks of match {board}",
            f"the snapshot's marks are {indexes.marks}, and by its conditional moves and refusals {wanted}",
        )
    ]
