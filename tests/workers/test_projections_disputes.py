"""Results that rulings change, and matches that go on again: all tables are as if it had always been so."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any

import pytest
from redis import Redis

from domain.match.dispute_events import ResultChanged, SetBack
from domain.match.events import Challenged, Ended, MatchStarted, Moved, Resigned, decode_event
from domain.ratings import Skill, ranking
from infra.projections.finished_matches import FinishedMatches
from infra.projections.head_to_head import HeadToHeadQuery
from infra.projections.leaderboards import Leaderboards
from infra.projections.match_lists import MatchFilter, MatchLists
from infra.projections.notices import MatchNotices, NoticeKind
from infra.projections.ratings import RatingsQuery, rate
from infra.projections.standings import POINT, StandingsQuery
from tests.fakes.logs import Logs
from tests.helpers.given import ALICE, BOB, CAROL
from tests.helpers.side import catch_up
from tests.helpers.stories import (
    ARBITER,
    claimed,
    ended,
    moved,
    resigned,
    result_changed,
    ruled,
    set_back,
    started,
    three,
)
from tests.workers.test_projections_buckets import GAMES, PLAYERS, Chance
from workers.projections import PROJECTIONS
from workers.projections.verify import ProjectionVerifier

AFTER = ("set back", "ended otherwise", "changed", "annulled", "many times")


@pytest.fixture
def logs() -> Logs:
    return Logs()


def play(logs: Logs, board: int = 1, at: int = 100, winner: int = 0) -> None:
    """A match of alice and bob in which both move; one wins."""
    logs.add(board, at, ALICE, started(), moved(1, 0, 1), moved(2, 1, 0))
    logs.add(board, at + 10, BOB, resigned(1 - winner), ended(winner, reason="resignation"))


def change(logs: Logs, what: str, at: int = 500) -> None:
    """A ruling of board 1, and what follows."""
    match what:
        case "set back":
            logs.add(1, at, ARBITER, ruled(), set_back(1, 1, 1))
        case "ended otherwise":
            change(logs, "set back", at)
            logs.add(1, at + 10, BOB, moved(2, 1, 0))
            logs.add(1, at + 20, ALICE, resigned(0), ended(1, reason="resignation"))
        case "changed":
            logs.add(1, at, ARBITER, ruled(), result_changed(1))
        case "annulled":
            logs.add(1, at, ARBITER, ruled(), result_changed())
        case _:
            for n, each in enumerate(AFTER[:-1]):
                change(logs, each, at + 100 * n)
            change(logs, "changed", at + 900)


def verify_all(logs: Logs, client: Redis) -> None:
    for projection in PROJECTIONS:
        result = ProjectionVerifier(logs.store, client, projection).run()
        assert (projection.spec.name, result.difference) == (projection.spec.name, "")


@pytest.fixture(params=AFTER)
def after(request: pytest.FixtureRequest, logs: Logs, shelf_client: Redis) -> str:
    """A match that alice has won, folded; and then a ruling, folded after it."""
    play(logs)
    catch_up(logs.store, shelf_client)
    change(logs, request.param)
    catch_up(logs.store, shelf_client)
    verify_all(logs, shelf_client)
    return str(request.param)


def test_lists(after: str, shelf_client: Redis) -> None:
    lists = MatchLists(shelf_client)
    active = [row.board for row in lists.of(ALICE, MatchFilter.ACTIVE)]
    over = [(row.board, row.winners, row.ended) for row in lists.of(ALICE, MatchFilter.INACTIVE)]
    assert (active, over, len(lists.playing("pow2"))) == {
        "set back": ([1], [], 1),
        "ended otherwise": ([], [(1, (1,), 520)], 0),
        "changed": ([], [(1, (1,), 500)], 0),
        "annulled": ([], [(1, (), 500)], 0),
        "many times": ([], [(1, (1,), 1400)], 0),
    }[after]
    assert len(lists.of(BOB, MatchFilter.NEXT)) == (after == "set back")


def test_history(after: str, shelf_client: Redis) -> None:
    history = FinishedMatches(shelf_client)
    found = [(row.at, row.winners, row.ranks, row.reason) for row in history.of("pow2")]
    assert (
        found
        == {
            "set back": [],
            "ended otherwise": [(520, (1,), (2, 1), "resignation")],
            "changed": [(500, (1,), (2, 1), "ruling")],
            "annulled": [(500, (), (1, 1), "annulled")],
            "many times": [(1400, (1,), (2, 1), "ruling")],
        }[after]
    )
    for who in ((ALICE,), (BOB,), (ALICE, BOB)):
        assert len(history.of("pow2", *who)) == history.count("pow2", *who) == len(found)


def test_standings_and_head_to_head(after: str, shelf_client: Redis) -> None:
    standings = StandingsQuery(shelf_client)
    counts = [(one.account, one.points, one.played) for one in standings.of("pow2")]
    counted = after not in ("set back", "annulled")
    assert counts == ([(BOB, 1, 1), (ALICE, 0, 1)] if counted else [])
    assert standings.count("pow2") == len(counts)
    bob = standings.player("pow2", BOB)
    assert (bob.won, bob.lost) == (int(counted), 0)
    pair = HeadToHeadQuery(shelf_client).of("pow2", ALICE, BOB)
    assert (pair.won, pair.lost) == (0, int(counted))


def test_ratings(after: str, shelf_client: Redis) -> None:
    ratings = RatingsQuery(shelf_client)
    counted = after not in ("set back", "annulled")
    winner, loser = rate([Skill(), Skill()], [1, 2])
    assert [(one.account, one.rating.skill) for one in ratings.of("pow2")] == (
        [(BOB, winner), (ALICE, loser)] if counted else []
    )
    assert ratings.player("pow2", BOB).matches == int(counted)
    points = [(point.at, point.skill) for point in ratings.series("pow2", ALICE)]
    assert points[:2] == [(110, winner), (500, Skill())]
    assert (
        points[2:]
        == {
            "set back": [],
            "ended otherwise": [(520, loser)],
            "changed": [(500, loser)],
            "annulled": [],
            "many times": [
                (620, loser),
                (700, Skill()),
                (700, loser),
                (800, Skill()),
                (1400, loser),
            ],
        }[after]
    )


def test_what_was_rated_between_a_result_and_its_ruling_stays(
    logs: Logs, shelf_client: Redis
) -> None:
    play(logs)
    logs.add(5, 200, ALICE, started(BOB, CAROL), moved(1, 0, 1), moved(2, 1, 0), ended(0))
    catch_up(logs.store, shelf_client)
    ratings = RatingsQuery(shelf_client)
    before = {who: ratings.player("pow2", who).skill for who in (ALICE, BOB, CAROL)}
    change(logs, "annulled")
    catch_up(logs.store, shelf_client)
    verify_all(logs, shelf_client)
    loser = rate([Skill(), Skill()], [1, 2])[1]
    assert ratings.player("pow2", ALICE).matches == 0
    assert ratings.player("pow2", CAROL).skill == before[CAROL]
    bob = ratings.player("pow2", BOB)
    assert bob.skill.mu == before[BOB].mu - (loser.mu - Skill().mu)
    assert bob.skill.sigma == before[BOB].sigma - (loser.sigma - Skill().sigma)
    assert (bob.matches, bob.board, bob.at) == (1, 1, 500)


def test_a_claim_after_the_end_changes_no_result_and_no_order(
    logs: Logs, shelf_client: Redis
) -> None:
    play(logs, 1, 100)
    play(logs, 5, 200)
    logs.add(1, 900, BOB, claimed(1))
    logs.add(1, 910, ARBITER, ruled(6, upheld=False))
    catch_up(logs.store, shelf_client)
    lists = MatchLists(shelf_client)
    assert [(row.board, row.ended) for row in lists.of(ALICE)] == [(5, 210), (1, 110)]
    assert [row.board for row in FinishedMatches(shelf_client).of("pow2")] == [5, 1]
    verify_all(logs, shelf_client)


def test_players_get_notices_of_claims_and_rulings(logs: Logs, shelf_client: Redis) -> None:
    play(logs)
    logs.add(1, 600, BOB, claimed(1))
    logs.add(1, 700, ARBITER, ruled(6), set_back(0, 0, 1))
    catch_up(logs.store, shelf_client)
    found = {
        who: [one.kind for one in MatchNotices(shelf_client).of(who) if one.at >= 600]
        for who in (ALICE, BOB)
    }
    assert found == {
        ALICE: [NoticeKind.YOUR_TURN, NoticeKind.RULED, NoticeKind.CLAIMED],
        BOB: [NoticeKind.RULED],
    }


def test_of_three_those_who_stay_out_get_no_notices_of_offers(
    logs: Logs, shelf_client: Redis
) -> None:
    logs.add(1, 100, ALICE, three(), moved(1, 0, 1), resigned(1, 2), moved(2, 2, 0))
    logs.add(1, 200, CAROL, resigned(2), ended(0))
    logs.add(1, 250, CAROL, claimed(2))
    catch_up(logs.store, shelf_client)
    logs.add(1, 300, ARBITER, ruled(7), set_back(2, 0, 2))
    logs.add(1, 400, ALICE, moved(3, 0, 2), resigned(2), ended(0))
    catch_up(logs.store, shelf_client)
    (row,) = MatchLists(shelf_client).rows([1])
    assert row
    assert row.left == (1, 2)
    kinds = [one.kind for one in MatchNotices(shelf_client).of(CAROL) if one.at >= 300]
    assert NoticeKind.YOUR_TURN in kinds
    verify_all(logs, shelf_client)
    assert not list(shelf_client.scan_iter("*notifications*:tables"))


# puzzles


def puzzle(logs: Logs, *, at: int = 100) -> None:
    logs.add(1, at, ALICE, started(ALICE, rules="one/1"))
    logs.add(1, at + 1, ALICE, moved(1, 0, 0))
    logs.add(1, at + 2, ALICE, moved(2, 0, None), ended(0))


@pytest.mark.parametrize(
    ("bodies", "rows"),
    [
        ([set_back(1, 0)], 0),
        ([result_changed()], 0),
        ([result_changed(0)], 1),
        ([set_back(1, 0), moved(2, 0, None), ended(0)], 1),
        ([result_changed(), set_back(1, 0), result_changed(0)], 1),
    ],
)
def test_a_puzzle_leaves_its_leaderboard_and_returns(
    logs: Logs, shelf_client: Redis, bodies: list[Any], rows: int
) -> None:
    puzzle(logs)
    catch_up(logs.store, shelf_client)
    assert len(Leaderboards(shelf_client).best("one")) == 1
    for n, body in enumerate(bodies):
        logs.add(1, 500 + n, ARBITER, ruled(), body)
    catch_up(logs.store, shelf_client)
    assert len(Leaderboards(shelf_client).best("one")) == rows
    verify_all(logs, shelf_client)


# a plain model


class PlainMatch:
    """A match as a reader of its events would note it down."""

    def __init__(self, board: int) -> None:
        self.board = board
        self.seats: tuple[bytes, ...] = ()
        self.game = ""
        self.rated = True
        self.moved: set[int] = set()
        self.left: list[int] = []
        self.result: tuple[int, tuple[int, ...], str] | None = None

    def add(self, at: int, body: Any) -> None:
        match body:
            case MatchStarted() | Challenged():
                self.seats, self.game = body.seats, self.game or body.rules.split("/")[0]
                self.rated = body.terms is None or body.terms.rated
            case Moved():
                self.moved.add(body.seat)
            case Resigned():
                self.left.append(body.seat)
            case SetBack():
                self.result = None
                self.left = [seat for seat in self.left if seat not in body.back]
            case Ended() | ResultChanged():
                self.result = at, body.winners, body.reason

    @property
    def places(self) -> tuple[int, ...] | None:
        """The places of a result that counts."""
        everybody = len(self.moved) == len(self.seats) > 1
        if self.result is None or not self.result[1] or not everybody:
            return None
        return ranking(len(self.seats), self.result[1], self.left)


def read(logs: Logs) -> Iterator[tuple[PlainMatch, tuple[int, ...] | None, Any]]:
    """Go through all events in the order of time, each with its match after it and the places before."""
    matches: dict[int, PlainMatch] = {}
    events = [decode_event(data) for board in range(1, 60) for data in logs.events(board)]
    for event in sorted(events, key=lambda one: (one.at, one.match, one.seq)):
        found = matches.setdefault(event.match, PlainMatch(event.match))
        before = found.places
        found.add(event.at, event.body)
        yield found, before, event


def life_of(seed: int) -> Chance:
    life = Chance(seed, matches=40)
    while life.go_on():
        pass
    return life


@pytest.mark.parametrize("seed", range(4))
def test_all_tables_are_those_of_a_plain_model(shelf_client: Redis, seed: int) -> None:
    logs = life_of(seed).logs
    catch_up(logs.store, shelf_client)
    matches = {found.board: found for found, _, _ in read(logs)}
    check_lists(shelf_client, matches)
    check_standings(shelf_client, matches)
    check_ratings(shelf_client, logs)


def check_lists(client: Redis, matches: dict[int, PlainMatch]) -> None:
    lists, history = MatchLists(client), FinishedMatches(client)
    for who in PLAYERS:
        mine = [one for one in matches.values() if who in one.seats]
        over = sorted(
            [(one.result[0], f"{one.game}:{one.board}") for one in mine if one.result], reverse=True
        )
        found = lists.of(who, MatchFilter.INACTIVE)
        assert [(row.ended, row.member) for row in found] == over
        active = {row.board for row in lists.of(who, MatchFilter.ACTIVE)}
        assert active == {one.board for one in mine if not one.result}
    for game in GAMES:
        finished = {
            (one.board, *one.result) for one in matches.values() if one.result and one.game == game
        }
        assert {
            (row.board, row.at, row.winners, row.reason) for row in history.of(game)
        } == finished


def check_standings(client: Redis, matches: dict[int, PlainMatch]) -> None:
    points: dict[str, Counter[bytes]] = defaultdict(Counter)
    played: dict[str, Counter[bytes]] = defaultdict(Counter)
    pairs: Counter[tuple[str, bytes, bytes]] = Counter()
    for one in matches.values():
        if one.places is None or one.result is None:
            continue
        winners = one.result[1]
        for seat, who in enumerate(one.seats):
            played[one.game][who] += 1
            points[one.game][who] += POINT // len(winners) if seat in winners else 0
        for (a, x), (b, y) in combinations(zip(one.seats, one.places, strict=True), 2):
            pairs[one.game, a, b] += x < y
            pairs[one.game, b, a] += y < x
    for game in GAMES:
        found = StandingsQuery(client).of(game)
        assert {row.account: (round(row.points * POINT), row.played) for row in found} == {
            who: (points[game][who], count) for who, count in played[game].items()
        }
        for a, b in combinations(PLAYERS, 2):
            record = HeadToHeadQuery(client).of(game, a, b)
            assert (record.won, record.lost) == (pairs[game, a, b], pairs[game, b, a])


def check_ratings(client: Redis, logs: Logs) -> None:
    skills: dict[tuple[str, bytes], Skill] = defaultdict(Skill)
    counts: Counter[tuple[str, bytes]] = Counter()
    changes: dict[int, dict[tuple[str, bytes], tuple[int, int]]] = {}
    for one, before, event in read(logs):
        if not isinstance(event.body, SetBack | Ended | ResultChanged) or not one.rated:
            continue
        if before is not None:
            for player, (mu, sigma) in changes.pop(one.board).items():
                counts[player] -= 1
                old = skills[player]
                skills[player] = (
                    Skill(old.mu - mu, old.sigma - sigma) if counts[player] else Skill()
                )
        if one.places is not None:
            players = [(one.game, who) for who in one.seats]
            new = rate([skills[player] for player in players], one.places)
            changes[one.board] = {}
            for player, skill in zip(players, new, strict=True):
                old = skills[player]
                changes[one.board][player] = skill.mu - old.mu, skill.sigma - old.sigma
                skills[player] = skill
                counts[player] += 1
    for game in GAMES:
        found = {one.account: one.rating for one in RatingsQuery(client).of(game)}
        wanted = {who: n for (of, who), n in counts.items() if of == game and n}
        assert {who: rating.matches for who, rating in found.items()} == wanted
        for who, rating in found.items():
            assert rating.skill == skills[game, who]


def test_in_these_lives_results_change_in_every_way() -> None:
    seen: Counter[Callable[..., Any]] = Counter()
    for seed in range(4):
        for _, before, event in read(life_of(seed).logs):
            if isinstance(event.body, SetBack | ResultChanged):
                seen[type(event.body)] += before is not None
    assert min(seen[SetBack], seen[ResultChanged]) > 10
