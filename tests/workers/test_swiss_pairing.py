"""Swiss rounds: the pairing compared with all possible rounds of small fields, and whole tournaments on a real server."""

import logging
import random
from collections.abc import Iterator
from fractions import Fraction
from itertools import cycle

import pytest

from domain.records import SERVER_ACCOUNT
from domain.tournament.commands import EndRound, StartTournament, WithdrawPlayer
from domain.tournament.events import SectionPaired
from domain.tournament.form_terms import SwissTerms
from domain.tournament.swiss_rounds import SwissPlayer
from domain.tournament.terms import SWISS_TIEBREAKS
from tests.helpers.bench import Bench
from tests.helpers.side import settle
from tests.workers.test_tournaments import BY_HAND, ORGANISER, PLAYERS, POINTS, TEXT, Hall
from workers import swiss_pairing, tournament_manager
from workers.swiss_pairing import paired
from workers.tournament_manager import TournamentManager

Pairs = list[tuple[int, int]]


def players(count: int, rounds: int, chance: random.Random) -> list[SwissPlayer]:
    """Players after some rounds that were paired by the product, with results by chance."""
    points = [Fraction(0)] * count
    met: list[list[int]] = [[] for _ in range(count)]
    sides: list[list[int]] = [[] for _ in range(count)]
    byes = [0] * count

    def now() -> list[SwissPlayer]:
        return [
            SwissPlayer(n, points[n], tuple(met[n]), tuple(sides[n]), byes[n]) for n in range(count)
        ]

    for _ in range(rounds):
        pairs, without = paired(now())
        for player in without:
            byes[player] += 1
            points[player] += 1
        for pair in pairs:
            won = chance.choice([Fraction(0), Fraction(1, 2), Fraction(1)])
            for side, player in enumerate(pair):
                met[player].append(pair[1 - side])
                sides[player].append(side)
                points[player] += abs(side - won)
    return now()


def all_rounds(field: list[int]) -> Iterator[Pairs]:
    """All ways to pair players, whatever the sides; a player with themselves has the bye."""
    if not field:
        yield []
        return
    first, rest = field[0], field[1:]
    if len(field) % 2:
        for others in all_rounds(rest):
            yield [(first, first), *others]
    for other in rest:
        left = [one for one in rest if one != other]
        for others in all_rounds(left):
            if sum(one == two for one, two in others) <= 1:
                yield [(first, other), *others]


def wants(player: SwissPlayer) -> set[int]:
    """The sides that a player must not have: a third time in a row, or three times more than the other."""
    return {
        side
        for side in (0, 1)
        if player.sides[-2:] == (side, side)
        or player.sides.count(side) + 1 - player.sides.count(1 - side) > 2
    }


def badness(pairs: Pairs, field: list[SwissPlayer]) -> tuple[int, int, Fraction]:
    """Rematches, pairs without fair sides, and squares of the differences in points."""
    lowest = min(one.points for one in field)
    met = broken = 0
    apart = Fraction(0)
    for one, two in pairs:
        a, b = field[one], field[two]
        if one == two:
            apart += (a.points - lowest) ** 2
            continue
        met += a.met.count(two)
        broken += bool(wants(a) & wants(b))
        apart += (a.points - b.points) ** 2
    return met, broken, apart


@pytest.mark.parametrize("seed", range(20))
def test_no_other_round_of_a_small_field_is_better(seed: int) -> None:
    """None has fewer rematches, fairer sides or closer points."""
    chance = random.Random(seed)
    count = chance.randint(3, 8)
    field = players(count, chance.randint(0, count - 1), chance)
    pairs, byes = paired(field)
    mine = badness([*pairs, *((one, one) for one in byes)], field)
    possible = [
        one
        for one in all_rounds([*range(count)])
        if not any(first == second and field[first].byes for first, second in one)
    ]
    assert mine == min(badness(one, field) for one in possible)


def test_sixty_four_players_over_seven_rounds() -> None:
    field = players(64, 7, random.Random(7))
    for one in field:
        assert len(set(one.met)) == 7
        assert abs(one.sides.count(0) - one.sides.count(1)) <= 2
        assert not any(len(set(one.sides[at : at + 3])) == 1 for at in range(5))


