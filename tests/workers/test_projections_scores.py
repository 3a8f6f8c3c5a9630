"""Leaderboards of puzzles, from the logs: the best first, of equals the first."""

import msgspec
from redis import Redis

from domain.match.commands import PlayMove, ResignMatch, StartMatch
from infra.projections.buckets import SCORES
from infra.projections.generations import Generations
from infra.projections.leaderboards import LeaderboardRow, Leaderboards, leaderboard_key
from tests.helpers.bench import Bench
from tests.helpers.given import ALICE, BOB, CAROL
from tests.helpers.side import catch_up


def solve(bench: Bench, board: int, account: bytes, *moves: str) -> None:
    bench.send(account, StartMatch(rules="one/1", options=(), seats=(account,)), board)
    for move in (*moves, "done"):
        bench.send(account, PlayMove(text=move), board)
        bench.drain()
    assert bench.state(board).over


def standing(client: Redis) -> list[tuple[bytes, int]]:
    return [(row.account, row.board) for row in Leaderboards(client).best("one")]


def test_finished_puzzles_are_ranked_by_score_and_then_by_who_was_first(bench: Bench) -> None:
    solve(bench, 1, ALICE, "a5")
    solve(bench, 2, BOB, "a1")
    solve(bench, 3, CAROL, "a5")
    catch_up(bench.store, bench.client)
    # a1 is on more lines than a5; alice was before carol
    assert standing(bench.client) == [(BOB, 2), (ALICE, 1), (CAROL, 3)]


def test_a_player_stands_with_the_best_of_several(bench: Bench) -> None:
    solve(bench, 1, ALICE, "a5")
    solve(bench, 2, ALICE, "a1")
    solve(bench, 3, ALICE, "a5")
    catch_up(bench.store, bench.client)
    solve(bench, 4, ALICE, "a1")
    catch_up(bench.store, bench.client)
    assert standing(bench.client) == [(ALICE, 2)]
    board = Leaderboards(bench.client)
    best = board.best_of("one", ALICE)
    assert best is not None
    assert best.board == 2
    assert board.best_of("one", BOB) is None
    assert board.count("one") == 1
    assert board.best("one", start=1) == []


def test_a_leaderboard_has_a_row_a_player_however_often_they_play(bench: Bench) -> None:
    for number in range(1, 6):
        solve(bench, number, ALICE, "a5")
    solve(bench, 6, BOB, "a5")
    catch_up(bench.store, bench.client)
    live = Generations(bench.client, SCORES).live()
    assert live is not None
    assert bench.client.zcard(live[1].of("one").key(leaderboard_key("one"))) == 2


def test_the_best_position_counts_though_it_was_left(bench: Bench) -> None:
    solve(bench, 1, ALICE, "a1", "-a1", "a5")
    catch_up(bench.store, bench.client)
    (row,) = Leaderboards(bench.client).best("one", count=1)
    solve(bench, 2, BOB, "a1")
    catch_up(bench.store, bench.client)
    assert Leaderboards(bench.client).best("one")[1].rank == row.rank
    assert standing(bench.client) == [(ALICE, 1), (BOB, 2)]


def test_a_puzzle_that_goes_on_does_not_count_yet(bench: Bench) -> None:
    bench.send(ALICE, StartMatch(rules="one/1", options=(), seats=(ALICE,)), 1)
    bench.send(ALICE, PlayMove(text="a5"), 1)
    bench.drain()
    catch_up(bench.store, bench.client)
    assert standing(bench.client) == []


def test_games_for_several_have_no_place_on_it(bench: Bench) -> None:
    bench.start(1)
    bench.send(ALICE, ResignMatch())
    bench.send(CAROL, ResignMatch())
    bench.drain()
    catch_up(bench.store, bench.client)
    assert Leaderboards(bench.client).best("pow2") == []


def test_a_rows_text_sorts_as_it_ranks_and_comes_back() -> None:
    row = LeaderboardRow((-40, 12), 1_700_000_000_000, 17, ALICE)
    better = [(-41, 99), (-40, 11)]
    worse = [(-40, 13), (-39, 0), (0, 0), (3, 0)]
    texts = [msgspec.structs.replace(row, rank=rank).text() for rank in [*better, row.rank, *worse]]
    assert texts == sorted(texts)
    assert row.text() < msgspec.structs.replace(row, at=row.at + 1).text()
    assert LeaderboardRow.parse(row.text()) == row
