"""Many matches that are over, of which some are in an archive that is a dictionary."""

from collections.abc import Callable, Iterable, Sequence

from redis import Redis

from infra.archive.directory_pages import DirectoryEntry, MatchSummary
from infra.projections.buckets import HISTORY, LISTS
from infra.projections.finished_matches import FinishedMatches
from infra.projections.match_lists import MatchFilter, MatchLists
from infra.redis import keys
from tests.fakes.logs import Logs
from tests.helpers.given import ALICE, BOB, CAROL, ended, moved, started
from workers.archived_rows import ArchivedRows
from workers.projections import PROJECTIONS

BOTH = tuple(one for one in PROJECTIONS if one.spec in (LISTS, HISTORY))
Entries = Callable[[Sequence[int]], list[DirectoryEntry | None]]


def finish(logs: Logs, board: int, at: int | None = None) -> None:
    """A finished match of alice and bob, each third of alice and carol, each fifth of torere."""
    other = CAROL if board % 3 == 0 else BOB
    rules = "torere/1" if board % 5 == 0 else "pow2/1"
    at = at or board * 1_000
    logs.add(board, at - 500, ALICE, started(ALICE, other, rules=rules), moved(1, 0, 1))
    logs.add(board, at, other, ended(board % 2))


def archive(client: Redis, boards: Iterable[int]) -> Entries:
    """Mark matches that have rows as in the archive; return what it has of them."""
    known: dict[int, DirectoryEntry] = {}
    for row in FinishedMatches(client).rows(boards):
        assert row
        client.setbit(*keys.archive_mark(row.board, 4), 1)
        summary = MatchSummary(
            rules=row.rules,
            options=row.options,
            seats=row.seats,
            winners=row.winners,
            reason=row.reason,
            ranks=row.ranks,
            plies=row.plies,
            rated=row.rated,
            played=True,
        )
        known[row.board] = DirectoryEntry(
            row.board, bytes(32), 3, row.at - 500, row.updated, b"", summary, b"", ()
        )
    return lambda wanted: [known.get(board) for board in wanted]


def take_all(client: Redis) -> int:
    """Take all leftovers out; return their number."""
    rows = ArchivedRows(client, 4)
    gone = 0
    while (step := rows.take_leftovers()) is not None:
        gone += step
    return gone


def every_list(client: Redis, entries: Entries, matches: int, step: int) -> dict[str, object]:
    """What readers can ask for, so many rows at a time."""
    history = FinishedMatches(client, entries)
    lists = MatchLists(client, history)
    starts = range(0, matches + step, step)
    found: dict[str, object] = {}
    for name, account in (("alice", ALICE), ("carol", CAROL)):
        found[f"counts {name}"] = lists.counts(account)
        for state in (MatchFilter.INACTIVE, MatchFilter.ALL):
            for game in (None, "torere"):
                found[f"{name} {state} {game}"] = [
                    row for start in starts for row in lists.of(account, state, game, start, step)
                ]
    for who in ((), (ALICE,), (BOB, ALICE), (ALICE, CAROL)):
        found[f"history count {who}"] = history.count("pow2", *who)
        found[f"history {who}"] = [
            row
            for start in starts
            for row in history.of("pow2", *(*who, None, None)[:2], start, step)
        ]
    return found
