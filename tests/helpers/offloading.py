"""Matches that are over, and their rows in row pages."""

from collections.abc import Callable, Container, Sequence

from redis import Redis

from domain.match.events import AccountId
from infra.objects.files import FileObjects
from infra.projections.finished_matches import FinishedMatches
from infra.projections.generations import Generation, Generations
from infra.projections.match_lists import MatchFilter, MatchLists
from infra.projections.paged_lists import pages_key
from infra.projections.projection import Projection
from infra.projections.row_pages import (
    RowPages,
)
from infra.projections.specs import HISTORY, LISTS, Spec
from tests.fakes.logs import Logs
from tests.helpers.given import ALICE, BOB, CAROL
from tests.helpers.stories import ended, moved, started
from workers.projections import PROJECTIONS
from workers.projections.offload import RowOffload
from workers.projections.verify import ProjectionVerifier

BOTH = tuple(one for one in PROJECTIONS if one.spec in (LISTS, HISTORY))
MATCHES = 2_000
DAY = 86_400_000

Listing = list[tuple[int, ...]]


class TimedLogs(Logs):
    """Logs with a clock."""

    time = 1 << 50

    def now(self) -> int:
        """Return the time."""
        return self.time


def finish(logs: Logs, board: int, at: int | None = None) -> None:
    """A finished match of alice and bob, each third of alice and carol, each fifth of torere."""
    other = CAROL if board % 3 == 0 else BOB
    rules = "torere/1" if board % 5 == 0 else "pow2/1"
    at = at or board * 1_000
    logs.add(board, at - 500, ALICE, started(ALICE, other, rules=rules), moved(1, 0, 1))
    logs.add(board, at, other, ended(board % 2))


def run(
    logs: Logs,
    client: Redis,
    objects: FileObjects,
    in_archive: Callable[[Sequence[int]], Container[int]] = set,
) -> int:
    work = RowOffload(logs.store, client, objects, in_archive, settled_ms=0)
    while work.step() is not None:
        pass
    return work.rows


def every_list(client: Redis, pages: RowPages, step: int = 600) -> dict[str, object]:
    """What readers can ask for, so many rows at a time."""
    lists, history = MatchLists(client, pages), FinishedMatches(client, pages)
    starts = range(0, MATCHES + step, step)
    players = {"": (), "alice": (ALICE,), "long": (BOB, ALICE), "short": (ALICE, CAROL)}
    found: dict[str, object] = {}
    for name, account in (("alice", ALICE), ("carol", CAROL)):
        found[f"counts {name}"] = lists.counts(account)
        for state in (MatchFilter.INACTIVE, MatchFilter.ALL):
            for game in (None, "torere"):
                found[f"{name} {state} {game}"] = [
                    row for start in starts for row in lists.of(account, state, game, start, step)
                ]
    for name, who in players.items():
        found[f"history count {name}"] = history.count("pow2", *who)
        found[f"history {name}"] = [
            row
            for start in starts
            for row in history.of("pow2", *(*who, None, None)[:2], start, step)
        ]
    return found


def live(client: Redis, spec: Spec = LISTS) -> Generation:
    found = Generations(client, spec).live()
    assert found is not None
    return found[1]


def sizes(client: Redis, generation: Generation, owner: AccountId, name: str) -> tuple[int, int]:
    """The rows of a list in Redis, and its pages."""
    bucket = generation.of(owner)
    return client.zcard(bucket.key(name)), client.llen(bucket.key(pages_key(name)))


def difference(logs: Logs, client: Redis, pages: RowPages, projection: Projection) -> str:
    return ProjectionVerifier(logs.store, client, projection, pages=pages).run().difference
