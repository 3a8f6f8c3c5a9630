"""A deleted account: its lists and notices are gone, and nothing makes them again."""

from collections.abc import Sequence

import pytest
from redis import Redis

from infra.projections.buckets import HISTORY, LISTS, NOTICES
from infra.projections.erasure import erase_projections, mark_erased
from infra.projections.generations import Generations
from infra.projections.match_lists import MatchLists
from infra.projections.notices import MatchNotices
from infra.projections.projection import Fact, Projection
from infra.redis import keys
from tests.fakes.logs import Logs
from tests.helpers.given import ALICE, BOB, ended, moved, offered, proposed, started
from tests.helpers.side import catch_up, contents, settle
from workers.projections import PROJECTIONS, feed
from workers.projections.verify import ProjectionVerifier
from workers.projections.worker import ProjectionWorker

ALL = tuple(one for one in PROJECTIONS if one.spec in (LISTS, NOTICES, HISTORY))


@pytest.fixture(params=[1, 3])
def side(request: pytest.FixtureRequest, logs: Logs, shelf_client: Redis) -> ProjectionWorker:
    """A side worker that has read all."""
    return catch_up(logs.store, shelf_client, ALL, buckets=request.param)


@pytest.fixture
def logs() -> Logs:
    """Matches of alice and bob: some wait, in some an offer is open, some are over."""
    made = Logs()
    for board in range(1, 13):
        made.add(board, board, ALICE, started(), moved(1, 0, 1))
        if board % 3:
            made.add(board, 20 + board, ALICE, offered(0))
        if board % 3 == 2:
            made.add(board, 40 + board, BOB, ended(0))
    made.add(13, 13, ALICE, proposed())
    return made


def stored_of(client: Redis, account: bytes) -> set[str]:
    """Keys with the account's id in their names, and those in the sets of keys.

    Its lists by game and opponent stay, as the record of the others.
    """
    found = {
        key
        for key in contents(client)
        if account.hex() in key and ":player:" not in key and ":pair:" not in key
    }
    for generations in (Generations(client, spec) for spec in (LISTS, NOTICES)):
        live = generations.live()
        assert live is not None
        names = [one for bucket in live[1].all for one in generations.keys_of(bucket)]
        found |= {f"set:{name}" for page in names for name in page if account.hex() in name}
    return found


def equal(logs: Logs, client: Redis, projections: Sequence[Projection] = ALL) -> bool:
    """Whether a rebuild gives the same."""
    found = [ProjectionVerifier(logs.store, client, one).run() for one in projections]
    return [one.difference for one in found] == [""] * len(projections)


def test_a_deleted_account_has_no_lists_and_no_notices(
    side: ProjectionWorker, logs: Logs, shelf_client: Redis
) -> None:
    before = stored_of(shelf_client, BOB)
    assert {key.split(":")[-2] for key in before} >= {"to", "next", "account", "proposed"}
    assert any(key.startswith("set:") for key in before)
    opponent = MatchLists(shelf_client).of(ALICE), MatchNotices(shelf_client).of(ALICE)
    erase_projections(shelf_client, BOB)
    assert stored_of(shelf_client, BOB) == set()
    assert (MatchLists(shelf_client).of(ALICE), MatchNotices(shelf_client).of(ALICE)) == opponent
    settle(side)
    assert equal(logs, shelf_client)


def test_events_after_the_deletion_bring_nothing_back(
    side: ProjectionWorker, logs: Logs, shelf_client: Redis
) -> None:
    erase_projections(shelf_client, BOB)
    logs.add(3, 100, ALICE, moved(2, 1, 0), moved(3, 0, 1), offered(0))
    logs.add(4, 100, ALICE, ended(1))
    logs.add(20, 100, ALICE, started())
    settle(side)
    assert stored_of(shelf_client, BOB) == set()
    assert [row.board for row in MatchLists(shelf_client).of(ALICE)][:3] == [20, 12, 10]
    assert equal(logs, shelf_client)


def test_a_rebuild_brings_nothing_back(
    side: ProjectionWorker, logs: Logs, shelf_client: Redis
) -> None:
    erase_projections(shelf_client, BOB)
    settle(side)
    before = contents(shelf_client)
    for key in shelf_client.keys("{p:*}:live"):
        shelf_client.delete(key)
    catch_up(logs.store, shelf_client, ALL, buckets=len(side._slots[0].tracks))
    after = contents(shelf_client)
    assert stored_of(shelf_client, BOB) == set()
    ignored = [key for key in before if key.endswith(":at")]
    assert {k: v for k, v in after.items() if k not in ignored} == {
        k: v for k, v in before.items() if k not in ignored
    }


def test_a_writer_that_has_read_before_the_deletion_writes_nothing_of_it(
    side: ProjectionWorker, logs: Logs, shelf_client: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    deleted: list[bytes] = []

    def deleted_meanwhile(
        client: Redis, facts: Sequence[Fact], present: set[bytes]
    ) -> Sequence[Fact]:
        found = mark_erased(client, facts, present)
        if not deleted:
            deleted.append(BOB)
            erase_projections(client, BOB)
        return found

    monkeypatch.setattr(feed, "mark_erased", deleted_meanwhile)
    logs.add(3, 100, ALICE, moved(2, 1, 0), moved(3, 0, 1))
    settle(side)
    assert deleted
    assert stored_of(shelf_client, BOB) == set()
    (row,) = MatchLists(shelf_client).rows([3])
    assert row is not None
    assert row.ply == 3
    assert equal(logs, shelf_client)


def test_an_account_with_a_record_loses_nothing(
    side: ProjectionWorker, shelf_client: Redis
) -> None:
    assert side.round() == 0
    before = contents(shelf_client)
    shelf_client.set(keys.account(BOB), "a record")
    erase_projections(shelf_client, BOB)
    assert contents(shelf_client) == before
    shelf_client.delete(keys.account(BOB))
    erase_projections(shelf_client, BOB)
    erase_projections(shelf_client, BOB)
    assert stored_of(shelf_client, BOB) == set()
