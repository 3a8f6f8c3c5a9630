"""Who plays what: given events, when they are read, then these lists."""

from itertools import pairwise

import pytest
from redis import Redis

from domain.fairness import Commitment
from domain.match.events import (
    SERVER_ACCOUNT,
    Committed,
    Declined,
    Event,
    Flagged,
    Gathered,
    Moved,
    Nagged,
    OfferAnswered,
    Sealed,
)
from domain.match.state import CurrentOffer, Reason
from infra.projections.match_lists import (
    HomeLists,
    MatchCounts,
    MatchFilter,
    MatchListRow,
    MatchLists,
)
from infra.redis.reads import read_one
from tests.fakes.logs import ANCHOR, REFUSAL, Logs
from tests.helpers.given import (
    ALICE,
    BOB,
    CAROL,
    accepted,
    challenged,
    deal_proposed,
    ended,
    moved,
    offered,
    proposed,
    resigned,
    started,
    three,
    undone,
)
from tests.helpers.side import catch_up


@pytest.fixture
def logs() -> Logs:
    return Logs()


def read(logs: Logs, client: Redis) -> HomeLists:
    catch_up(logs.store, client)
    return HomeLists(client)


def boards(rows: list[MatchListRow]) -> list[int]:
    return [row.board for row in rows]


def row_of(logs: Logs, client: Redis, board: int = 1) -> MatchListRow:
    (row,) = read(logs, client).rows([board])
    assert row is not None
    return row


def test_before_anything_was_read_all_lists_are_empty(shelf_client: Redis) -> None:
    lists = MatchLists(shelf_client)
    assert lists.of(ALICE) == lists.playing("pow2") == []
    assert lists.counts(ALICE) == MatchCounts(0, 0, 0)
    assert lists.rows([1]) == [None]


def test_a_match_is_active_for_its_players_and_waits_for_one(
    logs: Logs, shelf_client: Redis
) -> None:
    logs.add(1, 100, ALICE, started())
    lists = read(logs, shelf_client)
    assert boards(lists.of(ALICE, MatchFilter.NEXT)) == [1]
    assert lists.of(BOB, MatchFilter.NEXT) == []
    for account in (ALICE, BOB):
        assert boards(lists.of(account, MatchFilter.ACTIVE)) == [1]
        assert boards(lists.of(account)) == [1]
        assert lists.of(account, MatchFilter.INACTIVE) == []
    assert lists.counts(ALICE) == MatchCounts(next=1, active=1, inactive=0)
    assert lists.of(CAROL) == []


def test_a_row_tells_what_a_list_shows(logs: Logs, shelf_client: Redis) -> None:
    logs.add(1, 100, ALICE, started(options=("-fast",)))
    logs.add(1, 200, ALICE, moved(1, 0, 1))
    logs.add(1, 300, ALICE, offered(0))
    assert row_of(logs, shelf_client) == MatchListRow(
        board=1,
        seq=3,
        rules="pow2/1",
        options=("-fast",),
        seats=(ALICE, BOB),
        waits=(1,),
        since=200,
        ply=1,
        at=300,
        offer=CurrentOffer("draw", 0),
    )


def test_a_move_passes_the_turn(logs: Logs, shelf_client: Redis) -> None:
    logs.add(1, 100, ALICE, started())
    catch_up(logs.store, shelf_client)
    logs.add(1, 200, ALICE, moved(1, 0, 1))
    lists = read(logs, shelf_client)
    assert lists.of(ALICE, MatchFilter.NEXT) == []
    assert boards(lists.of(BOB, MatchFilter.NEXT)) == [1]


def test_who_moves_again_waits_since_the_last_move(logs: Logs, shelf_client: Redis) -> None:
    logs.add(1, 100, ALICE, started(), moved(1, 0, 1))
    logs.add(1, 250, BOB, moved(2, 1, 1))
    row = row_of(logs, shelf_client)
    assert (row.next, row.since) == (1, 250)


def test_an_undo_gives_the_turn_back(logs: Logs, shelf_client: Redis) -> None:
    logs.add(1, 100, ALICE, started(), moved(1, 0, 1), offered(0, "undo"))
    logs.add(1, 200, BOB, OfferAnswered(seat=1, kind="undo", accept=True), undone(0, 0))
    row = row_of(logs, shelf_client)
    assert (row.next, row.ply, row.since, row.seq) == (0, 0, 200, 5)


