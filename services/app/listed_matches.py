"""Matches as rows of lists, also those whose rows have left Redis."""

from collections.abc import Iterable, Mapping

import msgspec

from domain.errors import Refusal
from domain.match.history import unpack_snapshot
from domain.match.state import MatchState
from infra.projections.match_lists import MatchListRow
from services.app.context import App


def listed_matches(
    app: App, boards: Iterable[int], known: Mapping[int, MatchListRow] | None = None
) -> dict[int, MatchListRow]:
    """Return the rows of matches by board, in the order of the boards; `known` rows are not read again."""
    wanted = list(dict.fromkeys(boards))
    found = dict(known or {})
    missing = [board for board in wanted if board not in found]
    if missing:
        found |= {row.board: row for row in app.lists.rows(missing) if row is not None}
    found = with_older(app, wanted, found)
    return {board: found[board] for board in wanted if board in found}


def with_older(
    app: App, boards: Iterable[int], known: Mapping[int, MatchListRow]
) -> dict[int, MatchListRow]:
    """Return these rows, and those of the matches that have left Redis.

    The match itself has all that is shown, also from the archive; one that can't be read is left out.
    """
    found = dict(known)
    for board in boards:
        if board in found:
            continue
        try:
            (snapshot,) = app.store.snapshots([board])
            state = unpack_snapshot(snapshot).state
        except (Refusal, msgspec.MsgspecError):
            continue
        if state.started:
            found[board] = _row_of(board, state)
    return found


def _row_of(board: int, state: MatchState) -> MatchListRow:
    result = state.result
    return MatchListRow(
        board=board,
        seq=state.seq,
        rules=state.rules,
        options=state.options,
        seats=state.seats,
        waits=() if state.over else state.waits,
        since=0,
        ply=state.ply,
        at=0,
        winners=result.winners if result else None,
        reason=result.reason if result else "",
        invited=state.invited,
    )