def test_a_bye_is_needed_and_all_have_had_one() -> None:
    field = [SwissPlayer(n, Fraction(1), (), (), 1) for n in range(3)]
    with pytest.raises(ValueError, match="all have had one"):
        paired(field)


# on a real server


@pytest.fixture
def hall(bench: Bench) -> Hall:
    """A tournament whose manager is killed in each turn."""
    made = Hall(bench)
    made.dies = cycle(POINTS)
    return made


def begin_swiss(hall: Hall, rounds: int, players: int) -> None:
    """Start a tournament, whose first round waits to be paired."""
    swiss = {"form": "swiss", "swiss": SwissTerms(rounds), "tiebreaks": SWISS_TIEBREAKS}
    hall.draft(**BY_HAND | swiss, days=10)
    hall.enter(players)
    hall.must(ORGANISER, StartTournament())


def better_wins(hall: Hall, *, but: int = -1) -> None:
    """End all matches of the last round, but perhaps one pairing, by the resignation of the worse player."""
    for number in hall.state.open_in_stage:
        if number != but:
            pair = dict(hall.state.pairings)[number]
            hall.resign(number, hall.players[max(pair.first, pair.second)])


def paired_rounds(hall: Hall) -> list[int]:
    return [one.stage for one in hall.bodies() if isinstance(one, SectionPaired)]


def test_a_tournament_with_a_leaver_a_forfeit_and_a_late_result_is_played_to_confirmed_places(
    hall: Hall,
) -> None:
    begin_swiss(hall, 3, 6)
    settle(hall.side)
    assert hall.lists.waiting(9) == [hall.number]
    hall.turn()
    hall.turn()
    assert paired_rounds(hall) == [1]
    assert sorted(hall.matches) == [0, 1, 2]
    assert hall.lists.waiting(9) == []
    better_wins(hall, but=2)
    hall.turn()
    assert paired_rounds(hall) == [1]
    # the third match is not over at the end of the round, and is lost only afterwards
    late = hall.state.sections[0].pairings[2]
    hall.must(SERVER_ACCOUNT, EndRound(stage=1))
    hall.resign(2, hall.players[late.second])
    hall.turn()
    hall.turn()
    assert paired_rounds(hall) == [1, 2]
    assert hall.state.result_of(2) in ("+-", "1-0")
    leaver = hall.state.sections[1].pairings[0].second
    account = hall.players[leaver]
    hall.must(ORGANISER, WithdrawPlayer(account=account, kind="accepted", text=TEXT))
    better_wins(hall)
    for _ in range(3):
        hall.turn()
    third = hall.state.sections[2]
    assert leaver not in third.players
    assert len(third.byes) == 1
    better_wins(hall)
    hall.turn()
    assert {hall.state.result_of(number) for number in range(2)} <= {"+-", "-+"}
    assert max(hall.points().values()) == 300
    assert paired_rounds(hall) == [1, 2, 3]
    ((first, *_, last),) = hall.state.places
    assert (first.points, first.place, last.place > 1) == (300, 1, True)


def test_a_library_that_fails_is_an_alarm_and_is_asked_again_while_others_go_on(
    hall: Hall, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    now = 0.0
    hall.dies = None
    bench = hall.bench
    hall.manager = TournamentManager(bench.store, bench.lanes, bench.client, lambda: now)
    begin_swiss(hall, 2, 4)
    other = Hall(bench)
    other.number = bench.store.allocate(b"another".ljust(16))
    other.draft()
    other.enter(3)
    asked = []

    def fails(*_: object) -> None:
        asked.append(now)
        raise RuntimeError

    monkeypatch.setattr(tournament_manager, "pair_round", fails)
    with caplog.at_level(logging.ERROR):
        for _ in range(3):
            hall.turn()
    alarms = [one.message for one in caplog.records if "ALARM" in one.message]
    assert alarms == [f"ALARM: a round of tournament {hall.number} can't be paired"]
    assert asked == [0.0]
    assert len(other.matches) == 3
    monkeypatch.setattr(tournament_manager, "pair_round", swiss_pairing.pair_round)
    now = tournament_manager.PAIRING_RETRY_SECONDS + 1.0
    hall.turn()
    assert paired_rounds(hall) == [1]
    assert set(hall.players) == set(PLAYERS[:4])