def test_an_ended_match_is_inactive_with_its_result(logs: Logs, shelf_client: Redis) -> None:
    logs.add(1, 100, ALICE, started(), moved(1, 0, None), ended(0))
    lists = read(logs, shelf_client)
    for account in (ALICE, BOB):
        assert lists.counts(account) == MatchCounts(0, 0, 1)
        assert boards(lists.of(account, MatchFilter.INACTIVE)) == [1]
    (row,) = lists.of(ALICE)
    assert (row.winners, row.reason, row.over, row.next) == ((0,), "goal", True, None)
    assert lists.playing("pow2") == []


def test_of_the_turns_the_longest_wait_is_first_and_of_the_ended_the_last(
    logs: Logs, shelf_client: Redis
) -> None:
    for board, at in ((1, 300), (2, 100), (3, 200)):
        logs.add(board, at, ALICE, started())
    lists = read(logs, shelf_client)
    assert boards(lists.of(ALICE, MatchFilter.NEXT)) == [2, 3, 1]
    assert boards(lists.of(ALICE, MatchFilter.ACTIVE)) == [3, 2, 1]
    for board, at in ((1, 500), (2, 600)):
        logs.add(board, at, ALICE, resigned(0), ended(1))
    lists = read(logs, shelf_client)
    assert boards(lists.of(ALICE, MatchFilter.INACTIVE)) == [2, 1]
    assert boards(lists.of(ALICE, MatchFilter.ALL)) == [3, 2, 1]


def test_lists_can_be_of_one_game_and_come_in_pages(logs: Logs, shelf_client: Redis) -> None:
    for board in range(1, 21):
        rules = "pow2/1" if board % 2 else "torere/1"
        logs.add(board, board, ALICE, started(rules=rules))
    lists = read(logs, shelf_client)
    assert boards(lists.of(ALICE, MatchFilter.ACTIVE, "torere", count=3)) == [20, 18, 16]
    assert boards(lists.of(ALICE, MatchFilter.ACTIVE, "torere", start=3, count=3)) == [14, 12, 10]
    assert boards(lists.of(ALICE, MatchFilter.ACTIVE, start=18)) == [2, 1]
    assert lists.of(ALICE, MatchFilter.ACTIVE, "tor") == []
    assert boards(lists.playing("pow2", count=2)) == [19, 17]
    assert boards(lists.playing("torere", start=9)) == [2]


def test_a_match_that_gathers_waits_for_those_who_have_not_accepted(
    logs: Logs, shelf_client: Redis
) -> None:
    logs.add(1, 100, ALICE, challenged(ALICE, BOB, CAROL))
    logs.add(1, 200, CAROL, Gathered(seat=2, text=b""))
    row = row_of(logs, shelf_client)
    assert (row.waits, row.next, row.started) == ((1,), None, False)
    lists = MatchLists(shelf_client)
    assert boards(lists.of(BOB, MatchFilter.NEXT)) == [1]
    assert lists.of(CAROL, MatchFilter.NEXT) == lists.of(ALICE, MatchFilter.NEXT) == []
    logs.add(1, 300, BOB, Gathered(seat=1, text=b""), three(turn=2))
    row = row_of(logs, shelf_client)
    assert (row.waits, row.next, row.started) == ((2,), 2, True)


def test_a_row_tells_that_texts_are_to_be_revealed_until_the_match_starts(
    logs: Logs, shelf_client: Redis
) -> None:
    logs.add(1, 100, ALICE, challenged(ALICE, BOB, CAROL), Sealed(chain=0, k=1, waits=(0, 2)))
    row = row_of(logs, shelf_client)
    assert (row.sealed, row.waits, row.started) == (True, (0, 2), False)
    logs.add(1, 200, BOB, three(turn=2))
    row = row_of(logs, shelf_client)
    assert (row.sealed, row.waits, row.started) == (False, (2,), True)


def test_a_declined_match_counts_for_nothing(logs: Logs, shelf_client: Redis) -> None:
    logs.add(1, 100, ALICE, challenged())
    logs.add(1, 200, BOB, Declined(seat=1), ended(reason=Reason.DECLINED))
    row = row_of(logs, shelf_client)
    assert (row.winners, row.over) == ((), True)


@pytest.mark.parametrize("leave", [resigned(1, turn=2), Flagged(seat=1, next=2)])
def test_of_three_one_may_leave_and_the_others_play_on(
    logs: Logs, shelf_client: Redis, leave: object
) -> None:
    logs.add(1, 100, ALICE, three(), moved(1, 0, 1))
    logs.add(1, 200, SERVER_ACCOUNT, leave)  # type: ignore[arg-type]
    row = row_of(logs, shelf_client)
    assert (row.left, row.waits, row.over, row.since) == ((1,), (2,), False, 200)


