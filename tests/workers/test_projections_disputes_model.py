"""Results that rulings change, by chance: all tables are those of a plain model."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any

import pytest
from redis import Redis

from domain.match.events import (
    Challenged,
    Ended,
    MatchStarted,
    Moved,
    Resigned,
    ResultChanged,
    SetBack,
)
from domain.match.history import decode_event
from domain.ratings import Skill, ranking
from infra.projections.finished_matches import FinishedMatches
from infra.projections.head_to_head import HeadToHeadQuery
from infra.projections.match_lists import MatchFilter, MatchLists
from infra.projections.ratings import RatingsQuery, rate
from infra.projections.standings import POINT, StandingsQuery
from tests.fakes.logs import Logs
from tests.helpers.side import catch_up
from tests.workers.random_matches import GAMES, PLAYERS, Chance


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
    for one, *_ in read(logs):
        (shown,) = RatingsQuery(client).changes([(one.game, one.board)])
        assert len(shown) == len(changes.get(one.board, ()))


def test_in_these_lives_results_change_in_every_way() -> None:
    seen: Counter[Callable[..., Any]] = Counter()
    for seed in range(4):
        for _, before, event in read(life_of(seed).logs):
            if isinstance(event.body, SetBack | ResultChanged):
                seen[type(event.body)] += before is not None
    assert min(seen[SetBack], seen[ResultChanged]) > 10