def test_reminders_offers_and_answers_leave_the_turn_where_it_is(
    logs: Logs, shelf_client: Redis
) -> None:
    logs.add(1, 100, ALICE, started())
    logs.add(1, 200, SERVER_ACCOUNT, Nagged(seat=0))
    logs.add(1, 300, BOB, offered(1))
    logs.add(1, 400, ALICE, OfferAnswered(seat=0, kind="draw", accept=False))
    row = row_of(logs, shelf_client)
    assert (row.waits, row.since, row.at, row.seq) == ((0,), 100, 400, 4)


def test_refusals_and_anchors_are_passed_over(logs: Logs, shelf_client: Redis) -> None:
    logs.add_leaf(1, ANCHOR)
    logs.add(1, 100, ALICE, started())
    for _ in range(3):
        logs.add_leaf(1, REFUSAL)
    logs.add(1, 200, ALICE, moved(1, 0, 1))
    assert row_of(logs, shelf_client).seq == 2


# what waits for an answer


def waiting(lists: MatchLists, account: bytes) -> list[int]:
    return sorted(boards(lists.waiting(account)))


def test_an_offer_waits_for_those_who_have_not_answered(logs: Logs, shelf_client: Redis) -> None:
    logs.add(1, 100, ALICE, three())
    logs.add(1, 200, ALICE, offered(0))
    lists = read(logs, shelf_client)
    assert [waiting(lists, one) for one in (ALICE, BOB, CAROL)] == [[1], [1], [1]]
    assert row_of(logs, shelf_client).asked == (1, 2)
    logs.add(1, 300, BOB, OfferAnswered(1, "draw", accept=True))
    assert waiting(read(logs, shelf_client), BOB) == []
    assert row_of(logs, shelf_client).asked == (2,)
    logs.add(1, 400, CAROL, OfferAnswered(2, "draw", accept=False))
    assert row_of(logs, shelf_client).asked == ()
    assert waiting(read(logs, shelf_client), CAROL) == []


def test_an_offer_lapses_as_the_match_says(logs: Logs, shelf_client: Redis) -> None:
    logs.add(1, 100, ALICE, started())
    logs.add(1, 200, ALICE, offered(0))
    logs.add(1, 300, ALICE, moved(1, 0, 1))  # a draw that is proposed with a move stands
    assert row_of(logs, shelf_client).asked == (1,)
    logs.add(1, 400, BOB, moved(2, 1, 0))
    assert row_of(logs, shelf_client).asked == ()
    lists = read(logs, shelf_client)
    assert waiting(lists, BOB) == []
    assert waiting(lists, ALICE) == [1]
    logs.add(1, 500, BOB, offered(1))
    logs.add(1, 600, BOB, resigned(1, None))
    assert row_of(logs, shelf_client).offer is None


def test_what_waits_for_a_player_is_not_among_the_others(logs: Logs, shelf_client: Redis) -> None:
    for board in range(1, 8):
        logs.add(board, 100 + board, ALICE, started())
    logs.add(2, 200, ALICE, moved(1, 0, 1))
    logs.add(5, 300, ALICE, moved(1, 0, 1))
    logs.add(7, 400, ALICE, moved(1, 0, 1))
    logs.add(5, 500, BOB, offered(1))
    lists = read(logs, shelf_client)
    assert waiting(lists, ALICE) == [1, 3, 4, 5, 6]
    assert boards(lists.others(ALICE)) == [7, 2]
    assert boards(lists.others(ALICE, 1, 1)) == [2]
    assert boards(lists.others(BOB)) == [6, 4, 3, 1]
    home = read_one(shelf_client, lists.read_boards(ALICE))
    assert sorted(home.waiting) == [1, 3, 4, 5, 6]
    assert home.others == [7, 2]
    rows = read_one(shelf_client, lists.read_rows(home.bucket, [5, 7, 5, 99]))
    assert [*rows] == [5, 7]
    assert [*rows.values()] == lists.rows([5, 7])
    assert read_one(shelf_client, lists.read_rows(home.bucket, [])) == {}


def test_a_mark_changes_whenever_the_lists_do(logs: Logs, shelf_client: Redis) -> None:
    seen = [read_one(shelf_client, read(logs, shelf_client).change_marks([ALICE, BOB]))]
    for event in (started(), moved(1, 0, 1), offered(0), moved(2, 1, 0)):
        logs.add(1, 100 * len(seen), ALICE, event)
        seen.append(read_one(shelf_client, read(logs, shelf_client).change_marks([ALICE, BOB])))
    assert all(before != after for before, after in pairwise(seen))
    lists = read(logs, shelf_client)
    assert read_one(shelf_client, lists.change_marks([ALICE, BOB])) == seen[-1]
    # that of the page is the same
    homes = [read_one(shelf_client, lists.read_boards(one)) for one in (ALICE, BOB)]
    assert [one.mark for one in homes] == seen[-1]


def listed(lists: HomeLists, account: bytes) -> dict[str, list[int]]:
    """The lists of an account that are not empty."""
    found = {
        "next": lists.of(account, MatchFilter.NEXT),
        "active": lists.of(account, MatchFilter.ACTIVE),
        "over": lists.of(account, MatchFilter.INACTIVE),
        "waiting": lists.waiting(account),
        "others": lists.others(account),
        "proposed": lists.proposed(account),
        "playing": lists.playing("pow2") + lists.playing("halves"),
    }
    return {name: boards(rows) for name, rows in found.items() if rows}


@pytest.mark.parametrize("move", [False, True])
@pytest.mark.parametrize("accepting", [accepted(1, 1), moved(2, 1, 0)])
def test_a_match_by_name_is_in_no_public_list_until_it_is_accepted(
    logs: Logs, shelf_client: Redis, accepting: Event, *, move: bool
) -> None:
    """In words or by a move, after a move of the challenger or before."""
    if not move and isinstance(accepting, Moved):
        accepting = moved(1, 1, 0)
    logs.add(1, 100, ALICE, proposed(turn=0 if move else 1))
    if move:
        logs.add(1, 150, ALICE, moved(1, 0, 1))
    lists = read(logs, shelf_client)
    assert listed(lists, ALICE) == {"proposed": [1], "others": [1]}
    assert listed(lists, BOB) == {"proposed": [1], "waiting": [1]}
    assert lists.counts(BOB) == MatchCounts(next=0, active=0, inactive=0)
    mark = read_one(shelf_client, lists.change_marks([ALICE, BOB]))
    logs.add(1, 200, BOB, accepting)
    lists = read(logs, shelf_client)
    assert [(row.invited, row.since) for row in lists.of(ALICE)] == [((), 200)]
    assert lists.proposed(ALICE) == lists.proposed(BOB) == []
    assert listed(lists, BOB)["active"] == listed(lists, ALICE)["playing"] == [1]
    after = read_one(shelf_client, lists.change_marks([ALICE, BOB]))
    assert all(one != other for one, other in zip(mark, after, strict=True))


def test_a_deal_by_name_waits_for_those_who_have_not_committed(
    logs: Logs, shelf_client: Redis
) -> None:
    logs.add(1, 100, ALICE, deal_proposed())
    lists = read(logs, shelf_client)
    assert listed(lists, ALICE) == {"proposed": [1], "others": [1]}
    assert listed(lists, BOB) == {"proposed": [1], "waiting": [1]}
    sealed = Sealed(chain=1, k=1, waits=(0, 1))
    logs.add(1, 200, BOB, Committed(seat=1, commitment=Commitment(bytes(32))), sealed)
    lists = read(logs, shelf_client)
    assert listed(lists, BOB) == {"next": [1], "active": [1], "waiting": [1], "playing": [1]}
    row = row_of(logs, shelf_client)
    assert (row.started, row.sealed, row.invited) == (False, True, ())


def test_of_three_one_who_accepted_waits_for_the_other_who_declines(
    logs: Logs, shelf_client: Redis
) -> None:
    logs.add(1, 100, ALICE, proposed(ALICE, BOB, CAROL, invited=(1, 2)))
    logs.add(1, 200, BOB, accepted(1, None))
    lists = read(logs, shelf_client)
    assert listed(lists, BOB) == {"proposed": [1], "others": [1]}
    assert listed(lists, CAROL) == {"proposed": [1], "waiting": [1]}
    logs.add(1, 300, CAROL, Declined(seat=2), ended(reason=Reason.DECLINED))
    lists = read(logs, shelf_client)
    assert all(listed(lists, who) == {"over": [1]} for who in (ALICE, BOB, CAROL))


def test_proposals_and_running_matches_stand_by_their_boards(
    logs: Logs, shelf_client: Redis
) -> None:
    for board in (1, 2, 3, 4):
        logs.add(board, board, ALICE, proposed() if board % 2 else started(turn=1))
    lists = read(logs, shelf_client)
    assert boards(lists.others(ALICE)) == [4, 3, 2, 1]
    assert read_one(shelf_client, lists.read_boards(ALICE)).others == [4, 3, 2, 1]
